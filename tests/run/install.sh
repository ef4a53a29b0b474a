#!/bin/sh
# What `make install` puts somewhere works from there: pkg-config, header files, library, compiler, simulator.
set -u
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
if make -s BUILD="${BUILD:-build}" PREFIX="$OUT/prefix" install > "$OUT/log" 2>&1 &&
    cp -r examples/c_program "$OUT/program" && cd "$OUT/program" &&
    export PATH="$OUT/prefix/bin:$PATH" PKG_CONFIG_PATH="$OUT/prefix/lib/pkgconfig" LD_LIBRARY_PATH="$OUT/prefix/lib" &&
    make -s TARGETS="--target cuda:sm_80" > "$OUT/log" 2>&1 && ./main cuda-sim:sm_80 > "$OUT/log" 2>&1 &&
    ./main ref > "$OUT/log" 2>&1 && pkg-config --modversion kcrt > "$OUT/log"; then
    echo "ok an installed kc builds and runs a C program"
else
    echo "not ok an installed kc builds and runs a C program"
    cat "$OUT/log"
fi
