"""Reductions of few long rows, which are cut into parts, against NumPy: exact for integers and for max, gamma_n for sums."""
import numpy as np
from kctest import *


def function(inputs, output, expression):
    return f'inputs: {{{inputs}}}\noutputs: {{y: "{output}"}}\nbody: |\n  y = {expression}\n'


model = Model({
    "sum_float": function('x: "f32[N]"', "f32", "sum(x)"),
    "sum_integer": function('x: "i32[N]"', "i32", "sum(x)"),
    "largest": function('x: "f16[N]"', "f16", "max(x)"),
    "first_largest": function('x: "f32[M, N]"', "i64", "argmax(x)"),
    "first_least": function('x: "i8[M, N]"', "i64", "argmin(x)"),
    "rows": function('x: "i32[3, 100003]"', "i32[3]", "max(x, axis=1) + 1"),
    "columns": function('x: "i32[1003, 300]"', "i32[300]", "sum(x, axis=0)"),
    "centred": function('x: "f32[2, 1050000]"', "f32[2, 1050000]", "x - mean(x, axis=1, keepdims=true)"),
}, "split")

products = {}
for split in (1, 2, 3, 7):
    for ta in (False, True):
        for tb in (False, True):
            name = f"by_{split}_{'nt'[ta]}{'nt'[tb]}"
            products[name] = f"""
inputs: {{a: "f16[{'K, M' if ta else 'M, K'}]", b: "f16[{'N, K' if tb else 'K, N'}]"}}
outputs: {{y: "f32[M, N]"}}
body: |
  y = matmul(a, b, transpose_a={str(ta).lower()}, transpose_b={str(tb).lower()})
schedule:
  - {{target: cuda, kernel: y, split: {split}, tile: [32, 32, 32]}}
"""
products |= {
    "batches": """
inputs: {a: "i8[B, C, 5, K]", b: "i8[C, K, 40]"}
outputs: {y: "i32[B, C, 5, 40]"}
body: |
  y = matmul(a, b)
schedule:
  - {split: 3}
""",
    "epilogue": """
inputs: {a: "f32[48, 1000]", b: "f32[1000, 80]", c: "f32[80]", r: "f32[48, 80]"}
outputs: {y: "f16[48, 80]", z: "f32[48, 80]"}
body: |
  h = matmul(a * 2, b) + c
  z = h + r
  y = cast(relu(z), "f16")
schedule:
  - {kernel: y, split: 4, tile: [48, 16, 32], warps: 2}
""",
    "fixed": """
inputs: {a: "f64[16, 8192]", b: "f64[8192, 24]"}
outputs: {y: "f64[16, 24]"}
body: |
  h = matmul(a, b)
  y = h * 2
schedule:
  - {kernel: h, split: 16}
""",
    "chain": """
inputs: {a: "f16[M, K]", b: "f16[K, N]", c: "f32[N, 33]"}
outputs: {y: "f32[M, 33]"}
body: |
  h = matmul(a, b)
  y = softmax(matmul(h, c))
schedule:
  - {split: 2}
""",
    "reduction": """
inputs: {x: "i32[M, N]"}
outputs: {y: "i32[M]"}
body: |
  y = sum(x, axis=1)
schedule:
  - {kernel: y, split: 5, warps: 2}
""",
}
splits = Model(products, "split_products")


def rounding(x, depth):  # of a sum in any order, and of what else it goes through
    return float(np.abs(x).sum(dtype=np.float64)) * depth * 2.0**-24


for n in (0, 1, 5, 8192, 8193, 70000, 262144, 1000003):
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    compare(f"integer sum of {n}", model, "sum_integer", {"x": x}, {"y": x.sum(dtype=np.int32)})
    x = rng.standard_normal(n).astype(np.float32)
    compare(f"float sum of {n}", model, "sum_float", {"x": x}, {"y": x.sum(dtype=np.float64)}, rounding(x, n))
    if n:
        x = x.astype(np.float16)
        compare(f"largest of {n}", model, "largest", {"x": x}, {"y": x.max()})
for shape in ((1, 1), (3, 7), (1000, 77), (300, 1024), (1, 300001), (300001, 1)):
    x = rng.standard_normal(shape).astype(np.float32)
    x[rng.integers(0, shape[0], 5), rng.integers(0, shape[1], 5)] = 9
    compare(f"argmax of {shape}", model, "first_largest", {"x": x}, {"y": np.argmax(x)})
    x = rng.integers(-128, 128, shape).astype(np.int8)
    compare(f"argmin of {shape}", model, "first_least", {"x": x}, {"y": np.argmin(x)})
x = rng.integers(-10**9, 10**9, (3, 100003)).astype(np.int32)
compare("three long rows", model, "rows", {"x": x}, {"y": x.max(1) + 1})
x = rng.integers(-10**5, 10**5, (1003, 300)).astype(np.int32)
compare("deep columns", model, "columns", {"x": x}, {"y": x.sum(0, dtype=np.int32)})
x = rng.standard_normal((2, 1050000)).astype(np.float32)
want = x - x.astype(np.float64).mean(1, keepdims=True)
compare("huge rows that are wanted again", model, "centred", {"x": x}, {"y": want}, rounding(x[0], 1050000) / 1050000 + 2.0**-22)

for split in (1, 2, 3, 7):
    for t in ("nn", "nt", "tn", "tt"):
        for m, n, k in ((17, 33, 100), (64, 32, 256), (5, 40, 3), (1, 1, 1000), (16, 8, 777)):
            a, b = rng.integers(-8, 9, (m, k)).astype(np.float16), rng.integers(-8, 9, (k, n)).astype(np.float16)
            stored = {"a": np.ascontiguousarray(a.T) if t[0] == "t" else a, "b": np.ascontiguousarray(b.T) if t[1] == "t" else b}
            compare(f"product in {split} parts, {t} {m}x{n}x{k}", splits, f"by_{split}_{t}", stored, {"y": a.astype(np.float32) @ b.astype(np.float32)})
for k in (0, 1, 2, 130, 1025):
    a, b = rng.integers(-128, 128, (2, 3, 5, k)).astype(np.int8), rng.integers(-128, 128, (3, k, 40)).astype(np.int8)
    compare(f"products of batches in parts, k {k}", splits, "batches", {"a": a, "b": b}, {"y": a.astype(np.int32) @ b.astype(np.int32)})
a, b = rng.integers(-3, 4, (48, 1000)).astype(np.float32), rng.integers(-3, 4, (1000, 80)).astype(np.float32)
c, r = rng.integers(-3, 4, 80).astype(np.float32), rng.integers(-3, 4, (48, 80)).astype(np.float32)
z = 2 * (a.astype(np.float64) @ b) + c + r
compare("product in parts with an epilogue", splits, "epilogue", {"a": a, "b": b, "c": c, "r": r}, {"y": np.maximum(z, 0), "z": z})
a, b = rng.standard_normal((16, 8192)), rng.standard_normal((8192, 24))
compare("deep product of f64", splits, "fixed", {"a": a, "b": b}, {"y": 2 * np.matmul(a.astype(np.longdouble), b)}, 2 * 8200 * 2.0**-53 * (np.abs(a) @ np.abs(b)))
a, b, c = (rng.integers(-2, 3, s).astype(t) for s, t in (((9, 70), np.float16), ((70, 50), np.float16), ((50, 33), np.float32)))
got = splits.run("chain", {"a": a, "b": b, "c": c}, ["y"], check=True)
test("two products in parts and a softmax", got is not None, splits.message.strip()[:300])
for shape in ((3, 1000), (40, 64), (7, 2), (2, 0)):
    x = rng.integers(-10**6, 10**6, shape).astype(np.int32)
    compare(f"a reduction in parts as the schedule says {shape}", splits, "reduction", {"x": x}, {"y": x.sum(1, dtype=np.int32)})
finish()
