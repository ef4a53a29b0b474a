#!/bin/sh
# Builds one file for every NVIDIA and AMD architecture, classifies 360 digits on the simulator of one GPU, and compares
# every number with the reference. Prints the accuracy.
set -eu
cd "$(dirname "$0")"
KC=${BUILD:+$(cd ../.. && cd "$BUILD" && pwd)/bin/kc}
KC=${KC:-$(cd ../.. && pwd)/build/bin/kc}
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

"$KC" build digits.yaml --target cuda --target hip -o "$OUT/digits.kcb"
ls -l "$OUT/digits.kcb" | awk '{ print "digits.kcb: " $5 " bytes" }'
"$KC" run "$OUT/digits.kcb" classify --device cuda-sim:sm_90a --input images=images.npy --input truth=labels.npy --check \
    --output digit="$OUT/digit.npy" --output probability="$OUT/probability.npy" --output accuracy="$OUT/accuracy.npy:f32"
# The accuracy is the last 4 bytes of its file: one f32.
tail -c 4 "$OUT/accuracy.npy" | od -An -tf4 | awk '{
    printf "accuracy %.4f on 360 digits\n", $1
    if ($1 < 0.90) { print "expected at least 0.90"; exit 1 }
}'
