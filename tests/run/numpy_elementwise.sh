#!/bin/sh
# Comparison with NumPy on a simulated GPU.
KC_TEST_TARGET=cuda:sm_89 exec /usr/bin/python3 tests/run/numpy_elementwise.py "${BUILD:-build}"
