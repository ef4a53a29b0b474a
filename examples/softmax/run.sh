#!/bin/sh
# Short and long rows; then what the simulator counted: bytes read against bytes of the tensor.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build softmax.yaml --target cuda:sm_90a -o "$OUT/softmax.kcb"
for shape in 64x5 16x1000 4x8192 1x100003; do
    echo "x: f32 $shape"
    kc run "$OUT/softmax.kcb" softmax --device cuda-sim:sm_90a --input x=$shape:normal --check --counters "$OUT/counters.json"
    echo "  bytes in x $((${shape%x*} * ${shape#*x} * 4)), bytes read $(grep -o '"global_load_bytes": *[0-9]*' "$OUT/counters.json" | grep -o '[0-9]*$')"
done
