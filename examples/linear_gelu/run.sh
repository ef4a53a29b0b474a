#!/bin/sh
# One package for two vendors, launched with several numbers of rows. One kernel does matmul, bias and gelu.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build linear_gelu.yaml --target cuda:sm_90a --target hip:gfx942 --header "$OUT/linear.h" -o "$OUT/linear.kcb"
kc inspect "$OUT/linear.kcb"
grep -A 2 'kc_linear_linear_gelu(' "$OUT/linear.h"
for m in 1 17 64 100; do
    echo "M = $m"
    kc run "$OUT/linear.kcb" linear_gelu --device cuda-sim:sm_90a --input x=${m}x64:normal --input w=64x96:normal \
        --input b=96:uniform --input alpha=0.125 --check
done
