#!/bin/sh
# Comparison with NumPy on simulated GPUs: all types on one, casts and a few types on the oldest and the newest.
check() {
    KC_TEST_TARGET=cuda:$1 KC_TEST_TYPES="$2" /usr/bin/python3 tests/run/numpy_small_types.py "${BUILD:-build}" | sed "s/$/ on $1/"
}
check sm_90 "f8e4m3 f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e8m0 f4e2m1 i4"
check sm_75 "i4 f8e5m2"
check sm_120 "f4e2m1 f8e4m3"
