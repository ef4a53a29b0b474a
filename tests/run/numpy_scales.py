"""rope, quantize, dequantize against NumPy.

Bounds, in half ulps of f32 (u): rope has two products and a sum, contracted or not; a scaled value has one rounding. What is
quantized is exact: the division is correctly rounded, the rest is defined.
"""
import numpy as np
from kctest import *

U = 2.0**-24
L = np.longdouble

model = Model({
    "turn": """
inputs: {x: "f32[B, H, S, D]", c: "f32[S, D / 2]", s: "f32[S, D / 2]"}
outputs: {y: "f32[B, H, S, D]"}
body: |
  y = rope(x, c, s)
""",
    "turn_f16": """
inputs: {x: "f16[S, H, D]", c: "f16[S, 1, D / 2]", s: "f32[D / 2]"}
outputs: {y: "f16[S, H, D]"}
body: |
  y = rope(x, c, s)
""",
    "turn_wider": """
inputs: {x: "f64[8]", c: "f64[N, 4]", s: "f64[N, 1]"}
outputs: {y: "f64[N, 8]"}
body: |
  y = rope(x, c, s)
""",
    "blocks": """
inputs: {x: "f32[M, K]", s: "f32[M, K / 32]"}
outputs: {i: "i8[M, K]", u: "u8[M, K]", w: "i16[M, K]", h: "f16[M, K]"}
body: |
  i = quantize(x, s, block=32, dtype="i8")
  u = quantize(x, s, block=32, dtype="u8")
  w = quantize(x, s, block=32, dtype="i16")
  h = quantize(x, s, block=32, dtype="f16")
""",
    "rows": """
inputs: {x: "f16[M, K]", r: "f16[M, 1]", k: "f32[K]", t: f32}
outputs: {a: "i8[M, K]", b: "i8[M, K]", c: "i8[M, K]", d: "i8[M, K]"}
body: |
  a = quantize(x, r, dtype="i8")
  b = quantize(x, k, block=1, dtype="i8")
  c = quantize(x, t, dtype="i8")
  d = quantize(x, 0.125, dtype="i8")
""",
    "back": """
inputs: {x: "i8[B, M, K]", s: "f16[M, K / 4]", w: "i32[B, M, K]", d: "f64[1]"}
outputs: {y: "f32[B, M, K]", z: "f64[B, M, K]"}
body: |
  y = dequantize(x, s, block=4)
  z = dequantize(w, d)
""",
    "product": """
inputs: {x: "f32[M, K]", q: "i8[N, K]", s: "f32[N, K / 16]"}
outputs: {y: "f32[M, N]"}
body: |
  y = matmul(x, dequantize(q, s, block=16), transpose_b=true)
""",
}, "scales")


def turned(x, c, s):
    x, c, s = (a.astype(L) for a in (x, c, s))
    h = x.shape[-1] // 2
    x1, x2 = x[..., :h], x[..., h:]
    with np.errstate(invalid="ignore"):
        y = np.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], axis=-1)
        size = np.concatenate([abs(x1 * c) + abs(x2 * s), abs(x2 * c) + abs(x1 * s)], axis=-1)
    return y, size


for b, h, n, d in [(1, 1, 1, 2), (2, 3, 5, 6), (2, 4, 3, 64), (1, 2, 7, 80), (1, 1, 2, 130), (3, 1, 1, 34), (0, 1, 2, 4)]:
    x = rng.standard_normal((b, h, n, d)).astype(np.float32)
    angle = rng.standard_normal((n, d // 2)) * 100
    c, s = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    y, size = turned(x, c, s)
    compare(f"rope {b}x{h}x{n}x{d}", model, "turn", {"x": x, "c": c, "s": s}, {"y": y}, (3 * U * size).astype(float))
x = rng.standard_normal((5, 3, 48)).astype(np.float16)
c, s = rng.standard_normal((5, 1, 24)).astype(np.float16), rng.standard_normal(24).astype(np.float32)
y, size = turned(x, c, s)
compare("rope f16, factors broadcast", model, "turn_f16", {"x": x, "c": c, "s": s}, {"y": y}, (3 * U * size).astype(float))
x, c, s = rng.standard_normal(8), rng.standard_normal((3, 4)), rng.standard_normal((3, 1))
y, size = turned(x, c, s)
compare("rope f64, x broadcast", model, "turn_wider", {"x": x, "c": c, "s": s}, {"y": y}, (3 * 2.0**-53 * size).astype(float))
x = np.array([[[[np.inf, np.nan, 1, -0.0]]]], np.float32)
y, size = turned(x, np.ones((1, 2), np.float32), np.zeros((1, 2), np.float32))
compare("rope of infinities and NaN", model, "turn", {"x": x, "c": np.ones((1, 2), np.float32), "s": np.zeros((1, 2), np.float32)}, {"y": y}, 0)


def quantized(x, s, dtype):
    with np.errstate(all="ignore"):
        q = x.astype(np.float32) / s.astype(np.float32)
        if np.dtype(dtype).kind == "f":
            return q.astype(dtype)
        info = np.iinfo(dtype)
        return np.where(np.isnan(q), 0, np.clip(np.rint(q.astype(np.float64)), info.min, info.max)).astype(dtype)


for m, k in [(1, 32), (3, 64), (7, 96), (2, 1024), (5, 4128), (0, 32)]:
    x = (rng.standard_normal((m, k)) * 40).astype(np.float32)
    s = (2.0 ** rng.integers(-3, 4, (m, k // 32)) * rng.choice([1, 0.7, -1], (m, k // 32))).astype(np.float32)
    x[:, ::5] = np.round(x[:, ::5] * 2) / 2  # halves: to even
    if m:
        x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    each = np.repeat(s, 32, axis=1)
    compare(f"quantize in blocks {m}x{k}", model, "blocks", {"x": x, "s": s},
            {"i": quantized(x, each, "i1"), "u": quantized(x, each, "u1"), "w": quantized(x, each, "i2"), "h": quantized(x, each, "f2")})
for m, k in [(4, 1), (3, 50), (2, 257), (3, 1024)]:
    x = (rng.standard_normal((m, k)) * 20).astype(np.float16)
    r, c, t = np.exp(rng.standard_normal((m, 1))).astype(np.float16), np.exp(rng.standard_normal(k)).astype(np.float32), np.float32(0.3)
    compare(f"quantize, other scales {m}x{k}", model, "rows", {"x": x, "r": r, "k": c, "t": 0.3},
            {"a": quantized(x, r, "i1"), "b": quantized(x, c, "i1"), "c": quantized(x, t, "i1"), "d": quantized(x, np.float32(0.125), "i1")})
for b, m, k in [(1, 1, 4), (2, 3, 20), (2, 5, 512)]:
    x, s = rng.integers(-128, 128, (b, m, k)).astype(np.int8), rng.standard_normal((m, k // 4)).astype(np.float16)
    w, d = rng.integers(-2**31, 2**31, (b, m, k)).astype(np.int32), rng.standard_normal(1)
    compare(f"dequantize {b}x{m}x{k}", model, "back", {"x": x, "s": s, "w": w, "d": d},
            {"y": x.astype(L) * np.repeat(s, 4, axis=1), "z": w.astype(L) * d})
x, q, s = rng.standard_normal((5, 64)).astype(np.float32), rng.integers(-128, 128, (9, 64)).astype(np.int8), rng.random((9, 4)).astype(np.float32)
w = q.astype(L) * np.repeat(s, 16, axis=1)
compare("a scaled matmul", model, "product", {"x": x, "q": q, "s": s}, {"y": x.astype(L) @ w.T}, ((abs(x) @ abs(w).T) * 70 * U).astype(float))
x, s = (rng.standard_normal((8, 4096)) * 40).astype(np.float32), np.ones((8, 128), np.float32)
model.run("blocks", {"x": x, "s": s}, ["i"], counters=True)
vectors = x.nbytes / 16 / 32  # instructions that read x
loads = sum(k["instructions"]["load_global"] for k in model.counters)
test("a scale is read once for its block", vectors <= loads <= 1.5 * vectors, f"{loads} loads for {vectors} vectors of x")
finish()
