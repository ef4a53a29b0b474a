#!/bin/sh
# Every instruction form that the CUDA simulator takes, against an independent definition of its result: tests/instructions.
exec /usr/bin/python3 tests/instructions/run.py "${BUILD:-build}"
