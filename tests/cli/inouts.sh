#!/bin/sh
# Tensors updated in place: their arguments on the command line and in the header, the numbers by NumPy, and the traffic: an
# element that keeps its value is neither loaded nor stored.
. "$(dirname "$0")/common.sh"
PY=/usr/bin/python3
cat > m.yaml <<'END'
kc: 1
module: m
functions:
  row:
    inputs: {new: "f32[B, 1, D]", pos: i64}
    inouts: {cache: "f16[B, S, D]"}
    outputs: {old: "f16[B, S]", sum: "f32[B, S]"}
    body: |
      old = max(cache, axis=2)
      cache = where(reshape(iota([S]), [1, S, 1]) == pos, new, cache)
      sum = sum(cache, axis=2)
  rows:
    dims: {P: {max: 1000}, Q: {max: 1000}}
    inputs: {new: "f32[R, D]"}
    inouts: {cache: "f32[P + R + Q, D]"}
    body: |
      cache = concat([slice(cache, [0], [P], axes=[0]), new, slice(cache, [P + R], [P + R + Q], axes=[0])], 0)
  swap:
    inouts: {a: "i32[N]", b: "i32[N]"}
    body: |
      t = a
      a = b
      b = t
END
check builds 0 '' "$KC" build m.yaml --target cuda:sm_80 --images ptx -o m.kcb --header m.h
check inspected 0 'inout  cache: f16.B, S, D.' "$KC" inspect m.kcb
check in_the_header 0 'kc_m_row(kcrt_function \*f, kcrt_stream \*s, const void \*new_, int64_t pos, void \*cache, void \*old' cat m.h
check verifies 0 'variants passed, 0 failed' "$KC" verify m.kcb
check wants_the_old_contents 1 'input `cache` (f16) is missing' "$KC" run m.kcb row --device cuda-sim --input new=1x1x8:ones --input pos=0
check no_such_input 1 'no input of that name' "$KC" run m.kcb row --device cuda-sim --input old=1x1:ones

"$PY" - <<'END'
import numpy as np
r = np.random.default_rng(1)
np.save("cache.npy", r.standard_normal((3, 16, 64)).astype(np.float16))
np.save("new.npy", r.standard_normal((3, 1, 64)).astype(np.float32))
np.save("flat.npy", r.standard_normal((16, 64)).astype(np.float32))
np.save("rows.npy", r.standard_normal((2, 64)).astype(np.float32))
END
for device in ref cuda-sim; do
    check "row_on_$device" 0 '' "$KC" run m.kcb row --device $device --input cache=cache.npy --input new=new.npy --input pos=5 \
        --output cache=got.npy --output old=old.npy --output sum=sum.npy
    true_that "row_on_${device}_as_numpy" "$PY" - <<'END'
import numpy as np
cache, new = np.load("cache.npy"), np.load("new.npy")
exact = cache.astype(np.float64)
exact[:, 5] = new[:, 0]
want = cache.copy()
want[:, 5] = new[:, 0]
assert np.array_equal(np.load("got.npy"), want)
assert np.array_equal(np.load("old.npy"), cache.max(axis=2))
assert np.abs(np.load("sum.npy") - exact.sum(axis=2)).max() < 1e-4
END
done
check kept_the_input_file 0 '' "$KC" run m.kcb row --device cuda-sim --input cache=cache.npy --input new=new.npy --input pos=5 \
    --check --counters c.json
true_that moves_a_row "$PY" - <<'END'
import json
writes = [k for k in json.load(open("c.json"))["kernels"] if k["global_store_bytes"] == 3 * 64 * 2]
assert len(writes) == 1, writes
assert writes[0]["global_load_bytes"] == 3 * 64 * 4
assert writes[0]["global_store_sectors"] == writes[0]["global_store_sectors_ideal"]
END
check rows 0 'check passed' "$KC" run m.kcb rows --device cuda-sim --input cache=flat.npy --input new=rows.npy --dim P=3 --dim Q=11 \
    --check --output cache=got.npy --counters c.json
true_that rows_move_rows "$PY" - <<'END'
import json
import numpy as np
kernels = json.load(open("c.json"))["kernels"]
assert len(kernels) == 1
assert kernels[0]["global_load_bytes"] == kernels[0]["global_store_bytes"] == 2 * 64 * 4
want = np.load("flat.npy")
want[3:5] = np.load("rows.npy")
assert np.array_equal(np.load("got.npy"), want)
END
check swaps 0 'check passed' "$KC" run m.kcb swap --device cuda-sim --input a=1000:arange --input b=1000:zeros --check --output a=a.npy --output b=b.npy
true_that swapped "$PY" -c 'import numpy as np; assert not np.load("a.npy").any(); assert np.array_equal(np.load("b.npy"), np.arange(1000))'
