"""softmax, log_softmax, layernorm, rmsnorm against NumPy in extended precision.

Bounds, in half ulps of f32 (u), first order, n elements a row, any order of summation:
- softmax: the argument x - max carries |x - max| u, exp 2 ulp = 4 u, the sum n u more on each term, the division u.
- norms: mean carries n u mean|x|; the squares' sum n u more; rsqrt and products a few u each.
"""
import numpy as np
from kctest import *

U = 2.0**-24


def rows(expression, extra=""):
    return f"""
inputs: {{x: "f32[M, N]"{extra}}}
outputs: {{y: "f32[M, N]"}}
body: |
  y = {expression}
"""


model = Model({
    "softmax": rows("softmax(x)"),
    "softmax_first": rows("softmax(x, axis=0)"),
    "softmax_f16": rows("softmax(x)").replace("f32", "f16"),
    "softmax_middle": rows("softmax(x, axis=1)").replace("[M, N]", "[M, N, 5]"),
    "log_softmax": rows("log_softmax(x)"),
    "layernorm": rows("layernorm(x, s, b)", ', s: "f32[N]", b: "f32[N]"'),
    "rmsnorm": rows("rmsnorm(x, s)", ', s: "f32[N]"'),
    "masked": rows("softmax(where(c, x, -inf))", ', c: "bool[M, N]"'),
}, "rows")


def softmax(x, axis=-1):
    x = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        shifted = x - x.max(axis=axis, keepdims=True)
        e = np.exp(shifted)
        s = e.sum(axis=axis, keepdims=True)
        y = e / s
        n = x.shape[axis]
        weighted = (np.where(e > 0, np.abs(shifted), 0) * y).sum(axis=axis, keepdims=True)
        relative = (np.where(np.isfinite(shifted), np.abs(shifted), 0) + weighted + 10 + n) * U * 1.01
        # Below the smallest normal number a rounding is absolute.
        return y, (y * relative + 2.0**-149).astype(float), np.log(s), relative


for m, n in [(5, 1), (33, 7), (9, 64), (4, 127), (3, 129), (7, 1000), (2, 1024), (2, 4099), (1, 9001)]:
    x = (rng.standard_normal((m, n)) * 4).astype(np.float32)
    y, b, log_sum, relative = softmax(x)
    compare(f"softmax {m}x{n}", model, "softmax", {"x": x}, {"y": y}, b)
    want = (x.astype(np.longdouble) - x.max(axis=-1, keepdims=True)) - log_sum
    log_bound = (relative + 4 * U * np.abs(log_sum) + 3 * U * (np.abs(want) + np.abs(x - x.max(axis=-1, keepdims=True)))).astype(float)
    compare(f"log_softmax {m}x{n}", model, "log_softmax", {"x": x}, {"y": want}, log_bound)

    s, c = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    w = x.astype(np.longdouble)
    mean, size = w.mean(axis=1, keepdims=True), np.abs(w).mean(axis=1, keepdims=True)
    var = ((w - mean) ** 2).mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt(var + 1e-5)
    d = w - mean
    # An error of the mean shifts d; the variance takes 2 |d| of it on average, and n + 4 roundings of its own. Formulas that
    # subtract squares may lose up to mean^2 / var of that.
    shift = (n + 2) * U * size + U * np.abs(d)
    loss = (n + 8) * U * (1 + (mean**2 + size**2) / (var + 1e-5))
    unscaled = shift * scale + np.abs(d) * scale * (loss + 8 * U)
    bound = (np.abs(s) * unscaled + 4 * U * (np.abs(d * scale * s) + np.abs(c))).astype(float)
    compare(f"layernorm {m}x{n}", model, "layernorm", {"x": x, "s": s, "b": c}, {"y": d * scale * s + c}, bound)
    r = w / np.sqrt((w**2).mean(axis=1, keepdims=True) + 1e-6) * s
    compare(f"rmsnorm {m}x{n}", model, "rmsnorm", {"x": x, "s": s}, {"y": r}, (np.abs(r) * (n + 12) * U).astype(float))

x = (rng.standard_normal((9, 40)) * 4).astype(np.float32)
y, b, _, _ = softmax(x, 0)
compare("softmax axis 0", model, "softmax_first", {"x": x}, {"y": y}, b)
x = rng.standard_normal((6, 130)).astype(np.float16)
y, b, _, _ = softmax(x)
compare("softmax f16", model, "softmax_f16", {"x": x}, {"y": y}, b)
x = rng.standard_normal((6, 13, 5)).astype(np.float32)
y, b, _, _ = softmax(x, 1)
compare("softmax axis 1 of 3", model, "softmax_middle", {"x": x}, {"y": y}, b)

x = rng.standard_normal((8, 70)).astype(np.float32)
x[0] = -np.inf           # nothing left: NaN
x[1, 3] = np.nan
x[2, 5] = np.inf         # inf - inf
x[3, 7] = -np.inf
x[4] = 3e38              # shifted before exp: no overflow
x[5] = np.linspace(-1e4, 1e4, 70)
y, b, _, _ = softmax(x)
compare("softmax of infinities, NaN and large values", model, "softmax", {"x": x}, {"y": y}, b)
x = rng.standard_normal((8, 70)).astype(np.float32)
keep = rng.random((8, 70)) < 0.5
y, b, _, _ = softmax(np.where(keep, x, -np.inf).astype(np.float32))
compare("softmax of a masked row", model, "masked", {"x": x, "c": keep}, {"y": y}, b)
compare("softmax of no rows", model, "softmax", {"x": np.zeros((0, 7), np.float32)}, {"y": np.zeros((0, 7))})
compare("softmax of empty rows", model, "softmax", {"x": np.zeros((3, 0), np.float32)}, {"y": np.zeros((3, 0))})
finish()
