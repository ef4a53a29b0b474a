#!/bin/sh
# Mutants of correct kernels on the simulator, a share of them: tests/mutants. All of them: make nightly.
exec /usr/bin/python3 tests/mutants/mutants.py "${BUILD:-build}" --sample 4
