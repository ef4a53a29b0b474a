#!/bin/sh
# Pages made from tables are those that `make docs` would make.
set -u
page=$(mktemp)
trap 'rm -f "$page"' EXIT

check() { # page, what it is made from, command
    name=$1 source=$2
    shift 2
    if "$@" > "$page" && cmp -s "$page" "docs/$name"; then
        echo "ok docs $name"
    else
        echo "not ok docs $name: it is older than $source, or the above is missing; run make docs"
        diff "$page" "docs/$name" | head -20
    fi
}

check OPS.md compiler/frontend/body_ops.def "${BUILD:-build}/tools/ops_reference"
check IR_OPS.md ir/ops.def awk -f tools/ir_ops.awk ir/ops.def
