"""conv2d against an unfolded product in NumPy: strides, paddings, dilations, groups, sizes, types, what fuses around it.

Bound: K products and additions in any order, each rounded: (K + 1) half ulps of the same convolution of magnitudes.
Integers are exact.
"""
import numpy as np
from kctest import *


def pair(v):
    return list(v) if isinstance(v, (list, tuple)) else [v, v]


def windows(x, kernel, stride, padding, dilation):
    """x unfolded: [N, C, R, S, P, Q]."""
    (sh, sw), (dh, dw), (r, s) = pair(stride), pair(dilation), kernel
    (top, bottom), (left, right) = [pair(p) for p in pair(padding)]
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    p = max((x.shape[2] - dh * (r - 1) - 1) // sh + 1, 0)
    q = max((x.shape[3] - dw * (s - 1) - 1) // sw + 1, 0)
    out = np.zeros(x.shape[:2] + (r, s, p, q), x.dtype)
    for i in range(r):
        for j in range(s):
            if p and q:
                out[:, :, i, j] = x[:, :, i * dh: i * dh + (p - 1) * sh + 1: sh, j * dw: j * dw + (q - 1) * sw + 1: sw]
    return out


def conv(x, w, stride=1, padding=0, dilation=1, groups=1, wide=None):
    wide = wide or (np.int64 if x.dtype.kind in "iu" else np.longdouble)
    u = windows(x, w.shape[2:], stride, padding, dilation).astype(wide)
    n, c, r, s, p, q = u.shape
    u = u.reshape(n, groups, c // groups * r * s, p * q)
    f = w.astype(wide).reshape(1, groups, w.shape[0] // groups, c // groups * r * s)
    return np.matmul(f, u).reshape(n, w.shape[0], p, q)


def bound(x, w, unit=2.0**-24, **options):
    k = w.shape[1] * w.shape[2] * w.shape[3]
    return (k + 1) * unit * conv(np.abs(x.astype(np.float64)), np.abs(w.astype(np.float64)), wide=np.float64, **options)


def random(shape, dtype=np.float32):
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


def text(options):
    return "".join(f", {k}={v}" for k, v in options.items())


# ---- fixed shapes: (x, w, options)

CASES = {
    "plain": ((2, 3, 8, 9), (5, 3, 3, 3), {}),
    "padded": ((1, 4, 7, 7), (6, 4, 3, 3), {"padding": 1}),
    "pad_sides": ((1, 2, 6, 5), (3, 2, 3, 2), {"padding": [[0, 2], [3, 1]]}),
    "pad_mixed": ((1, 2, 6, 5), (3, 2, 3, 2), {"padding": [1, [0, 4]]}),
    "pad_wide": ((1, 1, 2, 2), (2, 1, 2, 2), {"padding": 5}),
    "stride": ((2, 3, 11, 14), (4, 3, 3, 3), {"stride": 2, "padding": 1}),
    "strides": ((1, 3, 13, 17), (4, 3, 2, 3), {"stride": [3, 2]}),
    "stride_rest": ((1, 1, 10, 12), (2, 1, 3, 3), {"stride": 4}),
    "dilated": ((1, 3, 13, 12), (4, 3, 3, 3), {"dilation": 2}),
    "dilations": ((1, 2, 13, 15), (4, 2, 3, 2), {"dilation": [1, 4], "stride": 2, "padding": 3}),
    "groups": ((2, 6, 7, 8), (4, 3, 3, 3), {"groups": 2, "padding": 1}),
    "groups_odd": ((1, 9, 5, 6), (15, 3, 2, 2), {"groups": 3}),
    "groups_large": ((1, 8, 9, 9), (140, 4, 1, 3), {"groups": 2}),
    "depthwise": ((2, 5, 9, 10), (5, 1, 3, 3), {"groups": 5, "padding": 1}),
    "depthwise_2": ((1, 3, 9, 10), (6, 1, 5, 5), {"groups": 3, "padding": 2, "stride": 2}),
    "pointwise": ((2, 20, 7, 7), (33, 20, 1, 1), {}),
    "pointwise_4": ((1, 20, 6, 8), (70, 20, 1, 1), {}),
    "pointwise_groups": ((2, 8, 3, 5), (12, 4, 1, 1), {"groups": 2}),
    "pointwise_stride": ((1, 4, 9, 9), (3, 4, 1, 1), {"stride": 2}),
    "pointwise_padded": ((1, 4, 5, 5), (3, 4, 1, 1), {"padding": 1}),
    "rows": ((2, 3, 1, 70), (5, 3, 1, 7), {"padding": [0, 3]}),
    "columns": ((2, 3, 70, 1), (5, 3, 7, 1), {"padding": [3, 0]}),
    "whole_image": ((3, 4, 6, 5), (7, 4, 6, 5), {}),
    "one_pixel": ((70, 5, 1, 1), (66, 5, 1, 1), {}),
    "one_filter": ((1, 3, 12, 12), (1, 3, 3, 3), {"padding": 1}),
    "one_of_all": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    "large_kernel": ((1, 2, 20, 21), (3, 2, 11, 9), {"padding": 5, "stride": 3}),
    "patches": ((1, 3, 32, 48), (8, 3, 16, 16), {"stride": 16}),
    "many": ((1, 17, 19, 23), (65, 17, 3, 3), {"padding": 1}),
}


def fixed(x, w, options, x_type="f32", y_type="f32"):
    shape = conv(np.zeros(x, np.int8), np.zeros(w, np.int8), **options).shape
    return f"""
inputs: {{x: "{x_type}{list(x)}", w: "{x_type}{list(w)}"}}
outputs: {{y: "{y_type}{list(shape)}"}}
body: |
  y = conv2d(x, w{text(options)})
"""


def check_fixed():
    model = Model({name: fixed(*case) for name, case in CASES.items()}, "conv")
    for name, (x, w, options) in CASES.items():
        a, b = random(x), random(w)
        compare(f"conv2d {name}", model, name, {"x": a, "w": b}, {"y": conv(a, b, **options)}, bound(a, b, **options))


# ---- types

TYPES = {"f64": ("f64", np.float64), "f16": ("f32", np.float16), "i8": ("i32", np.int8), "u8": ("i32", np.uint8)}


def check_types():
    cases = {"padded": CASES["padded"], "groups": CASES["groups"], "pointwise": CASES["pointwise"], "strides": CASES["strides"]}
    model = Model({f"{t}_{name}": fixed(*case, t, TYPES[t][0]) for t in TYPES for name, case in cases.items()} |
                  {"to_f16": fixed(*cases["padded"], "f32", "f16")}, "types")
    for t, (_, dtype) in TYPES.items():
        for name, (x, w, options) in cases.items():
            a, b = random(x, dtype), random(w, dtype)
            allowed = 0 if t in ("i8", "u8") else bound(a, b, 2.0**-53 if t == "f64" else 2.0**-24, **options)
            compare(f"conv2d {t} {name}", model, f"{t}_{name}", {"x": a, "w": b}, {"y": conv(a, b, **options)}, allowed)
    x, w, options = cases["padded"]
    a, b = random(x), random(w)
    compare("conv2d to f16", model, "to_f16", {"x": a, "w": b}, {"y": conv(a, b, **options)}, bound(a, b, **options))


# ---- symbolic shapes

SYMBOLIC = {
    "same": ("", "N, C, H, W", "O, C, 3, 3", "N, O, H, W", {"padding": 1}, "C"),
    "bounded": ("{H: {min: 1, max: 4096}, W: {min: 1, max: 4096}, C: {max: 4096}, O: {max: 4096}, N: {max: 256}}",
                "N, C, H, W", "O, C, 3, 3", "N, O, (H + 1) // 2, (W + 1) // 2", {"padding": 1, "stride": 2}, "C"),
    "multiple": ("{W: {multiple_of: 4}, C: {multiple_of: 4}}", "N, C, H, W", "O, C, 1, 1", "N, O, H, W", {}, "C"),
    "inside": ("{H: {min: 3}, W: {min: 3}}", "N, C, H, W", "O, C, 3, 3", "N, O, H - 2, W - 2", {}, "C"),
    "any_kernel": ("{R: {min: 1, max: 8}, S: {min: 1, max: 8}, H: {min: 8}, W: {min: 8}}", "N, C, H, W", "O, C, R, S",
                   "N, O, H + 7 - R, W + 7 - S", {"padding": 3}, "C"),
    "depthwise": ("{C: {min: 1}}", "N, C, H, W", "C, 1, 3, 3", "N, C, H, W", {"padding": 1, "groups": "C"}, "1"),
    "groups": ("{D: {min: 0}, G: {min: 1}}", "N, G * D, H, W", "G * E, D, 3, 3", "N, G * E, H, W", {"padding": 1, "groups": "G"}, "D"),
}
SIZES = [(1, 1, 1, 1, 1), (2, 3, 7, 7, 5), (1, 4, 8, 12, 8), (1, 20, 13, 31, 70), (3, 8, 1, 65, 2), (0, 4, 8, 8, 3), (1, 0, 8, 8, 4), (1, 4, 8, 8, 0), (2, 4, 0, 8, 3), (2, 4, 8, 0, 3)]


def check_symbolic():
    model = Model({name: f"""
dims: {dims or '{}'}
inputs: {{x: "f32[{x}]", w: "f32[{w}]"}}
outputs: {{y: "f32[{y}]"}}
body: |
  y = conv2d(x, w{text(options)})
""" for name, (dims, x, w, y, options, _) in SYMBOLIC.items()}, "symbolic")
    for name, (dims, _, _, _, options, _) in SYMBOLIC.items():
        for n, c, h, w, o in SIZES:
            options, kernel, groups = dict(options), (3, 3), 1
            if name == "inside" and min(h, w) < 3 or name == "any_kernel" and min(h, w) < 8 or name == "bounded" and not h * w:
                continue
            if name == "multiple":
                kernel, w, c = (1, 1), w * 4, c * 4
            if name == "any_kernel":
                kernel = (int(rng.integers(1, 8)), int(rng.integers(1, 8)))
            if name == "depthwise":
                groups, o = max(c, 1), max(c, 1)
            if name == "groups":
                groups = 3
            x = random((n, (1 if name == "depthwise" else c) * groups, h, w))
            f = random((o * (groups if name == "groups" else 1), 1 if name == "depthwise" else c) + kernel)
            options = {k: v for k, v in options.items() if k != "groups"} | {"groups": groups}
            compare(f"conv2d of symbolic shape, {name} {x.shape} {f.shape}", model, name, {"x": x, "w": f},
                    {"y": conv(x, f, **options)}, bound(x, f, **options), {"G": 3} if name == "groups" else None)


# ---- strides of arguments, and what fuses around it

AROUND = {
    "strided": """
inputs:
  x: {type: "f32[2, 3, 7, 8]", strides: [400, 1, 40, 3]}
  w: {type: "f32[5, 3, 3, 3]", strides: [1, 45, 15, 5]}
outputs:
  y: {type: "f32[2, 5, 7, 8]", strides: [600, 100, 10, 1]}
body: |
  y = conv2d(x, w, padding=1)
""",
    "rows_apart": """
inputs:
  x: {type: "f32[2, 20, 7, 8]", strides: [2000, 80, 10, 1]}
  w: "f32[33, 20, 1, 1]"
outputs:
  y: "f32[2, 33, 7, 8]"
body: |
  y = conv2d(x, w)
""",
    "epilogue": """
inputs: {x: "f16[2, 6, 9, 9]", w: "f16[10, 6, 3, 3]", b: "f32[10]", r: "f16[2, 10, 9, 9]"}
outputs: {y: "f32[2, 10, 9, 9]", z: "f16[2, 10, 9, 9]"}
body: |
  h = conv2d(x, w, padding=1) + reshape(b, [10, 1, 1])
  z = relu(h)
  y = relu(h) + cast(r, "f32")
""",
    "before": """
inputs: {x: "f32[2, 6, 9, 9]", w: "i8[10, 6, 3, 3]", s: "f32[6]"}
outputs: {y: "f32[2, 10, 9, 9]"}
body: |
  a = x * reshape(s, [6, 1, 1]) + 1.0
  y = conv2d(a, cast(w, "f32") * 0.25, padding=1)
""",
    "residual": """
inputs: {x: "f32[1, 6, 9, 10]", w: "f32[6, 1, 3, 3]"}
outputs: {y: "f32[1, 6, 9, 10]"}
body: |
  y = x + conv2d(x, w, padding=1, groups=6)
""",
    "itself": """
inputs: {x: "f32[4, 4, 3, 3]"}
outputs: {y: "f32[4, 4, 3, 3]"}
body: |
  y = conv2d(x, x, padding=1)
""",
    "two_layers": """
inputs: {x: "f32[2, 3, 12, 12]", w: "f32[8, 3, 3, 3]", v: "f32[4, 8, 1, 1]"}
outputs: {y: "f32[2, 4, 6, 6]", m: "f32[2, 4]"}
body: |
  h = relu(conv2d(x, w, stride=2, padding=1))
  y = conv2d(h, v)
  m = mean(y, axis=[2, 3])
""",
    "one_image": """
inputs: {x: "f32[3, 12, 12]", w: "f32[8, 3, 3, 3]"}
outputs: {y: "f32[8, 12, 12]"}
body: |
  y = reshape(relu(conv2d(reshape(x, [1, 3, 12, 12]), w, padding=1)), [8, 12, 12])
""",
    "moved": """
inputs: {x: "f32[2, 12, 12, 3]", w: "f32[3, 3, 3, 8]"}
outputs: {y: "f32[2, 12, 12, 8]"}
body: |
  a = transpose(x, [0, 3, 1, 2])
  y = transpose(conv2d(a, transpose(w, [3, 2, 0, 1]), padding=1), [0, 2, 3, 1])
""",
    "scheduled": """
inputs: {x: "f32[2, 16, 14, 14]", w: "f32[48, 16, 3, 3]"}
outputs: {y: "f32[2, 48, 14, 14]"}
body: |
  y = conv2d(x, w, padding=1)
schedule:
  - {kernel: y, tile: [16, 128, 8], warps: 2, stages: 1}
""",
    "scheduled_odd": """
inputs: {x: "f32[2, 16, 14, 14]", w: "f32[48, 16, 3, 3]"}
outputs: {y: "f32[2, 48, 14, 14]"}
body: |
  y = conv2d(x, w, padding=1)
schedule:
  - {kernel: y, tile: [48, 32, 12], warps: 4}
""",
}


def spread(shape, strides):
    """An array of that shape whose buffer has those strides, in elements."""
    a = random((sum((n - 1) * s for n, s in zip(shape, strides)) + 1,))
    return np.lib.stride_tricks.as_strided(a, shape, [4 * s for s in strides])


def check_around():
    model = Model(AROUND, "around")
    x, w = random((2, 3, 7, 8)), random((5, 3, 3, 3))
    compare("conv2d of strided arguments", model, "strided", {"x": x, "w": w}, {"y": conv(x, w, padding=1)}, bound(x, w, padding=1))
    x, w = random((2, 20, 7, 8)), random((33, 20, 1, 1))
    compare("conv2d of rows apart", model, "rows_apart", {"x": x, "w": w}, {"y": conv(x, w)}, bound(x, w))

    x, w, b, r = random((2, 6, 9, 9), np.float16), random((10, 6, 3, 3), np.float16), random(10), random((2, 10, 9, 9), np.float16)
    h = conv(x, w, padding=1) + b.reshape(10, 1, 1)
    allowed = bound(x, w, padding=1) + 2.0**-23 * (np.abs(h).astype(float) + np.abs(r))
    compare("conv2d with epilogue", model, "epilogue", {"x": x, "w": w, "b": b, "r": r},
            {"y": np.maximum(h, 0) + r, "z": np.maximum(h, 0)}, allowed)

    x, w, s = random((2, 6, 9, 9)), random((10, 6, 3, 3), np.int8), random(6)
    a, f = x.astype(np.longdouble) * s.reshape(6, 1, 1) + 1, w.astype(np.longdouble) / 4
    slack = bound(np.abs(x * s.reshape(6, 1, 1)) + 1, w.astype(float) / 4, padding=1) * 3
    compare("conv2d of computed operands", model, "before", {"x": x, "w": w, "s": s}, {"y": conv(a, f, padding=1)}, slack)

    x, w = random((1, 6, 9, 10)), random((6, 1, 3, 3))
    y = x + conv(x, w, padding=1, groups=6)
    compare("conv2d with its input added", model, "residual", {"x": x, "w": w}, {"y": y}, bound(x, w, padding=1, groups=6) + 2.0**-24 * np.abs(y).astype(float))
    x = random((4, 4, 3, 3))
    compare("conv2d of x and x", model, "itself", {"x": x}, {"y": conv(x, x, padding=1)}, bound(x, x, padding=1))

    x, w, v = random((2, 3, 12, 12)), random((8, 3, 3, 3)), random((4, 8, 1, 1))
    h = np.maximum(conv(x, w, stride=2, padding=1), 0)
    y = conv(h, v)
    allowed = bound(np.abs(h), v) + conv(bound(x, w, stride=2, padding=1), np.abs(v), wide=np.float64)
    compare("conv2d of conv2d", model, "two_layers", {"x": x, "w": w, "v": v}, {"y": y, "m": y.mean(axis=(2, 3))},
            {"y": allowed, "m": allowed.mean(axis=(2, 3)) + 37 * 2.0**-24 * np.abs(y).astype(float).mean(axis=(2, 3))})
    x, w = random((3, 12, 12)), random((8, 3, 3, 3))
    compare("conv2d of one image", model, "one_image", {"x": x, "w": w}, {"y": np.maximum(conv(x[None], w, padding=1)[0], 0)}, bound(x[None], w, padding=1)[0])

    x, w = random((2, 12, 12, 3)), random((3, 3, 3, 8))
    a, f = x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)
    compare("conv2d between transpositions", model, "moved", {"x": x, "w": w}, {"y": conv(a, f, padding=1).transpose(0, 2, 3, 1)},
            bound(a, f, padding=1).transpose(0, 2, 3, 1))
    x, w = random((2, 16, 14, 14)), random((48, 16, 3, 3))
    for name in ("scheduled", "scheduled_odd"):
        compare(f"conv2d {name}", model, name, {"x": x, "w": w}, {"y": conv(x, w, padding=1)}, bound(x, w, padding=1))


# ---- special values: padding is zeros that are multiplied

def check_special():
    model = Model({"f": fixed((1, 1, 3, 3), (2, 1, 3, 3), {"padding": 1}), "g": fixed((1, 3, 3, 3), (2, 3, 2, 2), {}),
                   "e": fixed((1, 2, 4, 3), (3, 2, 3, 3), {"padding": 1}, "f8e8m0")}, "special")
    x, w = np.ones((1, 1, 3, 3), np.float32), np.ones((2, 1, 3, 3), np.float32)
    w[0, 0, 0, 0], x[0, 0, 1, 1] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        compare("conv2d with infinite weights over padding", model, "f", {"x": x, "w": w}, {"y": conv(x, w, padding=1)}, np.inf)
    x, w = np.full((1, 2, 4, 3), 2, np.uint8), np.full((3, 2, 3, 3), 127, np.uint8)  # 2**-125 and 1; this type has no zero
    compare("conv2d of f8e8m0 over padding", model, "e", {"x": x.view("V1"), "w": w.view("V1")},
            {"y": conv(np.full(x.shape, 2.0**-125), np.ones(w.shape), padding=1)})
    x, w = random((1, 3, 3, 3)), random((2, 3, 2, 2))
    x[0, 0, 0, 0], w[1, 2, 1, 1] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        compare("conv2d with infinities", model, "g", {"x": x, "w": w}, {"y": conv(x, w)}, 1e-5)


check_fixed()
check_types()
check_symbolic()
check_around()
check_special()
finish()
