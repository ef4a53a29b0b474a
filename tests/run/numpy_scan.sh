#!/bin/sh
# Comparison with NumPy on simulated GPUs.
for target in cuda:sm_75 cuda:sm_90a cuda:sm_120a; do
    KC_TEST_TARGET=$target /usr/bin/python3 tests/run/numpy_scan.py "${BUILD:-build}" || exit 1
done
