#!/bin/sh
# Installs what kc needs to build and test on Debian 12, as root or through sudo. Running it again changes nothing.
# `./setup.sh --run` goes on: it builds kc and runs the digits example (fat binary, simulator, check).
set -eu
cd "$(dirname "$0")"

PACKAGES="make gcc g++ pkg-config llvm-22-dev llvm-22-tools lld lld-22 liblld-22-dev clang-22 libcjson-dev libyaml-dev
  libzstd-dev zlib1g-dev libcmocka-dev libxxhash-dev python3 python3-numpy procps"
# Vendor headers, to compare our own declarations with. The tests say so when they are missing.
OPTIONAL="libamdhip64-dev"

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo > /dev/null; then sudo "$@"; else
        echo "setup.sh: root or sudo is needed to run: $*" >&2
        exit 1
    fi
}

missing() {
    for p in $1; do
        dpkg-query -W -f '${Status}\n' "$p" 2> /dev/null | grep -q ' installed$' || echo "$p"
    done
}

# LLVM 22 comes from Debian's security suite, which a bare root may lack.
add_security_suite() {
    apt-cache show llvm-22-dev > /dev/null 2>&1 && return
    . /etc/os-release
    mirror=$(awk '/^deb / { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; exit } }' /etc/apt/sources.list 2> /dev/null || true)
    [ -n "$mirror" ] || mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2> /dev/null || true)
    if [ -z "$mirror" ]; then
        echo "setup.sh: no package source is configured; LLVM 22 comes from Debian 12's security suite" >&2
        exit 1
    fi
    security=$(printf '%s' "$mirror" | sed 's:/*$::; s:/debian$:/debian-security:')
    echo "deb $security ${VERSION_CODENAME}-security main" > /tmp/kc-security.list
    as_root install -m 644 /tmp/kc-security.list /etc/apt/sources.list.d/kc-security.list
    rm -f /tmp/kc-security.list
    as_root apt-get update -q
}

if [ -n "$(missing "$PACKAGES")" ]; then
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -q
    add_security_suite
    as_root apt-get install -y -q --no-install-recommends $(missing "$PACKAGES")
    as_root apt-get install -y -q --no-install-recommends $OPTIONAL || echo "setup.sh: without $OPTIONAL some comparisons are skipped"
fi

if [ "${1:-}" = --run ]; then
    make -j "$(nproc)"
    examples/digits/run.sh
fi
