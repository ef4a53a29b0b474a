"""matmul against NumPy: types, transposes, batches, vectors, odd sizes.

Bound: K products and additions in any order, each rounded: (K + 1) half ulps of |a| @ |b|.
"""
import itertools
import numpy as np
from kctest import *

SIZES = [1, 7, 15, 17, 63, 65, 127, 129]


def matmul(a_type, b_type, out_type, options=""):
    ta, tb = "transpose_a=true" in options, "transpose_b=true" in options
    a, b = "K, M" if ta else "M, K", "N, K" if tb else "K, N"
    return f"""
inputs: {{a: "{a_type}[{a}]", b: "{b_type}[{b}]"}}
outputs: {{y: "{out_type}[M, N]"}}
body: |
  y = matmul(a, b{", " + options if options else ""})
"""


TRANSPOSES = {"nn": "", "tn": "transpose_a=true", "nt": "transpose_b=true", "tt": "transpose_a=true, transpose_b=true"}
functions = {f"f32_{t}": matmul("f32", "f32", "f32", o) for t, o in TRANSPOSES.items()}
functions |= {f"f16_{t}": matmul("f16", "f16", "f32", o) for t, o in TRANSPOSES.items()}
functions["f64"] = matmul("f64", "f64", "f64")
functions["high"] = matmul("f32", "f32", "f32", 'precision="high"')
functions["i8"] = matmul("i8", "i8", "i32")
functions["u8"] = matmul("u8", "u8", "i32", "transpose_b=true")
functions["to_f16"] = matmul("f32", "f32", "f16")
functions["batched"] = """
inputs: {a: "f32[B, M, K]", b: "f32[B, K, N]"}
outputs: {y: "f32[B, M, N]"}
body: |
  y = matmul(a, b)
"""
functions["batch_broadcast"] = """
inputs: {a: "f32[B, 1, M, K]", b: "f32[C, N, K]"}
outputs: {y: "f32[B, C, M, N]"}
body: |
  y = matmul(a, b, transpose_b=true)
"""
functions["matrix_vector"] = """
inputs: {a: "f32[M, K]", b: "f32[K]"}
outputs: {y: "f32[M]"}
body: |
  y = matmul(a, b)
"""
functions["vector_matrix"] = """
inputs: {a: "f32[K]", b: "f32[K, N]"}
outputs: {y: "f32[N]"}
body: |
  y = matmul(a, b)
"""
functions["vector_vector"] = """
inputs: {a: "f32[K]", b: "f32[K]"}
outputs: {y: "f32[]"}
body: |
  y = matmul(a, b)
"""
functions["fixed_15"] = """
inputs: {a: "f32[15, 33]", b: "f32[20, 33]"}
outputs: {y: "f32[15, 20]"}
body: |
  y = matmul(a, b, transpose_b=true)
"""
functions["epilogue"] = """
inputs: {a: "f16[M, K]", b: "f16[K, N]", c: "f32[N]"}
outputs: {y: "f32[M, N]"}
body: |
  y = relu(matmul(a, b) + c)
"""


def thin(kind, m, n, t):
    """A product with one row or one column; the other dimensions are symbols or numbers."""
    out = {"f64": "f64", "i8": "i32", "u8": "i32"}.get(kind, "f32")
    a, b = f"K, {m}" if t[0] == "t" else f"{m}, K", f"{n}, K" if t[1] == "t" else f"K, {n}"
    return f"""
inputs: {{a: "{kind}[{a}]", b: "{kind}[{b}]"}}
outputs: {{y: "{out}[{m}, {n}]"}}
body: |
  y = matmul(a, b{", " * (t != "nn")}{TRANSPOSES[t]})
"""


for kind in ("f32", "f16", "bf16", "f64", "i8", "f8e4m3"):
    for t in TRANSPOSES:
        functions[f"row_{kind}_{t}"] = thin(kind, 1, "N", t)
        functions[f"column_{kind}_{t}"] = thin(kind, "N", 1, t)
for raster in ("grouped:1", "grouped:3", "grouped:8", "row"):
    functions["raster_" + raster.replace(":", "_")] = f"""
inputs: {{a: "f32[B, M, K]", b: "f32[B, K, N]"}}
outputs: {{y: "f32[B, M, N]"}}
body: |
  y = matmul(a, b)
schedule:
  - {{raster: "{raster}", tile: [16, 32, 16]}}
"""
functions["raster_fixed"] = """
inputs: {a: "f16[130, 40]", b: "f16[40, 96]"}
outputs: {y: "f32[130, 96]"}
body: |
  y = matmul(a, b)
schedule:
  - {raster: "grouped:4", tile: [16, 32, 16]}
"""
functions["row_deep"] = """
inputs: {a: "f16[1, 4096]", b: "f16[4096, 512]"}
outputs: {y: "f32[1, 512]"}
body: |
  y = silu(matmul(a, b))
"""
functions["rows_of_batches"] = """
inputs: {a: "f16[H, 1, K]", b: "f16[L, H, K]"}
outputs: {y: "f32[H, 1, L]"}
body: |
  y = matmul(a, transpose(b, [1, 2, 0]))
"""
functions["columns_of_batches"] = """
inputs: {a: "f16[B, H, K, M]", b: "f16[H, K, 1]"}
outputs: {y: "f32[B, H, M, 1]"}
body: |
  y = matmul(a, b, transpose_a=true)
"""
model = Model(functions, "matmul")


def product(a, b):
    wide = np.int64 if a.dtype.kind in "iu" else np.longdouble
    return np.matmul(a.astype(wide), b.astype(wide))


def bound(a, b, unit=2.0**-24):
    k = a.shape[-1]
    return (k + 1) * unit * np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))


def random(shape, dtype):
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


def sizes(count):
    """Triples that hold every size in every place, and then some."""
    for i in range(len(SIZES)):
        yield SIZES[i], SIZES[(i * 3 + 1) % 8], SIZES[(i * 5 + 2) % 8]
    for i in range(count):
        yield tuple(int(n) for n in rng.choice(SIZES, 3))


for kind, dtype in (("f32", np.float32), ("f16", np.float16)):
    for t in TRANSPOSES:
        for m, n, k in sizes(12 if kind == "f32" else 4):
            a, b = random((m, k), dtype), random((k, n), dtype)
            stored = {"a": np.ascontiguousarray(a.T) if t[0] == "t" else a, "b": np.ascontiguousarray(b.T) if t[1] == "t" else b}
            compare(f"matmul {kind} {t} {m}x{n}x{k}", model, f"{kind}_{t}", stored, {"y": product(a, b)}, bound(a, b))

for name, dtype, (m, n, k) in [("f64", np.float64, (17, 65, 31)), ("i8", np.int8, (33, 18, 129)), ("to_f16", np.float32, (20, 33, 65))]:
    a, b = random((m, k), dtype), random((k, n), dtype)
    unit = 2.0**-53 if name == "f64" else 2.0**-24
    compare(f"matmul {name}", model, name, {"a": a, "b": b}, {"y": product(a, b)}, bound(a, b, unit))
a, b = random((5, 300), np.uint8), random((9, 300), np.uint8)
compare("matmul u8", model, "u8", {"a": a, "b": b}, {"y": product(a, b.T)})

a, b = random((3, 17, 33), np.float32), random((3, 33, 9), np.float32)
compare("matmul batched", model, "batched", {"a": a, "b": b}, {"y": product(a, b)}, bound(a, b))
a, b = random((2, 1, 9, 20), np.float32), random((3, 11, 20), np.float32)
compare("matmul batches broadcast", model, "batch_broadcast", {"a": a, "b": b}, {"y": product(a, b.swapaxes(-1, -2))}, bound(a, b.swapaxes(-1, -2)))

# Three products of parts: an infinity, and what is larger than the largest TF32, in the first factor.
a, b = np.abs(random((40, 48), np.float32)), np.abs(random((48, 32), np.float32)) + np.float32(0.125)
a[3, 2], a[4, 1], b[1] = np.inf, np.finfo(np.float32).max, 0.125
with np.errstate(invalid="ignore"):
    wide = bound(a, b, 2.0**-20)
    wide[3] = 0
    compare("matmul high, infinity", model, "high", {"a": a, "b": b}, {"y": product(a, b)}, wide)

for k in (1, 65, 1000):
    a, v = random((19, k), np.float32), random((k,), np.float32)
    compare(f"matmul matrix vector {k}", model, "matrix_vector", {"a": a, "b": v}, {"y": product(a, v)}, bound(a, v))
    compare(f"matmul vector matrix {k}", model, "vector_matrix", {"a": v, "b": np.ascontiguousarray(a.T)}, {"y": product(v, a.T)}, bound(v, a.T))
    w = random((k,), np.float32)
    compare(f"matmul vector vector {k}", model, "vector_vector", {"a": v, "b": w}, {"y": product(v, w)}, bound(v, w))

for kind, dtype in (("f32", np.float32), ("f16", np.float16), ("f64", np.float64), ("i8", np.int8)):
    for t, n, k in (("nn", 65, 129), ("tn", 64, 256), ("nt", 1, 1000), ("tt", 130, 63), ("nn", 256, 64), ("tt", 8, 1024)):
        unit = 0 if kind == "i8" else 2.0**-53 if kind == "f64" else 2.0**-24
        for name, (rows, columns) in (("row", (1, n)), ("column", (n, 1))):
            a, b = random((rows, k), dtype), random((k, columns), dtype)
            stored = {"a": np.ascontiguousarray(a.T) if t[0] == "t" else a, "b": np.ascontiguousarray(b.T) if t[1] == "t" else b}
            compare(f"matmul {name} {kind} {t} {n}x{k}", model, f"{name}_{kind}_{t}", stored, {"y": product(a, b)}, bound(a, b, unit) if unit else 0)
for kind, dtype in (("bf16", np.float32), ("f8e4m3", np.float32)):
    for t, n, k in (("nn", 65, 129), ("tn", 16, 256), ("nt", 64, 64), ("tt", 9, 63)):
        for name, (rows, columns) in (("row", (1, n)), ("column", (n, 1))):
            a, b = random((k, rows) if t[0] == "t" else (rows, k), dtype), random((columns, k) if t[1] == "t" else (k, columns), dtype)
            good = model.run(f"{name}_{kind}_{t}", {"a": a, "b": b}, ["y"], check=True) is not None
            test(f"matmul {name} {kind} {t} {n}x{k}", good, model.message.strip()[:300])
a, b = random((1, 4096), np.float16), random((4096, 512), np.float16)
got = model.run("row_deep", {"a": a, "b": b}, ["y"], check=True)
test("matmul one row of a deep product", got is not None, model.message.strip()[:300])
a, b = random((3, 1, 72), np.float16), random((41, 3, 72), np.float16)
compare("matmul rows of batches", model, "rows_of_batches", {"a": a, "b": b}, {"y": product(a, b.transpose(1, 2, 0))}, bound(a, b.transpose(1, 2, 0)))
a, b = random((2, 3, 40, 17), np.float16), random((3, 40, 1), np.float16)
compare("matmul columns of batches", model, "columns_of_batches", {"a": a, "b": b}, {"y": product(a.swapaxes(2, 3), b)}, bound(a.swapaxes(2, 3), b))

for raster in ("grouped_1", "grouped_3", "grouped_8", "row"):
    for batch, m, n in ((1, 113, 100), (3, 49, 65), (2, 16, 33), (2, 130, 32), (1, 17, 200)):
        a, b = random((batch, m, 20), np.float32), random((batch, 20, n), np.float32)
        compare(f"matmul raster {raster} {batch}x{m}x{n}", model, f"raster_{raster}", {"a": a, "b": b}, {"y": product(a, b)}, bound(a, b))
a, b = random((130, 40), np.float16), random((40, 96), np.float16)
compare("matmul raster fixed", model, "raster_fixed", {"a": a, "b": b}, {"y": product(a, b)}, bound(a, b))

a, b = random((15, 33), np.float32), random((20, 33), np.float32)
compare("matmul fixed 15x20x33 nt", model, "fixed_15", {"a": a, "b": b}, {"y": product(a, b.T)}, bound(a, b.T))
a, b, c = random((70, 40), np.float16), random((40, 90), np.float16), random((90,), np.float32)
want = product(a, b) + c
compare("matmul with epilogue", model, "epilogue", {"a": a, "b": b, "c": c}, {"y": np.maximum(want, 0)}, bound(a, b) + 2.0**-24 * np.abs(want).astype(float))
for m, n, k in [(0, 5, 3), (5, 0, 3), (5, 3, 0)]:
    a, b = random((m, k), np.float32), random((k, n), np.float32)
    compare(f"matmul of size {m}x{n}x{k}", model, "f32_nn", {"a": a, "b": b}, {"y": product(a, b)})
finish()
