#!/bin/sh
# Comparison with NumPy on a simulated GPU.
KC_TEST_TARGET=cuda:sm_90a exec /usr/bin/python3 tests/run/numpy_small.py "${BUILD:-build}"
