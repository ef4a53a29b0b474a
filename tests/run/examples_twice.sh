#!/bin/sh
# Each example builds to the same bytes in another directory, time zone and locale, and with other numbers of jobs.
set -u
kc=$(cd "${BUILD:-build}" && pwd)/bin/kc
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
mkdir "$OUT/elsewhere"
for model in examples/*/*.yaml; do
    name=$(basename "$model" .yaml)
    cp "$model" "$OUT/elsewhere/"
    for data in "$(dirname "$model")"/*.npy; do [ ! -e "$data" ] || cp "$data" "$OUT/elsewhere/"; done # its constants
    if "$kc" build "$model" --target cuda:sm_80 --target hip:gfx942 -j 1 -o "$OUT/a.kcb" &&
        (cd "$OUT/elsewhere" && TZ=Pacific/Auckland LC_ALL=C LANG=de_DE.UTF-8 "$kc" build "$name.yaml" --target cuda:sm_80 --target hip:gfx942 -j 2 -o b.kcb) &&
        cmp "$OUT/a.kcb" "$OUT/elsewhere/b.kcb"; then
        echo "ok $name builds to the same bytes"
    else
        echo "not ok $name builds to the same bytes"
    fi
done
