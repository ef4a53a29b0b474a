#!/bin/sh
# Runs every test and prints "N passed, N failed" as its last line; fails when a test failed or none ran.
#   tests/run.sh BUILD [NAME...]     NAME: part of a test's path; default all
#
# Kinds of test, by place:
#   tests/unit/FOLDER/test_x.c       a cmocka program; each of its tests counts
#   tests/golden, tests/run, tests/cli   scripts *.sh that print lines "ok NAME", "not ok NAME" or "skip NAME: why"
#   examples/*/run.sh                must exit with 0
# Output of failing tests goes to the terminal, all of it to BUILD/test/log/.
set -u
BUILD=${1:-build}
[ $# -gt 0 ] && shift
export BUILD
LOG=$BUILD/test/log
mkdir -p "$LOG"
passed=0 failed=0 skipped=0

wanted() { # path, then the names asked for
    path=$1
    shift
    [ $# -eq 0 ] && return 0
    for name in "$@"; do case $path in *"$name"*) return 0 ;; esac; done
    return 1
}

show() { # name, log, exit status
    echo "FAILED $1 (exit $3)"
    tail -n 40 "$2" | sed 's/^/    /'
}

run_unit() {
    log=$LOG/$(echo "$1" | tr / _).log
    timeout "${KC_TEST_SECONDS:-300}" "$1" > "$log" 2>&1
    status=$?
    ok=$(grep -c '^\[       OK \]' "$log")
    # cmocka names these twice: where it happened and in its summary
    bad=$(grep '^\[  FAILED  \] [A-Za-z_0-9]*$' "$log" | sort -u | wc -l)
    skip=$(grep '^\[  SKIPPED \] [A-Za-z_0-9]*$' "$log" | sort -u | wc -l)
    if [ $status -ne 0 ]; then
        [ "$bad" -eq 0 ] && bad=1
        show "$1" "$log" $status
    elif [ "$ok" -eq 0 ] && [ "$skip" -eq 0 ]; then
        bad=1
        echo "FAILED $1 ran no test"
    else
        bad=0
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

run_script() {
    log=$LOG/$(echo "$1" | tr / _).log
    timeout "${KC_TEST_SECONDS:-600}" "$1" > "$log" 2>&1 < /dev/null
    status=$?
    ok=$(grep -c '^ok ' "$log")
    bad=$(grep -c '^not ok ' "$log")
    skip=$(grep -c '^skip ' "$log")
    grep '^skip ' "$log"
    if [ $status -ne 0 ] || [ "$bad" -gt 0 ]; then
        [ "$bad" -eq 0 ] && bad=1
        show "$1" "$log" $status
    elif [ "$ok" -eq 0 ] && [ "$skip" -eq 0 ]; then
        ok=1 # a script that says nothing says it with its exit status
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

for source in tests/unit/*/test_*.c; do
    program=$BUILD/test/${source#tests/unit/}
    program=${program%.c}
    wanted "$source" "$@" && run_unit "$program"
done
for script in tests/golden/*.sh tests/run/*.sh tests/cli/*.sh examples/*/run.sh; do
    [ -x "$script" ] && wanted "$script" "$@" && run_script "$script"
done

echo
[ $skipped -gt 0 ] && echo "skipped: $skipped (see above)"
if [ $((passed + failed)) -eq 0 ]; then
    echo "no test ran"
    failed=1
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
