#!/bin/sh
# Split reductions against NumPy on the simulator.
KC_TEST_TARGET=cuda:sm_90a exec /usr/bin/python3 tests/run/numpy_split.py "${BUILD:-build}"
