#!/bin/sh
# Folders include only what lies below them: one line a folder, and the pattern of what it may include.
set -u
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT

includes() { # file: "FILE:LINE: NAME" of each include in quotes, or of a library that is not libc
    awk 'match($0, /^[ \t]*#[ \t]*include[ \t]*("[^"]+"|<(llvm|yaml|cjson|lld)[^>]*>)/) {
        name = substr($0, RSTART, RLENGTH)
        sub(/^[^"<]*["<]/, "", name); sub(/[">]$/, "", name)
        print FILENAME ":" FNR ": " name
    }' "$1"
}

wrong() { # folder, how deep, pattern: the includes that do not match
    find "$1" -maxdepth "$2" \( -name '*.[ch]' -o -name '*.def' -o -name '*.cpp' \) | while read -r file; do
        includes "$file"
    done | grep -vE ": ($3)$"
}

check() { # folder, how deep, pattern
    found=$(wrong "$@")
    if [ -z "$found" ]; then
        echo "ok layers $1"
    else
        echo "not ok layers $1: it may include $3"
        echo "$found"
    fi
}

llvm='(llvm|llvm-c|lld)/.*'
#     folder         deep may include
check ir             1 'ir/.*'
check passes         1 "passes/.*|ir/.*|targets/(target|mma|dispatch)\.h|cjson/.*"
check targets        9 "targets/.*|ir/.*|cjson/.*|$llvm"
check runtime        1 'runtime/[^/]*|kcrt\.h|ir/expr\.h|ir/dtype\.h'
check runtime/cuda   9 'runtime/[^/]*|runtime/cuda/.*'
check runtime/hip    9 'runtime/[^/]*|runtime/hip/.*'
check runtime/kcrun  9 'runtime/[^/]*|runtime/kcrun/.*|ir/dtype\.h'
check runtime/ref    9 'runtime/[^/]*|runtime/ref/.*|ir/.*'
check runtime/sim    1 'runtime/sim/[^/]*'
check runtime/sim/cuda 9 'runtime/sim/.*'
check compiler       9 "compiler/.*|passes/[^/]*|targets/.*|runtime/[^/]*|runtime/kcrun/[^/]*|ir/.*|yaml\.h|cjson/.*|$llvm"
check examples       9 'kcrt\.h|[^/]*'

printf '#include "ir/ir.h"\n  # include "passes/pass.h"\n#include <yaml.h>\n' > "$planted/a.c"
if [ "$(wrong "$planted" 1 'ir/.*' | wc -l)" -eq 2 ]; then
    echo "ok layers finds what is wrong"
else
    echo "not ok layers finds what is wrong"
fi
