#!/bin/sh
# Results of NumPy and SciPy, tests/oracle: of the reference and of compiled code on the simulator.
/usr/bin/python3 -W ignore tests/oracle/test_compare.py
exec /usr/bin/python3 tests/oracle/run.py "${BUILD:-build}"
