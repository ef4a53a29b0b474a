"""The oracle's arithmetic: arrays in high precision that carry a bound of how far a right result may be from them.

A float of f32 or less is computed in double, f64 in long double; integers and bools are computed as they are. `e` is an
absolute bound for each element; infinity says that the language or the roundings leave the element open (a comparison of
values that may be equal, an integer divided by zero), and nothing is compared there. An exact result has the bound 0.
"""
import math, os, sys
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import elements  # the formats of element types

np.seterr(all="ignore")  # overflow and division by zero are part of what is tested

SMALL = ["f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f4e2m1"]  # casts to them saturate
WIDE, INTS = ["f64", "f32", "f16", "bf16"], ["i64", "i32", "i16", "i8", "u8", "i4"]
FLOATS, PACKED = WIDE + SMALL, ["f4e2m1", "i4"]
BITS = {t: elements.bits(t) for t in FLOATS + INTS} | {"bool": 8}
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16,
         "i8": np.int8, "u8": np.uint8, "i4": np.int8, "bool": np.bool_}
EPS = {t: 2.0 ** -(elements.FLOATS[t][3] + 1) for t in WIDE}
TINY = {"f64": 0.0, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
LARGEST = {"f64": 1.7e308, "f32": 3.4028234e38, "f16": 65504.0, "bf16": 3.3895e38}
erf = np.vectorize(math.erf, otypes=[np.float64])


def is_float(t): return t in FLOATS
def is_int(t): return t in INTS
def compute_type(t): return "f32" if is_float(t) and t != "f64" else t
def accumulate_type(t): return compute_type(t) if is_float(t) else "i64" if t == "i64" else "i32"
def array_type(t): return np.longdouble if t == "f64" else np.float64 if is_float(t) else NUMPY[t]


def promote(a, b):
    if BITS[a] < BITS[b]:
        a, b = b, a
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if is_float(a) and is_float(b):  # two formats that do not hold each other meet in f32
        return "f32" if BITS[a] == BITS[b] or BITS[a] < 16 or (a, b) == ("f16", "f8e8m0") else a
    if is_float(a) or is_float(b):
        f, i = (a, b) if is_float(a) else (b, a)
        if BITS[i] > 16 or f == "f64":
            return "f64"
        if BITS[i] > 8 or f == "f32":
            return "f32"
        return f if BITS[f] == 16 else "bf16" if f == "f8e8m0" else "f16"
    return "i16" if "u8" in (a, b) and BITS[a] == 8 else a


def least(t): return elements.least(t)
def most(t): return elements.most(t)


def whole(a, t):
    """Integers, wrapped, as an array of the type."""
    a = np.asarray(a)
    return (((a.astype(np.int8) & 15) ^ 8) - 8).astype(np.int8) if t == "i4" else a.astype(NUMPY[t])


def round_to(a, t):
    """The nearest value of type t, ties to even, in a's own precision."""
    if t == "f64":
        return a.astype(np.float64).astype(np.longdouble)
    if t in SMALL:
        return elements.decode(t, elements.encode(t, a))
    if t in ("f32", "f16"):  # NumPy rounds long double to f16 by way of f32
        return a.astype(np.float64).astype(NUMPY[t]).astype(np.float64)
    a = a.astype(np.float64)
    finite = np.where(np.isfinite(a), a, 0)
    exponent = np.maximum(np.frexp(finite)[1] - 8, -133)
    r = np.ldexp(np.rint(np.ldexp(finite, -exponent)), exponent)
    r = np.where(np.abs(r) > LARGEST["bf16"] * 1.0001, np.copysign(np.inf, a), r)
    return np.where(np.isfinite(a), r, a)


class Value:
    def __init__(self, a, e, t):
        self.a, self.t = np.asarray(a, array_type(t)), t
        self.e = np.broadcast_to(np.asarray(e, np.float64), self.a.shape)

    @property
    def shape(self): return self.a.shape

    def open(self): return np.isinf(self.e)


def exact(a, t):
    return Value(a, 0.0, t)


def literal(number, t):
    """A weak term in the type that it meets."""
    a = np.asarray(number, array_type(t))
    return exact(round_to(a, t) if is_float(t) else a, t)


def any_open(*values):
    return np.where(np.logical_or.reduce(np.broadcast_arrays(*[v.open() for v in values])), np.inf, 0.0)


def finish(a, e, t, *parents, ulps=0.5):
    """A float result: the op's own rounding, overflow of the type, what infinities and NaN leave of the bound."""
    a = np.asarray(a)
    opened = np.broadcast_to(any_open(*parents), a.shape)
    e = np.broadcast_to(np.asarray(e, np.float64), a.shape).copy()
    odd = ~np.isfinite(a)
    e[np.isnan(e)] = 0
    rounded = round_to(a, t)
    is_exact = (e == 0) & (rounded == a) & (ulps <= 0.5)
    e = np.where(is_exact, 0, e + 2 * ulps * EPS[t] * (np.abs(a).astype(np.float64) + e) + TINY[t] * max(1, ulps))
    over = np.abs(a) - e > LARGEST[t] * (1 + 2 * EPS[t])
    near = ~over & (np.abs(a) + e >= LARGEST[t])
    a = np.where(over, np.copysign(np.inf, a), a)
    e = np.where(over | odd, 0, np.where(near, np.inf, e))
    return Value(a, e + opened, t)


def cast(v, t):
    if v.t == t:
        return v
    if t == "bool":
        if is_float(v.t):
            return Value(v.a != 0, np.where((v.e > 0) & (np.abs(v.a) <= v.e), np.inf, 0) + any_open(v), t)
        return Value(v.a != 0, v.e, t)
    if is_int(t):
        if not is_float(v.t):
            return Value(whole(v.a.astype(np.int64), t), v.e, t)
        low, high = saturate(v.a - v.e, t), saturate(v.a + v.e, t)
        return Value(saturate(v.a, t), np.where((low != high) | v.open(), np.inf, 0), t)
    if t in SMALL:
        return small_cast(v, t)
    if not is_float(v.t):
        wide = v.a.astype(np.longdouble)
        return Value(round_to(wide if t in ("f64", "bf16") else v.a.astype(np.float64) if t == "f16" else v.a.astype(np.float32), t), v.e, t)
    rounded = round_to(v.a, t)
    return Value(np.where(v.e == 0, rounded, v.a), 0, t) if not v.e.any() else mixed_cast(v, t, rounded)


def mixed_cast(v, t, rounded):
    r = finish(v.a, v.e, t, v)
    return Value(np.where(v.e == 0, rounded, r.a), np.where(v.e == 0, 0, r.e), t)


def small_cast(v, t):
    """Rounding is monotone, but for the signs of f8e8m0."""
    a, low, high = (round_to(x.astype(np.float64), t) for x in (v.a, v.a - v.e, v.a + v.e))
    e = np.fmax(np.abs(high - a), np.abs(a - low))
    loose = v.open() | (np.isnan(low) != np.isnan(high))
    return Value(a, np.where(loose, np.inf, np.where(np.isfinite(e), e, 0)), t)


def saturate(a, t):
    low, high = least(t), most(t)
    a = np.trunc(a.astype(np.longdouble))
    inside = (a > low) & (a < high)
    return np.where(inside, np.where(inside, a, 0).astype(np.int64), np.where(np.isnan(a), 0, np.where(a >= high, high, low))).astype(NUMPY[t])


# ---- elementwise, floats. Operands have the type that the op is computed in.

def crosses(v):
    """May be zero but need not."""
    return (v.e > 0) & (np.abs(v.a) <= v.e)


def infinite_times_zero(x, y):
    return np.where((np.isinf(x.a) & crosses(y)) | (np.isinf(y.a) & crosses(x)), np.inf, 0)


def add(x, y): return finish(x.a + y.a, x.e + y.e, x.t, x, y)
def sub(x, y): return finish(x.a - y.a, x.e + y.e, x.t, x, y)


def mul(x, y):
    e = np.abs(x.a) * y.e + np.abs(y.a) * x.e + x.e * y.e
    return opened(finish(x.a * y.a, e, x.t, x, y), infinite_times_zero(x, y))


def opened(v, e):
    return Value(v.a, v.e + e, v.t)


def div(x, y):
    q = x.a / y.a
    e = (x.e + np.abs(q) * y.e) / np.maximum(np.abs(y.a) - y.e, 1e-4900 if x.t == "f64" else 1e-300)
    e = np.where(x.e + y.e == 0, 0, e)
    v = finish(q, e, x.t, x, y)
    loose = crosses(y) | (y.a == 0)  # the sign of a zero is not looked after: sums may start at +0
    return opened(v, np.where(loose, np.inf, 0))


def floordiv(x, y):
    q = x.a / y.a
    fq = np.floor(q)
    slack = np.abs(q) * 4 * EPS[x.t] + (x.e + np.abs(q) * y.e) / np.maximum(np.abs(y.a), 1e-300)
    whole = (x.e + y.e == 0) & (np.fmod(x.a, y.a) == 0)
    loose = ~whole & (np.abs(q - np.rint(q)) <= slack + 1e-30) | ~np.isfinite(q) | (np.abs(q) * EPS[x.t] > 0.1) | np.isinf(y.a)
    return opened(finish(fq, 0, x.t, x, y), np.where(loose, np.inf, 0))


def mod(x, y):
    fq = floordiv(x, y)
    r = np.fmod(x.a, y.a)
    r = np.where((r != 0) & ((r < 0) != (y.a < 0)), r + y.a, r)
    e = np.where(fq.open(), np.inf, x.e + np.abs(fq.a) * y.e + 4 * EPS[x.t] * np.abs(x.a))
    return opened(finish(r, np.where(np.isinf(e), 0, e), x.t, x, y), np.where(np.isinf(e), np.inf, 0))


def power(x, y):
    p = np.power(x.a, y.a)
    e = np.zeros(p.shape)
    if x.e.any() or y.e.any():
        for sx in (-1, 1):
            for sy in (-1, 1):
                e = np.fmax(e, np.abs(np.power(x.a + sx * x.e, y.a + sy * y.e) - p))
    loose = ((x.a - x.e <= 0) & (x.e > 0)) | ((x.a <= 0) & (y.e > 0)) | ((x.a == 0) & (y.a < 0))
    return opened(finish(p, e, x.t, x, y, ulps=5), np.where(loose, np.inf, 0))


def bounded(f, slope, ulps, scale=0):
    """A function whose slope is at most that; scale: roundings of the size of x."""
    def apply(x):
        r = f(x.a)
        e = np.where(x.e > 0, slope * x.e, 0)
        if scale:
            e = e + scale * EPS[x.t] * np.where(np.isfinite(x.a), np.abs(x.a), 0)
        return finish(r, e, x.t, x, ulps=ulps)
    return apply


def monotone(f, ulps, singular=None):
    def apply(x):
        r = f(x.a)
        e = 0
        if x.e.any():
            e = np.fmax(np.abs(f(x.a + x.e) - r), np.abs(f(x.a - x.e) - r))
            e = np.where(x.e > 0, e, 0)
        loose = np.zeros(r.shape, bool)
        if x.e.any():
            loose = (x.e > 0) & np.isinf(e) & np.isfinite(r)
            if singular is not None:
                loose = loose | ((x.e > 0) & (x.a - x.e <= singular))
        return opened(finish(r, np.where(np.isinf(e), 0, e), x.t, x, ulps=ulps), np.where(loose, np.inf, 0))
    return apply


def jumps(f):
    """floor, ceil, round."""
    def apply(x):
        loose = f(x.a - x.e) != f(x.a + x.e)
        return Value(f(x.a), np.where((loose & (x.e > 0)) | x.open(), np.inf, 0), x.t)
    return apply


def sigmoid(a): return 1 / (1 + np.exp(-a))


def gelu(a): return np.where(np.isneginf(a), np.nan, 0.5 * a * (1 + erf((a / np.sqrt(np.asarray(2, a.dtype))).astype(np.float64))).astype(a.dtype))


def gelu_tanh(a):
    c = np.sqrt(np.asarray(2, a.dtype) / np.pi)
    return 0.5 * a * (1 + np.tanh(c * (a + 0.044715 * a * a * a)))


def silu(a): return a * sigmoid(a)


UNARY = {
    "sqrt": monotone(np.sqrt, 0.5, 0), "rsqrt": monotone(lambda a: 1 / np.sqrt(a), 3, 0), "exp": monotone(np.exp, 3),
    "exp2": monotone(np.exp2, 3), "log": monotone(np.log, 3, 0), "log2": monotone(np.log2, 3, 0),
    "sin": bounded(np.sin, 1, 5), "cos": bounded(np.cos, 1, 5), "tanh": monotone(np.tanh, 5),
    "erf": monotone(lambda a: erf(a.astype(np.float64)).astype(a.dtype), 6), "sigmoid": monotone(sigmoid, 8),
    "gelu": bounded(gelu, 1.2, 8, scale=4), "gelu_tanh": bounded(gelu_tanh, 1.2, 8, scale=8), "silu": bounded(silu, 1.2, 8, scale=2),
}


def rsqrt(x, apply=UNARY["rsqrt"]):
    return opened(apply(x), np.where(x.a == 0, np.inf, 0))  # the sign of a zero, as in div


UNARY["rsqrt"] = rsqrt
ROUNDING = {"floor": jumps(np.floor), "ceil": jumps(np.ceil), "round": jumps(np.rint)}


def absolute(x): return Value(np.abs(x.a) if is_float(x.t) else whole(np.abs(x.a), x.t), x.e, x.t)
def negative(x): return Value(-x.a if is_float(x.t) else whole(-x.a, x.t), x.e, x.t)


def smaller(x, y):
    if not is_float(x.t):
        return Value(np.minimum(x.a, y.a), any_open(x, y), x.t)
    return Value(np.minimum(x.a, y.a), np.where(np.isnan(x.a) | np.isnan(y.a), any_open(x, y), np.maximum(x.e, y.e)), x.t)


def larger(x, y):
    if not is_float(x.t):
        return Value(np.maximum(x.a, y.a), any_open(x, y), x.t)
    return Value(np.maximum(x.a, y.a), np.where(np.isnan(x.a) | np.isnan(y.a), any_open(x, y), np.maximum(x.e, y.e)), x.t)


COMPARE = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def compare(op, x, y):
    r = COMPARE[op](x.a, y.a)
    if not is_float(x.t):
        return Value(r, any_open(x, y), "bool")
    e = x.e + y.e
    loose = (e > 0) & ~(np.abs(x.a - y.a) > e) & ~np.isnan(x.a) & ~np.isnan(y.a)
    return Value(r, np.where(loose, np.inf, 0) + any_open(x, y), "bool")


def select(c, x, y):
    same = (x.a == y.a) & (x.e == 0) & (y.e == 0)
    return Value(np.where(c.a, x.a, y.a), np.where(c.open() & ~same, np.inf, np.where(c.a, x.e, y.e)), x.t)


# ---- elementwise, integers

def integer(op, x, y):
    e = any_open(x, y)
    if op in ("//", "%"):
        e = e + np.where(y.a == 0, np.inf, 0)
        y = Value(np.where(y.a == 0, 1, y.a), 0, y.t)
    f = {"+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.remainder, "**": np.power}[op]
    return Value(whole(f(x.a, y.a), x.t), e, x.t)


FLOAT_BINARY = {"+": add, "-": sub, "*": mul, "/": div, "//": floordiv, "%": mod, "**": power}


# ---- reductions. axes: a tuple.

def roundings(n):
    """How many half ulps of the sum of magnitudes n additions may lose; orders are free, errors have both signs."""
    return 8 + 2 * math.sqrt(n)


def size_along(x, axes):
    return int(np.prod([x.shape[i] for i in axes], dtype=np.int64))


def total(x, axes, keep):
    if not is_float(x.t):
        return Value(np.sum(x.a, axis=axes, keepdims=keep, dtype=np.int64).astype(NUMPY[x.t]), np.sum(x.e, axis=axes, keepdims=keep), x.t)
    s, magnitude = np.sum(x.a, axis=axes, keepdims=keep), np.sum(np.abs(x.a) + x.e, axis=axes, keepdims=keep)
    whole = bool((x.e == 0).all() and (np.rint(x.a) == x.a).all()) if np.isfinite(x.a).all() else False
    e = np.sum(x.e, axis=axes, keepdims=keep)
    e = e + np.where(whole & (magnitude < 2.0**24), 0, roundings(size_along(x, axes)) * EPS[x.t] * np.asarray(magnitude, np.float64))
    return reduced(s, e, x, axes, keep, magnitude)


def running(x, axis):
    """cumsum: each prefix as `total` has it."""
    if not is_float(x.t):
        return Value(np.cumsum(x.a, axis, dtype=np.int64).astype(NUMPY[x.t]), np.cumsum(x.e, axis), x.t)
    s, magnitude = np.cumsum(x.a, axis), np.cumsum(np.abs(x.a) + x.e, axis)
    exact_so_far = np.logical_and.accumulate((x.e == 0) & (np.rint(x.a) == x.a), axis) & (magnitude < 2.0**24)
    count = np.arange(1, x.shape[axis] + 1).reshape([-1 if i == axis else 1 for i in range(len(x.shape))])
    e = np.cumsum(x.e, axis) + np.where(exact_so_far, 0, (8 + 2 * np.sqrt(count)) * EPS[x.t] * np.asarray(magnitude, np.float64))
    loose = np.isinf(np.cumsum(x.e, axis)) | (np.isfinite(s) & ~(magnitude < LARGEST[x.t] / 2))
    return opened(finish(s, np.where(np.isfinite(e), e, 0), x.t), np.where(loose, np.inf, 0))


def reduced(s, e, x, axes, keep, magnitude):
    """Overflow on the way leaves the result open."""
    loose = np.isinf(np.sum(x.e, axis=axes, keepdims=keep)) | (np.isfinite(s) & ~(magnitude < LARGEST[x.t] / 2))
    return opened(finish(s, np.where(np.isnan(e) | np.isinf(e), 0, e), x.t), np.where(loose, np.inf, 0))


def product(x, axes, keep):
    if not is_float(x.t):
        return Value(np.prod(x.a, axis=axes, keepdims=keep, dtype=np.int64).astype(NUMPY[x.t]), np.sum(x.e, axis=axes, keepdims=keep), x.t)
    p = np.prod(x.a, axis=axes, keepdims=keep)
    big = np.prod(np.maximum(np.abs(x.a) + x.e, 1), axis=axes, keepdims=keep)
    small = np.prod(np.minimum(np.abs(x.a), 1), axis=axes, keepdims=keep)
    grown = np.prod(np.abs(x.a) + x.e, axis=axes, keepdims=keep) - np.abs(p)
    v = reduced(p, np.abs(grown) + roundings(size_along(x, axes)) * 2 * EPS[x.t] * np.abs(p), x, axes, keep, big)
    under = (small < 1e-30) & ~np.isnan(p)  # may be 0 on the way, in some orders
    return opened(v, np.where(under, np.inf, 0))


def mean(x, axes, keep):
    return div(total(x, axes, keep), literal(size_along(x, axes), x.t))


def extreme(x, axes, keep, largest):
    if size_along(x, axes) == 0:
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)] if keep else [n for i, n in enumerate(x.shape) if i not in axes]
        return Value(np.zeros(shape), np.inf, x.t)
    e = np.max(x.e, axis=axes, keepdims=keep)
    return Value((np.max if largest else np.min)(x.a, axis=axes, keepdims=keep), e, x.t)


def index_of(x, axis, keep, largest):
    """axis: a number, or None for the row-major index over all."""
    if axis is None:
        flat = index_of(Value(x.a.reshape(-1), x.e.reshape(-1), x.t), 0, False, largest)
        return Value(flat.a.reshape([1] * len(x.shape)), flat.e.reshape([1] * len(x.shape)), "i64") if keep else flat
    if x.shape[axis] == 0:
        shape = [1 if i == axis else n for i, n in enumerate(x.shape)] if keep else [n for i, n in enumerate(x.shape) if i != axis]
        return Value(np.zeros(shape), np.inf, "i64")
    found = np.expand_dims((np.argmax if largest else np.argmin)(x.a, axis=axis), axis)
    best, best_e = np.take_along_axis(x.a, found, axis), np.take_along_axis(x.e, found, axis)
    others = np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(x.shape))]) != found
    gap = np.abs(best - x.a).astype(np.float64) if is_float(x.t) else np.where(x.a == best, 0.0, 1.0)
    loose = (others & (x.e + best_e > 0) & ~(gap > x.e + best_e)).any(axis=axis, keepdims=True) | x.open().any(axis=axis, keepdims=True)
    e = np.where(loose, np.inf, 0)
    return Value(found, e, "i64") if keep else Value(np.squeeze(found, axis), np.squeeze(e, axis), "i64")


# ---- products

def multiply(a, b):
    """np.matmul; libraries that skip zeros lose the NaN of 0 * inf."""
    if np.isfinite(a).all() and np.isfinite(b).all():
        return np.matmul(a, b)
    rows, columns = a[None, :] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    p = np.einsum("...ij,...jk->...ik", rows, columns)
    p = p[..., 0] if b.ndim == 1 else p
    return (p[0] if b.ndim == 1 else p[..., 0, :]) if a.ndim == 1 else p


def matmul(x, y, precision):
    """Operands oriented: [..., M, K] and [..., K, N], or vectors."""
    if not is_float(x.t):
        return Value(np.matmul(x.a.astype(np.int64), y.a.astype(np.int64)).astype(np.int32), np.where(spread(x, y), np.inf, 0), "i32")
    t = compute_type(x.t)
    xa, ya = np.abs(x.a).astype(np.float64) + x.e, np.abs(y.a).astype(np.float64) + y.e
    magnitude = np.matmul(xa, ya)
    p = multiply(x.a, y.a)
    e = np.matmul(np.abs(x.a).astype(np.float64), y.e) + np.matmul(x.e, ya)
    k = x.shape[-1]
    unit = EPS[t] if x.t != "f32" or precision == "ieee" else {"high": 2.0**-20, "fast": 2.0**-10}[precision]
    whole = np.isfinite(x.a).all() and np.isfinite(y.a).all() and not x.e.any() and not y.e.any()
    whole = whole and bool((np.rint(x.a) == x.a).all() and (np.rint(y.a) == y.a).all()) and precision != "fast"
    e = e + np.where(whole & (magnitude < 2.0**24) if precision == "ieee" else False, 0, 2 * roundings(k) * EPS[t] * magnitude + (unit * 4 * magnitude if unit > EPS[t] else 0) + TINY[t] * (k + 1))
    loose = spread(x, y) | (np.isfinite(p) & ~(magnitude < LARGEST[t] / 2))
    if precision != "ieee":
        loose = loose | ~np.isfinite(p)
    return opened(finish(p, np.where(np.isfinite(e), e, 0), t), np.where(loose, np.inf, 0))


def spread(x, y):
    """Where an open element of an operand reaches the product, or an infinity meets what may be zero."""
    reach = np.matmul(x.open().astype(float), np.ones(y.shape)) + np.matmul(np.ones(x.shape), y.open().astype(float))
    if is_float(x.t):
        reach = reach + np.matmul(np.isinf(x.a).astype(float), crosses(y).astype(float)) + np.matmul(crosses(x).astype(float), np.isinf(y.a).astype(float))
    return reach > 0


# ---- composites

def softmax(x, axis):
    p = UNARY["exp"](sub(x, extreme(x, (axis,), True, True)))
    return div(p, total(p, (axis,), True))


def log_softmax(x, axis):
    shifted = sub(x, extreme(x, (axis,), True, True))
    return sub(shifted, UNARY["log"](total(UNARY["exp"](shifted), (axis,), True)))


def along(v, rank, axis):
    shape = [-1 if i == axis else 1 for i in range(rank)]
    return Value(v.a.reshape(shape), v.e.reshape(shape), v.t)


def layernorm(x, scale, bias, axis, eps):
    centred = sub(x, mean(x, (axis,), True))
    variance = mean(mul(centred, centred), (axis,), True)
    y = mul(centred, UNARY["rsqrt"](add(variance, literal(eps, x.t))))
    return add(mul(y, along(scale, x.a.ndim, axis)), along(bias, x.a.ndim, axis))


def rmsnorm(x, scale, axis, eps):
    y = mul(x, UNARY["rsqrt"](add(mean(mul(x, x), (axis,), True), literal(eps, x.t))))
    return mul(y, along(scale, x.a.ndim, axis))


# ---- arrays as stored: bits of floats, integers as they are

def rounded(a, t):
    """As an array of the type: bf16 and shorter as f32."""
    if not is_float(t):
        return whole(a, t)
    return round_to(np.asarray(a, np.float64), t).astype(NUMPY.get(t, np.float32))


def encode(a, t):
    """4-bit types one a byte."""
    if is_float(t) and t not in NUMPY:
        return elements.encode(t, a)
    return np.asarray(a).view(np.dtype(f"u{BITS[t] // 8}")) if is_float(t) else np.asarray(a).view(np.uint8) if t == "bool" else np.asarray(a)


def filed(a, t):
    """As a .npy file has it: types of NumPy's own, else bits; 4-bit ones two a byte."""
    if t in PACKED:
        codes = (encode(a, t).astype(np.uint8) & 15).reshape(np.shape(a))
        return codes[..., 0::2] | codes[..., 1::2] << 4
    return np.asarray(a) if t in NUMPY else encode(a, t)


def decode(a, t):
    if t in NUMPY:
        return a.view(NUMPY[t])
    return elements.decode(t, a).astype(np.float32)


# ---- the verdict

def beyond(got, exact, value, bound, t):
    """'' or where `got` is further from the reference device's value than its bound and half an ulp; arrays as stored."""
    if not is_float(t):
        g = decode(got, t)
        good = (got == exact) | ((bound > 0) & (np.abs(g.astype(np.float64) - value) <= bound))
    else:
        g = decode(got, t).astype(np.float64)
        low, high = (round_to(np.asarray(value + s * bound, array_type(t)), t) for s in (-1, 1))
        near = np.abs(g - value) <= bound + 0.5 * np.maximum(elements.ulp(t, g), elements.ulp(t, value))
        odd = np.isinf(g) | np.isinf(value)
        good = (np.isnan(g) & np.isnan(value)) | (g == value) | (g == round_to(np.asarray(value, array_type(t)), t)) | np.isinf(bound)
        good = good | np.where(odd, (g >= low) & (g <= high), near)
    wrong = np.argwhere(~good)
    if not len(wrong):
        return ""
    i = tuple(wrong[0])
    return f"{len(wrong)} of {got.size} beyond the reference, first at {list(map(int, i))}: {g[i]!r}, {value[i]!r} within {bound[i]:.3g}"


def difference(got, want, t):
    """'' or where `got`, an array of the output's type (bf16 as f32), is wrong. want: a Value of that type."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if is_float(t):
        g = got.astype(array_type(t))
        good = (np.isnan(g) & np.isnan(want.a)) | (g == want.a) | (np.isfinite(g) & (np.abs(g - want.a) <= want.e))
    else:
        good = got == want.a
    wrong = np.argwhere(~good & ~want.open())
    if not len(wrong):
        return ""
    i = tuple(wrong[0])
    return f"{len(wrong)} of {got.size} wrong, first at {list(map(int, i))}: {got[i]!r}, expected {want.a[i]!r} within {want.e[i]:.3g}"
