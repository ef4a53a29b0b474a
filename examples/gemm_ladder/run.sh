#!/bin/sh
# One product with nine schedules: each within the error bound on the simulator, and README.md's table is what the counters say.
set -eu
cd "$(dirname "$0")"
exec /usr/bin/python3 table.py "$(cd ../.. && cd "${BUILD:-build}" && pwd)/bin/kc" "$@"
