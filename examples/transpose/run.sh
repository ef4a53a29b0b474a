#!/bin/sh
# Transposes f32[1000, 777] and shows what the simulator counted: bank conflicts in shared memory and sectors of global memory.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build transpose.yaml --target cuda:sm_90a -o "$OUT/transpose.kcb"
kc run "$OUT/transpose.kcb" transpose --device cuda-sim:sm_90a --input x=1000x777:arange --check --counters "$OUT/counters.json"
for counter in shared_bank_conflicts global_load_sectors global_load_sectors_ideal global_store_sectors global_store_sectors_ideal; do
    echo "  $counter $(grep -o "\"$counter\": *[0-9]*" "$OUT/counters.json" | grep -o '[0-9]*$')"
done
grep -q '"shared_bank_conflicts": *0\b' "$OUT/counters.json" || { echo "expected no bank conflicts"; exit 1; }
