"""Floats of 8 and 4 bits and i4 against NumPy: casts, movement, comparisons, reductions, products, all of them exact.

The formats are stated here again, as tables of what each code means; nothing of kc takes part. Elements of 4 bits stand two
a byte, low one first. KC_TEST_TYPES: the types for all but casts; KC_TEST_ONLY: part of the name of the tests to run.
"""
import os
import numpy as np
from kctest import *

# name: bits, exponent bits, bias, what the codes from `special` on mean ("ieee": infinity, then NaN; "nan"; None: numbers)
FORMATS = {"f8e4m3": (8, 4, 7, "top"), "f8e5m2": (8, 5, 15, "ieee"), "f8e4m3fnuz": (8, 4, 8, "minus zero"),
           "f8e5m2fnuz": (8, 5, 16, "minus zero"), "f4e2m1": (4, 2, 1, None)}


def meaning(bits, exponent_bits, bias, special):
    values = []
    for code in range(1 << bits):
        size, sign = code & ((1 << (bits - 1)) - 1), -1.0 if code >> (bits - 1) else 1.0
        mantissa_bits = bits - 1 - exponent_bits
        exponent, mantissa = size >> mantissa_bits, size & ((1 << mantissa_bits) - 1)
        value = mantissa * 2.0 ** (1 - bias - mantissa_bits) if exponent == 0 else (1 + mantissa * 2.0**-mantissa_bits) * 2.0 ** (exponent - bias)
        if special == "top" and size == 0x7f or special == "minus zero" and code == 0x80:
            value = np.nan
        if special == "ieee" and exponent == 31:
            value = np.nan if mantissa else np.inf
        values.append(sign * value)
    return np.array(values)


VALUES = {name: meaning(*row) for name, row in FORMATS.items()}
VALUES["f8e8m0"] = np.append(2.0 ** np.arange(-127.0, 128), np.nan)
VALUES["i4"] = np.array([*range(8), *range(-8, 0)])
BITS = {name: 4 if name in ("i4", "f4e2m1") else 8 for name in VALUES}
ALL = list(VALUES)
CHOSEN = os.environ.get("KC_TEST_TYPES", " ".join(ALL)).split()


def round_to(name, x):
    """The cast of exact values (float64 or int64) to a format, as values: to nearest even, saturating."""
    if name == "i4":
        if x.dtype.kind != "f":
            return (x.astype(np.int64) + 8) % 16 - 8
        return np.clip(np.nan_to_num(np.trunc(x), nan=0, posinf=7, neginf=-8), -8, 7).astype(np.int64)
    x = np.asarray(x, np.longdouble)  # 64 bits of mantissa: any int64, and middles between doubles
    finite = VALUES[name][np.isfinite(VALUES[name])]
    grid = np.unique(np.abs(finite)).astype(np.longdouble)
    size = np.abs(np.where(np.isnan(x), 0, x))
    above = np.clip(np.searchsorted(grid, size, "left"), 1, len(grid) - 1)
    low, high = grid[above - 1], grid[above]
    middle = (low + high) / 2
    even = above % 2 == 0 if name != "f8e8m0" else np.ones(above.shape, bool)  # codes of the magnitudes count up from 0
    up = (size > middle) | ((size == middle) & even)
    value = np.where(up, high, low).astype(np.float64)
    if name == "f8e8m0":
        return np.where(np.isnan(x) | (x < 0), np.nan, value)
    value = np.where(np.signbit(x), -value, value)
    if "fnuz" in name:
        value = value + 0.0  # no negative zero
    return np.where(np.isnan(x), 6.0 if name == "f4e2m1" else np.nan, value)


def pack(name, codes):
    codes = codes.astype(np.uint8)
    return codes if BITS[name] == 8 else codes[..., ::2] | codes[..., 1::2] << 4


def codes_of(name, shape):
    return rng.integers(0, 1 << BITS[name], shape).astype(np.uint8)


def decode(name, array):
    """A loaded output as values, in NumPy's types where it has them."""
    if name not in VALUES:
        return array
    codes = array.view(np.uint8)
    if BITS[name] == 4:
        codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(*codes.shape[:-1], codes.shape[-1] * 2)
    return VALUES[name][codes]


def same(got, want):
    """'' or where they differ: values, the sign of zero too, any NaN for any other."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind == "f" or got.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            got = got.astype(np.float64)
        equal = (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))
    else:
        equal = got == want
    wrong = np.argwhere(~equal)
    return "" if not len(wrong) else f"{len(wrong)} of {got.size} wrong, first at {tuple(wrong[0])}: {got[tuple(wrong[0])]}, expected {want[tuple(wrong[0])]}"


TINY_ZERO = 1e-60


def ordered(v):
    """Values whose order tells zeros of both signs apart, as min and max do."""
    return np.where(v == 0, np.copysign(TINY_ZERO, v), v) if v.dtype.kind == "f" else v


def plain(v):
    return np.where(np.abs(v) == TINY_ZERO, np.copysign(0, v), v) if v.dtype.kind == "f" else v


functions, cases = {}, []  # cases: what is said, function, {input: array}, {output: (type, values)}, dims


def function(name, inputs, outputs, body, dims=""):
    def table(args):
        return "{" + ", ".join(f'{n}: {t if t.startswith("{") else chr(34) + t + chr(34)}' for n, t in args.items()) + "}"
    text = f"dims: {{{dims}}}\n" if dims else ""
    functions[name] = text + f"inputs: {table(inputs)}\noutputs: {table(outputs)}\nbody: |\n" + "".join(f"  {line}\n" for line in body.split("\n"))


def case(said, name, inputs, outputs, dims=None):
    cases.append((said, name, inputs, outputs, dims))


# ---- casts

def arguments(kind, name):
    """Values of a source type around which the rounding to a format is decided, an even number of them."""
    values = VALUES[name][np.isfinite(VALUES[name])].astype(np.float64)
    grid = np.unique(np.concatenate([values, -values]))
    middles = (grid[1:] + grid[:-1]) / 2
    if kind in ("i64", "i32", "i8"):
        info = np.iinfo({"i64": np.int64, "i32": np.int32, "i8": np.int8}[kind])
        near = [s * (m << k) + d for s in (1, -1) for m in (1, 3, 5, 7, 9, 11, 13, 15, 17, 25) for k in range(59) for d in (-1, 0, 1)]
        return np.array(sorted({*(n for n in near if info.min <= n <= info.max), 0, info.min, info.max, info.max - 1}), info.dtype)
    dtype = {"f64": np.float64, "f32": np.float32, "f16": np.float16}[kind]
    if kind == "f16":
        return np.arange(65536, dtype=np.uint16).view(np.float16)
    with np.errstate(over="ignore"):
        exact = np.concatenate([grid, middles, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40]]).astype(dtype)
        tight = np.concatenate([exact, np.nextafter(exact, dtype(np.inf)), np.nextafter(exact, dtype(-np.inf))])
        return np.concatenate([tight, rng.standard_normal(500).astype(dtype) * 8, rng.integers(0, 1 << 32, 700, np.uint64).astype(np.uint32).view(np.float32).astype(dtype)])


EVERY = {t: f"{t}[N]" for t in ALL}
TO_ALL = "\n".join(f'{t} = cast(x, "{t}")' for t in ALL)
for kind in ["f64", "f32", "f16", "i64", "i32", "i8"]:
    function(f"from_{kind}", {"x": f"{kind}[N]"}, EVERY, TO_ALL, "N: {multiple_of: 2}")
    with np.errstate(invalid="ignore"):
        x = arguments(kind, "f8e4m3") if kind == "f16" else np.unique(np.concatenate([arguments(kind, name) for name in ALL]))
        x = np.concatenate([np.array([0, -1]).astype(x.dtype) * x.dtype.type(0), x])  # zeros of both signs
        x = x[:len(x) // 2 * 2]
        case(f"casts from {kind}", f"from_{kind}", {"x": x}, {t: (t, round_to(t, x if x.dtype.kind == "i" else x.astype(np.longdouble))) for t in ALL})
for name in ALL:
    every = np.tile(np.arange(1 << BITS[name]), 3)
    outs = {"f": "f32", "d": "f64", "h": "f16", "i": "i32", "c": "i8", "b": "bool"}
    function(f"wide_{name}", {"x": f"{name}[N]"}, {o: f"{t}[N]" for o, t in outs.items()}, "\n".join(f'{o} = cast(x, "{t}")' for o, t in outs.items()), "N: {multiple_of: 2}")
    v = VALUES[name][every].astype(np.float64)
    with np.errstate(all="ignore"):
        whole = {t: np.clip(np.nan_to_num(np.trunc(v), nan=0), np.iinfo(t).min, np.iinfo(t).max).astype(t) for t in (np.int32, np.int8)}
        case(f"casts from {name} to wide types", f"wide_{name}", {"x": pack(name, every)},
             {"f": ("f32", v), "d": ("f64", v), "h": ("f16", v.astype(np.float16)), "i": ("i32", whole[np.int32]), "c": ("i8", whole[np.int8]), "b": ("bool", v != 0)})
for a in ALL:
    function(f"among_{a}", {"x": f"{a}[N]"}, EVERY, TO_ALL, "N: {multiple_of: 2}")
    every = np.arange(1 << BITS[a])
    case(f"casts from {a} to others", f"among_{a}", {"x": pack(a, every)}, {b: (b, round_to(b, VALUES[a][every]) if a != b else VALUES[a][every]) for b in ALL})

# ---- movement: odd beginnings, steps, reversals; rows of an odd length inside a kernel and between two

EVEN = "A: {min: 2, multiple_of: 2}, B: {min: 4, multiple_of: 2}"
for name in CHOSEN:
    t, take = name, VALUES[name]
    function(f"move_{t}", {"x": f"{t}[A, B]", "i": "i32[6]"},
             {"tr": f"{t}[B, A]", "sl": f"{t}[A, B - 4]", "rev": f"{t}[A, B]", "st": f"{t}[A, B]", "cc": f"{t}[A, 2 * B - 6]",
              "pd": f"{t}[A + 1, B + 4]", "ga": f"{t}[A, 6]", "gr": f"{t}[6, B]", "rs": f"{t}[B, A]", "br": f"{t}[3, A, B]"},
             """tr = transpose(x, [1, 0])
sl = slice(x, [3], [B - 1], axes=[1])
rev = slice(x, [-1], [-B - 1], axes=[1], steps=[-1])
st = concat([slice(x, [1], [B], axes=[1], steps=[2]), slice(x, [0], [B], axes=[1], steps=[2])], axis=1)
cc = concat([slice(x, [1], [B - 2], axes=[1]), slice(x, [3], [B], axes=[1])], axis=1)
pd = pad(x, [[1, 0], [3, 1]], value=1)
ga = gather(x, i, axis=1)
gr = gather(x, i)
rs = reshape(x, [B, A])
br = broadcast(reshape(x, [1, A, B]), [3, A, B])""", EVEN)
    for a, b in [(2, 6), (6, 38), (34, 70), (64, 128)]:
        c, i = codes_of(name, (a, b)), rng.integers(0, min(a, b), 6).astype(np.int32)
        v = take[c]
        case(f"movement of {a}x{b} {t}", f"move_{t}", {"x": pack(name, c), "i": i},
             {"tr": (t, v.T), "sl": (t, v[:, 3:-1]), "rev": (t, v[:, ::-1]), "st": (t, np.concatenate([v[:, 1::2], v[:, ::2]], axis=1)), "cc": (t, np.concatenate([v[:, 1:-2], v[:, 3:]], axis=1)),
              "pd": (t, np.pad(v, [(1, 0), (3, 1)], constant_values=1)), "ga": (t, v[:, i]), "gr": (t, v[i]), "rs": (t, v.reshape(b, a)), "br": (t, np.broadcast_to(v, (3, a, b)))})
    function(f"odd_{t}", {"x": f"{t}[A, B]"}, {"m": f"{t}[B]", "y": f"{t}[A - 1, B]"},
             "s = transpose(slice(x, [1], [A], axes=[0]), [1, 0])\nm = max(s, axis=1)\ny = min(transpose(s, [1, 0]), m)", EVEN)
    for a, b in [(2, 4), (8, 34), (40, 130)]:
        c = codes_of(name, (a, b))
        with np.errstate(all="ignore"):
            s = ordered(take[c][1:])
            m = s.max(axis=0)
            case(f"rows of odd length {a - 1}x{b} {t}", f"odd_{t}", {"x": pack(name, c)}, {"m": (t, plain(m)), "y": (t, plain(np.minimum(s, m)))})
    function(f"strided_{t}", {"x": f"{{type: '{t}[A, B]', strides: [ldx, 1]}}"}, {"y": f"{{type: '{t}[A, B]', strides: [ldy, 1]}}"}, "y = abs(x)", EVEN)
    c = codes_of(name, (6, 22))
    with np.errstate(all="ignore"):
        v = np.abs(take[c])
        case(f"strides of {t}", f"strided_{t}", {"x": pack(name, c)}, {"y": (t, np.where(v == 8, -8, v) if t == "i4" else v)}, {"ldx": 38, "ldy": 24})

# ---- what keeps the type, comparisons, reductions

for name in CHOSEN:
    t, sign = name, name != "f8e8m0"
    outs = {"n": f"{t}[M, N]", "x": f"{t}[M, N]", "w": f"{t}[M, N]", "l": "bool[M, N]", "e": "bool[M, N]"} | ({"g": f"{t}[M, N]"} if sign else {})
    function(f"ops_{t}", {"a": f"{t}[M, N]", "b": f"{t}[M, N]"}, outs, "n = min(a, b)\nx = max(a, b)\nw = where(a < b, a, b)\nl = a <= b\ne = a == b" + ("\ng = -a" if sign else ""), "N: {multiple_of: 2}")
    function(f"rows_{t}", {"a": f"{t}[M, N]"}, {"x": f"{t}[M]", "n": f"{t}[M]", "i": "i64[M]", "c": f"{t}[N]", "s": f"{'i32' if t == 'i4' else 'f32'}[M]"},
             "x = max(a, axis=1)\nn = min(a, axis=1)\ni = argmax(a, axis=1)\nc = max(a, axis=0)\ns = sum(a, axis=1)", "M: {multiple_of: 2}, N: {multiple_of: 2}")
    for m, n in [(2, 2), (4, 34), (6, 600), (2, 9000)]:
        a, b = codes_of(name, (m, n)), codes_of(name, (m, n))
        v, w = VALUES[name][a], VALUES[name][b]
        with np.errstate(all="ignore"):
            low, high = plain(np.minimum(ordered(v), ordered(w))), plain(np.maximum(ordered(v), ordered(w)))
            negated = -v if t != "i4" else np.where(v == -8, -8, -v)
            wants = {"n": (t, low), "x": (t, high), "w": (t, np.where(v < w, v, w)), "l": ("bool", v <= w), "e": ("bool", v == w)}
            if sign:
                wants["g"] = (t, negated + 0.0 if "fnuz" in t else negated)
            if n < 9000:
                case(f"ops of {m}x{n} {t}", f"ops_{t}", {"a": pack(name, a), "b": pack(name, b)}, wants)
            if t not in ("i4", "f4e2m1"):  # rows without NaN and infinities, whose sums are exact
                few = np.flatnonzero(np.isin(VALUES[name], [1, 2, 4] if t == "f8e8m0" else np.arange(-4, 5)))
                a = few[rng.integers(0, len(few), (m, n))].astype(np.uint8)
            v = ordered(VALUES[name][a])
            case(f"rows of {m}x{n} {t}", f"rows_{t}", {"a": pack(name, a)},
                 {"x": (t, plain(v.max(axis=1))), "n": (t, plain(v.min(axis=1))), "i": ("i64", plain(v).argmax(axis=1)), "c": (t, plain(v.max(axis=0))), "s": ("f32", plain(v).sum(axis=1) + 0)})

# ---- arithmetic of i4, products

function("i4_arithmetic", {"a": "i4[N]", "b": "i4[N]"}, {"p": "i4[N]", "m": "i4[N]", "s": "i4[N]", "d": "i4[N]", "r": "i4[N]", "f": "f32[N]"},
         "p = a + b\nm = a * b\ns = a - b\nd = a // b\nr = a % b\nf = a * 0.5", "N: {multiple_of: 2}")
a, b = (x.ravel() for x in np.meshgrid(np.arange(16), [*range(1, 16)] + [1]))
v, w = VALUES["i4"][a], VALUES["i4"][b]
wrap = lambda x: (x + 8) % 16 - 8
case("arithmetic of i4", "i4_arithmetic", {"a": pack("i4", a), "b": pack("i4", b)},
     {"p": ("i4", wrap(v + w)), "m": ("i4", wrap(v * w)), "s": ("i4", wrap(v - w)), "d": ("i4", wrap(v // w)), "r": ("i4", v % w), "f": ("f32", v * 0.5)})
for name in CHOSEN:
    acc = "i32" if name == "i4" else "f32"
    function(f"matmul_{name}", {"a": f"{name}[M, K]", "b": f"{name}[K, N]"}, {"c": f"{acc}[M, N]", "q": f"{name}[M, N]"}, f'c = matmul(a, b)\nq = cast(c, "{name}")', "K: {multiple_of: 2}, N: {multiple_of: 2}")
    function(f"matmul_t_{name}", {"a": f"{name}[K, M]", "b": f"{name}[N, K]"}, {"c": f"{acc}[M, N]"}, "c = matmul(a, b, transpose_a=true, transpose_b=true)", "M: {multiple_of: 2}, K: {multiple_of: 2}")
    few = np.flatnonzero(np.isin(VALUES[name], [0.5, 1, 2] if name == "f8e8m0" else [-2, -1, 0, 0.5, 1, 2]) & ~((VALUES[name] == 0) & np.signbit(VALUES[name])))
    for m, k, n in [(2, 2, 2), (6, 34, 70), (66, 130, 64)]:
        a, b = few[rng.integers(0, len(few), (m, k))], few[rng.integers(0, len(few), (k, n))]
        c = VALUES[name][a] @ VALUES[name][b]
        case(f"matmul {m}x{k}x{n} of {name}", f"matmul_{name}", {"a": pack(name, a), "b": pack(name, b)}, {"c": (acc, c), "q": (name, round_to(name, c))})
        case(f"matmul {m}x{k}x{n} of transposed {name}", f"matmul_t_{name}", {"a": pack(name, a.T), "b": pack(name, b.T)}, {"c": (acc, c)})

# ---- results of products and reductions that are stored in another shape or order

for name in CHOSEN:
    function(f"carried_{name}", {"a": "f32[M, K]", "w": "f32[K, 12]", "v": "f32[K, 3]", "x": "f32[M, 5, 3]"},
             {"h": f"{name}[6, M, 2]", "o": f"{name}[M / 2, 6]", "r": f"{name}[M / 2, 6]", "n": f"{name}[12, M]"},
             f"""h = cast(transpose(reshape(matmul(a, w), [M, 6, 2]), [1, 0, 2]), "{name}")
o = cast(reshape(matmul(a, v), [M / 2, 6]), "{name}")
r = reshape(cast(max(x, axis=1), "{name}"), [M / 2, 6])
n = cast(transpose(matmul(a, w), [1, 0]), "{name}")""", "M: {multiple_of: 2}")
    for m in (2, 70):
        a, w, v = (rng.integers(-1, 2, shape).astype(np.float32) for shape in [(m, 5), (5, 12), (5, 3)])
        x = rng.integers(-9, 10, (m, 5, 3)).astype(np.float32)
        p = (a @ w).astype(np.float64) + 0
        case(f"carried results of {m} rows of {name}", f"carried_{name}", {"a": a, "w": w, "v": v, "x": x},
             {"h": (name, round_to(name, p.reshape(m, 6, 2).transpose(1, 0, 2))), "o": (name, round_to(name, (a @ v).astype(np.float64).reshape(-1, 6) + 0)),
              "r": (name, round_to(name, x.max(axis=1).astype(np.float64).reshape(-1, 6) + 0)), "n": (name, round_to(name, p.T))})

# ---- run

model = Model(functions, "small")
ONLY = os.environ.get("KC_TEST_ONLY", "")
for said, name, inputs, wants, dims in [c for c in cases if ONLY in c[0]]:
    got = model.run(name, inputs, list(wants), dims)
    if got is None:
        test(said, False, model.message.strip()[:300])
        continue
    problems = [f"{o}: {p}" for array, (o, (kind, want)) in zip(got, wants.items()) if (p := same(decode(kind, array), want))]
    test(said, not problems, "; ".join(problems))
finish()
