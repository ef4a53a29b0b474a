#!/bin/sh
# The kernels; then odd and even images, compared with the reference; then what the simulator counted.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build conv.yaml --target cuda:sm_80 -o "$OUT/conv.kcb"
kc inspect "$OUT/conv.kcb" | grep -A 4 'any sizes'
for image in 7x7 5x33 32x32; do
    echo "images of $image"
    kc run "$OUT/conv.kcb" block --device cuda-sim:sm_80 --check --counters "$OUT/counters.json" \
        --input x=2x16x$image:normal --input w1=32x16x3x3:normal --input b1=32:normal --input w2=16x32x3x3:normal --input b2=16:normal
done
echo "bank conflicts: $(grep -o '"shared_bank_conflicts": *[0-9]*' "$OUT/counters.json" | grep -o '[0-9]*$' | paste -sd ' ')"
