#!/bin/sh
# Tensors of files in packages: numbers by NumPy on every device, one copy of each content, the dependency file, the cache,
# determinism, kc link, IR text.
. "$(dirname "$0")/common.sh"
PY=/usr/bin/python3
cat > m.yaml <<'END'
kc: 1
module: m
functions:
  lin:
    types: {T: [f16, f32]}
    constants:
      w: {file: data/w.npy, type: "f16[K, N]"}
      b: {file: data/b.safetensors, tensor: layer.bias}
      s: data/s.npy
    inputs: {x: "f16[M, K]"}
    outputs: {y: "T[M, N]"}
    body: |
      y = matmul(x, w) * s + b
  rows:
    constants: {weights: data/w.npy, flags: data/flags.npy}
    outputs: {y: "f32[24]"}
    body: y = where(flags, sum(weights, axis=0), 0)
END
mkdir data
cat > make.py <<'END'
import json, struct, sys
import numpy as np
r = np.random.default_rng(int(sys.argv[1]))
np.save("data/w.npy", r.standard_normal((16, 24)).astype(np.float16))
np.save("data/s.npy", np.float32(0.5))
np.save("data/flags.npy", r.integers(0, 2, 24).astype(bool))
np.save("data/x.npy", r.standard_normal((5, 16)).astype(np.float16))
bias = r.standard_normal(24).astype(np.float32)
header = json.dumps({"other": {"dtype": "I8", "shape": [3], "data_offsets": [0, 3]},
                     "layer.bias": {"dtype": "F32", "shape": [24], "data_offsets": [3, 99]}}).encode()
open("data/b.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + b"abc" + bias.tobytes())
np.save("data/bias.npy", bias)
END
"$PY" make.py 1
KC_BUILD="$KC build m.yaml --images ptx"
check builds 0 '' $KC_BUILD --target cuda:sm_80 --target cuda:sm_90a --target hip:gfx942 -o m.kcb --header m.h -MD m.d
check dependencies 0 '^m.kcb m.h: m.yaml data/w.npy data/b.safetensors data/s.npy data/flags.npy$' cat m.d
check inspected 0 'const  w: f16.16, 24., image' "$KC" inspect m.kcb
check in_a_kernel 0 'lin_f32_v1_k0(x, w, b, y, M)' "$KC" inspect m.kcb
check hashes 0 'agree' "$KC" inspect --verify m.kcb
true_that each_content_once test "$("$KC" inspect m.kcb | grep -c ' const  *const ')" = 3
check no_argument 0 'kc_m_rows(kcrt_function \*f, kcrt_stream \*s, void \*y)' cat m.h
check verifies 0 'variants passed, 0 failed' "$KC" verify m.kcb --allow-unverified
for device in ref cuda-sim:sm_80 cuda-sim:sm_90a; do
    check "rows_$device" 0 '' "$KC" run m.kcb rows --device $device --output y=y.npy
    true_that "rows_${device}_as_numpy" "$PY" -c '
import numpy as np
w, flags = np.load("data/w.npy").astype(np.float64), np.load("data/flags.npy")
assert np.abs(np.load("y.npy") - np.where(flags, w.sum(0), 0)).max() < 1e-5'
    check "lin_$device" 0 '' "$KC" run m.kcb lin_f32 --device $device --input x=data/x.npy --output y=y.npy
    true_that "lin_${device}_as_numpy" "$PY" -c '
import numpy as np
x, w, b = (np.load(f"data/{n}.npy").astype(np.float64) for n in ("x", "w", "bias"))
assert np.abs(np.load("y.npy") - (x @ w * 0.5 + b)).max() < 1e-5'
done
check checked 0 'check passed' "$KC" run m.kcb lin_f16 --device cuda-sim --input x=data/x.npy --check
check stripped 0 '' $KC_BUILD --target cuda:sm_80 --strip -o s.kcb
check stripped_runs 0 '' "$KC" run s.kcb rows --device cuda-sim

# ---- only what is used; the same bytes from anywhere
check one_function 0 '' $KC_BUILD --target cuda:sm_80 --function rows -o one.kcb
true_that its_constants_alone test "$("$KC" inspect one.kcb | grep -c ' const  *const ')" = 2
check again 0 '' $KC_BUILD --target cuda:sm_80 --target cuda:sm_90a --target hip:gfx942 -o again.kcb -j 1
same same_bytes m.kcb again.kcb
mkdir elsewhere
(cd elsewhere && "$KC" build ../m.yaml --images ptx --target cuda:sm_80 --target cuda:sm_90a --target hip:gfx942 -o ../again.kcb)
same same_bytes_from_elsewhere m.kcb again.kcb
check relative_to_the_model 1 'm.yaml:9:10: error: constant .s.: .*data/s.npy: No such file' sh -c 'cp m.yaml elsewhere; "$1" build elsewhere/m.yaml --target cuda:sm_80 -o x.kcb' sh "$KC"

# ---- the cache
check cached 0 '' $KC_BUILD --target cuda:sm_80 --cache-dir cache -o a.kcb
check cached_again 0 '' $KC_BUILD --target cuda:sm_80 --cache-dir cache -o a2.kcb
same from_the_cache a.kcb a2.kcb
"$PY" make.py 2
check other_content 0 '' $KC_BUILD --target cuda:sm_80 --cache-dir cache -o other.kcb
check other_content_runs 0 'check passed' "$KC" run other.kcb rows --device cuda-sim --check --output y=y.npy
true_that other_content_as_numpy "$PY" -c '
import numpy as np
w, flags = np.load("data/w.npy").astype(np.float64), np.load("data/flags.npy")
assert np.abs(np.load("y.npy") - np.where(flags, w.sum(0), 0)).max() < 1e-5'

# ---- kc link
check link_conflict 1 'constant `w` of function `lin_f16` has other content in m.kcb than in b.kcb' sh -c '
    "$1" build m.yaml --images ptx --target cuda:sm_100 -o b.kcb && "$1" link m.kcb b.kcb -o mb.kcb' sh "$KC"
"$PY" make.py 1
check links 0 '' sh -c '"$1" build m.yaml --images ptx --target cuda:sm_100 -o b.kcb && "$1" link m.kcb b.kcb -o mb.kcb' sh "$KC"
true_that shared test "$("$KC" inspect mb.kcb | grep -c ' const  *const ')" = 3
check linked_runs 0 'check passed' "$KC" run mb.kcb lin_f16 --device cuda-sim:sm_100 --input x=data/x.npy --check
check linked_agrees 0 'agree' "$KC" inspect --verify mb.kcb

# ---- IR text holds the hash alone
check tensor_text 0 '' "$KC" build m.yaml --target cuda:sm_80 --emit tensor -o m.kcir
true_that is_small test "$(wc -c < m.kcir)" -lt 3000
check opt 0 'constant "' "$KC" opt --passes=decompose,simplify,fuse m.kcir
check ptx_of_text 0 '' "$KC" build m.kcir --target cuda:sm_80 --emit ptx -o m.ptx
check no_package_of_text 1 'constant .w. of lin_f16 is known by its hash alone' "$KC" build m.kcir --target cuda:sm_80 -o x.kcb

# ---- files that are none
ln -s /dev/zero data/endless.npy
mkfifo data/pipe.npy
: > data/empty.safetensors
for name in endless.npy pipe.npy empty.safetensors; do
    sed "s|s: data/s.npy|s: {file: data/$name, type: f32}|" m.yaml > bad.yaml
    check "refuses_$name" 1 "bad.yaml:9:17: error: constant 's': data/$name: is no " timeout 20 "$KC" build bad.yaml --target cuda:sm_80 -o x.kcb
done
truncate -s 2G data/large.npy
sed "s,data/s.npy,data/large.npy," m.yaml > bad.yaml
check refuses_large 1 'larger than 1 GiB' timeout 20 "$KC" build bad.yaml --target cuda:sm_80 -o x.kcb
