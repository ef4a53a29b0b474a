#!/bin/sh
# The strides that kc verify chooses are ones with which a launch takes the outputs, whatever else is fixed about a layout; and
# every function here is right.
. "$(dirname "$0")/common.sh"
cat > m.yaml <<'END'
kc: 1
module: m
functions:
  names_over_names:
    dims: {M: {max: 300}, K: {max: 300}, N: {max: 300}, B: {max: 5}}
    inputs: {a: "f16[B, M, K]", b: "f16[K, N]"}
    outputs: {y: {type: "f32[B, M, N]", strides: [sy, ld, 1]}}
    body: |
      y = matmul(a, b)
  steps_of_two:
    inputs: {a: {type: "f32[M, N]", strides: [la, 3]}}
    outputs: {y: {type: "f32[M, N]", strides: [ld, 2]}}
    body: |
      y = a * 2
  inputs_too:
    dims: {M: {max: 300}, K: {max: 300}, N: {max: 300}, B: {max: 5}}
    inputs:
      a: {type: "bf16[B, M, K]", strides: [sab, lda, 1]}
      b: {type: "bf16[B, N, K]", strides: [0, ldb, 1]}
      r: {type: "f32[N]", strides: [sr]}
    outputs:
      y: {type: "f32[B, M, N]", strides: [syb, ldy, 1]}
      z: {type: "f32[B, M]", strides: [1, sz]}
    body: |
      h = matmul(a, b, transpose_b=true) + r
      y = h
      z = max(h, axis=-1)
  one_name_two_places:
    dims: {M: {max: 60}, N: {max: 60}, B: {max: 9}}
    inputs: {a: {type: "f32[B, M, N]", strides: [s, ld, 1]}, c: {type: "f32[M, 2 * N]", strides: [ld, 1]}}
    outputs: {y: {type: "f32[M, B]", strides: [ld, s]}, z: {type: "f32[B, M, N]", strides: [2 * s, ld, 1]}}
    body: |
      y = transpose(sum(a, axis=2), [1, 0])
      z = a + slice(c, [0, 0], [M, N])
  products:
    dims: {H: {max: 8}, s: {multiple_of: 4}}
    inputs: {a: {type: "f32[M, H, N]", strides: [H * s, s, 1]}}
    outputs: {y: {type: "f32[M, 2, N]", strides: [2 * ly, ly, 1]}}
    body: |
      y = broadcast(sum(a, axis=1, keepdims=true), [M, 2, N])
  inside_a_constant:
    inputs: {a: {type: "f32[M, N]", strides: [1, 1]}}
    outputs: {y: {type: "f32[M, N]", strides: [256, s]}}
    body: |
      y = a + 1
  not_all_sizes:
    dims: {N: {max: 1000}}
    inputs: {a: "f32[M, N]"}
    outputs: {y: {type: "f32[M, N]", strides: [32, 1]}}
    body: |
      y = a + 1
END
check builds 0 '' "$KC" build m.yaml --target cuda:sm_80 --images ptx -o m.kcb
check they_are_taken 0 ' 0 failed, 0 unverified' "$KC" verify m.kcb
