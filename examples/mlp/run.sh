#!/bin/sh
# Shows the plan (kernels, workspace), then runs it on the simulators of two generations.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build mlp.yaml --target cuda:sm_80 --target cuda:sm_90a -o "$OUT/mlp.kcb"
kc inspect "$OUT/mlp.kcb"
for device in cuda-sim:sm_80 cuda-sim:sm_90a; do
    echo "$device"
    kc run "$OUT/mlp.kcb" block --device $device --input x=33x48:normal --input w1=48x96:uniform --input b1=96:uniform \
        --input w2=96x48:uniform --input b2=48:uniform --input scale=48:uniform --input bias=48:uniform --check
done
