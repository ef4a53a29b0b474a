#!/bin/sh
# Builds the C program against this build tree and runs it: embedded package on the simulator, the file on the reference
# device, and a device that the package has nothing for.
set -eu
cd "$(dirname "$0")"
ROOT=$(cd ../.. && pwd)
BUILD=$(cd ../.. && cd "${BUILD:-build}" && pwd)
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

make -s OUT="$OUT" KC="$BUILD/bin/kc" TARGETS="--target cuda:sm_80 --target cuda:sm_90a --target hip:gfx942" \
    KCRT_CFLAGS="-I$ROOT/runtime" KCRT_LIBS="-L$BUILD/lib -lkcrt -Wl,-rpath,$BUILD/lib"
echo "-- cuda-sim:sm_90a, the embedded package"
"$OUT/main" cuda-sim:sm_90a
echo "-- ref, from the file"
"$OUT/main" ref "$OUT/vectors.kcb"
echo "-- cuda-sim:sm_75: older than everything in the package"
if "$OUT/main" cuda-sim:sm_75; then
    echo "expected a refusal"
    exit 1
fi
