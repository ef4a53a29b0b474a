#!/bin/sh
# Movement ops after reductions and products against NumPy on the simulator.
KC_TEST_TARGET=cuda:sm_90a exec /usr/bin/python3 tests/run/numpy_carry.py "${BUILD:-build}"
