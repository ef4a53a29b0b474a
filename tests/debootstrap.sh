#!/bin/sh
# Proves the README's two commands on a fresh Debian 12: makes a bare root with debootstrap, copies the committed tree into
# it, runs `./setup.sh --run` and `make test` there, and removes it.
#
#     sudo tests/debootstrap.sh [ROOT]       ROOT: where to make it; default a new folder in /var/tmp. KEEP=1 leaves it
#
# Needs root, debootstrap, some 6 GB and a network (the mirror of /etc/apt/sources.list). Takes long; not part of `make test`.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "debootstrap.sh: run it as root"; exit 2; }
command -v debootstrap > /dev/null || { echo "debootstrap.sh: apt-get install debootstrap"; exit 2; }
ROOT=${1:-$(mktemp -d /var/tmp/kc-root.XXXXXX)}

mirror=${MIRROR:-}
[ -n "$mirror" ] || mirror=$(awk '/^deb / { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; exit } }' /etc/apt/sources.list 2> /dev/null || true)
[ -n "$mirror" ] || mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2> /dev/null || true)
[ -n "$mirror" ] || { echo "debootstrap.sh: no package source is configured; give one: MIRROR=URL $0" >&2; exit 2; }

clean_up() {
    umount "$ROOT/proc" 2> /dev/null || true
    [ -n "${KEEP:-}" ] || mountpoint -q "$ROOT/proc" || rm -rf --one-file-system "$ROOT"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

echo "-- debootstrap bookworm $mirror"
debootstrap --variant=minbase bookworm "$ROOT" "$mirror" > "$ROOT.log" 2>&1 || { tail -n 30 "$ROOT.log"; exit 1; }
rm -f "$ROOT.log"
# How this machine reaches its mirror; the root's own list of sources stays as debootstrap made it.
cp -L /etc/resolv.conf "$ROOT/etc/resolv.conf" 2> /dev/null || true
cp /etc/hosts "$ROOT/etc/hosts" 2> /dev/null || true
mount -t proc proc "$ROOT/proc" 2> /dev/null || mount --bind /proc "$ROOT/proc"

mkdir -p "$ROOT/root/kc"
git archive HEAD | tar -x -C "$ROOT/root/kc"
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
        no_proxy="${no_proxy:-}" chroot "$ROOT" sh -c "cd /root/kc && $1"
}
echo "-- ./setup.sh --run"
inside "./setup.sh --run"
echo "-- make test"
inside "make test"
