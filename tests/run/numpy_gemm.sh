#!/bin/sh
# Products on tensor cores against NumPy, on simulated GPUs: a sample; `make nightly` takes everything.
BUILD=${BUILD:-build}
# Sanitized libraries in a Python that is not.
if grep -q libasan "$BUILD/lib/libkcrt.so"; then LD_PRELOAD=$(gcc -print-file-name=libasan.so) && export LD_PRELOAD; fi
exec /usr/bin/python3 tests/run/numpy_gemm.py "$BUILD"
