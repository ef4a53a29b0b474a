#!/bin/sh
# Our kernels under three seeds of the scheduler; `make nightly` takes 50, and all comparisons.
exec /usr/bin/python3 tests/run/seeds.py "${BUILD:-build}"
