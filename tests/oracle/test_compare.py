#!/usr/bin/python3
"""The verdict itself: what it must accept and what it must not. Runs before the comparisons."""

import os, sys
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases, compare, elements

f32, inf, nan = np.float32, np.inf, np.nan
up = lambda x, n=1: f32(x) if n == 0 else up(np.nextafter(f32(x), f32(inf)), n - 1)
failures = 0


def judge(o, got):
    return bool(compare.right(o, np.array([got], elements.storage(o["type"]))).all())


def check(name, o, right, wrong):
    global failures
    bad = [f"refuses {g!r}" for g in right if not judge(o, g)] + [f"accepts {g!r}" for g in wrong if judge(o, g)]
    failures += bool(bad)
    if bad:
        print(f"not ok verdict: {name}: " + ", ".join(bad))


def one(x, t="f32"):
    return np.array([x], elements.storage(t))


big = np.finfo(f32).max
check("exact", cases.exact("f32", one(1.5)), [1.5], [up(1.5), -1.5, nan, inf])
check("exact zero", cases.exact("f32", one(-0.0)), [-0.0], [0.0, 1e-45])
check("exact zero of any sign", cases.exact("f32", one(-0.0), unsigned_zero=True), [-0.0, 0.0], [1e-45])
check("exact NaN", cases.exact("f32", one(nan)), [nan, -nan], [inf, 0])
check("exact integer", cases.exact("i32", one(7, "i32")), [7], [8])
check("bool is 0 or 1", cases.exact("bool", one(1, "bool")), [1], [0, 2, 255])
check("open", cases.exact("i32", one(7, "i32"), open_=np.array([True])), [7, 8], [])
check("2 ulp above a power of two", cases.ulps("f32", np.array([1.0]), 2), [up(1, 2), 1], [up(1, 3), nan, -1])
check(
    "2 ulp below a power of two",
    cases.ulps("f32", np.array([1 - 2.0**-30]), 2),
    [up(1, 0), f32(1 - 2.0**-24), f32(1 - 2.0**-23)],
    [f32(1 - 3 * 2.0**-24), up(1, 1)],
)
check(
    "ulp at the least denormal", cases.ulps("f32", np.array([2.0**-149]), 2), [2.0**-149, 3 * 2.0**-149, 0], [4 * 2.0**-149, -(2.0**-148)]
)
check("ulp keeps a zero's sign", cases.ulps("f32", np.array([-0.0]), 4), [-0.0], [0.0])
check("ulp near overflow", cases.ulps("f32", np.array([float(big)]), 2), [big, inf], [-inf, nan, big / 2])
check("ulp beyond overflow", cases.ulps("f32", np.array([1e39]), 2), [inf], [big, -inf, nan])
check(
    "ulp of f64 with a remainder",
    cases.ulps("f64", np.array([1.0]), 1, low=np.array([0.75])),
    [1 + 2.0**-52],
    [1 - 2.0**-52, 1 + 2 * 2.0**-52],
)
check("bound", cases.bound("f32", np.array([1.0]), np.array([2.0**-20])), [1 + 2.0**-20, 1 - 2.0**-20], [1 + 2.0**-19, nan, inf])
check(
    "bound and the output's rounding",
    cases.bound("f16", np.array([1.0]), np.array([2.0**-20])),
    [1, 1 - 2.0**-11],
    [1 + 2.0**-9, 1 - 2.0**-9],
)
check("bound of NaN", cases.bound("f32", np.array([nan]), np.array([0.0])), [nan], [0, inf])
check("infinite bound", cases.bound("f32", np.array([1.0]), np.array([inf])), [nan, inf, 0], [])
check("8 bits", cases.exact("f8e4m3", one(0x38, "f8e4m3")), [0x38], [0x39, 0xB8, 0x7F])
check("8 bits NaN", cases.exact("f8e4m3", one(0x7F, "f8e4m3")), [0x7F, 0xFF], [0x7E])
values = np.array([1.0, 1.0]), np.array([0.0, 2.0**-20])
accepts = lambda g: compare.reference_accepts("f32", np.array([g, g], f32), *values).tolist()
for got, want in ((1.0, [True, True]), (up(1), [False, True]), (1 + 2.0**-19, [False, False]), (nan, [False, False])):
    if accepts(got) != want:
        failures += 1
        print(f"not ok verdict: the reference's bound: {got!r} gives {accepts(got)}, expected {want}")
packed = elements.pack("i4", np.array([1, -2, 7, -8], np.int8))
if packed != bytes([0xE1, 0x87]) or elements.unpack("i4", packed, 4).tolist() != [1, -2, 7, -8]:
    failures += 1
    print("not ok verdict: i4 is packed low nibble first")
if not failures:
    print("ok verdict: accepts and refuses as it should")
sys.exit(failures > 0)
