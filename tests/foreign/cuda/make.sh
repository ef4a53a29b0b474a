#!/bin/sh
# Compiles the kernels of this folder to ../ptx with nvcc: make.sh [FILE.cu...]. Needs CUDA 13; the result is committed.
# Comments go, and so do blank lines; what is left is what nvcc said.
set -eu
cd "$(dirname "$0")"
NVCC=${NVCC:-nvcc}
mkdir -p ../ptx
[ $# -gt 0 ] || set -- *.cu
for source in "$@"; do
    flags=$(sed -n '1s/^.*[Ww]ith \(-[a-z_]*\).*/\1/p' "$source") # "With -use_fast_math"
    archs=$(sed -n '1s/^[^[]*\[\(sm_[0-9a-z_ ]*\)\].*/\1/p' "$source") # "[sm_90a]": these only
    for arch in ${archs:-sm_75 sm_80 sm_89 sm_90a}; do
        out=../ptx/${source%.cu}.$arch.ptx
        "$NVCC" -std=c++17 -O3 $flags -ptx -arch="$arch" -o "$out.raw" "$source"
        sed -e 's:[ \t]*//.*$::' -e '/^[ \t]*$/d' "$out.raw" > "$out"
        rm "$out.raw"
    done
done
