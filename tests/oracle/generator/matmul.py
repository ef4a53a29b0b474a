"""matmul: vectors, matrices, batches, broadcasts, transposes; every type; sizes around every tile.

Small whole numbers make every order of summation exact. Of others K products may lose K half ulps of the sum of their sizes (twice that
for operands below f32, which matrix units may add without rounding each step to nearest)."""

import numpy as np
from cases import Writer, argument, bound, exact
from elements import FLOATS, compute_type, decode, encode, is_float, least, storage
from generator.values import small

TYPES = ["f32", "f16", "bf16", "f64", "i8", "u8"]


def result(t):
    return "i32" if t in ("i8", "u8") else compute_type(t)


def values(t, x):
    return decode(t, x) if is_float(t) else x.astype(np.int64)


def form(w, name, t, a, b, y, text, shapes, f=np.matmul, dims=None, make=None, out=None):
    """a, b, y: shapes as text; shapes: pairs of shapes."""
    o = out or result(t)
    w.function(name, {"a": t + a, "b": t + b}, {"y": o + y}, f"y = matmul(a, b{text})", dims=dims)
    for p, q in shapes:
        x, z = (make or small)(t, p, 3), (make or small)(t, q, 8)
        r = np.asarray(f(values(t, x), values(t, z)))
        # Zero times a negative number is -0; a sum of zeros may have either sign.
        w.case(
            name,
            f"{'x'.join(map(str, p))} {'x'.join(map(str, q))}",
            {"a": argument(t, x), "b": argument(t, z)},
            {"y": exact(o, encode(o, r.astype(np.float64)) if is_float(o) else r.astype(storage(o)), unsigned_zero=True)},
        )


def sizes(w):
    around = [
        (1, 1, 1),
        (2, 3, 5),
        (1, 64, 1),
        (16, 16, 16),
        (15, 17, 33),
        (33, 31, 65),
        (64, 64, 64),
        (65, 63, 129),
        (128, 32, 128),
        (127, 5, 1),
        (3, 257, 2),
        (1, 1025, 3),
        (129, 1, 130),
        (0, 4, 3),
        (3, 0, 2),
        (4, 5, 0),
        (7, 128, 9),
    ]
    for t in TYPES:
        chosen = around if t in ("f32", "f16") else around[:6] + [(65, 63, 66), (3, 0, 2)]
        shapes = [((m, k), (k, n)) for m, k, n in chosen]
        form(w, f"plain_{t}", t, "[M, K]", "[K, N]", "[M, N]", "", shapes)
    f = {
        "ta": lambda a, b: np.swapaxes(a, -1, -2) @ b,
        "tb": lambda a, b: a @ np.swapaxes(b, -1, -2),
        "tab": lambda a, b: np.swapaxes(a, -1, -2) @ np.swapaxes(b, -1, -2),
    }
    short = [(2, 3, 5), (33, 17, 65), (64, 32, 16), (1, 130, 9), (31, 1, 1), (0, 3, 2)]
    for t in ("f32", "f16", "i8"):
        form(
            w, f"transposed_a_{t}", t, "[K, M]", "[K, N]", "[M, N]", ", transpose_a=true", [((k, m), (k, n)) for m, k, n in short], f["ta"]
        )
        form(
            w, f"transposed_b_{t}", t, "[M, K]", "[N, K]", "[M, N]", ", transpose_b=true", [((m, k), (n, k)) for m, k, n in short], f["tb"]
        )
        form(
            w,
            f"transposed_ab_{t}",
            t,
            "[K, M]",
            "[N, K]",
            "[M, N]",
            ", transpose_a=true, transpose_b=true",
            [((k, m), (n, k)) for m, k, n in short],
            f["tab"],
        )


def ranks(w):
    t = "f32"
    for t in ("f32", "bf16"):
        form(w, f"vectors_{t}", t, "[K]", "[K]", "", "", [((k,), (k,)) for k in (0, 1, 2, 33, 257)])
        form(w, f"row_{t}", t, "[K]", "[K, N]", "[N]", "", [((k,), (k, n)) for k, n in [(1, 1), (3, 5), (33, 130), (65, 2), (0, 3)]])
        form(w, f"column_{t}", t, "[M, K]", "[K]", "[M]", "", [((m, k), (k,)) for m, k in [(1, 1), (3, 5), (130, 33), (2, 65), (3, 0)]])
    t = "f32"
    form(w, "row_batched", t, "[K]", "[B, K, N]", "[B, N]", "", [((5,), (3, 5, 2)), ((33,), (2, 33, 7))])
    form(w, "column_batched", t, "[B, M, K]", "[K]", "[B, M]", "", [((3, 2, 5), (5,)), ((2, 33, 9), (9,))])
    form(
        w,
        "batched",
        t,
        "[B, M, K]",
        "[B, K, N]",
        "[B, M, N]",
        "",
        [((2, 3, 4), (2, 4, 5)), ((5, 1, 9), (5, 9, 1)), ((3, 33, 17), (3, 17, 31)), ((0, 2, 3), (0, 3, 2)), ((1, 16, 16), (1, 16, 16))],
    )
    form(w, "batch_left", t, "[B, M, K]", "[K, N]", "[B, M, N]", "", [((2, 3, 4), (4, 5)), ((3, 17, 33), (33, 2))])
    form(w, "batch_right", t, "[M, K]", "[B, K, N]", "[B, M, N]", "", [((3, 4), (2, 4, 5)), ((17, 33), (3, 33, 2))])
    form(
        w,
        "batch_ones",
        "f16",
        "[A, 1, M, K]",
        "[B, K, N]",
        "[A, B, M, N]",
        "",
        [((2, 1, 3, 4), (3, 4, 5)), ((1, 1, 2, 2), (1, 2, 2)), ((2, 1, 17, 3), (2, 3, 33))],
    )
    form(w, "batch_two", "f64", "[A, B, M, K]", "[1, B, K, N]", "[A, B, M, N]", "", [((2, 3, 4, 2), (1, 3, 2, 5))])
    form(
        w,
        "batch_transposed",
        "f16",
        "[B, H, M, K]",
        "[B, H, N, K]",
        "[B, H, M, N]",
        ", transpose_b=true",
        [((2, 2, 5, 8), (2, 2, 7, 8)), ((1, 3, 33, 16), (1, 3, 17, 16))],
        lambda a, b: a @ np.swapaxes(b, -1, -2),
    )
    form(
        w,
        "batch_transposed_a",
        "f32",
        "[B, K, M]",
        "[B, K, N]",
        "[B, M, N]",
        ", transpose_a=true",
        [((2, 3, 5), (2, 3, 4)), ((2, 17, 33), (2, 17, 2))],
        lambda a, b: np.swapaxes(a, -1, -2) @ b,
    )
    form(w, "constant_sizes", "f32", "[7, 12]", "[12, 20]", "[7, 20]", "", [((7, 12), (12, 20))])
    form(w, "rounded_f16", "f16", "[M, K]", "[K, N]", "[M, N]", "", [((5, 9), (9, 4)), ((33, 65), (65, 17))], out="f16")


def extremes(t, shape, seed):
    n = int(np.prod(shape))
    low, high = least(t), 255 if t == "u8" else 127
    return np.where((np.arange(n) * 7 + seed) % 5 < 3, low if seed == 3 else high, high).astype(storage(t)).reshape(shape)


def ordinary(w):
    rng = np.random.default_rng(41)
    for t, precision in (("f32", "ieee"), ("f64", "ieee"), ("f16", "ieee"), ("bf16", "ieee"), ("f32", "high"), ("f32", "fast")):
        c = result(t)
        name = f"ordinary_{t}" + (f"_{precision}" if precision != "ieee" else "")
        w.function(
            name,
            {"a": f"{t}[M, K]", "b": f"{t}[K, N]"},
            {"y": f"{c}[M, N]"},
            "y = matmul(a, b" + (f', precision="{precision}")' if precision != "ieee" else ")"),
        )
        for m, k, n in [(5, 33, 7), (17, 65, 9), (2, 300, 3)]:
            a, b = encode(t, rng.standard_normal((m, k)) * 2), encode(t, rng.standard_normal((k, n)) * 2)
            p, q = decode(t, a).astype(np.longdouble), decode(t, b).astype(np.longdouble)
            u = np.longdouble(2) ** -(FLOATS[c][3] + 1) * (1 if t in ("f32", "f64") and precision == "ieee" else 2)
            size = np.abs(p) @ np.abs(q)
            # TF32 keeps 11 bits of each operand; three products of halves lose less than 3 parts in 2^22.
            operands = {"ieee": 0, "high": 3.1 * 2.0**-22, "fast": 2.1 * 2.0**-11}[precision]
            w.case(
                name,
                f"{m}x{k} {k}x{n}",
                {"a": argument(t, a), "b": argument(t, b)},
                {"y": bound(c, p @ q, (k * u / (1 - k * u) * (1 + operands) + operands) * size)},
            )


def special(w):
    inf, nan = np.inf, np.nan
    a = np.array(
        [[1, 2, 3], [inf, 1, 1], [nan, 0, 0], [0, 0, 0], [inf, -inf, 1], [-0.0, -0.0, -0.0], [1e-40, 1, 0], [-inf, 2, 0]], np.float64
    )
    b = np.array([[1, 0, -1, inf], [2, 0, inf, 1], [3, 5, 1, 0]], np.float64)
    for t in ("f32", "f64", "f16", "bf16"):
        x, z = encode(t, a), encode(t, b)
        p, q, c = decode(t, x), decode(t, z), result(t)
        with np.errstate(all="ignore"):
            r = np.einsum("ij,jk->ijk", p, q).sum(axis=1)  # np.matmul's libraries may skip zeros
        w.function(f"special_{t}", {"a": f"{t}[M, K]", "b": f"{t}[K, N]"}, {"y": f"{c}[M, N]"}, "y = matmul(a, b)")
        w.case(
            f"special_{t}",
            "NaN, infinities, zeros",
            {"a": argument(t, x), "b": argument(t, z)},
            {"y": exact(c, encode(c, r), unsigned_zero=True)},
        )
    for t in ("i8", "u8"):
        form(w, f"extremes_{t}", t, "[M, K]", "[K, N]", "[M, N]", "", [((5, 33), (33, 7)), ((3, 257), (257, 2))], make=extremes)


def signs_of_zeros(w):
    """As for sums: products that are all -0 leave the sign of their sum open, others make +0."""
    w.function("zeros", {"a": "f32[M, K]", "b": "f32[K, N]"}, {"y": "f32[M, N]", "r": "f32[M, N]"}, "h = matmul(a, b)\ny = h\nr = 1 / h")
    a, b = np.array([[-1, -2], [1, 2], [0, 0], [1, -1], [-0.0, -0.0]], np.float32), np.array([[0, -0.0, 1], [0, -0.0, 1]], np.float32)
    terms = a[:, :, None] * b[None]
    minus = ((terms == 0) & np.signbit(terms)).all(axis=1)
    with np.errstate(all="ignore"):
        y = terms.sum(axis=1) + np.float32(0)
        w.case(
            "zeros",
            "",
            {"a": argument("f32", a), "b": argument("f32", b)},
            {"y": exact("f32", y, unsigned_zero=True), "r": exact("f32", 1 / y, open_=minus)},
        )


def strided(w):
    w.function("strided", {"a": ("f32[M, K]", "[p, q]"), "b": ("f32[K, N]", "[r, s]")}, {"y": ("f32[M, N]", "[u, v]")}, "y = matmul(a, b)")
    for m, k, n, p, q, r, s, u, v in [
        (5, 7, 3, 9, 1, 4, 1, 3, 1),
        (33, 17, 9, 1, 33, 1, 17, 9, 1),
        (4, 8, 16, 8, 1, 16, 1, 20, 1),
        (3, 5, 4, 0, 1, 4, 1, 1, 3),
        (16, 16, 16, 32, 2, 48, 3, 16, 1),
        (9, 4, 65, 4, 1, 0, 1, 66, 1),
    ]:
        a = np.broadcast_to(small("f32", (m if p else 1, k), 3), (m, k))
        b = np.broadcast_to(small("f32", (k if r else 1, n), 8), (k, n))
        w.case(
            "strided",
            f"{m}x{k}x{n} {p},{q} {r},{s} to {u},{v}",
            {"a": argument("f32", a, strides=[p, q]), "b": argument("f32", b, strides=[r, s])},
            {"y": exact("f32", a @ b, unsigned_zero=True, strides=[u, v])},
        )


def fused(w):
    w.function(
        "epilogue",
        {"x": "f16[M, K]", "w": "f16[K, N]", "b": "f16[N]", "alpha": "f32"},
        {"y": "f16[M, N]", "z": "f32[M, N]"},
        "h = matmul(x, w)\nz = alpha * h + b\ny = relu(z)",
    )
    for m, k, n in [(3, 5, 7), (33, 16, 65), (1, 1, 1)]:
        x, z, b = small("f16", (m, k), 1), small("f16", (k, n), 2), small("f16", (n,), 3)
        r = 0.5 * (x.astype(np.float64) @ z.astype(np.float64)) + b.astype(np.float64)
        w.case(
            "epilogue",
            f"{m}x{k}x{n}",
            {"x": argument("f16", x), "w": argument("f16", z), "b": argument("f16", b), "alpha": argument("f32", np.float32(0.5))},
            {
                "y": exact("f16", np.maximum(r, 0).astype(np.float16), unsigned_zero=True),
                "z": exact("f32", r.astype(np.float32), unsigned_zero=True),
            },
        )


def write():
    w = Writer("matmul")
    for part in (sizes, ranks, ordinary, special, signs_of_zeros, strided, fused):
        part(w)
    w.save()
