#!/bin/sh
# Kernels that nvcc and Triton compiled, on the simulator, against NumPy; bare programs of the driver interface: tests/foreign.
set -u
BUILD=${BUILD:-build}
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
status=0

program() { # name, devices, argument, the header's name, flags for it
    name=$1 devices=$2 argument=$3 header=$4
    shift 4
    if gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "$@" -o "$OUT/$name" "tests/foreign/$name.c" "$BUILD/sim/libcuda.so.1" &&
        LD_LIBRARY_PATH=$BUILD/sim KCSIM_CUDA_DEVICES=$devices "$OUT/$name" $argument 2>&1; then
        echo "ok program $name, $header"
    else
        echo "not ok program $name, $header"
        status=1
    fi
}

with_both_headers() { # name, devices, argument
    program "$@" "our declarations" -DOWN_HEADER -I.
    if [ -f "${CUDA_HOME:-/usr/local/cuda}/include/cuda.h" ]; then
        program "$@" cuda.h -I"${CUDA_HOME:-/usr/local/cuda}/include"
    else
        echo "skip program $1, cuda.h: it is not installed"
    fi
}

with_both_headers bare sm_80 tests/foreign/ptx/blocks.sm_80.ptx
with_both_headers tour sm_90,sm_80 ""
/usr/bin/python3 tests/foreign/run.py "$BUILD" || status=1
exit $status
