#!/bin/sh
# Builds saxpy for one GPU, shows what is in the file, and runs it on the simulator of that GPU.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build saxpy.yaml --target cuda:sm_80 -o "$OUT/saxpy.kcb"
kc inspect "$OUT/saxpy.kcb"
for n in 1000000 1000003 0; do
    echo "N = $n"
    kc run "$OUT/saxpy.kcb" saxpy --device cuda-sim --input alpha=2.5 --input x=$n:normal --input y=$n:uniform --check
done
