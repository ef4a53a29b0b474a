#!/bin/sh
# Comparison with NumPy on simulated GPUs.
exec /usr/bin/python3 tests/run/numpy_stages.py "${BUILD:-build}"
