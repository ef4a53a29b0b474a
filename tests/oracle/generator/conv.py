"""conv2d by scipy.signal.correlate2d: NCHW and OIHW, strides, paddings, dilations, groups; types; sizes around tiles."""

import numpy as np
import scipy.signal
from cases import Writer, argument, bound, exact
from elements import compute_type, decode, encode, is_float, storage
from generator.values import small


def pair(x):
    return (x, x) if isinstance(x, int) else tuple(x)


def conv(x, k, stride=1, padding=0, dilation=1, groups=1):
    """In float64."""
    (sy, sx), (dy, dx) = pair(stride), pair(dilation)
    p = padding if isinstance(padding, list) and isinstance(padding[0], list) else [[q, q] for q in pair(padding)]
    x = np.pad(x, [(0, 0), (0, 0), *map(tuple, p)])
    n, c, _, _ = x.shape
    o, per, r, s = k.shape
    wide = np.zeros((o, per, (r - 1) * dy + 1, (s - 1) * dx + 1))
    wide[:, :, ::dy, ::dx] = k
    size = [max(0, (e - f) // t + 1) if e >= f else 0 for e, f, t in zip(x.shape[2:], wide.shape[2:], (sy, sx))]
    out = np.zeros((n, o, *size))
    if 0 in out.shape:
        return out
    for i in range(n):
        for j in range(o):
            group = j // (o // groups)
            for q in range(per):
                out[i, j] += scipy.signal.correlate2d(x[i, group * per + q], wide[j, q], mode="valid")[::sy, ::sx]
    return out


def form(w, name, t, x, k, options=None, dims=None, shapes=(), out=None):
    """x, k: dimensions as text; the output's extents are written for constant spatial sizes."""
    options = options or {}
    c = out or ("i32" if t in ("i8", "u8") else compute_type(t))
    text = "".join(f", {n}={v}" for n, v in options.items())
    y = conv(np.zeros(shapes[0][0]), np.zeros(shapes[0][1]), **options).shape
    names = [d.strip() for d in x.strip("[]").split(",")], [d.strip() for d in k.strip("[]").split(",")]
    extents = f"[{names[0][0]}, {names[1][0]}, {y[2]}, {y[3]}]"
    w.function(name, {"x": t + x, "w": t + k}, {"y": c + extents}, f"y = conv2d(x, w{text})", dims=dims)
    for p, q in shapes:
        a, b = small(t, p, 3), small(t, q, 5)
        value = lambda v: decode(t, v) if is_float(t) else v.astype(np.float64)
        r = conv(value(a), value(b), **options)
        w.case(
            name,
            "x".join(map(str, p)) + " " + "x".join(map(str, q)),
            {"x": argument(t, a), "w": argument(t, b)},
            {"y": exact(c, encode(c, r) if is_float(c) else r.astype(storage(c)), unsigned_zero=True)},
        )


def write():
    w = Writer("conv")
    plain = [((2, 3, 7, 6), (4, 3, 3, 3)), ((1, 1, 7, 6), (1, 1, 3, 3)), ((1, 17, 7, 6), (33, 17, 3, 3)), ((0, 2, 7, 6), (3, 2, 3, 3))]
    for t in ("f32", "f16", "bf16", "f64", "i8", "u8"):
        form(w, f"plain_{t}", t, "[N, C, 7, 6]", "[O, C, 3, 3]", shapes=plain if t in ("f32", "f16") else plain[:2])
    for k, (size, kernel, options) in enumerate(
        [
            ((9, 8), (3, 3), {"padding": 1}),
            ((9, 8), (3, 2), {"stride": 2}),
            ((9, 8), (2, 3), {"stride": [2, 3], "padding": [1, 2]}),
            ((9, 8), (3, 3), {"dilation": 2}),
            ((9, 8), (2, 2), {"dilation": [1, 3], "padding": [2, 0]}),
            ((9, 8), (3, 3), {"padding": [[0, 1], [2, 0]]}),
            ((5, 5), (5, 5), {}),
            ((5, 5), (1, 1), {"stride": 3}),
            ((1, 1), (1, 1), {}),
            ((4, 4), (3, 3), {"stride": 2, "padding": 1, "dilation": 1}),
            ((1, 17), (1, 4), {}),
            ((17, 1), (4, 1), {"padding": [3, 0]}),
            ((6, 6), (3, 3), {"padding": 4}),
        ]
    ):
        form(
            w,
            f"options_{k}",
            "f32",
            f"[N, C, {size[0]}, {size[1]}]",
            f"[O, C, {kernel[0]}, {kernel[1]}]",
            options,
            shapes=[((2, 3, *size), (5, 3, *kernel)), ((1, 1, *size), (1, 1, *kernel)), ((1, 16, *size), (9, 16, *kernel))],
        )
    form(
        w,
        "groups_2",
        "f32",
        "[N, 6, 5, 5]",
        "[4, 3, 3, 3]",
        {"groups": 2, "padding": 1},
        shapes=[((2, 6, 5, 5), (4, 3, 3, 3)), ((1, 6, 5, 5), (4, 3, 3, 3))],
    )
    form(w, "depthwise", "f16", "[N, 8, 6, 7]", "[8, 1, 3, 3]", {"groups": 8, "padding": 1}, shapes=[((2, 8, 6, 7), (8, 1, 3, 3))])
    form(w, "multiplier", "f32", "[N, 3, 6, 7]", "[6, 1, 2, 2]", {"groups": 3}, shapes=[((2, 3, 6, 7), (6, 1, 2, 2))])
    w.function(
        "symbolic",
        {"x": "f32[N, C, H, W]", "w": "f32[O, C, 3, 3]"},
        {"y": "f32[N, O, H, W]"},
        "y = conv2d(x, w, padding=1)",
        dims="{H: {min: 1}, W: {min: 1}}",
    )
    w.function(
        "symbolic_valid",
        {"x": "f16[N, C, H, W]", "w": "f16[O, C, 3, 2]"},
        {"y": "f16[N, O, H - 2, W - 1]"},
        "y = conv2d(x, w)",
        dims="{H: {min: 3}, W: {min: 2}}",
    )
    for p, o in [((1, 2, 1, 1), 3), ((2, 3, 5, 4), 2), ((1, 4, 17, 16), 5), ((1, 1, 33, 3), 1), ((3, 2, 4, 65), 2)]:
        a, b = small("f32", p, 1), small("f32", (o, p[1], 3, 3), 2)
        w.case(
            "symbolic",
            "x".join(map(str, p)),
            {"x": argument("f32", a), "w": argument("f32", b)},
            {"y": exact("f32", conv(a.astype(float), b.astype(float), padding=1).astype(np.float32), unsigned_zero=True)},
        )
        if p[2] >= 3:
            a, b = a.astype(np.float16), small("f16", (o, p[1], 3, 2), 2)
            w.case(
                "symbolic_valid",
                "x".join(map(str, p)),
                {"x": argument("f16", a), "w": argument("f16", b)},
                {"y": exact("f16", conv(a.astype(float), b.astype(float)).astype(np.float16), unsigned_zero=True)},
            )
    rng = np.random.default_rng(61)
    for t in ("f32", "f16"):
        a, b = encode(t, rng.standard_normal((1, 5, 7, 6))), encode(t, rng.standard_normal((3, 5, 3, 3)))
        p, q = decode(t, a), decode(t, b)
        # 45 products and the zeros of the padding; twice the half ulp below f32, as for matmul
        u, k = 2.0**-24 * (1 if t == "f32" else 2), 45
        w.function(
            f"ordinary_{t}", {"x": f"{t}[N, C, 7, 6]", "w": f"{t}[O, C, 3, 3]"}, {"y": "f32[N, O, 7, 6]"}, "y = conv2d(x, w, padding=1)"
        )
        w.case(
            f"ordinary_{t}",
            "",
            {"x": argument(t, a), "w": argument(t, b)},
            {"y": bound("f32", conv(p, q, padding=1), k * u / (1 - k * u) * conv(np.abs(p), np.abs(q), padding=1))},
        )
    w.save()
