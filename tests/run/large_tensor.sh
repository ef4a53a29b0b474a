#!/bin/sh
# Addresses beyond 32 bits: tests/run/large_tensor.c on the simulator.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
cat > "$OUT/large.yaml" << 'MODEL'
kc: 1
module: large
functions:
  tail:
    dims: {N: {min: 1000, max: 100000000000}}
    inputs: {x: "u8[N]"}
    outputs: {y: "u8[1000]"}
    body: |
      y = slice(x, [N - 1000], [N])
  rows:
    inputs: {x: {type: "f32[M, N]", strides: [ld, 1]}}
    outputs: {y: "f32[M, N]"}
    body: |
      y = x * 2
MODEL
"$BUILD/bin/kc" build "$OUT/large.yaml" --target cuda:sm_80 --images ptx -o "$OUT/large.kcb"
cc ${CFLAGS:-} -std=c11 -I. tests/run/large_tensor.c -o "$OUT/large_tensor" "$BUILD/lib/libkcrt.a" -ldl -lpthread -lm
KCRT_CUDA_SIM=$(cd "$BUILD" && pwd)/lib/libkcsim_cuda.so "$OUT/large_tensor" "$OUT/large.kcb" cuda-sim:sm_80
