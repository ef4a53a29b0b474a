"""What instructions on floating-point numbers compute: exact arithmetic and one rounding; approximations within PTX's bounds."""
import functools, math
import exact
from exact import decode, encode, flush
from rows import row

HALVES = {"f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32"}
FLOATS = "f16|bf16|f32|f64|f16x2|bf16x2|f32x2"


def number_type(t):
    return HALVES.get(t, t)


def by_parts(t, meaning):
    """Of a pair each number by itself."""
    if t not in HALVES:
        return meaning
    bits = exact.FORMATS[HALVES[t]].bits
    mask = (1 << bits) - 1
    return lambda *sources: meaning(*(s & mask for s in sources)) | meaning(*(s >> bits for s in sources)) << bits


def saturated(form, bits):
    """0 to 1; NaN is +0."""
    number = decode(form, bits)
    if number is None or number[0] or number[1] == 0:
        return 0
    one = encode(form, exact.of_int(1))
    return one if number[1] == exact.INF or not exact.less(number, exact.of_int(1)) else bits


def clipped(form, bits):
    """.relu: negative numbers and -0 are +0."""
    number = decode(form, bits)
    return 0 if number is not None and number[0] else bits


def finished(words, types, meaning, sources=None):
    """What .ftz, .sat and .relu do before and after; sources: their formats where they are not the result's."""
    form = number_type(types[0])

    def one(*bits):
        if "ftz" in words:
            bits = [flush(form, b) for b in bits]
        numbers = [decode(s, b) for s, b in zip(sources or [form] * len(bits), bits)]
        result = meaning(*numbers)
        if "ftz" in words:
            result = flush(form, result)
        if "sat" in words:
            result = saturated(form, result)
        return clipped(form, result) if "relu" in words else result
    return by_parts(types[0], functools.lru_cache(None)(one))


def mode_of(words):
    return next((w for w in words if w in ("rn", "rz", "rm", "rp")), "rn")


def sum_of(words, types, sign=1):
    mode, form = mode_of(words), number_type(types[0])
    sources = [types[1], form] if len(types) > 1 else None
    return finished(words, types, lambda a, b: encode(form, exact.add(a, b if sign > 0 else exact.negate(b), mode), mode), sources)


def product_of(words, types):
    mode, form = mode_of(words), number_type(types[0])
    return finished(words, types, lambda a, b: encode(form, exact.multiply(a, b), mode))


def fused(words, types):
    mode, form = mode_of(words), number_type(types[0])
    sources = [types[1], types[1], form] if len(types) > 1 else None
    return finished(words, types, lambda a, b, c: encode(form, exact.add(exact.multiply(a, b), c, mode), mode), sources)


row("add", sum_of, needs=FLOATS)
row("sub", lambda w, t: sum_of(w, t, -1), needs=FLOATS)
row("mul", product_of, needs=FLOATS)
row("fma mad", fused, needs=FLOATS)
for t in ("f32", "f64"):
    row("div", lambda w, t: finished(w, t, lambda a, b: exact.divided(t[0], a, b, mode_of(w))), needs=f"{t} rn|rz|rm|rp")
    row("sqrt", lambda w, t: finished(w, t, lambda a: exact.root(t[0], a, mode_of(w))), needs=f"{t} rn|rz|rm|rp")
    row("rcp", lambda w, t: finished(w, t, lambda a: exact.divided(t[0], exact.of_int(1), a, mode_of(w))), needs=f"{t} rn|rz|rm|rp")


def sign_changed(change):
    """abs, neg: bits, but that .ftz flushes first. What becomes of NaN is open."""
    def make(words, types):
        form = number_type(types[0])
        top = 1 << exact.FORMATS[form].bits - 1
        return by_parts(types[0], lambda a: change(flush(form, a) if "ftz" in words else a, top))
    return make


row("abs", sign_changed(lambda a, top: a & ~top), needs=FLOATS, any_nan=True)
row("neg", sign_changed(lambda a, top: a ^ top), needs=FLOATS, any_nan=True)
row("copysign", lambda w, t: lambda a, b: a & 1 << int(t[0][1:]) - 1 | b & ~(1 << int(t[0][1:]) - 1), any_nan=True)


def extreme(words, types):
    """min and max: -0 is below +0; the number wins over NaN but with .NaN. .xorsign.abs: the sign is that of the product."""
    form, is_min = number_type(types[0]), words[0] == "min"

    def two(a, b):
        if a is None or b is None:
            return None if "NaN" in words else a if b is None else b
        below = exact.less(a, b) or exact.equal(a, b) and a[0]
        return a if bool(below) == is_min else b

    def meaning(*numbers):
        signs = [n[0] if n else None for n in numbers]
        if "abs" in words:
            numbers = [exact.magnitude_of(n) for n in numbers]
        chosen = functools.reduce(two, numbers)
        return chosen, signs
    absolute = "xorsign" in words

    def bits(*sources):
        sources = [flush(form, s) if "ftz" in words else s for s in sources]
        top = 1 << exact.FORMATS[form].bits - 1
        chosen, _ = meaning(*(decode(form, s) for s in sources))
        if chosen is None:
            return encode(form, None)
        result = encode(form, chosen)
        return result | (sources[0] ^ sources[1]) & top if absolute else result
    return by_parts(types[0], functools.lru_cache(None)(bits))


row("min max", extreme, needs=FLOATS)

# ---- approximations: (result, sources) as Python floats ----


def near(words, types, truth, good):
    """good(got, want, *sources): whether it is within PTX's bound. Special values have to be right: NaN, infinity and zero."""
    form = number_type(types[0])

    def check(result, *sources):
        if "ftz" in words and form != "f16":
            sources = [flush(form, s) for s in sources]
        values = [exact.value(decode(form, s)) for s in sources]
        want, got = truth(*values), exact.value(decode(form, result))
        if want != want:
            return got != got
        limit = exact.value(decode(form, exact.FORMATS[form].largest))
        least = exact.value((0, 1 << exact.FORMATS[form].least + exact.FORMATS[form].fraction - exact.UNIT))
        if got != got:
            return False
        if "ftz" in words and abs(want) < least:  # flushed, or rounded up to the least
            return abs(got) in (0, least) if want else got == 0 and math.copysign(1, got) == math.copysign(1, want)
        if math.isinf(want) or abs(want) > limit:
            return math.isinf(got) and (got > 0) == (want > 0) or abs(got) >= limit and (got > 0) == (want > 0) and not math.isinf(want)
        if want == 0:
            return got == 0 and math.copysign(1, got) == math.copysign(1, want)
        return math.isfinite(got) and good(got, want, *values)
    if types[0] in HALVES:
        bits = exact.FORMATS[form].bits
        return lambda result, *sources: all(check(*(s >> at & (1 << bits) - 1 for s in (result, *sources))) for at in (0, bits))
    return check


def ulps(form, count):
    """Within so many units in the last place; of subnormal numbers those of the least."""
    f = exact.FORMATS[form]
    return lambda got, want, *_: abs(got - want) <= count * 2.0 ** max(math.frexp(want)[1] - 1 - f.fraction, f.least)


def guarded(function):
    def safe(*values):
        try:
            return function(*values)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan
    return safe


def quotient(a, b):
    if a != a or b != b or a == 0 and b == 0 or math.isinf(a) and math.isinf(b):
        return math.nan
    sign = math.copysign(1, a) * math.copysign(1, b)
    return math.copysign(math.inf, sign) if b == 0 or math.isinf(a) else math.copysign(0.0, sign) if math.isinf(b) else a / b


def coarse_quotient(a, b):
    """div.approx is a * (1/b), whose reciprocal underflows above 2^126: PTX says 0 then, or NaN of an infinity."""
    if 2.0 ** 126 < abs(b) < math.inf and a == a:
        return math.nan if math.isinf(a) else math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b))
    return quotient(a, b)


def power_of_two(x):
    return math.inf if x >= 1024 else 0.0 if x < -1200 else 2.0 ** x


def logarithm(x):
    return -math.inf if x == 0 else math.inf if x == math.inf else math.log2(x) if x > 0 else math.nan


def square_root(x):
    return x if x == 0 else math.sqrt(x) if x > 0 else math.nan


def of_root(x):
    return math.copysign(math.inf, x) if x == 0 else 0.0 if x == math.inf else 1 / math.sqrt(x) if x > 0 else math.nan


def approximation(op, needs, truth, good, without=""):
    row(op, lambda w, t: near(w, t, guarded(truth), good), needs=needs, without=without, near=True)


def relative(bound):
    return lambda got, want, *_: abs(got - want) <= bound * abs(want) + 2.0 ** -149


approximation("div", "approx", coarse_quotient, ulps("f32", 2))
approximation("div", "full", quotient, ulps("f32", 2))
approximation("rcp", "approx f32", lambda a: quotient(1.0, a), ulps("f32", 1))
approximation("sqrt", "approx", square_root, ulps("f32", 1))
approximation("rsqrt", "f32", of_root, relative(2.0 ** -22.9))
approximation("sin", "", lambda a: math.sin(a), lambda got, want, a: abs(got - want) <= (2.0 ** -20.5 if abs(a) <= 2 * math.pi else 2.0 ** -14.7))
approximation("cos", "", lambda a: math.cos(a), lambda got, want, a: abs(got - want) <= (2.0 ** -20.5 if abs(a) <= 2 * math.pi else 2.0 ** -14.7))
approximation("lg2", "", logarithm, lambda got, want, a: abs(got - want) <= (2.0 ** -22 if 0.5 <= a <= 2 else 2.0 ** -22 * abs(want)))
approximation("ex2", "f32", power_of_two, relative(2.0 ** -22.5))
approximation("ex2", "f16|f16x2", power_of_two, lambda got, want, a: abs(got - want) <= 2.0 ** -9.9 * abs(want) + 2.0 ** -25)
approximation("ex2", "bf16|bf16x2", power_of_two, lambda got, want, a: abs(got - want) <= 2.0 ** -7 * abs(want))
approximation("tanh", "f32", math.tanh, relative(2.0 ** -11))
approximation("tanh", "f16|f16x2", math.tanh, lambda got, want, a: abs(got - want) <= 2.0 ** -10.987)
approximation("tanh", "bf16|bf16x2", math.tanh, lambda got, want, a: abs(got - want) <= 2.0 ** -8)


def coarse_double(truth):
    """rcp and rsqrt .approx.ftz.f64: of the upper half of the source, to 20 bits and better; the lower half of the result is 0."""
    def check(result, a):
        a = flush("f64", a) >> 32 << 32
        want, got = guarded(truth)(exact.value(decode("f64", a))), exact.value(decode("f64", result))
        if want != want:
            return got != got
        if result & 0xFFFFFFFF:
            return False
        if 0 < abs(want) < 2.0 ** -1022:
            return got == 0 or abs(got) <= 2.0 ** -1022
        return got == want and math.copysign(1, got) == math.copysign(1, want) if want == 0 or math.isinf(want) else abs(got - want) <= 2.0 ** -20 * abs(want)
    return lambda words, types: check


row("rcp", coarse_double(lambda a: quotient(1.0, a)), needs="approx f64", near=True)
row("rsqrt", coarse_double(of_root), needs="ftz f64", near=True)
approximation("rsqrt", "f64", of_root, relative(2.0 ** -30), without="ftz")

# ---- tests and comparisons: a predicate, or two of a pair ----


def tested(words, types):
    def passes(bits):
        n, f = decode(types[0], bits), exact.FORMATS[types[0]]
        finite = n is not None and n[1] != exact.INF
        subnormal = finite and n[1] != 0 and not bits & f.infinity
        return int({"finite": finite, "infinite": n is not None and not finite, "number": n is not None, "notanumber": n is None,
                    "normal": finite and n[1] != 0 and not subnormal, "subnormal": subnormal}[words[1]])
    return passes


row("testp", tested)
