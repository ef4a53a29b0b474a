#!/bin/sh
# Two functions in one package; rows of 4096 and of an odd length.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build rmsnorm.yaml --target cuda:sm_90a -o "$OUT/rmsnorm.kcb"
kc inspect "$OUT/rmsnorm.kcb"
for n in 4096 1001; do
    echo "x: f16 8x$n"
    kc run "$OUT/rmsnorm.kcb" rmsnorm --device cuda-sim:sm_90a --input x=8x$n:normal --input scale=$n:uniform --check
    kc run "$OUT/rmsnorm.kcb" add_rmsnorm --device cuda-sim:sm_90a --input x=8x$n:normal --input residual=8x$n:normal \
        --input scale=$n:uniform --check
done
