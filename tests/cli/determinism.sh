#!/bin/sh
# The same inputs give the same bytes, whatever the folder, the time zone, the locale, -j or the clock.
. "$(dirname "$0")/common.sh"
mkdir one "two with blanks"
for f in several linear_gelu softmax; do cp "$MODELS/$f.yaml" one/ && cp "$MODELS/$f.yaml" "two with blanks/"; done
for f in several linear_gelu softmax; do
    set -- --target cuda:sm_80 --target cuda:sm_90a --target hip:gfx1100
    [ $f = softmax ] && set -- --target cuda --target hip
    "$KC" build one/$f.yaml "$@" --images ptx -o one/$f.kcb -j1 || not_ok build_$f
    (cd "two with blanks" && TZ=Asia/Kathmandu LC_ALL=de_DE.UTF-8 LANG=tr_TR "$KC" build $f.yaml "$@" --images ptx -o $f.kcb -j2) || not_ok build_again_$f
    same "fat_$f" one/$f.kcb "two with blanks/$f.kcb"
done
for emit in obj c; do
    "$KC" build one/several.yaml --target cuda:sm_80 --images ptx --emit $emit -o one/x.$emit -j1
    (cd "two with blanks" && TZ=UTC-9 "$KC" build several.yaml --target cuda:sm_80 --images ptx --emit $emit -o x.$emit -j3)
    same emit_$emit one/x.$emit "two with blanks/x.$emit"
done
"$KC" build one/several.yaml --target cuda:sm_80 --images ptx --header one/x.h -o one/x.kcb
(cd "two with blanks" && "$KC" build several.yaml --target cuda:sm_80 --images ptx --header x.h -o x.kcb)
same header one/x.h "two with blanks/x.h"
"$KC" build one/several.yaml --target cuda:sm_80 --images ptx --explain --time-passes -o one/y.kcb > /dev/null
same options_that_only_print one/x.kcb one/y.kcb
"$KC" build one/several.yaml --target cuda:sm_80 --images ptx --dump-after all:dumps -o one/z.kcb
same dumping one/x.kcb one/z.kcb
# strings would catch a path of this machine
if grep -a -q -e "$WORK" -e "$HOME" one/several.kcb; then not_ok no_paths; else ok no_paths; fi
if "$KC" doctor --json | grep -q '"ptxas", "there": true'; then
    "$KC" build one/softmax.yaml --target cuda:sm_80 --target cuda:sm_90a -o one/c.kcb -j1
    (cd "two with blanks" && TZ=UTC-3 "$KC" build softmax.yaml --target cuda:sm_80 --target cuda:sm_90a -o c.kcb -j2)
    same cubins one/c.kcb "two with blanks/c.kcb"
else
    skip cubins "no ptxas"
fi
# order of images follows the request
"$KC" build one/several.yaml --target hip:gfx942 --target cuda:sm_80 --images ptx -o one/order.kcb
"$KC" inspect one/order.kcb | awk '/^ +[0-9]+ / {print $3}' | head -n 3 | tr '\n' ' ' > order
check order_of_request 0 '^gfx942 sm_80 gfx942 $' cat order
