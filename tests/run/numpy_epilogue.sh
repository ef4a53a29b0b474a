#!/bin/sh
# Comparison with NumPy on a simulated GPU.
exec /usr/bin/python3 tests/run/numpy_epilogue.py "${BUILD:-build}"
