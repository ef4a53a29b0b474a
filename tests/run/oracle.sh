#!/bin/sh
# Results of NumPy and SciPy, tests/oracle: of the reference and of compiled code on the simulator.
exec /usr/bin/python3 tests/oracle/run.py "${BUILD:-build}"
