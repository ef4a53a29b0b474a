#!/bin/sh
# Random models: those that once failed, then a small fixed set of new ones. tests/random/README.md.
set -u
BUILD=${BUILD:-build}
# Sanitized libraries in a Python that is not.
if grep -q libasan "$BUILD/lib/libkcrt.so"; then LD_PRELOAD=$(gcc -print-file-name=libasan.so) && export LD_PRELOAD; fi
/usr/bin/python3 tests/random/replay.py --build "$BUILD" tests/random/kept/*.yaml
/usr/bin/python3 tests/random/run.py --build "$BUILD" --seed 20 --count 96 --jobs 2 --seconds 40 --no-shrink > "$BUILD/random.log" 2>&1
status=$?
cat "$BUILD/random.log"
if [ $status -eq 0 ]; then echo "ok random models of seed 20"; else echo "not ok random models of seed 20"; fi
