#!/bin/sh
# Each fuzzer runs its corpus once. `make fuzz` goes on from there.
set -u
BUILD=${BUILD:-build}
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    if out=$(timeout 120 "$BUILD/fuzz/$name" 2>&1); then
        echo "ok $name"
    else
        echo "not ok $name"
        echo "$out"
    fi
done
