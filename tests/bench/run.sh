#!/bin/sh
# The table of `make bench`: tests/bench/run.sh BUILD. Each line: what, measured, target, measured/target. A target that is
# missed is marked; the exit status is about failures to measure, because times depend on the machine.
set -eu
BUILD=${1:-build}
kc=$BUILD/bin/kc
measure=$BUILD/bench/measure
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
TABLE=$BUILD/bench.txt
: > "$TABLE"

say() { echo "$*" | tee -a "$TABLE"; }
row() { # what, value, unit, target or -
    awk -v what="$1" -v value="$2" -v unit="$3" -v target="$4" 'BEGIN {
        if (target == "-") printf "%-58s %10.4g %-8s\n", what, value, unit
        else printf "%-58s %10.4g %-8s %8.4g %6.2f%s\n", what, value, unit, target, value / target, (value > target ? "  MISSED" : "")
    }' | tee -a "$TABLE"
}
field() { echo "$1" | cut -d ' ' -f "$2"; }
counter() { grep -o "\"$1\": *[0-9]*" "$2" | grep -o '[0-9]*$' | awk '{ n += $1 } END { printf "%.0f", n }'; }

say "$("$kc" version | head -1); $(uname -m), $(nproc) cores; the least of 5 runs where one is short"
say "$(printf '%-58s %10s %-8s %8s %6s' what measured '' target ratio)"

# ---- building
cost=$("$measure" -n 5 "$kc" version)
row "kc version (start of the program), processor time" "$(field "$cost" 2)" ms -
cost=$("$measure" -n 5 "$kc" build examples/linear_gelu/linear_gelu.yaml --target cuda:sm_90a --emit ptx -o "$OUT/l.ptx")
row "kc build linear_gelu to PTX for one GPU, processor time" "$(field "$cost" 2)" ms 100
row "  wall time" "$(field "$cost" 1)" ms -
row "  peak memory" "$(($(field "$cost" 3) / 1024))" MiB -
for jobs in 1 "$(nproc)"; do
    cost=$("$measure" "$kc" build examples/digits/digits.yaml --target cuda --target hip --images ptx -j "$jobs" -o "$OUT/d.kcb")
    row "kc build digits, every architecture, -j $jobs: wall time" "$(field "$cost" 1)" ms -
    row "  processor time" "$(field "$cost" 2)" ms -
    row "  peak memory of a process" "$(($(field "$cost" 3) / 1024))" MiB -
done
images=$("$kc" targets | grep -cE '\b(sm_|gfx)') || images=0
[ "$images" -eq 0 ] || row "  processor time an architecture" "$(field "$cost" 2 | awk -v n="$images" '{ print $1 / n }')" ms -
row "  size of the package" "$(($(stat -c %s "$OUT/d.kcb") / 1024))" KiB -

# ---- passes
say ""
say "kc build linear_gelu --target cuda:sm_90a --emit ptx --time-passes:"
"$kc" build examples/linear_gelu/linear_gelu.yaml --target cuda:sm_90a --emit ptx -o "$OUT/l.ptx" --time-passes 2>&1 | tee -a "$TABLE"

# ---- runtime
say ""
cp "$BUILD/lib/libkcrt.so" "$OUT/libkcrt.so"
strip "$OUT/libkcrt.so"
row "libkcrt.so, stripped" "$(($(stat -c %s "$OUT/libkcrt.so") / 1024))" KiB 150
say "  needs $(readelf -d "$OUT/libkcrt.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')"
launch=$("$BUILD/bench/launch_cost" "$BUILD/bench/libnull_cuda.so" 200000) || true
nanoseconds() { echo "$launch" | grep -o "\"$1\": *[-0-9.]*" | grep -o '[-0-9.]*$'; }
row "a launch beyond a driver call that does nothing" "$(nanoseconds overhead_ns)" ns 1000

# ---- simulator: thread instructions a second, that is 32 for each warp instruction
speed() { # what, KCSIM_CHECKS, model, function, inputs...
    what=$1 checks=$2 model=$3 function=$4
    shift 4
    [ -f "$OUT/$model.kcb" ] || "$kc" build "examples/$model/$model.yaml" --target cuda:sm_90a --images ptx -o "$OUT/$model.kcb"
    KCSIM_CHECKS=$checks "$kc" run "$OUT/$model.kcb" "$function" --device cuda-sim:sm_90a --counters "$OUT/c.json" "$@" > "$OUT/log" ||
        { cat "$OUT/log"; exit 1; }
    cost=$(KCSIM_CHECKS=$checks "$measure" -n 2 "$kc" run "$OUT/$model.kcb" "$function" --device cuda-sim:sm_90a "$@")
    warps=$(sed 's/.*"instructions": *{\([^}]*\)}.*/\1/; t; d' "$OUT/c.json" | grep -o ': *[0-9]*' | grep -o '[0-9]*' | awk '{ n += $1 } END { printf "%.0f", n }')
    row "simulator, $what, checks $checks" "$(awk -v n="$warps" -v ms="$(field "$cost" 1)" 'BEGIN { print 32 * n / ms / 1e3 }')" "M/s" -
}
for checks in all none; do
    speed "softmax 64x4096" $checks softmax softmax --input x=64x4096:normal
    speed "linear_gelu 128x256x256" $checks linear_gelu linear_gelu --input x=128x256:normal --input w=256x256:normal \
        --input b=256:uniform --input alpha=1
done
echo "written to $TABLE"
