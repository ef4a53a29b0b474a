#!/bin/sh
# Pages made from tables are those that `make docs` would make.
set -u
page=$(mktemp)
trap 'rm -f "$page"' EXIT
if awk -f tools/ops_doc.awk ir/ops.def > "$page" && cmp -s "$page" docs/OPS.md; then
    echo "ok docs OPS.md"
else
    echo "not ok docs OPS.md: it is older than ir/ops.def; run make docs"
    diff "$page" docs/OPS.md | head -20
fi
