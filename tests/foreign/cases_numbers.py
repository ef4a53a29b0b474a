"""math.cu, half.cu: floating point. What IEEE fixes is compared bit for bit; functions of the library within the error that
the CUDA programming guide gives; the hardware's approximations within the error that PTX gives."""
import math
from fractions import Fraction
import numpy as np
from case import In, Launch, Out, case

i32, u32, i64, f16, f32, f64 = np.int32, np.uint32, np.int64, np.float16, np.float32, np.float64
ULP = 2.0**-23


def columns(name, x, wants, dtype, rules, block=64):
    """One output a function: `rules` gives each its (relative, absolute) error."""
    want = np.stack([np.asarray(w, f64) for w in wants], 1)
    rel, bound = (np.array([rule[i] for rule in rules], f64) for i in (0, 1))

    def check(got):
        with np.errstate(all="ignore"):
            near = np.abs(got.astype(f64) - want) <= rel * np.abs(want) + bound
            good = near | (got == want) | (np.isnan(got) & np.isnan(want))
        if good.all():
            return ""
        at = tuple(np.argwhere(~good)[0])
        return f"{(~good).sum()} wrong, first {[int(i) for i in at]}, of {x[at[0]]!r}: {got[at]!r}, expected {want[at]!r}"

    return [Launch(name, -(-len(x) // block), block, [In(x), Out(start=np.zeros(want.shape, dtype), check=check), i32(len(x))])]


def over(f, x):
    return [f(float(v)) for v in x]


@case("math")
def fast_math(r):
    x = r.uniform(-3, 3, 150).astype(f32)
    v = x.astype(f64)
    p = (np.abs(x) + f32(0.01)).astype(f64)
    wants = [np.exp(v), np.log(p), np.sin(v), np.cos(v), v / (p + 1), 1 / np.sqrt(p), np.tanh(v), p**1.5, np.exp2(v), np.log2(p),
             10**(v / 4), np.tan(v / 4)]
    rules = [(8 * ULP, 0), (4 * ULP, 2.0**-20), (0, 2.0**-20), (0, 2.0**-20), (3 * ULP, 0), (2 * ULP, 0), (2.0**-10, 0), (16 * ULP, 0),
             (3 * ULP, 0), (0, 2.0**-20), (8 * ULP, 0), (2.0**-18, 2.0**-19)]
    return columns("fast_math", x, wants, f32, rules)


@case("math")
def library_f32(r):
    x = r.uniform(-3, 3, 150).astype(f32)
    v, p = x.astype(f64), (np.abs(x) + f32(0.01)).astype(f64)
    whole = np.rint(v) + np.floor(v) * 2 + np.ceil(v) * 4 + np.trunc(v) * 8 + np.trunc(v + np.copysign(0.5, v)) * 16
    far, scaled = (x * f32(100000)).astype(f64), (x * f32(0.1)).astype(f64)
    wants = [np.sin(v), np.cos(far), np.exp(v), np.log(p), p**v, np.tanh(v), over(math.erf, v), np.arctan2(v, p.astype(f32) - f32(1)),
             np.fmod((x * f32(100)).astype(f64), p), np.cbrt(v), np.log1p(p), np.expm1(scaled), np.arcsin(scaled), np.hypot(v, p),
             over(math.gamma, p), np.sinh(v), whole, np.ldexp(v, 5) + np.floor(np.log2(p)), over(lambda t: 0.5 * math.erfc(-t / 2**0.5), v),
             np.maximum(v - 1, 0).astype(f32) + np.copysign(p, v) + np.maximum(v, 0) + np.minimum(v, 0)]
    ulps = [2, 2, 2, 1, 4, 2, 2, 3, 0, 1, 1, 1, 2, 3, 5, 3, 0, 1, 5, 4]
    return columns("library_f32", x, wants, f32, [(n * ULP, 2.0**-149) for n in ulps[:4]] + [(n * ULP, 1e-7 if n in (2, 4) else 0) for n in ulps[4:]])


def directed(exact, dtype, mode):
    """A rational number rounded to f32 or f64: n z u d."""
    near = dtype(float(exact)) if dtype is f64 else None
    if near is None:
        near = f32(float(exact))  # maybe off by one: mended below
        options = [near, np.nextafter(near, f32(np.inf)), np.nextafter(near, f32(-np.inf))]
        finite = [o for o in options if np.isfinite(o)]
        near = min(finite, key=lambda o: (abs(Fraction(float(o)) - exact), int(np.array(o).view(u32)) & 1))
    up = near if Fraction(float(near)) >= exact else np.nextafter(near, dtype(np.inf))
    down = near if Fraction(float(near)) <= exact else np.nextafter(near, dtype(-np.inf))
    return {"n": near, "u": up, "d": down, "z": down if exact > 0 else up}[mode]


def root(a, dtype, mode):
    """The correctly rounded square root of a float."""
    exact, near = Fraction(float(a)), dtype(math.sqrt(float(a)))
    candidates = sorted({near, np.nextafter(near, dtype(np.inf)), np.nextafter(near, dtype(0))})
    if mode == "u":
        return min(c for c in candidates if Fraction(float(c))**2 >= exact)
    return near  # f64's root rounded to f32 is right, so is f64's own


def plain(r, n, dtype, wide):
    """Normal numbers of many sizes, none near overflow, with a few that cancel."""
    x = (r.choice([-1, 1], n) * r.uniform(1, 2, n) * 2.0**r.integers(-wide, wide, n)).astype(dtype)
    x[:3] = 1, -3, dtype(1) / 3
    return x


@case("math")
def roundings_f32(r):
    x, y = plain(r, 120, f32, 30), plain(r, 120, f32, 30)[::-1].copy()
    y[10:30] = -x[10:30] * f32(1 + 2.0**-20)
    rows = []
    for a, b in zip(x, y):
        A, B = Fraction(float(a)), Fraction(float(b))
        row = [directed(A + B, f32, m) for m in "nzud"] + [directed(A * B, f32, m) for m in "nzud"]
        row += [directed(A / B, f32, m) for m in "nz"] + [root(abs(a), f32, m) for m in "nu"] + [directed(1 / B, f32, m) for m in "nd"]
        rows.append(row + [directed(A * B + A, f32, "n"), directed(A * B - B, f32, "z")])
    return [Launch("roundings_f32", 2, 64, [In(x), In(y), Out(np.array(rows, f32)), i32(120)])]


@case("math")
def roundings_f64(r):
    x, y = plain(r, 100, f64, 200), plain(r, 100, f64, 200)[::-1].copy()
    rows = []
    for a, b in zip(x, y):
        A, B = Fraction(float(a)), Fraction(float(b))
        rows.append([a + b, directed(A + B, f64, "z"), a * b, directed(A * B, f64, "u"), a / b, np.sqrt(abs(a)),
                     directed(A * B - A, f64, "n"), 1 / b])
    return [Launch("roundings_f64", 2, 64, [In(x), In(y), Out(np.array(rows)), i32(100)])]


@case("math")
def library_f64(r):
    v = r.uniform(-3, 3, 120)
    p = np.abs(v) + 0.01
    wants = [np.sin(v), np.cos(v * 1000), np.exp(v), np.log(p), p**v, over(math.erf, v), np.tanh(v), np.arctan(v), np.cbrt(v),
             1 / np.sqrt(p), np.floor(v) + np.rint(v) * 3, np.fmod(v * 10, p), np.exp2(v), np.log1p(p)]
    ulps = [2, 2, 1, 1, 2, 2, 2, 2, 1, 2, 0, 0, 1, 1]
    return columns("library_f64", v, wants, f64, [((n + (n > 0)) * 2.0**-52, 0) for n in ulps])  # NumPy has an error of its own


@case("math")
def conversions(r):
    d = np.concatenate([r.uniform(-120, 120, 90), np.arange(-6, 6) + 0.5, [0.0, -0.0, 127.0, -128.0]])
    f = d.astype(f32)
    t = np.trunc
    ints = [np.rint(f), t(f), np.ceil(f), np.floor(f), np.rint(d), np.maximum(t(f), 0), t(d), t(f)]
    longs = [np.rint(d), np.maximum(t(d), 0), np.floor(f)]
    exact = [Fraction(float(v)) for v in d]
    wrapped = (np.rint(f).astype(i64) * 77777777).astype(i32)
    big = [int(v) * 123456789 for v in np.rint(d)]
    floats = [[directed(e, f32, "z") for e in exact], [directed(e, f32, "u") for e in exact],
              [directed(Fraction(int(v)), f32, "z") if v else f32(0) for v in wrapped], [f32(v) for v in big], np.rint(d).astype(i64).astype(f32),
              (f.view(u32) ^ 1).view(f32) + d.astype(f32)]
    floats = np.array(floats, f32).T
    tell = lambda got: "" if (got == floats).all() else f"{np.argwhere(got != floats)[0]}"
    return [Launch("conversions", 2, 64, [In(d), Out(np.array(ints).T.astype(i32)), Out(np.array(longs).T.astype(i64)),
                                          Out(start=np.zeros(floats.shape, f32), check=tell), i32(len(d))])]


# ---- half.cu


def halves(r, n):
    x = (r.normal(size=n) * 2.0**r.integers(-6, 6, n)).astype(f16)
    x[:6] = 0, -0.0, 1, 65504, np.inf, 6e-8
    return x


def fma16(a, b, c):
    return (a.astype(f64) * b.astype(f64) + c.astype(f64)).astype(f16)  # f64 holds the exact product and all but far sums


def to_bf16(x):
    bits = np.asarray(x, f32).view(u32)
    return np.where(np.isnan(x), 0x7fff, (bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(u32) << 16).view(f32)


@case("half")
def f16_scalar(r):
    a, b = halves(r, 128), halves(r, 128)[::-1].copy()
    wants = [a + b, a - b, a * b, (a.astype(f32) / b.astype(f32)).astype(f16), fma16(a, b, a), np.fmax(a, b), np.fmin(a, b), -np.abs(a),
             np.where(a > b, f16(1), np.clip(a + b, 0, 1) + f16(0)), np.rint(a) + np.floor(b)]
    return [Launch("f16_scalar", 2, 64, [In(a), In(b), Out(np.array(wants, f16).T)])]


@case("half")
def f16_pairs(r):
    a, b = halves(r, 128).reshape(64, 2), halves(r, 128)[::-1].copy().reshape(64, 2)
    relu = lambda v: np.where(v > 0, v, f16(0))
    wants = [a + b, a - b, a * b, fma16(a, b, a), np.fmax(a, b), np.fmin(a, b), a[:, ::-1], (a == b).astype(f16), relu(fma16(a, b, b))]
    word = lambda flags: (flags * np.array([0xffff, 0xffff0000], np.int64)).sum(1)
    masks = word(a > b) ^ word(a != b) << 1
    return [Launch("f16_pairs", 1, 64, [In(a), In(b), Out(np.stack(wants, 1).astype(f16)), Out((masks & 0xffffffff).astype(u32))])]


@case("half")
def f16_functions(r):
    x = r.uniform(-4, 4, 64).astype(f16)
    v, p = x.astype(f64), (np.abs(x) + f16(0.125)).astype(f64)
    want = np.array([np.exp(v), np.log(p), np.sqrt(p), 1 / np.sqrt(p), np.sin(v), 1 / p, np.exp2(v)]).T
    return [Launch("f16_functions", 1, 64, [In(x), Out(want, f16, rel=2.0**-10, abs=2.0**-13)])]


@case("half", ("sm_80", "sm_89", "sm_90a"))
def bf16_all(r):
    a, b = (from_bf16(to_bf16((r.normal(size=64) * 2.0**r.integers(-6, 6, 64)).astype(f32))) for _ in range(2))
    wide = lambda x, y, z: to_bf16((x.astype(f64) * y + z).astype(f32))  # of 8-bit fractions: no double rounding in practice
    wants = [to_bf16(a + b), to_bf16(a - b), to_bf16(a * b), wide(a, b, a), to_bf16(np.fmax(a, b)), to_bf16(np.fmin(a, b)),
             wide(a, a, a), wide(b, b, b), to_bf16(np.where(a < b, a, b)), ((a * f32(1.01)).view(u32) >> 16).astype(np.uint16)]
    return [Launch("bf16_all", 1, 64, [In(to_bf16(a)), In(to_bf16(b)), Out(np.array(wants).T.astype(np.uint16))])]


def f16_directed(x, mode):
    near = x.astype(f16)
    exact, got = x.astype(f64), near.astype(f64)
    up = np.where(got < exact, np.nextafter(near, f16(np.inf)), near)
    down = np.where(got > exact, np.nextafter(near, f16(-np.inf)), near)
    return {"z": np.where(exact > 0, down, up), "u": up, "d": down}[mode].view(np.uint16)


@case("half")
def half_conversions(r):
    x = (r.normal(size=128) * 2.0**r.integers(-10, 8, 128)).astype(f32)
    h = x.astype(f16)
    scaled = np.trunc(x * f32(100)).astype(i32)
    bits = [h.view(np.uint16), *(f16_directed(x, m) for m in "zud"), to_bf16(x), (-h).view(np.uint16), scaled.astype(f16).view(np.uint16),
            h.view(np.uint16)]
    back = [h.astype(f32), from_bf16(to_bf16(x))]
    ints = [np.trunc(h), np.floor(h)]
    return [Launch("half_conversions", 2, 64, [In(x), Out(np.array(bits).T.copy()), Out(np.array(back).T.copy()),
                                               Out(np.array(ints, f32).T.astype(i32))])]


def fp8_values(exponent_bits, fraction_bits):
    bias, top = (1 << exponent_bits - 1) - 1, 0x7e if fraction_bits == 3 else 0x7b
    code = np.arange(top + 1)
    e, f = code >> fraction_bits, (code & (1 << fraction_bits) - 1) / 2**fraction_bits
    return np.where(e == 0, f * 2.0**(1 - bias), (1 + f) * 2.0**(e - bias))


def to_fp8(x, table):
    """(code, value) of the nearest, ties to even codes, the largest where it is beyond."""
    size = np.abs(x.astype(f64))
    at = np.clip(np.searchsorted(table, size), 1, len(table) - 1)
    low, high = size - table[at - 1], table[at] - size
    code = np.where((low < high) | ((low == high) & (at % 2 == 1)), at - 1, at)
    return np.where(x < 0, code | 0x80, code).astype(np.uint8), np.copysign(table[code], x).astype(f32)


@case("half")
def fp8_conversions(r):
    x = (r.normal(size=128) * 2.0**r.integers(-10, 9, 128)).astype(f32)
    x[:4] = 1e6, -1e6, 464, 0.0009765625
    e4m3, e5m2 = fp8_values(4, 3), fp8_values(5, 2)
    a, b, half = to_fp8(x, e4m3), to_fp8(x, e5m2), to_fp8(x * f32(0.5), e4m3)
    with np.errstate(over="ignore"):
        narrow = to_fp8(np.clip(x.astype(f16).astype(f32), -1e6, 1e6), e5m2)
    codes = np.array([a[0], b[0], half[0], narrow[0]]).T.copy()
    return [Launch("fp8_conversions", 2, 64, [In(x), Out(codes), Out(np.array([a[1], b[1], half[1]]).T.copy())])]


# ---- fast.cu: -use_fast_math


def flushed(x):
    return np.where(np.abs(x) < 2.0**-126, np.copysign(f32(0), x), x).astype(f32)


@case("fast")
def fast_flush(r):
    x = (r.normal(size=64) * 2.0**r.integers(-130, -120, 64)).astype(f32)
    y = (r.normal(size=64) * 2.0**r.integers(-130, -120, 64)).astype(f32)
    y[:20] = r.normal(size=20)
    a, b = flushed(x), flushed(y)
    fused = flushed((a.astype(f64) * b.astype(f64) + a.astype(f64)).astype(f32))
    want = [flushed(a + b), flushed(a * b), fused, np.minimum(a, b), np.abs(a), a < b]
    check = lambda got: "" if (got == np.array(want, f32).T).all() else f"{np.argwhere(got != np.array(want, f32).T)[0]}"
    return [Launch("fast_flush", 1, 64, [In(x), In(y), Out(start=np.zeros((64, 6), f32), check=check)])]


@case("fast")
def fast_functions(r):
    x = r.uniform(-3, 3, 100).astype(f32)
    v, p = x.astype(f64), (np.abs(x) + f32(0.01)).astype(f64)
    wants = [np.exp(v), np.log(p), np.sin(v), v / p, np.sqrt(p), p**1.5, np.tanh(v), 1 / p]
    rules = [(8 * ULP, 0), (4 * ULP, 2.0**-20), (0, 2.0**-20), (3 * ULP, 0), (3 * ULP, 0), (16 * ULP, 0), (2.0**-10, 0), (2 * ULP, 0)]
    return columns("fast_functions", x, wants, f32, rules)


@case("fast")
def cached(r):
    x = r.normal(size=32).astype(f32)
    return [Launch("cached", 1, 32, [In(x), Out(np.concatenate([x + x] * 3))])]


@case("fast")
def spaces(r):
    x, t = r.integers(0, 100, 32).astype(i32), np.arange(32)
    value = np.where(t & 1, 100 + t, np.where(t >> 1 & 1, 5, x)) + 1
    return [Launch("spaces", 1, 32, [In(x), Out((value * 16 + np.where(t & 1, 1, 2) + 4).astype(i32))])]


@case("fast")
def half_tanh(r):
    x = r.uniform(-3, 3, (32, 2)).astype(f16)
    want = np.concatenate([np.tanh(x.astype(f64)), np.exp2(x.astype(f64))])
    return [Launch("half_tanh", 1, 32, [In(x), Out(want, f16, rel=2.0**-10, abs=2.0**-13)])]
