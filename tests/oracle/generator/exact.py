"""Exact results by mpmath, and intervals that hold every result LANGUAGE allows."""

import mpmath
import numpy as np
import scipy.special
from elements import largest, overflow, ulp, FLOATS

mpmath.mp.prec = 140
M = mpmath.mp

FUNCTIONS = {  # mpmath's function, NumPy's for zeros, infinities and NaN, ulps of LANGUAGE (None: correctly rounded)
    "sqrt": (M.sqrt, np.sqrt, None),
    "rsqrt": (lambda x: 1 / M.sqrt(x), lambda x: 1 / np.sqrt(x), 2),
    "exp": (M.exp, np.exp, 2),
    "exp2": (lambda x: M.power(2, x), np.exp2, 2),
    "log": (M.log, np.log, 2),
    "log2": (lambda x: M.log(x) / M.log(2), np.log2, 2),
    "sin": (M.sin, np.sin, 4),
    "cos": (M.cos, np.cos, 4),
    "tanh": (M.tanh, np.tanh, 4),
    "erf": (M.erf, scipy.special.erf, 4),
}


def split(y):
    """An mpf as float64, towards zero so that it keeps its binade, and what is left, in ulps of float64."""
    try:
        high = float(y)
    except OverflowError:
        return float(M.sign(y)) * np.inf, 0.0
    if not np.isfinite(high):
        return high, 0.0
    if abs(high) > abs(y):
        high = float(np.nextafter(high, 0))
    return high, float((y - M.mpf(high)) / M.mpf(float(ulp("f64", high))))


def of_one(name, x):
    """(want, low) of FUNCTIONS[name] over float64 x."""
    function, plain, _ = FUNCTIONS[name]
    return over(lambda v: function(M.mpf(v)), plain, x, negative_is_nan=name in ("sqrt", "rsqrt", "log", "log2"))


def over(function, plain, x, negative_is_nan=False):
    x = np.asarray(x, np.float64)
    want, low = np.zeros(x.shape), np.zeros(x.shape)
    with np.errstate(all="ignore"):
        want[...] = plain(x)
    for i, v in np.ndenumerate(x):
        if np.isfinite(v) and v != 0 and not (negative_is_nan and v < 0):
            want[i], low[i] = split(function(v))
    return want, low


def power(a, b):
    """C99 F.9.4.4, through the C library, wherever an operand or the result is special."""
    want, low = np.zeros(a.shape), np.zeros(a.shape)
    with np.errstate(all="ignore"):
        want[...] = np.power(np.asarray(a, np.float64), np.asarray(b, np.float64))
    for i, x in np.ndenumerate(a):
        y = float(b[i])
        if not np.isfinite(x) or not np.isfinite(y) or x == 0 or y == 0 or x in (1, -1) or (x < 0 and y != np.floor(y)):
            continue
        size = M.log(abs(M.mpf(float(x)))) * y / M.log(2)
        sign = -1 if x < 0 and y % 2 == 1 else 1
        if size > 1100 or size < -1200:  # beyond every type
            want[i] = sign * (np.inf if size > 0 else 0.0)
        else:
            want[i], low[i] = split(sign * M.power(abs(M.mpf(float(x))), M.mpf(y)))
    return want, low


class Interval:
    """Bounds of what an implementation may have, computing in type t: every op widens them by its own rounding. Where a
    result overflows in some order the end is infinite. Kept in long double, widened by its own error too."""

    def __init__(self, low, high, t):
        self.low, self.high, self.t = np.asarray(low, np.longdouble), np.asarray(high, np.longdouble), t

    @staticmethod
    def exactly(x, t):
        return Interval(x, x, t)

    def rounded(self, ulps):
        """Widened by the op's own error; ulps = 0.5: correctly rounded, so an interval's ends may be rounded outwards."""
        with np.errstate(all="ignore"):
            slack = [ulps * ulp(self.t, x) * (1 + 2.0**-20) + np.abs(x) * np.longdouble(2) ** -60 for x in (self.low, self.high)]
            low, high = self.low - np.where(np.isfinite(self.low), slack[0], 0), self.high + np.where(np.isfinite(self.high), slack[1], 0)
            limit = overflow(self.t) if self.t != "f64" else np.longdouble(largest("f64"))
            low, high = np.where(low <= -limit, -np.inf, low), np.where(high >= limit, np.inf, high)
            low, high = np.where(low >= limit, np.inf, low), np.where(high <= -limit, -np.inf, high)
        return Interval(low, high, self.t)

    def corners(self, other, f):
        with np.errstate(all="ignore"):
            ends = [f(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = ends[0], ends[0]
        for e in ends[1:]:
            low, high = np.minimum(low, e), np.maximum(high, e)  # NaN stays: open
        return Interval(low, high, self.t)

    def __add__(self, o):
        return Interval(self.low + o.low, self.high + o.high, self.t).rounded(0.5)

    def __sub__(self, o):
        return Interval(self.low - o.high, self.high - o.low, self.t).rounded(0.5)

    def __neg__(self):
        return Interval(-self.high, -self.low, self.t)

    def __mul__(self, o):
        return self.corners(o, np.multiply).rounded(0.5)

    def __truediv__(self, o):
        with np.errstate(all="ignore"):
            spans = (o.low <= 0) & (o.high >= 0)
            r = self.corners(o, np.divide)
            return Interval(np.where(spans, np.nan, r.low), np.where(spans, np.nan, r.high), self.t).rounded(0.5)

    def square(self):
        with np.errstate(all="ignore"):
            a, b = self.low * self.low, self.high * self.high
        spans = (self.low <= 0) & (self.high >= 0)
        return Interval(np.where(spans, 0, np.minimum(a, b)), np.maximum(a, b), self.t).rounded(0.5)

    def hull(self, o):
        """Of two ways to compute it."""
        return Interval(np.minimum(self.low, o.low), np.maximum(self.high, o.high), self.t)

    def through(self, f, ulps):
        """A growing function."""
        with np.errstate(all="ignore"):
            return Interval(f(self.low), f(self.high), self.t).rounded(ulps)

    def total(self, axis):
        """Of n terms in any order: (n - 1) half ulps of the sum of sizes; an overflow on the way opens it."""
        with np.errstate(all="ignore"):
            n = self.low.shape[axis]
            size = np.maximum(np.abs(self.low), np.abs(self.high)).sum(axis=axis, keepdims=True)
            u = np.longdouble(2) ** -(FLOATS[self.t][3] + 1)
            slack = max(n - 1, 0) * u * size * (1 + 2.0**-20)
            low, high = self.low.sum(axis=axis, keepdims=True) - slack, self.high.sum(axis=axis, keepdims=True) + slack
            over = np.isfinite(size) & (size + slack >= largest(self.t))
        return Interval(np.where(over, np.nan, low), np.where(over, np.nan, high), self.t).rounded(0)

    def most(self, axis):
        return Interval(*(x.max(axis=axis, keepdims=True, initial=-np.inf) for x in (self.low, self.high)), self.t)

    def bound(self, want):
        """How far from `want` a right result may be; infinite where that is open."""
        with np.errstate(all="ignore"):
            e = np.maximum(np.maximum(self.high - want, want - self.low), 0)
            same = (self.low == want) & (self.high == want)
            e = np.where(same | (np.isnan(want) & np.isnan(self.low) & np.isnan(self.high)), 0, np.where(np.isnan(e), np.inf, e))
        return e.astype(np.float64)
