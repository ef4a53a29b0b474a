"""What the types of 8 and 4 bits do besides casts and movement: on every pattern, every pair of patterns of interest."""

import numpy as np
from cases import Writer, argument, exact, ulps
from elements import NEW, bits, decode, encode, is_float, least, most, storage
from generator import exact as e
from generator.elementwise import least_of


def patterns(t):
    return np.arange(1 << bits(t)).astype(storage(t)) if is_float(t) else np.arange(least(t), most(t) + 1).astype(storage(t))


def floats(w, t):
    x = patterns(t)
    n = min(len(x), 16)
    some = x[:: len(x) // n]
    a, b = np.repeat(some, len(some)), np.tile(some, len(some))
    a, b = np.concatenate([a, x]), np.concatenate([b, x[::-1]])
    p, q = decode(t, a).astype(np.float32), decode(t, b).astype(np.float32)
    dims = "{N: {multiple_of: 2}}" if bits(t) == 4 else None
    names = {"add_": p + q, "sub_": p - q, "mul_": p * q, "div_": p / q}
    w.function(
        f"arithmetic_{t}",
        {"a": f"{t}[N]", "b": f"{t}[N]"},
        {k: "f32[N]" for k in names} | {"lt_": "bool[N]", "eq_": "bool[N]", "min_": f"{t}[N]", "max_": f"{t}[N]", "where_": f"{t}[N]"},
        "add_ = a + b\nsub_ = a - b\nmul_ = a * b\ndiv_ = a / b\nlt_ = a < b\neq_ = a == b\nmin_ = min(a, b)\nmax_ = max(a, b)\nwhere_ = where(a < b, a, b)",
        dims=dims,
    )
    low, high = least_of(p, q, 1), least_of(p, q, -1)

    # extremes keep infinities, which a cast to f8e5m2 would make finite
    def keep(r):
        return np.where(np.isnan(r), encode(t, np.array(np.nan)), np.where((r == p) & (np.signbit(r) == np.signbit(p)), a, b)).astype(
            a.dtype
        )

    w.case(
        f"arithmetic_{t}",
        "pairs",
        {"a": argument(t, a), "b": argument(t, b)},
        {k: exact("f32", v) for k, v in names.items()}
        | {
            "lt_": exact("bool", p < q),
            "eq_": exact("bool", p == q),
            "min_": exact(t, keep(low)),
            "max_": exact(t, keep(high)),
            "where_": exact(t, np.where(p < q, a, b)),
        },
    )
    v = decode(t, x)
    outputs, wants, body = {}, {}, []
    for f in ("exp", "sqrt", "tanh", "rsqrt"):
        want, _ = e.of_one(f, v)
        outputs[f + "_"], wants[f + "_"] = "f32[N]", (
            exact("f32", np.sqrt(v.astype(np.float32))) if f == "sqrt" else ulps("f32", want, e.FUNCTIONS[f][2])
        )
        body.append(f"{f}_ = {f}(x)")
    if t != "f8e8m0":  # has no sign
        top = np.array(1 << bits(t) - 1, x.dtype)
        none = x == top if t.endswith("fnuz") else np.zeros(x.shape, bool)  # NaN, and no zero but one
        minus = np.where(none | (t.endswith("fnuz") & (x == 0)), x, x ^ top).astype(x.dtype)
        outputs |= {"neg_": f"{t}[N]", "abs_": f"{t}[N]"}
        wants |= {
            "neg_": exact(t, minus),
            "abs_": exact(t, np.where(none, x, x & ~top & np.array((1 << bits(t)) - 1, x.dtype)).astype(x.dtype)),
        }
        body += ["neg_ = -x", "abs_ = abs(x)"]
    w.function(f"functions_{t}", {"x": f"{t}[N]"}, outputs, "\n".join(body), dims=dims)
    w.case(f"functions_{t}", "patterns", {"x": argument(t, x)}, wants)


def reductions(w, t):
    """Of numbers that add up exactly."""
    c = "f32" if is_float(t) else "i32"
    cycle = {"f8e8m0": [0.5, 1, 2, 1]}.get(t, [1, -2, 0, 1.5, -1, 2, 0.5] if is_float(t) else [1, -2, 7, -8, 3])
    w.function(
        f"reduce_{t}",
        {"x": f"{t}[M, 2 * N]"},
        {"s": f"{c}[M]", "h": f"{t}[2 * N]", "i": "i64[M]", "j": "i64[M]"},
        "s = sum(x, axis=1)\nh = max(x, axis=0)\ni = argmax(x, axis=1)\nj = argmin(x, axis=1)",
    )
    for m, n in [(1, 1), (3, 5), (2, 33), (5, 129)]:
        v = np.array([cycle[(k * k + k // 3) % len(cycle)] for k in range(m * 2 * n)], np.float64).reshape(m, 2 * n)
        x = encode(t, v) if is_float(t) else v.astype(storage(t))
        w.case(
            f"reduce_{t}",
            f"{m}x{2 * n}",
            {"x": argument(t, x)},
            {
                "s": exact(c, v.sum(axis=1).astype(storage(c)), unsigned_zero=True),
                "h": exact(t, encode(t, v.max(axis=0)) if is_float(t) else v.max(axis=0).astype(storage(t)), unsigned_zero=True),
                "i": exact("i64", np.argmax(v, axis=1)),
                "j": exact("i64", np.argmin(v, axis=1)),
            },
        )


def products(w, t):
    cycle = [0.5, 1, 2, 1] if t == "f8e8m0" else [1, -2, 0, 1.5, -1, 2, 0.5]
    w.function(f"matmul_{t}", {"a": f"{t}[M, 2 * K]", "b": f"{t}[2 * K, 2 * N]"}, {"y": "f32[M, 2 * N]"}, "y = matmul(a, b)")
    w.function(
        f"matmul_transposed_{t}", {"a": f"{t}[M, 2 * K]", "b": f"{t}[N, 2 * K]"}, {"y": "f32[M, N]"}, "y = matmul(a, b, transpose_b=true)"
    )
    for m, k, n in [(1, 1, 1), (3, 5, 2), (17, 16, 9), (64, 32, 33), (65, 33, 8)]:
        pick = lambda shape, seed: np.array(
            [cycle[(i * 5 + i // 7 + i // 61 * 3 + seed) % len(cycle)] for i in range(shape[0] * shape[1])], np.float64
        ).reshape(shape)
        a, b = pick((m, 2 * k), 1), pick((2 * k, 2 * n), 4)
        w.case(
            f"matmul_{t}",
            f"{m}x{2 * k}x{2 * n}",
            {"a": argument(t, encode(t, a)), "b": argument(t, encode(t, b))},
            {"y": exact("f32", (a @ b).astype(np.float32), unsigned_zero=True)},
        )
        b = pick((n, 2 * k), 4)
        w.case(
            f"matmul_transposed_{t}",
            f"{m}x{2 * k}x{n}",
            {"a": argument(t, encode(t, a)), "b": argument(t, encode(t, b))},
            {"y": exact("f32", (a @ b.T).astype(np.float32), unsigned_zero=True)},
        )


def nibbles(w):
    """i4 wraps at 4 bits."""
    x = patterns("i4").astype(np.int64)
    a, b = np.repeat(x, 16), np.tile(x, 16)
    safe = np.where(b == 0, 1, b)
    wrap = lambda v: ((v + 8) % 16 - 8).astype(np.int8)
    names = {
        "add_": (wrap(a + b), None),
        "sub_": (wrap(a - b), None),
        "mul_": (wrap(a * b), None),
        "floordiv_": (wrap(a // safe), b == 0),
        "mod_": (wrap(a % safe), b == 0),
        "min_": (wrap(np.minimum(a, b)), None),
        "max_": (wrap(np.maximum(a, b)), None),
        "neg_": (wrap(-a), None),
        "abs_": (wrap(np.abs(a)), None),
    }
    w.function(
        "arithmetic_i4",
        {"a": "i4[N]", "b": "i4[N]"},
        {k: "i4[N]" for k in names} | {"lt_": "bool[N]", "div_": "f32[N]"},
        "add_ = a + b\nsub_ = a - b\nmul_ = a * b\nfloordiv_ = a // b\nmod_ = a % b\nmin_ = min(a, b)\nmax_ = max(a, b)\nneg_ = -a\nabs_ = abs(a)\nlt_ = a < b\ndiv_ = a / b",
        dims="{N: {multiple_of: 2}}",
    )
    w.case(
        "arithmetic_i4",
        "pairs",
        {"a": argument("i4", a), "b": argument("i4", b)},
        {k: exact("i4", v, open_=o) for k, (v, o) in names.items()}
        | {"lt_": exact("bool", a < b), "div_": exact("f32", a.astype(np.float32) / b.astype(np.float32))},
    )


def write():
    w = Writer("short")
    with np.errstate(all="ignore"):
        for t in NEW:
            if is_float(t):
                floats(w, t)
                products(w, t)
            reductions(w, t)
        nibbles(w)
    w.save()
