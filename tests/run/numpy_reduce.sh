#!/bin/sh
# Comparison with NumPy on a simulated GPU.
KC_TEST_TARGET=cuda:sm_75 exec /usr/bin/python3 tests/run/numpy_reduce.py "${BUILD:-build}"
