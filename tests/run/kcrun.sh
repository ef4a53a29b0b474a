#!/bin/sh
# kcrun end to end, on a driver that runs no kernels but has memory: files in, files out, messages, exit statuses.
exec /usr/bin/python3 tests/run/kcrun.py "${BUILD:-build}"
