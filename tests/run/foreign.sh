#!/bin/sh
# Kernels that nvcc and Triton compiled, on the simulator, against NumPy; a bare program of the driver interface: tests/foreign.
set -u
BUILD=${BUILD:-build}
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
status=0

bare() { # name, flags for the header
    name=$1
    shift
    if gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "$@" -o "$OUT/bare" tests/foreign/bare.c "$BUILD/sim/libcuda.so.1" &&
        LD_LIBRARY_PATH=$BUILD/sim KCSIM_CUDA_DEVICES=sm_80 "$OUT/bare" tests/foreign/ptx/blocks.sm_80.ptx 2>&1; then
        echo "ok bare program, $name"
    else
        echo "not ok bare program, $name"
        status=1
    fi
}

bare "our declarations" -DOWN_HEADER -I.
if [ -f "${CUDA_HOME:-/usr/local/cuda}/include/cuda.h" ]; then
    bare cuda.h -I"${CUDA_HOME:-/usr/local/cuda}/include"
else
    echo "skip bare program, cuda.h: it is not installed"
fi
/usr/bin/python3 tests/foreign/run.py "$BUILD" || status=1
exit $status
