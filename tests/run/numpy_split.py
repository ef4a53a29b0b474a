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
finish()
