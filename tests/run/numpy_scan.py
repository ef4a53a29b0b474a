"""cumsum against NumPy: types, axes, sizes, what fuses with it; and what it moves, from the simulator's counters.

Bound for the sum of the first n floats in any order: (n - 1) half ulps of the sum of their absolute values. Integers exactly.
"""
import os
import sys
import numpy as np
from kctest import *

TYPES = {"f16": "f32", "f32": "f32", "f64": "f64", "i8": "i32", "u8": "i32", "i32": "i32", "i64": "i64", "bool": "i32"}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
         "i64": np.int64, "bool": np.bool_}


def function(kind, shape, body, out=None):
    return f"""
inputs: {{x: "{kind}[{shape}]"}}
outputs: {{y: "{out or TYPES[kind]}[{shape}]"}}
body: |
  {body}
"""


functions = {f"rows_{kind}": function(kind, "M, N", "y = cumsum(x, 1)") for kind in TYPES}
functions |= {f"columns_{kind}": function(kind, "M, N", "y = cumsum(x, axis=0)") for kind in ("f16", "f32", "i32", "i64")}
functions |= {
    "line": function("f32", "N", "y = cumsum(x, N)"),
    "middle": function("f32", "A, B, C", "y = cumsum(x, -2)"),
    "first": function("f32", "A, B, C", "y = cumsum(x, axis=A)"),
    "last": function("f32", "A, B, C", "y = cumsum(x, axis=C)"),
    "fixed": function("f32", "37, 300", "y = cumsum(x, 1)"),
    "to_f16": function("f16", "M, N", "y = cumsum(x, 1)", "f16"),
    "exclusive": function("i32", "M, N", "y = cumsum(x, 1, exclusive=true)"),
    "exclusive_0": function("i32", "M, N", "y = cumsum(x, 0, exclusive=true)"),
    "reverse": function("i32", "M, N", "y = cumsum(x, 1, reverse=true)"),
    "both": function("i32", "M, N", "y = cumsum(x, axis=1, exclusive=true, reverse=true)"),
    "twice": function("i32", "M, N", "y = cumsum(cumsum(x, 1), 1)"),
    "area": function("i32", "M, N", "y = cumsum(cumsum(x, 1), 0)"),
    "share": function("f32", "M, N", "y = cumsum(x, 1) / sum(x, axis=1, keepdims=true)"),
    "top_p": function("f32", "M, N", "y = where(cumsum(x, 1) - x < 0.75 * sum(x, axis=1, keepdims=true), x, 0)"),
    "of_map": function("f32", "M, N", "y = 2 * cumsum(abs(x) + 1, 1) - 1"),
    "transposed": """
inputs: {x: "i32[M, N]"}
outputs: {y: "i32[N, M]"}
body: |
  y = cumsum(transpose(x, [1, 0]), 1)
""",
    "strided": """
inputs:
  x: {type: "f32[M, N]", strides: [ld, 1]}
outputs: {y: "f32[M, N]"}
body: |
  y = cumsum(x, 1)
""",
    "in_place": """
inputs: {x: "f32[M, N]"}
outputs:
  y: {type: "f32[M, N]", alias: x}
body: |
  y = cumsum(x, 1)
""",
    "reductions": """
inputs: {x: "f32[M, N]"}
outputs: {y: "f32[M, N]", s: "f32[M]", m: "f32[M]"}
body: |
  y = cumsum(x, 1)
  s = sum(x, axis=1)
  m = max(y, axis=1)
"""}
model = Model(functions, "scan")


def made(kind, shape):
    if kind == "bool":
        return rng.random(shape) < 0.5
    if kind[0] == "f":
        return rng.standard_normal(shape).astype(NUMPY[kind])
    info = np.iinfo(NUMPY[kind])
    return rng.integers(info.min, info.max, shape, endpoint=True, dtype=NUMPY[kind])


def wanted(x, axis, out):
    """The sums, and the bound of each."""
    if NUMPY[out](0).dtype.kind != "f":
        return np.cumsum(x.astype(NUMPY[out]), axis=axis, dtype=NUMPY[out]), 0
    w = x.astype(np.longdouble)
    terms = np.arange(x.shape[axis]).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    bound = terms * EPS[np.dtype(NUMPY[out])] * np.cumsum(np.abs(w), axis=axis) * 1.01
    return np.cumsum(w, axis=axis), bound.astype(float)


def check(name, f, x, axis, out="f32"):
    y, bound = wanted(x, axis, out)
    compare(name, model, f, {"x": x}, {"y": y}, bound)


# All sizes on one architecture, a few on the others.
ALL = len(sys.argv) > 2 and sys.argv[2] == "all"
SIZES = [0, 1, 2, 31, 32, 33, 127, 128, 129, 1000, 1024, 4097, 8192, 9001, 16384] if ALL else [1, 33, 1000, 9001]
for n in SIZES:
    for m in (1, 5):
        check(f"rows {m}x{n}", "rows_f32", made("f32", (m, n)), 1)
        check(f"columns {n}x{m}", "columns_f32", made("f32", (n, m)), 0)
check("columns 100x256", "columns_f32", made("f32", (100, 256)), 0)
check("columns 2000x130", "columns_f32", made("f32", (2000, 130)), 0)
for kind, out in TYPES.items():
    for n in (3, 33, 1000, 9001):
        check(f"rows of {kind}, 3x{n}", f"rows_{kind}", made(kind, (3, n)), 1, out)
for kind in ("f16", "i32", "i64"):
    for shape in ((40, 7), (300, 64), (9001, 3)):
        check(f"columns of {kind}, {shape[0]}x{shape[1]}", f"columns_{kind}", made(kind, shape), 0, TYPES[kind])
check("a line of 100003", "line", made("f32", (100003,)), 0)
for f, axis in (("first", 0), ("middle", 1), ("last", 2)):
    for shape in ((3, 5, 7), (4, 130, 33), (65, 6, 64)):
        check(f"{f} axis of {shape}", f, made("f32", shape), axis)
check("fixed sizes", "fixed", made("f32", (37, 300)), 1)
x = made("f16", (5, 200))
y, bound = wanted(x, 1, "f32")
compare("rounded to f16", model, "to_f16", {"x": x}, {"y": y}, bound)

for n in (0, 1, 33, 1024, 9001):
    x = made("i32", (3, n))
    y = np.cumsum(x, axis=1, dtype=np.int32)
    total = y[:, -1:] if n else y
    compare(f"exclusive 3x{n}", model, "exclusive", {"x": x}, {"y": y - x})
    compare(f"reverse 3x{n}", model, "reverse", {"x": x}, {"y": total - y + x})
    compare(f"exclusive, reverse 3x{n}", model, "both", {"x": x}, {"y": total - y})
    compare(f"exclusive axis 0, {n}x3", model, "exclusive_0", {"x": x.T.copy()}, {"y": (y - x).T})
    compare(f"of a running sum 3x{n}", model, "twice", {"x": x}, {"y": np.cumsum(y, axis=1, dtype=np.int32)})
    compare(f"along both axes 3x{n}", model, "area", {"x": x}, {"y": np.cumsum(y, axis=0, dtype=np.int32)})
    compare(f"of a transposed {n}x3", model, "transposed", {"x": x.T.copy()}, {"y": y})

for seed in ("1", "2", "3") if ALL else ("4",):
    os.environ["KCSIM_SEED"] = seed
    for n in (7, 600, 5000, 20001):
        x = rng.integers(0, 9, (3, n)).astype(np.float32)  # sums are exact
        x[:, 0] += 1
        y, total = np.cumsum(x, axis=1), x.sum(axis=1, keepdims=True)
        compare(f"share of the sum 3x{n}, seed {seed}", model, "share", {"x": x}, {"y": y.astype(np.longdouble) / total})
        compare(f"top-p mask 3x{n}, seed {seed}", model, "top_p", {"x": x}, {"y": np.where(y - x < 0.75 * total, x, 0)})
        compare(f"maps around it 3x{n}, seed {seed}", model, "of_map", {"x": x}, {"y": 2 * np.cumsum(x + 1, axis=1) - 1})
        compare(f"reductions beside it 3x{n}, seed {seed}", model, "reductions", {"x": x},
                {"y": y, "s": total[:, 0], "m": y.max(axis=1)})
    check(f"columns 700x40, seed {seed}", "columns_f32", made("f32", (700, 40)), 0)
del os.environ["KCSIM_SEED"]

x = made("f32", (6, 70))
x[1, 3] = np.nan
x[2, 5] = np.inf
x[3, 7], x[3, 50] = np.inf, -np.inf
x[4] = -0.0
with np.errstate(all="ignore"):
    y, bound = wanted(x, 1, "f32")
compare("infinities and NaN", model, "rows_f32", {"x": x}, {"y": y}, np.where(np.isfinite(bound), bound, 0))
got = model.run("rows_f32", {"x": x}, ["y"])
test("a sum of negative zeros is one", got is not None and np.all(np.signbit(got[0][4])), model.message)
for n in (100, 5000, 30001):
    x = (rng.random((1, n)) ** 9).astype(np.float32)
    got = model.run("rows_f32", {"x": x}, ["y"])
    test(f"sums of what is not negative never decrease, {n}", got is not None and np.all(np.diff(got[0]) >= 0), model.message)

base = made("f32", (5, 300))
wide = base[:, :200]
y, bound = wanted(wide, 1, "f32")
compare("strides of the input", model, "strided", {"x": np.ascontiguousarray(wide)}, {"y": y}, bound, {"ld": 200})

# ---- traffic: everything once, whole sectors, wide accesses, one kernel
MOVED = [("rows_f32", (64, 1024)), ("rows_f32", (2, 8192)), ("rows_f32", (1, 40960)), ("rows_i64", (3, 1024)),
         ("columns_f32", (1024, 256)), ("columns_f32", (64, 256)), ("columns_i32", (4096, 128)), ("share", (4, 1024)), ("top_p", (2, 8192))]
PARTLY = [(64, 256)]  # the tile is longer than the axis: whole warps have nothing to move
for f, shape in MOVED:
    x = made("i64" if f[-3:] == "i64" else "i32" if f[-3:] == "i32" else "f32", shape)
    if model.run(f, {"x": x}, ["y"], counters=True, check=True) is None:
        test(f"traffic of {f} {shape}", False, model.message)
        continue
    total = {key: sum(k[key] for k in model.counters) for key in model.counters[0] if isinstance(model.counters[0][key], int)}
    moved = total["global_load_bytes"] + total["global_store_bytes"]
    sectors = 32 * (total["global_load_sectors"] + total["global_store_sectors"])
    accesses = sum(k["instructions"]["load_global"] + k["instructions"]["store_global"] for k in model.counters)
    test(f"{f} {shape} is one kernel", total["launches"] == 1, total["launches"])
    test(f"{f} {shape} moves what it must", max(moved, sectors) <= 1.05 * 2 * x.nbytes, f"{moved} bytes, {sectors} in sectors")
    if shape not in PARTLY:
        test(f"{f} {shape} moves 16 bytes a thread", accesses * 32 * 16 <= 1.05 * moved, f"{accesses} accesses")
    test(f"{f} {shape} has no bank conflicts", total["shared_bank_conflicts"] == 0, total["shared_bank_conflicts"])
finish()
