#!/bin/sh
# The deployed library: small, needing libc alone, exporting its interface alone.
set -u
LIB=${BUILD:-build}/lib/libkcrt.so
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT

if nm -D "$LIB" | grep -qE '__(asan|ubsan|tsan)_'; then
    echo "skip libkcrt: $LIB is instrumented"
    exit 0
fi

strip -o "$stripped" "$LIB"
size=$(($(wc -c < "$stripped")))
if [ $size -lt 150000 ]; then
    echo "ok libkcrt is small"
else
    echo "not ok libkcrt is small: $size bytes stripped, at most 150000"
fi

foreign=$(readelf -d "$LIB" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libdl|libpthread|ld-linux.*)\.so\.')
if [ -z "$foreign" ]; then
    echo "ok libkcrt needs libc alone"
else
    echo "not ok libkcrt needs libc alone: also $foreign"
fi

exported=$(nm -D --defined-only "$LIB" | awk '{ print $3 }')
others=$(echo "$exported" | grep -v '^kcrt_')
if [ -n "$exported" ] && [ -z "$others" ]; then
    echo "ok libkcrt exports its interface alone"
else
    echo "not ok libkcrt exports its interface alone: also $others"
fi
