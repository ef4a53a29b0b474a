"""The 8- and 4-bit types against codecs written here, from the formats' definitions.

A float type is the list of its values by code. A cast takes the nearest value, the even code on a tie (of f8e8m0 the larger
one), and saturates. Values are exact in f32, so that everything here but sums of products is compared exactly.
"""
import numpy as np
from kctest import *

U = 2.0**-24
L = np.longdouble


def plain(exponent, mantissa, bias, fnuz=False, top=None):
    """Values by code: a sign, an exponent, a mantissa. top: what the codes from there on are, without sign."""
    count = 1 << (exponent + mantissa)
    code = np.arange(count)
    e, m = code >> mantissa, code & ((1 << mantissa) - 1)
    v = np.where(e > 0, (m + (1 << mantissa)) * 2.0 ** (e - bias - mantissa), m * 2.0 ** (1 - bias - mantissa))
    for at, value in (top or {}).items():
        v[at] = value
    values = np.concatenate([v, -v])
    if fnuz:
        values[count] = np.nan
    return values


TYPES = {
    "f8e4m3": plain(4, 3, 7, top={0x7F: np.nan}),
    "f8e5m2": plain(5, 2, 15, top={0x7C: np.inf, 0x7D: np.nan, 0x7E: np.nan, 0x7F: np.nan}),
    "f8e4m3fnuz": plain(4, 3, 8, fnuz=True),
    "f8e5m2fnuz": plain(5, 2, 16, fnuz=True),
    "f8e8m0": np.concatenate([2.0 ** np.arange(-127, 128), [np.nan]]),
    "f4e2m1": plain(2, 1, 1),
}
PACKED = ("f4e2m1", "i4")


def cast(x, kind):
    """The value that a cast to the type gives, and its code."""
    table = TYPES[kind]
    x = np.asarray(x, np.float64)
    finite = np.flatnonzero(np.isfinite(table))
    finite = finite[np.argsort(table[finite], kind="stable")]
    finite = finite[(table[finite] != 0) | (finite == 0)]  # one zero: signs are set below
    values = table[finite]
    clipped = np.clip(np.where(np.isnan(x), 0, x), values[0], values[-1])
    right = np.clip(np.searchsorted(values, clipped), 1, len(values) - 1)
    low, high = values[right - 1], values[right]
    tie = clipped - low == high - clipped
    up = np.where(tie, True if kind == "f8e8m0" else finite[right] % 2 == 0, clipped - low > high - clipped)
    code = np.where(up, finite[right], finite[right - 1])
    if kind == "f8e8m0":
        code = np.where((x < 0) | np.isnan(x), 0xFF, code)
    else:
        sign = len(table) // 2
        fnuz = kind.endswith("fnuz")
        code = np.where((table[code] == 0) & np.signbit(x) & (not fnuz), sign, code)
        nan = {"f8e4m3": 0x7F, "f8e5m2": 0x7E, "f4e2m1": 7}.get(kind, sign)
        code = np.where(np.isnan(x), nan, code)
    return table[code], code.astype(np.uint8)


def packed(codes):
    return (codes[..., ::2] & 15 | (codes[..., 1::2] & 15) << 4).astype(np.uint8)


def file_of(codes, kind):
    return packed(codes) if kind in PACKED else codes.astype(np.uint8)


def codes_of(array, kind):
    """Codes in an output file."""
    if kind not in PACKED:
        return array.view(np.uint8)
    return np.stack([array & 15, array >> 4], axis=-1).reshape(*array.shape[:-1], 2 * array.shape[-1])


def same(name, model, function, inputs, wants, dims=None):
    """wants: {output: (codes, type)}, where NaN may have any code, or {output: array}. The reference must agree too."""
    got = model.run(function, inputs, list(wants), dims, check=True)
    if got is None:
        return test(name, False, model.message.strip()[:300])
    for array, (output, want) in zip(got, wants.items()):
        if isinstance(want, tuple):
            codes, kind = want
            array, want = codes_of(array, kind), np.asarray(codes)
            if kind in TYPES:
                array, want = TYPES[kind][array], TYPES[kind][want]
                signs = np.signbit(array) == np.signbit(want)
                if not (signs | np.isnan(want)).all():
                    return test(name, False, f"{output}: signs of {np.argwhere(~signs)[0]}")
            else:
                want = want & 15
        good = array.shape == want.shape and ((array == want) | ((array != array) & (want != want))).all()
        if not good:
            at = tuple(np.argwhere(~((array == want) | ((array != array) & (want != want))))[0]) if array.shape == want.shape else None
            return test(name, False, f"{output}: {array.shape} {at}: {array[at] if at else ''}, expected {want.shape} {want[at] if at else ''}")
    test(name, True)


functions = {}
for kind in TYPES:
    neg = "" if kind == "f8e8m0" else "\n  n = -x"
    functions["wide_" + kind] = f"""
inputs: {{x: "{kind}[M, N]"}}
outputs: {{f: "f32[M, N]", h: "bf16[M, N]", d: "f64[M, N]", i: "i32[M, N]"}}
body: |
  f = x
  h = x
  d = x
  i = cast(x, "i32")
"""
    functions["narrow_" + kind] = f"""
inputs: {{x: "f32[M, N]", h: "f16[M, N]", i: "i32[M, N]"}}
outputs: {{a: "{kind}[M, N]", b: "{kind}[M, N]", c: "{kind}[M, N]"}}
body: |
  a = x
  b = cast(h, "{kind}")
  c = cast(i, "{kind}")
"""
    functions["keep_" + kind] = f"""
inputs: {{x: "{kind}[M, N]", y: "{kind}[M, N]"}}
outputs: {{a: "{kind}[M, N]", l: "{kind}[M, N]", g: "{kind}[M, N]", c: "{kind}[2 * M, N]", n: "{kind}[M, N]"}}
body: |
  a = abs(x)
  l = min(x, y)
  g = where(x > y, x, y)
  c = concat([y, slice(x, [0], [M])], 0){neg or chr(10) + "  n = x"}
"""
    functions["reduce_" + kind] = f"""
inputs: {{x: "{kind}[M, N]"}}
outputs: {{t: "f32[M]", g: "f32[M]", l: "f32[M]", i: "i64[M]"}}
body: |
  t = sum(x, axis=1)
  g = max(x, axis=1)
  l = min(x, axis=1)
  i = argmax(x, axis=1)
"""
functions["turn"] = """
inputs: {x: "i4[M, N]", y: "f4e2m1[M, N]", z: "f8e5m2[M, N]"}
outputs: {a: "i4[N, M]", b: "f4e2m1[N, M]", c: "f8e5m2[N, M]"}
body: |
  a = transpose(x, [1, 0])
  b = transpose(y, [1, 0])
  c = transpose(z, [1, 0])
"""
functions["i4"] = """
inputs: {x: "i4[M, N]", y: "i4[M, N]", w: "i32[M, N]", f: "f32[M, N]"}
outputs: {a: "i4[M, N]", b: "i4[M, N]", c: "i4[M, N]", d: "i4[M, N]", e: "i4[M, N]", g: "f32[M, N]", t: "i32[M]", q: "i4[M, N]", r: "bool[M, N]"}
body: |
  a = x + y
  b = x * y - x
  c = cast(w, "i4")
  d = cast(f, "i4")
  e = max(min(x, y), -3)
  g = x / y
  t = sum(x, axis=1)
  q = quantize(f, 0.5, dtype="i4")
  r = x < y
"""
functions["strided"] = """
inputs:
  x: {type: "i4[M, N]", strides: [ldx, 1]}
outputs:
  y: {type: "f4e2m1[M, N]", strides: [ldy, 1]}
body: |
  y = cast(x, "f4e2m1")
"""
functions["scaled"] = """
inputs: {a: "f4e2m1[M, K]", s: "f8e8m0[M, K / 32]", b: "f8e4m3[N, K]", t: "f32[N, 1]"}
outputs: {y: "f32[M, N]", q: "f4e2m1[M, K]", u: "f8e8m0[M, K / 32]"}
body: |
  w = dequantize(a, s, block=32)
  y = matmul(w, dequantize(b, t), transpose_b=true)
  u = cast(max(abs(reshape(w, [M, K / 32, 32])), axis=2) / 4, "f8e8m0")
  q = quantize(w, u, block=32, dtype="f4e2m1")
"""
functions["odd"] = """
inputs: {x: "i8[M, N]"}
outputs: {y: "i32[M]", z: "i8[M, N]"}
body: |
  h = cast(x, "i4")
  y = sum(h, axis=1)
  z = cast(h, "i8") - cast(reshape(y, [M, 1]), "i8")
"""
model = Model(functions, "small")


def edges(kind):
    """Every value of the type, what lies between two, on ties and beside them, beyond the ends, and specials."""
    v = np.sort(TYPES[kind][np.isfinite(TYPES[kind])])
    middle = ((v[1:].astype(L) + v[:-1]) / 2).astype(np.float32)
    x = np.concatenate([v.astype(np.float32), middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf)),
                        [np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45, -1e-45]]).astype(np.float32)
    return np.resize(x, (len(x) + 63) // 64 * 64).reshape(-1, 64)


for kind, table in TYPES.items():
    codes = np.resize(np.arange(len(table)), 256).reshape(4, 64).astype(np.uint8)
    values = table[codes]
    whole = np.clip(np.trunc(np.nan_to_num(values, nan=0)), -2.0**31, 2.0**31 - 1).astype(np.int64).astype(np.int32)
    x = file_of(codes, kind)
    got = model.run("wide_" + kind, {"x": x}, ["f", "h", "d", "i"], check=True)
    if got is None:
        test("from " + kind, False, model.message[:300])
    else:
        h = (got[1].view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        test("from " + kind, np.array_equal(got[0], values, equal_nan=True) and np.array_equal(h, values, equal_nan=True)
             and np.array_equal(got[2], values, equal_nan=True) and np.array_equal(got[3], whole), got)
    x = edges(kind)
    h = np.resize(x[np.abs(x) < 6e4], x.shape).astype(np.float16)
    i = rng.integers(-300, 300, x.shape).astype(np.int32)
    i[0, :4] = [2**31 - 1, -2**31, 65, -1]
    same("to " + kind, model, "narrow_" + kind, {"x": x, "h": h, "i": i},
         {"a": (cast(x, kind)[1], kind), "b": (cast(h, kind)[1], kind), "c": (cast(i, kind)[1], kind)})
    for m, n in [(1, 2), (5, 34), (3, 64), (2, 258), (0, 4), (3, 0)]:
        c, d = (rng.integers(0, len(table), (m, n)).astype(np.uint8) for _ in range(2))
        if len(table) == 256 and n and m:
            d[0, :2] = [0x00, 0x80 if not kind.endswith("fnuz") else 0x00]
        a, b = table[c], table[d]
        sign = len(table) // 2
        with np.errstate(invalid="ignore"):
            absolute = c if kind == "f8e8m0" else np.where(np.isnan(a), c, c & (sign - 1))
            nan = np.isnan(a) | np.isnan(b)
            less = np.where(np.isnan(a), c, np.where(np.isnan(b), d, np.where((a < b) | ((a == b) & np.signbit(a)), c, d)))
            larger = np.where(a > b, c, d)
            negative = c if kind == "f8e8m0" else np.where(np.isnan(a) | ((a == 0) & kind.endswith("fnuz")), c, c ^ sign)
        same(f"{kind} {m}x{n}", model, "keep_" + kind, {"x": file_of(c, kind), "y": file_of(d, kind)},
             {"a": (absolute, kind), "l": (less, kind), "g": (larger, kind), "c": (np.concatenate([d, c]), kind), "n": (negative, kind)})
        if not n:
            continue
        c = rng.integers(0, len(table), (m, n)).astype(np.uint8)
        c = np.where(np.isfinite(table[c]) & (np.abs(table[c]) < 1e6), c, 1).astype(np.uint8)
        a = table[c].astype(L)
        compare(f"reductions of {kind} {m}x{n}", model, "reduce_" + kind, {"x": file_of(c, kind)},
                {"t": a.sum(axis=1), "g": a.max(axis=1), "l": a.min(axis=1), "i": np.argmax(a, axis=1)},
                {"t": (np.abs(a).sum(axis=1) * n * U).astype(float), "g": 0, "l": 0, "i": 0})

for m, n in [(2, 2), (6, 34), (64, 64), (130, 70), (2, 0)]:
    x, y, z = rng.integers(0, 16, (m, n)), rng.integers(0, 16, (m, n)), rng.integers(0, 256, (m, n))
    same(f"transposed {m}x{n}", model, "turn", {"x": packed(x), "y": packed(y), "z": z.astype(np.uint8)},
         {"a": (x.T, "i4"), "b": (y.T, "f4e2m1"), "c": (z.T, "f8e5m2")})


def wrap(x):
    return (x + 8) % 16 - 8


for m, n in [(1, 2), (16, 16), (5, 34), (3, 1030), (0, 6)]:
    x, y = np.meshgrid(np.arange(-8, 8), np.arange(-8, 8))
    x, y = (np.resize(a, (m, n)) for a in (x, y))
    w = rng.integers(-2**31, 2**31, (m, n)).astype(np.int32)
    f = (rng.standard_normal((m, n)) * 5).astype(np.float32)
    f[:, ::3] = np.round(f[:, ::3] * 4) / 4
    if m:
        f[0, :2] = [np.nan, -np.inf]
    whole = np.clip(np.nan_to_num(np.trunc(f), nan=0), -8, 7)
    rounded = np.clip(np.nan_to_num(np.rint(f * 2), nan=0), -8, 7)
    with np.errstate(all="ignore"):
        quotient = x.astype(np.float32) / y.astype(np.float32)
    same(f"i4 {m}x{n}", model, "i4", {"x": packed(x), "y": packed(y), "w": w, "f": f},
         {"a": (wrap(x + y), "i4"), "b": (wrap(x * y - x), "i4"), "c": (wrap(w.astype(np.int64)), "i4"), "d": (whole.astype(int), "i4"),
          "e": (np.maximum(np.minimum(x, y), -3), "i4"), "g": quotient, "t": x.sum(axis=1).astype(np.int32), "q": (rounded.astype(int), "i4"), "r": x < y})
x = rng.integers(-8, 8, (5, 18))
for ldx, ldy in [(18, 18), (20, 32), (66, 18)]:
    same(f"i4 with strides {ldx}, {ldy}", model, "strided", {"x": packed(x)}, {"y": (cast(x, "f4e2m1")[1], "f4e2m1")}, {"ldx": ldx, "ldy": ldy})
for m, n in [(1, 1), (4, 7), (3, 129)]:
    x = rng.integers(-128, 128, (m, n)).astype(np.int8)
    h = wrap(x.astype(int))
    t = h.sum(axis=1)
    same(f"i4 of odd rows inside a kernel {m}x{n}", model, "odd", {"x": x}, {"y": t.astype(np.int32), "z": (h - t[:, None]).astype(np.int8)})

for m, n, k in [(1, 1, 32), (5, 9, 64), (16, 33, 256)]:
    a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 256, (n, k))
    b = np.where(np.isnan(TYPES["f8e4m3"][b]), 1, b)
    s, t = rng.integers(120, 134, (m, k // 32)), np.exp(rng.standard_normal((n, 1))).astype(np.float32)
    w = TYPES["f4e2m1"][a] * np.repeat(TYPES["f8e8m0"][s], 32, axis=1)
    v = (TYPES["f8e4m3"][b] * t.astype(L)).astype(np.float32).astype(L)
    got = model.run("scaled", {"a": packed(a), "s": s.astype(np.uint8), "b": b.astype(np.uint8), "t": t}, ["y", "q", "u"], check=True)
    name = f"a product of scaled types {m}x{n}x{k}"
    if got is None:
        test(name, False, model.message[:300])
        continue
    largest = np.abs(w).reshape(m, -1, 32).max(axis=2) / 4
    u, codes = cast(largest, "f8e8m0")
    q = cast(w / np.repeat(u, 32, axis=1), "f4e2m1")[1]
    problem = difference(got[0], w.astype(L) @ v.T, ((np.abs(w) @ np.abs(v).T.astype(float)) * (k + 2) * U).astype(float))
    if not problem and not np.array_equal(codes_of(got[2], "f8e8m0"), codes):
        problem = "scales"
    if not problem and not np.array_equal(TYPES["f4e2m1"][codes_of(got[1], "f4e2m1")], TYPES["f4e2m1"][q]):
        problem = "quantized"
    test(name, not problem, problem)
finish()
