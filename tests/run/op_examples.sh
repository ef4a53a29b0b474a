#!/bin/sh
# The op reference's examples, on the reference and on a simulated GPU.
KC_TEST_TARGET=cuda:sm_80 exec /usr/bin/python3 tests/run/op_examples.py "${BUILD:-build}"
