#!/bin/sh
# Outputs appear whole or not at all.
. "$(dirname "$0")/common.sh"
M=$MODELS/saxpy.yaml
B="--target cuda:sm_80 --images ptx"
"$KC" build "$M" $B -o good.kcb || not_ok build
check full_device 1 'No space left' "$KC" build "$M" $B -o /dev/full
check full_stdout 1 'No space left' sh -c '"$1" build "$2" --target cuda:sm_80 --emit ptx > /dev/full' sh "$KC" "$M"
check full_stdout_inspect 1 'No space left' sh -c '"$1" inspect good.kcb > /dev/full' sh "$KC"

# ---- a file system without room
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none disk 2> /dev/null; then
    trap 'cd /; umount "$WORK/disk"; rm -rf "$WORK"' EXIT
    echo old > disk/out.kcb
    check full_disk 1 'disk/out.kcb: No space left' "$KC" build "$MODELS/linear_gelu.yaml" --target cuda:sm_80 --images ptx -o disk/out.kcb
    true_that old_file_survives test "$(cat disk/out.kcb)" = old
    true_that no_leftovers_on_the_disk test "$(ls -A disk)" = out.kcb
    check small_one_fits 0 '' "$KC" build "$M" $B -o disk/small.kcb
    same and_is_whole disk/small.kcb good.kcb
else
    skip full_disk "no tmpfs can be mounted here"
fi

# ---- existing files
echo old > out.kcb && chmod 640 out.kcb && ln -s out.kcb link.kcb
check replaces 0 '' "$KC" build "$M" $B -o link.kcb
true_that the_link_stays test -L link.kcb
same the_file_behind_it out.kcb good.kcb
true_that permissions_stay test "$(stat -c %a out.kcb)" = 640
check to_a_pipe 0 '' sh -c '"$1" build "$2" --target cuda:sm_80 --images ptx -o /dev/stdout | cmp - good.kcb' sh "$KC" "$M"
# a header that cannot be written: then there is no package either
rm -f new.kcb
check header_fails 1 'create its folder' "$KC" build "$M" $B -o new.kcb --header nowhere/x.h
true_that so_no_package test ! -e new.kcb

# ---- kill -9 at any moment
mkdir kill
"$KC" build "$M" $B -o kill/out.kcb
cp good.kcb want
bad=0 n=0 killed=0
end=$(($(date +%s) + 12))
while [ $n -lt 60 ] && [ "$(date +%s)" -lt $end ]; do
    n=$((n + 1))
    [ $((n % 3)) -eq 0 ] && rm -f kill/out.kcb # every third time there is no old file
    "$KC" build "$M" $B -o kill/out.kcb 2> /dev/null &
    p=$!
    sleep "0.0$((n % 4))$((n % 10))"
    kill -9 $p 2> /dev/null && killed=$((killed + 1))
    wait $p 2> /dev/null
    if [ -e kill/out.kcb ]; then cmp -s kill/out.kcb want || { bad=$((bad + 1)); continue; }; fi
done 2> /dev/null
sleep 0.3
left=$(ls -A kill | grep -v '^out.kcb$')
if [ $bad -eq 0 ] && [ -z "$left" ]; then ok "kill_at_any_moment ($n builds)"; else not_ok kill_at_any_moment "$bad files damaged, left: $left"; fi
true_that no_workers_are_left test -z "$(pgrep -f "$WORK/kill/out.kcb")"
