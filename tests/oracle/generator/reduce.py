"""Reductions: every type, every set of axes, sizes around every tile, special values.

Where all terms are small whole numbers every order of summation is exact. Elsewhere n terms may lose (n - 1) half ulps of the sum of
their sizes, and a product its n - 1 relative roundings."""

import itertools
import numpy as np
from cases import Writer, argument, bound, exact
from elements import FLOATS, OLD, compute_type, decode, encode, is_float, largest, least, least_exponent, most, storage
from generator.exact import Interval
from generator.values import SIZES, integers, pattern, small

TYPES = [t for t in OLD if t != "bool"]


def accumulate(t):
    return compute_type(t) if is_float(t) else "i64" if t == "i64" else "i32"


def total(t, x, axes, keep=False):
    """Of numbers that add up exactly."""
    c = accumulate(t)
    v = decode(t, x) if is_float(t) else x
    return np.asarray(v.sum(axis=axes, keepdims=keep, dtype=np.float64 if is_float(t) else np.int64)).astype(storage(c))


def axes_of_all_kinds(w):
    """Every set of axes of rank 3, by number from both ends and by name, with and without keepdims; other ranks."""
    names, outputs, body, wants = "ABC", {}, [], {}
    small("f32", (5, 6, 7), 1)

    def add(axes, text, keep):
        n = f"y{len(outputs)}"
        kept = [("1" if d in axes else names[d]) for d in range(3) if keep or d not in axes]
        outputs[n] = "f32[" + ", ".join(kept) + "]"
        if not kept:
            outputs[n] = "f32"
        body.append(f"{n} = sum(x{text}{', keepdims=true' if keep else ''})")
        wants[n] = lambda v: exact("f32", total("f32", v, tuple(axes), keep), unsigned_zero=True)

    for r in range(1, 4):
        for axes in itertools.combinations(range(3), r):
            add(axes, f", axis=[{', '.join(map(str, axes))}]", False)
            add(axes, f", axis=[{', '.join(str(a - 3) for a in reversed(axes))}]", True)
    add((0, 1, 2), "", False)
    add((1,), ", axis=B", False)
    add((0, 2), ", axis=[C, A]", True)
    add((2,), ", axis=-1", False)
    for k, part in enumerate([list(outputs)[:8], list(outputs)[8:]]):
        w.function(f"axes_{k}", {"x": "f32[A, B, C]"}, {n: outputs[n] for n in part}, "\n".join(b for b in body if b.split(" ")[0] in part))
        for shape in [(5, 6, 7), (1, 1, 1), (2, 33, 1), (3, 1, 65), (1, 130, 4), (17, 2, 3), (0, 2, 3), (3, 0, 2), (2, 3, 0)]:
            v = small("f32", shape, 2)
            w.case(f"axes_{k}", "x".join(map(str, shape)), {"x": argument("f32", v)}, {n: wants[n](v) for n in part})
    w.function(
        "rank4",
        {"x": "i32[A, B, C, D]"},
        {"p": "i32[B, D]", "q": "i32[A, C]", "r": "i32[A, 1, 1, D]", "s": "i32[C]"},
        "p = sum(x, axis=[0, 2])\nq = max(x, axis=[3, 1])\nr = min(x, axis=[1, 2], keepdims=true)\ns = sum(x, axis=[0, 1, 3])",
    )
    for shape in [(2, 3, 4, 5), (3, 1, 2, 33), (1, 17, 1, 2)]:
        v = pattern("i32", shape, 7)
        w.case(
            "rank4",
            "x".join(map(str, shape)),
            {"x": argument("i32", v)},
            {
                "p": exact("i32", v.sum(axis=(0, 2), dtype=np.int32)),
                "q": exact("i32", v.max(axis=(1, 3))),
                "r": exact("i32", v.min(axis=(1, 2), keepdims=True)),
                "s": exact("i32", v.sum(axis=(0, 1, 3), dtype=np.int32)),
            },
        )


def lengths(w):
    """Rows and columns of every length, each type; short rows in numbers, long ones alone."""
    for t in TYPES:
        c = accumulate(t)
        w.function(
            f"rows_{t}",
            {"x": f"{t}[M, N]"},
            {"s": f"{c}[M]", "h": f"{t}[M]", "l": f"{t}[M]", "i": "i64[M]"},
            "s = sum(x, axis=1)\nh = max(x, axis=1)\nl = min(x, axis=1)\ni = argmax(x, axis=1)",
        )
        w.function(
            f"columns_{t}",
            {"x": f"{t}[M, N]"},
            {"s": f"{c}[N]", "h": f"{t}[N]", "l": f"{t}[N]", "i": "i64[N]"},
            "s = sum(x, axis=0)\nh = max(x, axis=0)\nl = min(x, axis=0)\ni = argmin(x, axis=0)",
        )
        sizes = SIZES + [4099, 20000] if t in ("f32", "i8") else [0, 1, 2, 3, 7, 17, 33, 64, 65, 257, 1025, 9001]  # in loops, or split
        for n in sizes:
            for axis, name in ((1, "rows"), (0, "columns")):
                x = small(t, (3, n) if axis else (n, 3), n)
                v = decode(t, x) if is_float(t) else x
                empty = n == 0  # NumPy refuses these; the language leaves them open

                def pick(f):
                    return np.zeros(3, storage(t)) if empty else encode(t, f(v, axis=axis)) if is_float(t) else f(v, axis=axis)

                index = np.zeros(3, np.int64) if empty else (np.argmax if axis else np.argmin)(v, axis=axis)
                open_ = True if empty else None
                w.case(
                    f"{name}_{t}",
                    f"{n}",
                    {"x": argument(t, x)},
                    {
                        "s": exact(c, total(t, x, axis), unsigned_zero=True),
                        "h": exact(t, pick(np.max), open_=open_, unsigned_zero=True),
                        "l": exact(t, pick(np.min), open_=open_, unsigned_zero=True),
                        "i": exact("i64", index, open_=open_),
                    },
                )


def means_and_products(w):
    for t in TYPES:
        c, m = accumulate(t), (compute_type(t) if is_float(t) else "f32")
        w.function(f"mean_{t}", {"x": f"{t}[M, N]"}, {"m": f"{m}[M]", "p": f"{c}[M]"}, "m = mean(x, axis=-1)\np = prod(x, axis=-1)")
        for n in (0, 1, 2, 3, 8, 24, 100):
            x = small(t, (4, n), 50 + n, size=2)
            v = decode(t, x) if is_float(t) else x.astype(np.int64)
            s = v.sum(axis=1).astype(np.float32 if m == "f32" else np.float64)
            with np.errstate(all="ignore"):
                mean = s / s.dtype.type(n)
                product = np.prod(
                    v.astype(np.float64) if is_float(t) else v, axis=1
                )  # powers of 2 and 0: exact; of integers modulo the size
            w.case(
                f"mean_{t}",
                f"{n}",
                {"x": argument(t, x)},
                {"m": exact(m, mean, unsigned_zero=True), "p": exact(c, product.astype(storage(c)), unsigned_zero=True)},
            )
    w.function(
        "bools",
        {"x": "bool[M, N]"},
        {"s": "i32[M]", "h": "bool[N]", "l": "bool[M]"},
        "s = sum(x, axis=1)\nh = max(x, axis=0)\nl = min(x, axis=1)",
    )
    for shape in [(3, 4), (1, 33), (65, 2), (4, 1), (3, 0)]:
        x = pattern("bool", shape)
        low = x.min(axis=1) if shape[1] else np.ones(shape[0], bool)
        w.case(
            "bools",
            f"{shape[0]}x{shape[1]}",
            {"x": argument("bool", x)},
            {"s": exact("i32", x.sum(axis=1)), "h": exact("bool", x.max(axis=0)), "l": exact("bool", low)},
        )


def ordinary(w):
    """Random numbers of mixed sizes, within the bound of the definition."""
    rng = np.random.default_rng(21)
    for t in ("f64", "f32", "f16", "bf16"):
        c = compute_type(t)
        w.function(
            f"ordinary_{t}",
            {"x": f"{t}[M, N]"},
            {"s": f"{c}[M]", "m": f"{c}[M]", "p": f"{c}[M]", "a": f"{c}[N]", "n": f"{t}[M]"},
            "s = sum(x, axis=1)\nm = mean(x, axis=1)\np = prod(x, axis=1)\na = mean(x, axis=0)\nn = sum(x, axis=1)",
        )
        for shape in [(4, 37), (2, 259), (35, 3)]:
            x = encode(t, rng.standard_normal(shape) * np.exp2(rng.uniform(-4, 4, shape)))
            if shape[1] > 100:  # a product that stays in the range of the type
                x = encode(t, np.exp2(rng.uniform(-0.5, 0.5, shape)) * rng.choice([-1, 1], shape))
            v = decode(t, x).astype(np.longdouble)
            i = Interval.exactly(v, c)
            rows, columns = i.total(1), i.total(0)
            count = Interval.exactly(np.longdouble(shape[1]), c), Interval.exactly(np.longdouble(shape[0]), c)
            s, m, a = v.sum(axis=1), v.mean(axis=1), v.mean(axis=0)
            p = np.prod(v, axis=1)
            w.case(
                f"ordinary_{t}",
                f"{shape[0]}x{shape[1]}",
                {"x": argument(t, x)},
                {
                    "s": bound(c, s, rows.bound(s[:, None])[:, 0]),
                    "m": bound(c, m, (rows / count[0]).bound(m[:, None])[:, 0]),
                    "p": bound(c, p, product_bound(v, c)),
                    "a": bound(c, a, (columns / count[1]).bound(a[None, :])[0]),
                    "n": bound(t, s, rows.bound(s[:, None])[:, 0]),
                },
            )


def product_bound(v, t):
    """(1 + u)^(n - 1) - 1 of the product; where a partial product could leave the range of the type in some order: open."""
    u, n = np.longdouble(2) ** -(FLOATS[t][3] + 1), v.shape[1]
    p = np.abs(np.prod(v, axis=1))
    small_ = np.prod(np.minimum(np.abs(v), 1), axis=1) < 2.0 ** (least_exponent(t) + 1)
    large = np.prod(np.maximum(np.abs(v), 1), axis=1) > largest(t) / 2
    return np.where(small_ | large, np.inf, p * np.expm1((n - 1) * np.log1p(u)) * (1 + 2.0**-20))


def special_rows(t):
    """Rows of 6 that end in what the row is about."""
    nan, inf, big, tiny = np.nan, np.inf, largest(t), 2.0 ** (least_exponent(t) - FLOATS[t][3])
    rows = [
        [1, nan, 2, 3, nan, 0],
        [inf, 1, 2, 3, 4, 5],
        [-inf, 1, 2, 3, 4, 5],
        [inf, -inf, 1, 2, 3, 4],
        [inf, nan, 1, 2, 3, 4],
        [0.0, -0.0, 0.0, -0.0, -0.0, 0.0],
        [-0.0] * 6,
        [tiny, tiny, -tiny, tiny, 0, 0],
        [2, 2, 1, 2, 2, 1],
        [1, 2, 1, 2, 2, 1],
        [-3, -1, -3, -1, -2, -3],
        [inf, inf, 1, inf, 0, 0],
        [-inf] * 6,
        [big, 0, 0, 0, -big, 0],
        [0, 0, inf, 0, 0, 0],
        [0, 0, 0, 0, 0, nan],
        [nan] * 6,
        [inf, 0, -0.0, 1, 1, 1],
    ]
    return encode(t, np.array(rows, np.float64))


def special(w):
    for t in ("f64", "f32", "f16", "bf16"):
        c = compute_type(t)
        x = special_rows(t)
        v = decode(t, x)
        with np.errstate(all="ignore"):
            s, p = v.sum(axis=1), np.prod(v, axis=1)
            p = p.astype(storage(c)).astype(np.float64)
            low_open = np.array([np.isfinite(r).all() and (np.prod(np.where(np.abs(r) < 1, r, 1)) != 0) != (np.prod(r) != 0) for r in v])
            low_open |= (
                ~np.isnan(v).any(axis=1)
                & np.isfinite(v).all(axis=1)
                & (np.prod(np.maximum(np.abs(v), 1).astype(np.longdouble), axis=1) > largest(c))
            )  # inf * 0 in some order
        huge = np.abs(v.astype(np.longdouble)).sum(axis=1) > largest(c)
        w.function(
            f"special_{t}",
            {"x": f"{t}[M, N]"},
            {"s": f"{c}[M]", "p": f"{c}[M]", "h": f"{t}[M]", "l": f"{t}[M]", "i": "i64[M]", "j": "i64[M]", "k": "i64", "m": "i64"},
            "s = sum(x, axis=1)\np = prod(x, axis=1)\nh = max(x, axis=1)\nl = min(x, axis=1)\ni = argmax(x, axis=1)\nj = argmin(x, axis=1)\nk = argmax(x)\nm = argmin(x)",
        )
        # The sign of a sum of zeros is not fixed: sums may start at +0. Maximum and minimum order zeros as IEEE 754-2019 does.
        high, low = ieee_extreme(v, 1), ieee_extreme(v, -1)
        w.case(
            f"special_{t}",
            "NaN, infinities, zeros, ties",
            {"x": argument(t, x)},
            {
                "s": exact(c, s.astype(storage(c)), unsigned_zero=True, open_=huge & np.isfinite(v).all(axis=1)),
                "p": exact(c, p.astype(storage(c)), unsigned_zero=True, open_=low_open),
                "h": exact(t, encode(t, high)),
                "l": exact(t, encode(t, low)),
                "i": exact("i64", np.argmax(v, axis=1)),
                "j": exact("i64", np.argmin(v, axis=1)),
                "k": exact("i64", np.argmax(v)),
                "m": exact("i64", np.argmin(v)),
            },
        )
    for t in ("i64", "i32", "i16", "i8", "u8"):
        x = integers(t, 79)[:96].reshape(8, 12)
        c = accumulate(t)

        def wrap(values):
            return np.array([(int(v) - least(c)) % (most(c) - least(c) + 1) + least(c) for v in values], storage(c))

        rows = [[int(v) for v in r] for r in x]
        w.function(
            f"special_{t}",
            {"x": f"{t}[M, N]"},
            {"s": f"{c}[M]", "p": f"{c}[M]", "h": f"{t}[M]", "l": f"{t}[M]", "i": "i64[M]", "j": "i64[M]"},
            "s = sum(x, axis=1)\np = prod(x, axis=1)\nh = max(x, axis=1)\nl = min(x, axis=1)\ni = argmax(x, axis=1)\nj = argmin(x, axis=1)",
        )
        w.case(
            f"special_{t}",
            "extremes wrap",
            {"x": argument(t, x)},
            {
                "s": exact(c, wrap([sum(r) for r in rows])),
                "p": exact(c, wrap([product(r) for r in rows])),
                "h": exact(t, x.max(axis=1)),
                "l": exact(t, x.min(axis=1)),
                "i": exact("i64", np.argmax(x, axis=1)),
                "j": exact("i64", np.argmin(x, axis=1)),
            },
        )


def signs_of_zeros(w):
    """What a sum of zeros is divided into: only a sum of nothing but -0 leaves its sign open, for sums may begin with +0."""
    w.function(
        "zeros",
        {"x": "f32[M, N]"},
        {"s": "f32[M]", "r": "f32[M]", "e": "bool[M]", "q": "f32[M]"},
        "s = sum(x, axis=1)\nr = 1 / s\ne = s >= 0\nq = sqrt(s)",
    )
    x = np.array([[0.0, 0, 0], [-0.0, 0, -0.0], [-0.0, -0.0, -0.0], [1, -1, 0], [-1, 1, -0.0], [2, -1, -1], [-5, 3, 2]], np.float32)
    minus = np.signbit(x).all(axis=1) & (x == 0).all(axis=1)
    with np.errstate(all="ignore"):
        s = x.sum(axis=1) + np.float32(0)
        w.case(
            "zeros",
            "",
            {"x": argument("f32", x)},
            {
                "s": exact("f32", s, unsigned_zero=True),
                "r": exact("f32", 1 / s, open_=minus),
                "e": exact("bool", s >= 0),
                "q": exact("f32", np.sqrt(s), unsigned_zero=True, open_=minus),
            },
        )
    w.function("vanishing", {"x": "f32[M, N]"}, {"p": "f32[M]"}, "p = prod(x, axis=1)")
    tiny = 1e-30
    x = np.array(
        [
            [tiny, tiny, np.inf, 1],
            [np.inf, tiny, 1, 1],
            [tiny, tiny, 1e30, 1e30],
            [0, np.inf, 1, 1],
            [tiny, tiny, tiny, 0],
            [1e30, 1e30, tiny, 0],
        ],
        np.float32,
    )
    with np.errstate(all="ignore"):
        p = np.prod(x.astype(np.float64), axis=1)
    w.case("vanishing", "", {"x": argument("f32", x)}, {"p": exact("f32", p.astype(np.float32), open_=np.array([1, 0, 1, 0, 0, 1], bool))})


def strided(w):
    """Rows and columns of tensors that are parts of others, transposed or repeated."""
    for t in ("f32", "i8", "f16"):
        c = accumulate(t)
        w.function(
            f"strided_{t}",
            {"x": (f"{t}[M, N]", "[p, q]")},
            {"r": (f"{c}[M]", "[u]"), "c": f"{c}[N]", "h": f"{t}[M]"},
            "r = sum(x, axis=1)\nc = sum(x, axis=0)\nh = max(x, axis=1)",
        )
        for m, n, p, q, u in [(5, 7, 9, 1, 2), (33, 65, 1, 33, 1), (4, 130, 0, 1, 3), (64, 32, 64, 2, 1), (3, 257, 260, 1, 5), (7, 5, 1, 0, 1)]:
            x = np.broadcast_to(small(t, (m if p else 1, n if q else 1), 5), (m, n))
            v = decode(t, x) if is_float(t) else x
            w.case(
                f"strided_{t}",
                f"{m}x{n} {p},{q} to {u}",
                {"x": argument(t, x, strides=[p, q])},
                {
                    "r": exact(c, total(t, x, 1), unsigned_zero=True, strides=[u]),
                    "c": exact(c, total(t, x, 0), unsigned_zero=True),
                    "h": exact(t, encode(t, v.max(axis=1)) if is_float(t) else v.max(axis=1), unsigned_zero=True),
                },
            )


def product(row):
    p = 1
    for v in row:
        p *= v
    return p


def ieee_extreme(v, sign):
    r = []
    for row in v:
        if np.isnan(row).any():
            r.append(np.nan)
            continue
        best = (row * sign).max() * sign
        zeros = row[row == 0]
        if best == 0:
            best = (0.0 if (~np.signbit(zeros)).any() else -0.0) if sign > 0 else (-0.0 if np.signbit(zeros).any() else 0.0)
        r.append(best)
    return np.array(r)


def write():
    w = Writer("reduce")
    for part in (axes_of_all_kinds, lengths, means_and_products, ordinary, special, signs_of_zeros, strided):
        part(w)
    w.save()
