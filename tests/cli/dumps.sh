#!/bin/sh
# Every dump fed to `kc opt` with the passes that remain gives the same PTX; kc opt without passes prints what it read.
. "$(dirname "$0")/common.sh"
round_trip() { # model, function, target
    rm -rf d && "$KC" build "$MODELS/$1.yaml" --target $3 --images ptx --no-portable -o x.kcb --dump-after all:d || not_ok "dump_$1"
    "$KC" build "$MODELS/$1.yaml" --target $3 --emit ptx -o want.ptx
    set -- "$1" "$2" "$3" decompose variants simplify split fuse plan tile layout pipeline sync
    count=0
    for f in d/*.kcir; do
        name=$1 function=$2 target=$3
        shift 4
        rest=$(echo "$*" | tr ' ' ,)
        "$KC" opt --passes="$rest" --emit ptx "$f" -o got.ptx
        same "$name $target $(basename "$f") through '$rest'" got.ptx want.ptx
        "$KC" opt --passes= "$f" > again
        same "$name $target $(basename "$f") reads back" again "$f"
        set -- "$name" "$function" "$target" "$@"
        count=$((count + 1))
    done
    true_that "$1 $3 has a dump a pass" test $count -eq 10
}
round_trip linear_gelu linear_gelu cuda:sm_80
round_trip softmax softmax cuda:sm_80
round_trip softmax softmax cuda:sm_90
"$KC" build "$MODELS/softmax.yaml" --target cuda:sm_80 --emit tensor -o t.kcir
"$KC" build "$MODELS/softmax.yaml" --target cuda:sm_80 --emit ptx -o want.ptx
"$KC" opt --passes=decompose,variants,simplify,split,fuse,plan,tile,layout,pipeline,sync --emit ptx t.kcir > got.ptx
same tensor_ir_through_all_passes got.ptx want.ptx
"$KC" build "$MODELS/softmax.yaml" --target cuda:sm_80 --dump-after plan -o x.kcb > printed
"$KC" opt --passes=tile,layout,pipeline,sync --emit ptx printed > got.ptx
same printed_dump got.ptx want.ptx
check unknown_pass 2 'decompose variants simplify' "$KC" opt --passes=nothing t.kcir
check wrong_order 1 'cannot work on this IR' "$KC" opt --passes=tile t.kcir
check no_target 1 'names no target' "$KC" opt --passes=plan "$MODELS/softmax.yaml"
echo 'module @m { func' > bad.kcir
check bad_text 1 'bad.kcir:1:' "$KC" opt --passes= bad.kcir
check places_are_the_models 1 '^t.kcir (model):[0-9]*:[0-9]*: error' "$KC" opt --passes=layout t.kcir
check emit_needs_tile_ir 1 'code generation cannot work' "$KC" opt --passes= --emit ptx t.kcir
