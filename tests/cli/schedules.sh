#!/bin/sh
# Schedules of products: what the model file wishes, what the compiler chooses, and what is said about either.
. "$(dirname "$0")/common.sh"

model() { # name, sizes M K N, type, schedule entry or nothing
    {
        printf 'kc: 1\nmodule: m\nfunctions:\n  f:\n'
        printf '    inputs: {a: "%s[%s, %s]", b: "%s[%s, %s]"}\n' "$5" "$2" "$3" "$5" "$3" "$4"
        printf '    outputs: {y: "f32[%s, %s]"}\n    body: |\n      y = matmul(a, b)\n' "$2" "$4"
        [ $# -lt 6 ] || printf '    schedule:\n      - %s\n' "$6"
    } > "$1.yaml"
}
explain() { "$KC" build "$1.yaml" --target cuda:sm_80 --images ptx -o "$1.kcb" --explain; }

model large 4096 4096 4096 f32
check "explain: the work" 0 '1 x \[4096, 4096, 4096\] of f32: 137 GFLOP, 201 MB, 683 FLOP a byte' explain large
check "explain: the machine" 0 'unit fma has 19.5 TFLOP/s, memory 2039 GB/s' explain large
check "explain: candidates" 0 'tile [0-9]*x[0-9]*x[0-9]* warps [0-9]* stages [0-9]: .* us, limited by products; [0-9]* registers, [0-9]* bytes shared, [0-9]* blocks' explain large
check "the choice is in the package" 0 'schedule: tile \[[0-9]*, [0-9]*, [0-9]*\], stages [0-9], unit fma, raster grouped:8, warps' "$KC" inspect large.kcb
"$KC" build large.yaml --target cuda:sm_80 --images ptx -o plain.kcb
same "explaining changes no byte" large.kcb plain.kcb

model deep 64 8192 64 f32
check "few tiles, long k: parts" 0 'split [0-9]' explain deep
check "parts are summed by a kernel" 0 'f_v0_k1' "$KC" inspect deep.kcb
model unitless 64 8192 64 f32 '{unit: tensor}'
check "an instruction that there is not" 1 "unitless.yaml:10:9: error: schedule key 'unit': sm_80 has no tensor-core instruction for f32" explain unitless
model whole 64 8192 64 f32 '{split: 1}'
check "split: 1 leaves it whole" 0 'workspace 0\|f_v0_k0' explain whole
case $said in *f_v0_k1*) not_ok "one kernel" "$said" ;; *) ok "one kernel" ;; esac
model wished 512 512 512 f16 '{kernel: y, tile: [128, 64, 32], warps: 8, stages: 1, raster: "grouped:4", split: 2}'
check "wishes are kept" 0 'tile 128x64x32, warps 8, stages 1, raster grouped:4, split 2, unit tensor' explain wished

model stages 512 512 512 f32 '{tile: [128, 128, 64], warps: 8, stages: 8}'
check "too much shared memory" 1 'stages.yaml:10:9: error: schedule: .* 8 stages of the tiles need 524288 bytes of shared memory, a block of sm_80 has 166912' explain stages
model threads 512 512 512 f64 '{tile: [128, 128, 32], warps: 4}'
sed -i 's/f32\[/f64[/' threads.yaml
check "too many registers" 1 'a thread holds 256 words of the result and [0-9]* of the tiles that are loaded, and has 255 registers' explain threads
model elements 512 512 512 f32 '{tile: [256, 256, 8], warps: 2}'
check "too many elements" 1 '65536 elements over 2 warps are 1024 a thread; at most 128' explain elements
model nowhere 512 512 512 f32 '{target: "cuda:sm_8", tile: [64, 64, 16]}'
check "a target that there is not" 1 "nowhere.yaml:10:9: error: schedule key 'target': unknown cuda architecture 'sm_8'; expected one of: sm_75, " explain nowhere
model no_unit 512 512 512 f32 '{unit: tensor}'
check "no instruction whatever the tile" 1 'for f32 operands with precision "ieee"; use unit: fma$' explain no_unit
model no_unit_tile 512 512 512 f32 '{unit: tensor, tile: [64, 64, 16]}'
check "no instruction for this tile" 1 'precision "ieee" and a tile of \[64, 64, 16\]; use unit: fma or another' explain no_unit_tile
model far 512 512 512 f32 '{raster: "grouped:100000"}'
check "too many rows of tiles" 1 'grouped:N with N between 1 and 99999, or hilbert' explain far
model hilbert 512 512 512 f32 '{raster: hilbert}'
check "hilbert" 1 "'hilbert' is not built yet; use row or grouped:N" explain hilbert
