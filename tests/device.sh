#!/bin/sh
# On a real GPU: the examples, compared with the reference; kernels of others; products beside cuBLAS. tests/device.sh BUILD.
# Says so when there is no GPU. KC_PYTHON: a Python with PyTorch.
set -u
BUILD=${1:-build}
kc=$BUILD/bin/kc
passed=0 failed=0
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

device=
for kind in cuda hip; do
    "$kc" devices 2> /dev/null | grep -q "^$kind:0" && device=$kind:0 && break
done
if [ -z "$device" ]; then
    echo "skip device: no GPU here (kc devices lists what there is)"
    "$kc" devices
    exit 0
fi

check() { # example, function, inputs...
    model=$1 function=$2
    shift 2
    if "$kc" build "examples/$model/$model.yaml" --target "${device%:*}" -o "$OUT/$model.kcb" &&
        "$kc" run "$OUT/$model.kcb" "$function" --device "$device" --check "$@"; then
        passed=$((passed + 1))
        echo "ok $model"
    else
        failed=$((failed + 1))
        echo "not ok $model"
    fi
}

check saxpy saxpy --input alpha=2.5 --input x=1000003:normal --input y=1000003:normal
check transpose transpose --input x=1000x777:normal
check softmax softmax --input x=1000x4096:normal
check rmsnorm rmsnorm --input x=1000x4096:normal --input scale=4096:uniform
check linear_gelu linear_gelu --input x=300x512:normal --input w=512x384:normal --input b=384:uniform --input alpha=0.1
check mlp block --input x=300x256:normal --input w1=256x512:uniform --input b1=512:uniform --input w2=512x256:uniform \
    --input b2=256:uniform --input scale=256:uniform --input bias=256:uniform
if [ "${device%:*}" = cuda ]; then # kernels that nvcc and Triton compiled
    /usr/bin/python3 tests/foreign/run.py --gpu libcuda.so.1 > "$OUT/foreign"
    passed=$((passed + $(grep -c '^ok ' "$OUT/foreign"))) failed=$((failed + $(grep -c '^not ok ' "$OUT/foreign")))
    grep '^not ok ' "$OUT/foreign"
    "${KC_PYTHON:-python3}" tests/device_gemm.py "$BUILD" "$device" > "$OUT/gemm" 2>&1
    cat "$OUT/gemm"
    passed=$((passed + $(grep -c '^ok ' "$OUT/gemm"))) failed=$((failed + $(grep -c '^not ok ' "$OUT/gemm")))
    grep -q '^\(ok\|not ok\|skip\) ' "$OUT/gemm" || failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
