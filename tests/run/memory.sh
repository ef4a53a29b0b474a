#!/bin/sh
# The memory-bound kernels of `make bench` meet their bars.
exec /usr/bin/python3 tests/bench/memory.py "${BUILD:-build}" --strict
