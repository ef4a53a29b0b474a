#!/bin/sh
# Kernels that nvcc and Triton compiled, on the simulator, against NumPy: tests/foreign.
exec /usr/bin/python3 tests/foreign/run.py "${BUILD:-build}"
