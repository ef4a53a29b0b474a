"""rope, quantize, dequantize, by their definitions in docs/MODEL.md."""

import numpy as np
from cases import Writer, argument, bound, exact
from elements import NEW, bits, decode, encode, is_float, least, most, storage
from generator.exact import Interval
from generator.values import SPECIAL, small


def rounded_integer(t, q):
    """To nearest even, then saturated; NaN gives 0."""
    with np.errstate(all="ignore"):
        r = np.clip(np.nan_to_num(np.rint(q.astype(np.float64)), nan=0, posinf=1e300, neginf=-1e300), float(least(t)), float(most(t)))
    return np.array([int(v) if abs(v) < 2.0**62 else (most(t) if v > 0 else least(t)) for v in r.reshape(-1)], storage(t)).reshape(q.shape)


def spread(scale, block, k):
    """One scale for `block` neighbours of the last axis."""
    return np.repeat(scale, block, axis=-1) if block else scale


def quantized(w):
    rng = np.random.default_rng(71)
    targets = ["i8", "u8", "i16", "i32"] + NEW
    for t in ("f32", "f16", "bf16"):
        for dtype in targets:
            if t == "bf16" and dtype not in ("i8", "f8e4m3"):
                continue
            name = f"quantize_{t}_{dtype}"
            w.function(
                name, {"x": f"{t}[M, 2 * N]", "s": f"{t}[M, 1]"}, {"y": f"{dtype}[M, 2 * N]"}, f'y = quantize(x, s, dtype="{dtype}")'
            )
            for n in (1, 17, 33):
                x = encode(t, rng.standard_normal((3, 2 * n)) * 30)
                flat = x.reshape(-1)
                flat[: min(flat.size, 16)] = encode(t, np.array(SPECIAL))[: min(flat.size, 16)]
                s = encode(t, np.array([[0.25], [1.0], [3.0]]))
                w.case(name, f"{n}", {"x": argument(t, x), "s": argument(t, s)}, {"y": quantize(t, x, decode(t, s), dtype)})


def quantize(t, x, scale, dtype):
    with np.errstate(all="ignore"):
        q = (decode(t, x).astype(np.float32) / scale.astype(np.float32)).astype(np.float32)
    negative_zero = (q == 0) & np.signbit(q) if dtype == "f8e8m0" else None
    return exact(dtype, encode(dtype, q) if is_float(dtype) else rounded_integer(dtype, q), open_=negative_zero)


def blocks(w):
    for k, (dtype, st, block) in enumerate(
        [
            ("f8e4m3", "f8e8m0", 32),
            ("f4e2m1", "f8e8m0", 32),
            ("f4e2m1", "f8e4m3", 16),
            ("i8", "f32", 4),
            ("i4", "f16", 8),
            ("f8e5m2", "bf16", 2),
            ("u8", "f32", 1),
        ]
    ):
        axis = f"{block} * K" if block > 1 else "2 * K"
        blocks_ = "K" if block > 1 else "2 * K"
        w.function(
            f"blocks_{k}",
            {"x": f"f32[M, {axis}]", "s": f"{st}[M, {blocks_}]"},
            {"q": f"{dtype}[M, {axis}]"},
            f'q = quantize(x, s, block={block}, dtype="{dtype}")',
        )
        w.function(
            f"back_{k}",
            {"q": f"{dtype}[M, {axis}]", "s": f"{st}[M, {blocks_}]"},
            {"y": f"f32[M, {axis}]"},
            f"y = dequantize(q, s, block={block})",
        )
        for m, count in [(1, 1), (3, 2), (5, 9)]:
            n = count if block > 1 else 2 * count
            x = small("f32", (m, block * n), k, size=90) * np.float32(0.37)
            scale = encode(st, 2.0 ** (np.arange(m * n).reshape(m, n) % 7 - 3) * (1 if st == "f8e8m0" else 1.5))
            s = spread(decode(st, scale), block, block * n)
            q = quantize("f32", x, s, dtype)
            w.case(f"blocks_{k}", f"{m}x{n}", {"x": argument("f32", x), "s": argument(st, scale)}, {"q": q})
            v = decode(dtype, q["a"]) if is_float(dtype) else q["a"]
            w.case(
                f"back_{k}",
                f"{m}x{n}",
                {"q": argument(dtype, q["a"]), "s": argument(st, scale)},
                {"y": exact("f32", v.astype(np.float32) * s.astype(np.float32))},
            )
    for dtype in ["i8", "u8"] + NEW:
        every = (
            np.arange(1 << bits(dtype)).astype(storage(dtype))
            if is_float(dtype) or dtype == "u8"
            else np.arange(least(dtype), most(dtype) + 1).astype(storage(dtype))
        )
        w.function(
            f"every_{dtype}",
            {"x": f"{dtype}[M, 2 * N]", "s": "f32[2 * N]"},
            {"y": "f32[M, 2 * N]", "h": "f16[M, 2 * N]"},
            "y = dequantize(x, s, block=1)\nh = dequantize(x, s, block=1)",
        )
        x = every.reshape(-1, 8)
        s = np.array([1, 0.5, 3, -1, 0, 0.1, np.inf, 1e-40], np.float32)
        with np.errstate(all="ignore"):
            r = (decode(dtype, x) if is_float(dtype) else x).astype(np.float32) * s
            w.case(
                f"every_{dtype}",
                "patterns",
                {"x": argument(dtype, x), "s": argument("f32", s)},
                {
                    "y": exact("f32", r),
                    "h": exact(
                        "f16",
                        encode("f16", (decode(dtype, x) if is_float(dtype) else x).astype(np.float64) * s.astype(np.float64)),
                        open_=double_rounded(r, dtype, x, s),
                    ),
                },
            )
    w.function("scale_number", {"x": "i8[M, N]"}, {"y": "f32[M, N]"}, "y = dequantize(x, 0.5)")
    x = small("i8", (3, 5), 2, size=120)
    w.case("scale_number", "3x5", {"x": argument("i8", x)}, {"y": exact("f32", x * np.float32(0.5))})
    w.function(
        "scaled_matmul",
        {"a": "i8[M, 32 * K]", "s": "f32[M, K]", "b": "f32[32 * K, N]"},
        {"y": "f32[M, N]"},
        "y = matmul(dequantize(a, s, block=32), b)",
    )
    for m, k, n in [(3, 2, 5), (17, 1, 33)]:
        a, b = small("i8", (m, 32 * k), 1, size=8), small("f32", (32 * k, n), 2)
        s = (2.0 ** (np.arange(m * k).reshape(m, k) % 5 - 2)).astype(np.float32)
        w.case(
            "scaled_matmul",
            f"{m}x{k}x{n}",
            {"a": argument("i8", a), "s": argument("f32", s), "b": argument("f32", b)},
            {"y": exact("f32", ((a * np.repeat(s, 32, 1).astype(float)) @ b.astype(float)).astype(np.float32), unsigned_zero=True)},
        )


def double_rounded(r, dtype, x, s):
    """The product is rounded to f32 and then to f16, or at once: where these differ either is right."""
    once = encode("f16", (decode(dtype, x) if is_float(dtype) else x).astype(np.float64) * s.astype(np.float64))
    twice = encode("f16", r.astype(np.float64))
    return (once != twice) & ~(np.isnan(once) & np.isnan(twice))


def rope(w):
    rng = np.random.default_rng(81)
    for t, c, rank in (("f32", "f32", 2), ("f16", "f32", 3), ("bf16", "bf16", 4), ("f64", "f64", 2), ("f16", "f16", 2)):
        lead = ["", "", "S, ", "H, S, ", "B, H, S, "][rank]
        r = "f64" if "f64" in (t, c) else "f32"
        name = f"rope_{t}_{c}"
        w.function(name, {"x": f"{t}[{lead}2 * D]", "c": f"{c}[S, D]", "s": f"{c}[S, D]"}, {"y": f"{r}[{lead}2 * D]"}, "y = rope(x, c, s)")
        for heads, length, d in [(1, 1, 1), (2, 3, 4), (1, 17, 5), (3, 2, 32)]:
            shape = [2, heads, length, 2 * d][4 - rank :]
            x = encode(t, np.round(rng.standard_normal(shape) * 64) / 32)
            angle = np.arange(length)[:, None] * 100.0 ** (-np.arange(d) / d)
            co, si = encode(c, np.cos(angle)), encode(c, np.sin(angle))
            v, p, q = (decode(k, a).astype(np.longdouble) for k, a in ((t, x), (c, co), (c, si)))
            a, b = v[..., :d], v[..., d:]
            i = lambda z: Interval.exactly(z, r)
            want = np.concatenate([a * p - b * q, b * p + a * q], -1)
            left, right = i(a) * i(p) - i(b) * i(q), i(b) * i(p) + i(a) * i(q)
            both = Interval(np.concatenate([left.low, right.low], -1), np.concatenate([left.high, right.high], -1), r)
            w.case(
                name,
                "x".join(map(str, shape)),
                {"x": argument(t, x), "c": argument(c, co), "s": argument(c, si)},
                {"y": bound(r, want, both.bound(want))},
            )


def write():
    w = Writer("scaled")
    for part in (quantized, blocks, rope):
        part(w)
    w.save()
