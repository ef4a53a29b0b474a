#!/bin/sh
# kc build: what it makes, what it refuses, with which status.
. "$(dirname "$0")/common.sh"
M=$MODELS/several.yaml
PY=/usr/bin/python3

# ---- usage
check no_command 2 'usage: kc COMMAND' "$KC"
check unknown_command 2 'not a command' "$KC" frobnicate
check help 0 'build .*compile' "$KC" --help
for c in build run verify bench inspect link opt devices targets passes doctor version; do
    check "help_$c" 0 "usage: kc $c" "$KC" $c --help
done
check no_model 2 'usage: kc build' "$KC" build --target cuda:sm_80 -o x.kcb
check no_target 2 'target is missing' "$KC" build "$M" -o x.kcb
check no_output 2 'OUT is missing' "$KC" build "$M" --target cuda:sm_80
check unknown_option 2 'did you mean --target' "$KC" build "$M" --targt cuda:sm_80 -o x.kcb
check option_without_value 2 'usage' "$KC" build "$M" -o x.kcb --target
check bad_number 2 'whole number' "$KC" build "$M" --target cuda:sm_80 -o x.kcb -j many
check bad_images 2 'auto, ptx, cubin or both' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --images all
check bad_emit 2 'kcb, obj' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --emit exe
check bad_fusion 2 'on or off' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --fusion no
check bad_pass 2 'decompose variants' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --dump-after nothing
check too_many 2 'too many' "$KC" build "$M" "$M" --target cuda:sm_80 -o x.kcb
check unknown_arch 2 'sm_80.*sm_90a' "$KC" build "$M" --target cuda:sm_81 -o x.kcb
check unknown_kind 2 'cuda' "$KC" build "$M" --target metal:m1 -o x.kcb
check unknown_attribute 2 'max_shared_memory' "$KC" build "$M" --target cuda:sm_80,max_shared=1 -o x.kcb
check same_arch_twice 2 'twice' "$KC" build "$M" --target cuda:sm_80 --target cuda:sm_80,max_num_threads=512 -o x.kcb
check several_to_one_file 2 'folder' "$KC" build "$M" --target cuda -o x.ptx --emit ptx
check hsaco_for_cuda 2 'hip alone' "$KC" build "$M" --target cuda:sm_80 -o x --emit hsaco
check unknown_function 1 'scale norm count class' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --function nrm
check no_such_file 1 'nothing.yaml' "$KC" build nothing.yaml --target cuda:sm_80 -o x.kcb
check too_large_is_located 1 'big.yaml:1:1: error: .*more than 8 MiB' sh -c 'head -c 9000000 /dev/zero > big.yaml; "$1" build big.yaml --target cuda:sm_80 -o x.kcb; s=$?; rm big.yaml; exit $s' sh "$KC"
ln -s /dev/zero endless.yaml
for words in "build endless.yaml --target cuda:sm_80 -o x.kcb" "build /dev/zero --target cuda:sm_80 -o x.kcb" "opt --passes= endless.yaml" \
    "opt --passes= /dev/zero" "verify endless.yaml" "verify /dev/zero" "run /dev/zero f" "inspect /dev/zero" "link /dev/zero /dev/zero -o x.kcb"; do
    check "endless_$(echo "$words" | tr -c 'a-z\n' _)" 1 'too large' timeout 30 "$KC" $words
done
rm endless.yaml
check no_such_folder 1 'create its folder' "$KC" build "$M" --target cuda:sm_80 -o no/x.kcb
check folder_as_file 1 'directory' "$KC" build "$M" --target cuda:sm_80 -o .
true_that nothing_was_left test -z "$(ls -A)"

# ---- user errors come once, whatever the number of targets
printf 'kc: 1\nmodule: m\nfunctions:\n  f:\n    inputs: {x: "f16[M, K]", w: "f16[K, N]"}\n    outputs: {y: "f32[M, N]"}\n    body: |\n      y = matmul(x, w)\n    schedule:\n      - {kernel: y, raster: hilbert}\n' > wish.yaml
"$KC" build wish.yaml --target cuda --images ptx -o x.kcb 2> said
if [ $? -eq 1 ] && [ "$(grep -c error: said)" -eq 1 ] && grep -q 'wish.yaml:10:' said; then ok user_error_once; else not_ok user_error_once "$(cat said)"; fi
true_that nothing_after_an_error test ! -e x.kcb
printf 'kc: 1\nmodule: m\nfunctions:\n  f:\n    inputs: {x: "f16[M, K]", w: "f16[K, N]"}\n    outputs: {y: "i4[M, N]"}\n    body: |\n      h = matmul(x, w)\n      y = cast(h, "i4")\n    schedule:\n      - {kernel: h, tile: [64, 15, 16]}\n' > odd.yaml
check odd_tile_of_pairs 1 'odd.yaml:11:9: error: .*4-bit elements is written in pairs: its last extent is even' "$KC" build odd.yaml --target cuda:sm_80 --images ptx -o x.kcb

# ---- outputs
check builds 0 '' "$KC" build "$M" --target cuda:sm_80 --target hip:gfx942 -o a.kcb --header a.h -MD a.d
check dependencies 0 "^a.kcb a.h: $M\$" cat a.d
check listing 0 'function class' "$KC" inspect a.kcb
check agrees 0 'agree' "$KC" inspect --verify a.kcb
for kind in ptx llvm tile tensor c obj; do
    check "emit_$kind" 0 '' "$KC" build "$M" --target cuda:sm_80 --emit $kind -o e.$kind
    true_that "emit_${kind}_has_something" test -s e.$kind
done
for kind in asm hsaco; do check "emit_$kind" 0 '' "$KC" build "$M" --target hip:gfx1100 --emit $kind -o e.$kind; done
"$KC" build "$M" --target cuda:sm_80 --emit tile --fusion on -o e.on && "$KC" build "$M" --target cuda:sm_80 --emit tile --fusion off -o e.off
true_that fusion_is_on cmp -s e.on e.tile
true_that off_makes_more_kernels test "$(grep -c ' kernel ' e.off)" -gt "$(grep -c ' kernel ' e.on)"
check emit_to_folder 0 '' "$KC" build "$M" --target cuda:sm_80 --target cuda:sm_90 --emit ptx -o dir/
true_that a_file_a_target test -s dir/several.sm_80.ptx -a -s dir/several.sm_90.ptx
"$KC" build "$M" --target cuda:sm_80 --emit ptx > stdout.ptx && same ptx_on_stdout stdout.ptx e.ptx
check one_function 0 '' "$KC" build "$M" --target cuda:sm_80 --function norm -o one.kcb
"$KC" inspect one.kcb | grep '^function' > functions
check only_that_function 0 '^function norm$' cat functions
check stripped 0 'no IR' sh -c '"$1" build "$2" --target cuda:sm_80 --strip -o s.kcb && "$1" inspect s.kcb' sh "$KC" "$M"
check suffixed_brings_portable 0 'sm_90 ' sh -c '"$1" build "$2" --target cuda:sm_90a --images ptx -o p.kcb && "$1" inspect p.kcb' sh "$KC" "$M"
"$KC" build "$M" --target cuda:sm_90a --images ptx --no-portable -o p.kcb && "$KC" inspect p.kcb > p.txt
if grep -q 'sm_90 ' p.txt; then not_ok unless_asked_not_to "$(cat p.txt)"; else ok unless_asked_not_to; fi
check explains 0 'whole vectors' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --explain
check times 0 'decompose' "$KC" build "$M" --target cuda:sm_80 -o x.kcb --time-passes
check json 0 'done' sh -c '"$1" build "$2" --target cuda:sm_80 -o x.kcb --json | "$3" -m json.tool' sh "$KC" "$M" $PY
check json_of_a_failure 0 'refused' sh -c '"$1" build wish.yaml --target cuda:sm_80 -o x.kcb --json 2> /dev/null | "$3" -m json.tool' sh "$KC" "$M" $PY
for c in targets passes devices doctor version; do
    check "json_$c" 0 '' sh -c '"$1" $2 --json | "$3" -m json.tool' sh "$KC" $c $PY
done
check ir_text_is_a_model_too 0 '' "$KC" build e.tensor --target cuda:sm_80 -o t.kcb

# ---- the header and the embedded package in a program
cat > main.c <<'EOF'
#include <stdio.h>
#include "a.h"
int main(void) {
    printf("%zu %02x%02x\n", kc_several_kcb_size, kc_several_kcb[0], kc_several_kcb[1]);
    return kc_several_kcb_size == 0;
}
EOF
FLAGS="-Wall -Wextra -pedantic -Werror -I$ROOT/runtime -I."
check header_c11 0 '' gcc -std=c11 $FLAGS -c main.c -o main.o
check header_cxx17 0 '' g++ -std=c++17 $FLAGS -x c++ -c main.c -o main.cxx.o
"$KC" build "$M" --target cuda:sm_80 -o want.kcb
printf '%s 10ff\n' "$(stat -c %s want.kcb)" > want.txt
cat > stub.c <<'EOF'
#include "kcrt.h"
DLDevice kcrt_function_device(kcrt_function *f) { (void)f; return (DLDevice){kDLCPU, 0}; }
kcrt_status kcrt_launch(kcrt_function *f, kcrt_stream *s, void *const *a, int n, void *w, size_t b) {
    (void)f, (void)s, (void)a, (void)n, (void)w, (void)b;
    return KCRT_OK;
}
EOF
case $(uname -m) in
x86_64 | aarch64) check object_links 0 '' sh -c "gcc $FLAGS main.c stub.c -x none e.obj -o program 2>&1 || { cp e.obj e.o; gcc $FLAGS main.c stub.c e.o -o program; }" ;;
*) skip object_links "no object format for this machine" ;;
esac
if [ -x program ]; then ./program > got.txt; same object_holds_the_package got.txt want.txt; fi
check c_source_compiles 0 '' gcc -std=c11 $FLAGS main.c stub.c e.c -o program_c
if [ -x program_c ]; then ./program_c > got.txt; same c_source_holds_the_package got.txt want.txt; fi
"$KC" build "$M" --target cuda:sm_80 --emit obj --host aarch64 -o arm.o
check object_for_another_host 0 AArch64 readelf -h arm.o
