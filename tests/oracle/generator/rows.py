"""softmax, log_softmax, layernorm, rmsnorm: every axis, every float type, sizes around the tiles, rows that overflow or are special.

The bound of each element is an interval through the definition of docs/OPS.md, in which every step rounds as the language allows;
sums may take any order."""

import numpy as np
from cases import Writer, argument, bound
from elements import compute_type, decode, encode, largest
from generator.exact import Interval

C = {"f64": np.longdouble, "f32": np.longdouble}
SIZES = [1, 2, 3, 5, 8, 17, 31, 32, 33, 64, 65, 127, 129, 257, 1025]


def softmax(v, axis, t):
    with np.errstate(all="ignore"):
        shifted = v - v.max(axis=axis, keepdims=True, initial=-np.inf)
        e = np.exp(shifted)
        want = e / e.sum(axis=axis, keepdims=True)
    x = Interval.exactly(v, t)
    p = (x - x.most(axis)).through(np.exp, 2)
    total = p.total(axis)
    one = Interval.exactly(np.longdouble(1), t)
    r = (p / total).hull(p * (one / total))  # a kernel may multiply by the reciprocal
    return want, r.bound(want)


def log_softmax(v, axis, t):
    with np.errstate(all="ignore"):
        shifted = v - v.max(axis=axis, keepdims=True, initial=-np.inf)
        want = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    x = Interval.exactly(v, t)
    s = x - x.most(axis)
    total = s.through(np.exp, 2).total(axis).through(np.log, 2)
    return want, (s - total).bound(want)


def number(n, t):
    return Interval.exactly(np.longdouble(n), t)


def literal(x, t):
    return Interval.exactly(np.longdouble(repr(x)), t).rounded(0.5)


def root(i):
    return i.through(np.sqrt, 0.5)


def inverse_root(i):
    with np.errstate(all="ignore"):
        return Interval(1 / np.sqrt(i.high), 1 / np.sqrt(i.low), i.t).rounded(2)


def normalised(centred, axis, t, eps, scale):
    n = number(centred.low.shape[axis], t)
    inner = centred.square().total(axis) / n + literal(eps, t)
    a, s = inverse_root(inner), Interval.exactly(scale, t)
    return (centred * a * s).hull(centred / root(inner) * s)


def along(v, rank, axis):
    return v.reshape([-1 if d == axis % rank else 1 for d in range(rank)])


def rmsnorm(v, scale, axis, t, eps=1e-6):
    s = along(scale, v.ndim, axis)
    with np.errstate(all="ignore"):
        want = v / np.sqrt((v * v).mean(axis=axis, keepdims=True) + np.longdouble(repr(eps))) * s
    return want, normalised(Interval.exactly(v, t), axis, t, eps, s).bound(want)


def layernorm(v, scale, bias, axis, t, eps=1e-5):
    s, b = along(scale, v.ndim, axis), along(bias, v.ndim, axis)
    with np.errstate(all="ignore"):
        d = v - v.mean(axis=axis, keepdims=True)
        want = d / np.sqrt((d * d).mean(axis=axis, keepdims=True) + np.longdouble(repr(eps))) * s + b
    x = Interval.exactly(v, t)
    centred = x - x.total(axis) / number(v.shape[axis], t)
    return want, (normalised(centred, axis, t, eps, s) + Interval.exactly(b, t)).bound(want)


def functions(w, name, t, shape, axis, out=None, eps=""):
    c = out or compute_type(t)
    n = shape.strip("[]").split(", ")[axis]
    text = "" if axis == -1 and not eps else f", axis={axis}"
    w.function(
        name,
        {"x": t + shape, "s": f"{t}[{n}]", "b": f"{t}[{n}]"},
        {k: c + shape for k in ("p", "q", "l", "r")},
        f"p = softmax(x{text})\nq = log_softmax(x{text})\nl = layernorm(x, s, b{text}{eps})\nr = rmsnorm(x, s{text}{eps})",
    )


def case(w, name, tag, t, x, axis, out=None, eps=None):
    rng = np.random.default_rng([31, *x.shape])
    c = compute_type(t)
    n = x.shape[axis]
    s, b = encode(t, np.round(rng.standard_normal(n) * 8) / 8), encode(t, np.round(rng.standard_normal(n) * 8) / 8)
    v, sv, bv = (decode(t, a).astype(np.longdouble) for a in (x, s, b))
    e = {} if eps is None else {"eps": eps}
    o = out or c
    with np.errstate(all="ignore"):
        w.case(
            name,
            tag,
            {"x": argument(t, x), "s": argument(t, s), "b": argument(t, b)},
            {
                "p": bound(o, *softmax(v, axis, c)),
                "q": bound(o, *log_softmax(v, axis, c)),
                "l": bound(o, *layernorm(v, sv, bv, axis, c, **e)),
                "r": bound(o, *rmsnorm(v, sv, axis, c, **e)),
            },
        )


def values(shape, seed, size=3):
    """Multiples of 1/16: every type of 16 bits holds the most of them, and they pack."""
    return np.round(np.random.default_rng([seed, *shape]).standard_normal(shape) * size * 16) / 16


def special(t):
    inf, nan = np.inf, np.nan
    big = largest(t)
    rows = [
        [-inf] * 6,
        [1, nan, 2, 3, 4, 5],
        [inf, 1, 2, 3, 4, 5],
        [-inf, 1, 2, 3, -inf, 5],
        [big / 2] * 6,
        [big / 4, 0, 1, 2, 3, 4],
        [-1e4, 1e4, 0, 50, -50, 1],
        [0.0] * 6,
        [5.0] * 6,
        [-0.0, 0.0, 0, 0, 0, 0],
        [88, -88, 0, 1, -1, 100],
        [-104, 0, -100, -90, -87, -200],
        [1e-3, 2e-3, 1e-3, 3e-3, 1e-3, 0],
        [1e-20, -1e-20, 0, 0, 1e-20, 0],
        [1000, 1001, 1002, 999, 1000, 1001],
    ]
    return encode(t, np.array(rows, np.float64))


def write():
    w = Writer("rows")
    for t in ("f32", "f64", "f16", "bf16"):
        functions(w, f"last_{t}", t, "[M, N]", -1)
        for n in SIZES if t == "f32" else [1, 3, 33, 130]:
            rows = 2 if n > 130 else 4
            case(w, f"last_{t}", f"{rows}x{n}", t, encode(t, values((rows, n), n)), -1)
        case(w, f"last_{t}", "special", t, special(t), -1)
        n = np.arange(5003)  # a row in a loop; regular, so that it packs
        case(w, f"last_{t}", "1x5003", t, encode(t, ((n * 5 + n // 7 * 3) % 33 - 16)[None] * 0.25), -1)
        if t == "f32":
            for shape in [(0, 7), (3, 0)]:
                case(w, f"last_{t}", "x".join(map(str, shape)), t, np.zeros(shape, np.float32), -1)
    for axis in (0, 1, 2, -2, -3):
        functions(w, f"axis_{axis}".replace("-", "minus_"), "f32", "[A, B, C]", axis)
        for shape in [(3, 5, 7), (2, 33, 4), (17, 2, 3), (1, 1, 1), (2, 3, 65)]:
            case(w, f"axis_{axis}".replace("-", "minus_"), "x".join(map(str, shape)), "f32", encode("f32", values(shape, axis + 9)), axis)
    functions(w, "first_f16", "f16", "[M, N]", 0, out="f16")
    for shape in [(33, 5), (2, 64), (129, 3)]:
        case(w, "first_f16", "x".join(map(str, shape)), "f16", encode("f16", values(shape, 3)), 0, out="f16")
    functions(w, "epsilon", "f32", "[M, N]", -1, eps=", eps=0.25")
    case(w, "epsilon", "3x9", "f32", encode("f32", values((3, 9), 8)), -1, eps=0.25)
    w.save()
