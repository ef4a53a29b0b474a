#!/bin/sh
# Counters of the simulator against the bars for memory traffic.
exec /usr/bin/python3 tests/run/traffic.py "${BUILD:-build}"
