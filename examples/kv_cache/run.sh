#!/bin/sh
# Fills a cache, makes a step, and shows what the kernels moved: the new rows and what is read of the caches, no copy of them.
set -eu
cd "$(dirname "$0")"
PATH=$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin:$PATH
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

kc build kv_cache.yaml --target cuda:sm_80 -o "$OUT/kv_cache.kcb"
kc inspect "$OUT/kv_cache.kcb" | grep -E '^function|input|inout|output'

echo "prefill: 5 rows into a cache of 128"
kc run "$OUT/kv_cache.kcb" prefill --device cuda-sim --dim P=0 --dim Q=123 --input cache=4x128x64:zeros \
    --input rows=5x4x64:normal --check --output cache="$OUT/keys.npy" --counters "$OUT/prefill.json"
echo "step: row 5"
kc run "$OUT/kv_cache.kcb" step --device cuda-sim --input keys="$OUT/keys.npy" --input values="$OUT/keys.npy" --input at=5 \
    --input q=4x64:normal --input k=4x64:normal --input v=4x64:normal --check --counters "$OUT/step.json"
for file in prefill step; do
    { tr -d ' \n' < "$OUT/$file.json" | sed 's/{"name"/\n&/g'; echo; } |
        sed -n 's/^{"name":"\([^"]*\)".*"global_load_bytes":\([0-9]*\).*"global_store_bytes":\([0-9]*\).*/\1: \2 bytes read, \3 written/p'
done
