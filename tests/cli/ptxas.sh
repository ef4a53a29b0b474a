#!/bin/sh
# An assembler that is missing, fails, hangs, crashes or lies: a message that names the function and the target, the old
# output intact, nothing left behind.
. "$(dirname "$0")/common.sh"
M=$MODELS/saxpy.yaml
tool() { printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1"; }
tool fails 'echo "ptxas fatal : no luck" >&2; exit 7'
tool hangs 'while :; do sleep 1; done'
tool crashes 'kill -SEGV $$'
tool lies 'exit 0'
tool floods 'yes "ptxas info : noise" | head -c 5000000; exit 1'
tool rubbish 'for a; do case $p in -o) echo rubbish > "$a" ;; esac; p=$a; done'
echo old > out.kcb
cp out.kcb old
mkdir tools && mv fails hangs crashes lies floods rubbish tools/
refuses() { # name, tool, pattern
    said=$(KC_PTXAS=$WORK/tools/$2 TMPDIR=$WORK "$KC" build "$M" --target cuda:sm_80 --budget 3 -o out.kcb 2>&1)
    got=$?
    if [ $got -ne 1 ]; then not_ok "$1" "status $got: $said"; return; fi
    if printf '%s' "$said" | grep -q "saxpy for cuda:sm_80.*$3"; then ok "$1"; else not_ok "$1" "$said"; fi
    cmp -s out.kcb old || not_ok "$1_keeps_the_old_file"
}
refuses failing fails 'status 7.*no luck'
refuses hanging hangs 'did not finish'
refuses crashing crashes 'signal 11'
refuses lying lies 'wrote no cubin'
refuses flooding floods 'status 1'
refuses writing_rubbish rubbish 'no cubin'
true_that no_leftovers test "$(ls -A)" = "old
out.kcb
tools"
check missing_and_wanted 1 'a cubin needs ptxas' env KC_PTXAS=/nowhere "$KC" build "$M" --target cuda:sm_80 --images both -o out.kcb
check missing_and_cubin_alone 1 'a cubin needs ptxas' env KC_PTXAS=/nowhere "$KC" build "$M" --target cuda:sm_80 --images cubin -o out.kcb
same still_the_old_file out.kcb old
KC_PTXAS=/nowhere "$KC" build "$M" --target cuda --images auto -o auto.kcb 2> said
if [ $? -eq 0 ] && [ "$(grep -c 'note: no ptxas' said)" -eq 1 ]; then ok auto_without_ptxas_notes_it_once; else not_ok auto_without_ptxas_notes_it_once "$(cat said)"; fi
check the_note_is_recorded 0 'note: no ptxas' "$KC" inspect auto.kcb
check hip_needs_no_ptxas 0 '' env KC_PTXAS=/nowhere "$KC" build "$M" --target hip:gfx942 --images both -o hip.kcb
# every cubin has the PTX it came from
if "$KC" doctor --json | grep -q '"ptxas", "there": true'; then
    "$KC" build "$M" --target cuda:sm_80 --target cuda:sm_90a -o both.kcb
    "$KC" inspect both.kcb | awk '$4 == "cubin" {print $3}' | sort > cubins
    "$KC" inspect both.kcb | awk '$4 == "ptx" {print $3}' | sort > ptx
    check cubins_travel_with_ptx 0 sm_90a comm -12 cubins ptx
    true_that no_cubin_without_ptx test -s cubins -a -z "$(comm -23 cubins ptx)"
    "$KC" build "$M" --target cuda:sm_90a --images cubin -o wanted.kcb
    "$KC" inspect wanted.kcb > wanted
    check a_cubin_alone_has_its_ptx_too 0 'sm_90a *ptx' cat wanted
    check and_is_there 0 'sm_90a *cubin' cat wanted
    check and_brings_portable_ptx 0 'sm_90 *ptx' cat wanted
    check registers_are_known 0 'registers [0-9]' "$KC" inspect both.kcb
    check extracted_ptx_assembles 0 '' sh -c '"$1" inspect --extract sm_80:ptx=x.ptx both.kcb && ${KC_PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)} -arch=sm_80 x.ptx -o /dev/null' sh "$KC"
else
    skip cubins_travel_with_ptx "no ptxas"
fi

# ---- a worker that dies: a fault with the function, the target and what it was doing
tool tools/sleeps '[ "$1" = --version ] && exit 0; sleep 20'
# A sanitizer would catch the signal itself.
(ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0 KC_PTXAS=$WORK/tools/sleeps "$KC" build "$M" --target cuda:sm_80 -o out.kcb 2> fault; echo $? > status) &
tries=0
worker=
while [ $tries -lt 50 ] && [ -z "$worker" ]; do
    sleep 0.1
    tries=$((tries + 1))
    sleeper=$(pgrep -f "$WORK/tools/sleeps" | head -n 1)
    [ -n "$sleeper" ] && worker=$(ps -o ppid= -p "$sleeper" | tr -d ' ')
done
if [ -n "$worker" ] && kill -SEGV "$worker"; then
    wait
    if [ "$(cat status)" = 3 ] && grep -q 'saxpy.yaml:4:3: error: a fault inside kc while compiling saxpy for cuda:sm_80, in code generation: ended by signal 11' fault; then ok a_worker_that_dies
    else not_ok a_worker_that_dies "$(cat status fault)"; fi
    same after_a_fault_the_old_file out.kcb old
else
    wait
    skip a_worker_that_dies "its process was not found"
fi
# a worker that takes too long
KC_PTXAS=$WORK/tools/hangs "$KC" build "$M" --target hip:gfx942 --budget 0.001 -o out.kcb 2> late
got=$?
if [ $got -eq 3 ] && grep -q 'not finished after 0.001 seconds' late; then ok over_budget; else not_ok over_budget "$got $(cat late)"; fi
