#!/bin/sh
# A product of symbolic sizes with an activation behind it, as large as tiles get: the assembler reports no spills.
set -u
BUILD=${BUILD:-build}
KC=$BUILD/bin/kc
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

check() { # architecture: each kernel's line of resources says that it spills nothing
    "$KC" build examples/linear_gelu/linear_gelu.yaml --target "cuda:$1" -o "$folder/k.kcb" 2> "$folder/said" || { cat "$folder/said"; return 1; }
    "$KC" inspect "$folder/k.kcb" > "$folder/text"
    grep 'spills' "$folder/text" > "$folder/kernels" && ! grep -v 'spills 0,' "$folder/kernels"
}

for arch in sm_80 sm_120a; do
    name="linear_gelu, registers on $arch"
    if ! "$KC" doctor --json | grep -q '"ptxas", "there": true'; then echo "skip $name: no ptxas"
    elif check "$arch"; then echo "ok $name"
    else echo "not ok $name"; fi
done
