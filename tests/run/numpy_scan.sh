#!/bin/sh
# Comparison with NumPy on simulated GPUs.
status=0
KC_TEST_TARGET=cuda:sm_90a /usr/bin/python3 tests/run/numpy_scan.py "${BUILD:-build}" all || status=1
for target in cuda:sm_75 cuda:sm_120a; do
    KC_TEST_TARGET=$target /usr/bin/python3 tests/run/numpy_scan.py "${BUILD:-build}" || status=1
done
exit $status
