#!/bin/sh
# The key `types`: instances by name, their numbers, the header, and which instance a mistake is in.
. "$(dirname "$0")/common.sh"
PY=/usr/bin/python3
cat > t.yaml <<'END'
kc: 1
module: t
functions:
  scale:
    types: {T: [f16, f32], I: [i8, i32]}
    inputs: {x: "T[N]", i: "I[N]"}
    outputs: {y: "T[N]", j: "I[N]"}
    body: |
      y = x * 3 + cast(i, T)
      j = cast(x, I) + i
    schedule:
      - {kernel: y, warps: 2}
END
check builds 0 '' "$KC" build t.yaml --target cuda:sm_80 --images ptx -o t.kcb --header t.h
for f in scale_f16_i8 scale_f16_i32 scale_f32_i8 scale_f32_i32; do
    check "has_$f" 0 "function $f" "$KC" inspect t.kcb
    check "header_has_$f" 0 "kc_t_$f" cat t.h
done
check verifies 0 'variants passed, 0 failed' "$KC" verify t.kcb
check one_instance 0 '' "$KC" build t.yaml --target cuda:sm_80 --images ptx -o one.kcb --function scale_f32_i8
true_that only_that_one test "$("$KC" inspect one.kcb | grep -c ^function)" = 1
check bare_name 1 'did you mean: scale_f16_i8 scale_f16_i32 scale_f32_i8 scale_f32_i32' \
    "$KC" build t.yaml --target cuda:sm_80 --images ptx -o one.kcb --function scale

"$PY" - <<'END'
import numpy as np
np.save("x.npy", np.arange(33, dtype=np.float16) / 4 - 3)
np.save("i.npy", np.arange(33, dtype=np.int8) - 16)
END
check runs 0 '' "$KC" run t.kcb scale_f16_i8 --device cuda-sim --input x=x.npy --input i=i.npy --output y=y.npy --output j=j.npy
true_that as_numpy "$PY" - <<'END'
import numpy as np
x, i = np.load("x.npy"), np.load("i.npy")
assert np.array_equal(np.load("y.npy"), (x.astype(np.float32) * 3 + i).astype(np.float16))
assert np.array_equal(np.load("j.npy"), x.astype(np.int8) + i)
END

sed 's/x \* 3/exp(x)/; s/T: .f16, f32./T: [f16, i16]/' t.yaml > bad.yaml
"$KC" build bad.yaml --target cuda:sm_80 -o bad.kcb 2> said
true_that told_once test "$(grep -c error: said)" = 1
check names_the_instances 0 "bad.yaml:9:7: error: .*(in scale_i16_i8, scale_i16_i32)" cat said

# ---- mistakes that passes find
cat > pass.yaml <<'END'
kc: 1
module: t
functions:
  mm:
    types: {T: [f16, f64]}
    inputs: {a: "T[M, K]", b: "T[K, N]"}
    outputs: {y: "f64[M, N]"}
    body: y = cast(matmul(a, b), "f64")
    schedule:
      - {kernel: y, tile: [128, 128, 64], stages: 4}
END
"$KC" build pass.yaml --target cuda:sm_80 --target cuda:sm_90 --images ptx -o pass.kcb 2> said
true_that passes_tell_once test "$(grep -c error: said)" -le 2
check passes_name_the_instance 0 'pass.yaml:[0-9:]*: error: .*(in mm_f64)' cat said
