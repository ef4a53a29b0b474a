#!/bin/sh
# The memory that the simulator takes against what its README states.
exec /usr/bin/python3 tests/run/footprint.py "${BUILD:-build}"
