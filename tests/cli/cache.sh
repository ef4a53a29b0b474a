#!/bin/sh
# --cache-dir: hits give the same bytes, anything that matters makes a miss, damage is a miss, sharing is safe.
. "$(dirname "$0")/common.sh"
cp "$MODELS/several.yaml" m.yaml
hits() { grep -c '"cached": true' "$1"; }
build1() { "$KC" build m.yaml --target cuda:sm_80 --images ptx --cache-dir cache --json "$@"; }
"$KC" build m.yaml --target cuda:sm_80 --images ptx -o plain.kcb
build1 -o first.kcb > first.json
build1 -o second.kcb > second.json
true_that first_is_all_misses test "$(hits first.json)" -eq 0
true_that second_is_all_hits test "$(hits second.json)" -eq 4
same hit_equals_miss first.kcb second.kcb
same cache_changes_nothing first.kcb plain.kcb
build1 -o x.kcb --target hip:gfx942 > other.json
true_that another_target_misses test "$(hits other.json)" -eq 4
sed 's/sqrt(sum(x \* x, axis=1))/sqrt(sum(x, axis=1))/' "$MODELS/several.yaml" > m.yaml
build1 -o x.kcb > changed.json
true_that a_changed_function_misses test "$(hits changed.json)" -eq 3
cp "$MODELS/several.yaml" m.yaml
for f in $(find cache -name '*.kcr'); do dd if=/dev/zero of="$f" bs=1 count=3 seek=200 conv=notrunc 2> /dev/null; done
build1 -o x.kcb > damaged.json
true_that damaged_entries_miss test "$(hits damaged.json)" -eq 0
same and_the_result_is_right x.kcb plain.kcb
build1 -o x.kcb > healed.json
true_that they_are_replaced test "$(hits healed.json)" -eq 4
for f in $(find cache -name '*.kcr'); do : > "$f"; done
build1 -o x.kcb > emptied.json
true_that empty_entries_miss test "$(hits emptied.json)" -eq 0
rm -rf cache
for i in 1 2 3 4; do build1 -o p$i.kcb > p$i.json & done
wait
for i in 1 2 3 4; do same "shared_$i" p$i.kcb plain.kcb; done
true_that no_temporary_files test -z "$(find cache -name '.*' -type f)"
: > file
check unusable_folder_is_a_warning 0 'warning: --cache-dir file cannot be used: Not a directory' "$KC" build m.yaml --target cuda:sm_80 --images ptx --cache-dir file -o x.kcb
same and_still_builds x.kcb plain.kcb
