"""Reductions over every axis of a tensor of rank 3 against NumPy; integers exactly.

Bound for sums of n floats in any order: (n - 1) half ulps of the sum of absolute values; a product: n half ulps of itself.
"""
import numpy as np
from kctest import *

U = 2.0**-24
AXES = {"0": (0,), "1": (1,), "2": (2,), "0_1": (0, 1), "0_2": (0, 2), "1_2": (1, 2), "all": (0, 1, 2)}
SHAPE = "A, B, C"
DIMS = ["A", "B", "C"]


def out_shape(axes, keep=False):
    return ", ".join(("1" if keep else "") if i in axes else d for i, d in enumerate(DIMS) if keep or i not in axes)


def function(op, axes, kind, out, keep=False):
    extra = ", keepdims=true" if keep else ""
    return f"""
inputs: {{x: "{kind}[{SHAPE}]"}}
outputs: {{y: "{out}[{out_shape(axes, keep)}]"}}
body: |
  y = {op}(x, axis={axes[0] if len(axes) == 1 else list(axes)}{extra})
"""


functions = {}
for name, axes in AXES.items():
    functions[f"sum_{name}"] = function("sum", axes, "f32", "f32")
    functions[f"max_{name}"] = function("max", axes, "f32", "f32", keep=True)
    functions[f"isum_{name}"] = function("sum", axes, "i32", "i32")
    if len(axes) != 2:
        functions[f"argmax_{name}"] = function("argmax", axes, "f32", "i64") if name != "all" else function("argmax", axes, "f32", "i64").replace(", axis=[0, 1, 2]", "")
        functions[f"argmin_{name}"] = functions[f"argmax_{name}"].replace("argmax", "argmin")
for axis in (0, 2):
    functions[f"mean_{axis}"] = function("mean", (axis,), "f32", "f32")
    functions[f"prod_{axis}"] = function("prod", (axis,), "f32", "f32")
    functions[f"min_{axis}"] = function("min", (axis,), "i64", "i64")
functions["f16_sum"] = function("sum", (2,), "f16", "f32")
functions["f64_sum"] = function("sum", (2,), "f64", "f64")
functions["i64_sum"] = function("sum", (2,), "i64", "i64")
functions["i64_prod"] = function("prod", (1,), "i64", "i64")
functions["bool_sum"] = function("sum", (2,), "bool", "i32")
functions["u8_max"] = function("max", (1,), "u8", "u8")
functions["i8_mean"] = function("mean", (2,), "i8", "f32")
functions["i32_argmax"] = function("argmax", (2,), "i32", "i64")
functions["two_results"] = """
inputs: {x: "f32[A, B]"}
outputs: {m: "f32[A]", v: "f32[A]"}
body: |
  m = mean(x, axis=1)
  d = x - broadcast(reshape(m, [A, 1]), [A, B])
  v = mean(d * d, axis=1)
"""
model = Model(functions, "reduce")


def sum_bound(x, axes, n=None):
    count = np.prod([x.shape[a] for a in axes])
    return max(count - 1, 0) * U * np.abs(x.astype(np.float64)).sum(axis=axes)


for shape in [(3, 5, 7), (2, 33, 65), (70, 3, 1), (1, 1, 1), (4, 1, 300)]:
    label = "x".join(map(str, shape))
    x = rng.standard_normal(shape).astype(np.float32)
    k = rng.integers(-2**31, 2**31, shape, dtype=np.int64).astype(np.int32)
    for name, axes in AXES.items():
        wide = x.astype(np.longdouble)
        compare(f"sum f32 axes {name} of {label}", model, f"sum_{name}", {"x": x}, {"y": wide.sum(axis=axes)}, sum_bound(x, axes))
        compare(f"max f32 axes {name} of {label}", model, f"max_{name}", {"x": x}, {"y": x.max(axis=axes, keepdims=True)})
        wrapped = k.sum(axis=axes, dtype=np.int64).astype(np.int32)
        compare(f"sum i32 axes {name} of {label}", model, f"isum_{name}", {"x": k}, {"y": np.asarray(wrapped)})
        if len(axes) != 2:
            where = None if name == "all" else axes[0]
            few = np.round(x).astype(np.float32)  # with ties
            compare(f"argmax axes {name} of {label}", model, f"argmax_{name}", {"x": few}, {"y": np.asarray(few.argmax(axis=where))})
            compare(f"argmin axes {name} of {label}", model, f"argmin_{name}", {"x": few}, {"y": np.asarray(few.argmin(axis=where))})

x = rng.standard_normal((6, 20, 40)).astype(np.float32)
for axis in (0, 2):
    n = x.shape[axis]
    compare(f"mean axis {axis}", model, f"mean_{axis}", {"x": x}, {"y": x.astype(np.longdouble).mean(axis=axis)},
            (sum_bound(x, (axis,)) / n + 2 * U * np.abs(x.astype(float).mean(axis=axis))))
    p = x.astype(np.longdouble).prod(axis=axis)
    compare(f"prod axis {axis}", model, f"prod_{axis}", {"x": x}, {"y": p}, (np.abs(p) * n * U + n * 2.0**-149).astype(float))
    k = rng.integers(-2**62, 2**62, x.shape)
    compare(f"min i64 axis {axis}", model, f"min_{axis}", {"x": k}, {"y": k.min(axis=axis)})
h = rng.standard_normal((3, 4, 500)).astype(np.float16)
compare("sum f16 in f32", model, "f16_sum", {"x": h}, {"y": h.astype(np.longdouble).sum(axis=2)}, sum_bound(h, (2,)))
d = rng.standard_normal((3, 4, 100))
compare("sum f64", model, "f64_sum", {"x": d}, {"y": d.astype(np.longdouble).sum(axis=2)}, 100 * 2.0**-53 * np.abs(d).sum(axis=2))
k = rng.integers(-2**63, 2**63, (3, 4, 50), dtype=np.int64)
compare("sum i64 wraps", model, "i64_sum", {"x": k}, {"y": k.sum(axis=2)})
compare("prod i64 wraps", model, "i64_prod", {"x": k}, {"y": k.prod(axis=1)})
t = rng.random((3, 4, 77)) < 0.5
compare("sum bool counts", model, "bool_sum", {"x": t}, {"y": t.sum(axis=2).astype(np.int32)})
u = rng.integers(0, 256, (3, 40, 7), dtype=np.uint8)
compare("max u8", model, "u8_max", {"x": u}, {"y": u.max(axis=1)})
s = rng.integers(-128, 128, (3, 4, 77), dtype=np.int8)
compare("mean i8 is f32", model, "i8_mean", {"x": s}, {"y": s.astype(np.longdouble).mean(axis=2)}, 2 * U * np.abs(s.astype(float)).mean(axis=2))
k = rng.integers(-3, 4, (5, 6, 90)).astype(np.int32)
compare("argmax i32 takes the first of ties", model, "i32_argmax", {"x": k}, {"y": k.argmax(axis=2)})

x = rng.standard_normal((4, 3, 50)).astype(np.float32)
x[1, 1, 30] = np.nan
x[1, 1, 9] = np.nan
x[2, 2, 0] = np.inf
x[0, 0] = -np.inf
for name in ("2", "0"):
    axis = int(name)
    compare(f"argmax of NaN and infinities, axis {name}", model, f"argmax_{name}", {"x": x}, {"y": x.argmax(axis=axis)})
    compare(f"argmin of NaN and infinities, axis {name}", model, f"argmin_{name}", {"x": x}, {"y": x.argmin(axis=axis)})
    compare(f"max of NaN, axis {name}", model, f"max_{name}", {"x": x}, {"y": x.max(axis=axis, keepdims=True)})
e = np.zeros((3, 0, 5), np.float32)
compare("an empty sum is 0", model, "sum_1", {"x": e}, {"y": np.zeros((3, 5))})
compare("a sum of nothing over others", model, "sum_0", {"x": e}, {"y": np.zeros((0, 5))})

x = rng.standard_normal((5, 130)).astype(np.float32) + 3
w = x.astype(np.longdouble)
m, v = w.mean(axis=1), w.var(axis=1)
mean_bound = 132 * U * np.abs(w).mean(axis=1)
variance_bound = 140 * U * v + 4 * mean_bound * np.sqrt(v) + 2 * mean_bound**2
compare("mean and variance", model, "two_results", {"x": x}, {"m": m, "v": v}, {"m": mean_bound.astype(float), "v": variance_bound.astype(float)})
finish()
