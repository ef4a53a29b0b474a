# For the scripts beside it: where kc is, a folder to work in, and one line for each check. Not run by itself.
set -u
BUILD=${BUILD:-build}
ROOT=$(pwd)
case $BUILD in /*) KC=$BUILD/bin/kc ;; *) KC=$ROOT/$BUILD/bin/kc ;; esac
MODELS=$ROOT/tests/cli/models
WORK=$(mktemp -d "${TMPDIR:-/tmp}/kc-cli.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
trap 'exit 1' INT TERM
cd "$WORK" || exit 1
[ -x "$KC" ] || { echo "not ok $0: $KC is not there"; exit 1; }

ok() { echo "ok $1"; }
not_ok() { # name, what was seen
    echo "not ok $1"
    shift
    [ $# -gt 0 ] && printf '%s\n' "$*" | head -n 20 | sed 's/^/    /'
}
skip() { echo "skip $1: $2"; }

# check NAME STATUS PATTERN COMMAND...: the command ends with STATUS and says PATTERN (a basic regular expression, "" for
# anything) on stdout or stderr.
check() {
    name=$1 status=$2 pattern=$3
    shift 3
    said=$("$@" 2>&1 < /dev/null)
    got=$?
    if [ $got -ne "$status" ]; then not_ok "$name" "status $got, wanted $status: $said"
    elif [ -n "$pattern" ] && ! printf '%s' "$said" | grep -q -e "$pattern"; then not_ok "$name" "does not say '$pattern': $said"
    else ok "$name"; fi
}
same() { if cmp -s "$2" "$3"; then ok "$1"; else not_ok "$1" "$2 and $3 differ"; fi; } # name, file, file
true_that() { name=$1; shift; if "$@" > /dev/null 2>&1; then ok "$name"; else not_ok "$name" "$*"; fi; }
