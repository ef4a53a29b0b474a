"""Comparisons and conversions: what setp, set and cvt compute."""
import functools
import exact
from exact import decode, encode, flush
from rows import clamp, row, signed
from rows_float import HALVES, by_parts, clipped, saturated

ORDERED = {"eq": lambda a, b: exact.equal(a, b), "ne": lambda a, b: not exact.equal(a, b), "lt": exact.less,
           "le": lambda a, b: not exact.less(b, a), "gt": lambda a, b: exact.less(b, a), "ge": lambda a, b: not exact.less(a, b)}
INTEGER = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
           "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
INTEGER |= {"lo": INTEGER["lt"], "ls": INTEGER["le"], "hi": INTEGER["gt"], "hs": INTEGER["ge"]}


@functools.lru_cache(None)
def compare(name, t, ftz):
    """A comparison of bits of type t: those that end in u hold where one is NaN."""
    if t[0] in "bsu" and t != "bf16":
        cut = (lambda x: signed(x, int(t[1:]))) if t[0] == "s" else (lambda x: x)
        return lambda a, b: INTEGER[name](cut(a), cut(b))

    return functools.lru_cache(None)(lambda a, b: compare_floats(name, t, ftz, a, b))


def compare_floats(name, t, ftz, a, b):
    a, b = (decode(t, flush(t, x) if ftz else x) for x in (a, b))
    unordered = a is None or b is None
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return name not in ORDERED  # equ neu ltu leu gtu geu
    return ORDERED[name if name in ORDERED else name[:-1]](a, b)


LOGIC = {"and": lambda a, b: a and b, "or": lambda a, b: a or b, "xor": lambda a, b: a != b}


def comparison(words, t):
    """[(whether half i compares, and the third operand)]: a list of one, or of two for pairs."""
    name = next(w for w in words if w in ORDERED or w in INTEGER or w in ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"))
    logic = LOGIC[next((w for w in words if w in LOGIC), "and")]
    one = compare(name, HALVES.get(t, t), "ftz" in words)
    shifts = (0, 16) if t in HALVES else (0,)

    def results(a, b, c=1):
        truths = [one(a >> at & 0xFFFF, b >> at & 0xFFFF) if len(shifts) == 2 else one(a, b) for at in shifts]
        return truths, lambda truth: bool(logic(bool(truth), bool(c)))
    return results


def setp(words, types):
    """p | q << 1: of pairs the low and the high half; else q is the contrary of p before the logic."""
    results = comparison(words, types[0])

    def both(*sources):
        truths, joined = results(*sources)
        second = truths[1] if len(truths) == 2 else not truths[0]
        return joined(truths[0]) | joined(second) << 1
    return both


def set_(words, types):
    results, to = comparison(words, types[1]), types[0]
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}.get(to)

    def value(*sources):
        truths, joined = results(*sources)
        truths = [joined(t) for t in truths]
        if len(truths) == 2:
            return sum((one or 0xFFFF) << 16 * i for i, t in enumerate(truths) if t)
        return (one or 2 ** int(to[1:]) - 1) if truths[0] else 0
    return value


row("setp", setp)
row("set", set_)
row("slct", lambda w, t: lambda a, b, c: a if compare("ge", "f32", "ftz" in w)(c, 0) else b, needs="=f32")

# ---- cvt ----

ROUNDINGS = ("rni", "rzi", "rmi", "rpi")
INTEGERS = "=u8|=u16|=u32|=u64|=s8|=s16|=s32|=s64"


def is_integer(t):
    return t[0] in "us" and t[1:].isdigit()


def stored(value, t):
    """A number of 8 bits in its register of 16: extended as its type says."""
    return (signed(value, 8) & 0xFFFF) if t == "s8" else value & ((1 << int(t[1:])) - 1)


def convert(words, types):
    to, source = types
    rounding = next((w for w in words if w in ROUNDINGS), None)
    mode = next((w for w in words if w in ("rn", "rz", "rm", "rp", "rna")), "rn")
    cut = (lambda x: signed(x, int(source[1:]))) if source[0] == "s" else lambda x: x & (1 << int(source[1:])) - 1

    def from_integer(bits):
        n = cut(bits)
        if is_integer(to):
            return stored(clamp(n, to) if "sat" in words else n, to)
        result = encode(to, exact.of_int(n), mode)
        return saturated(to, result) if "sat" in words else result

    def to_integer(bits):
        n = decode(source, flush(source, bits) if "ftz" in words else bits)
        if n is None:
            return 0 if source != "f64" and to not in ("s64", "u64") else stored(1 << int(to[1:]) - 1, to)
        if n[1] == exact.INF:
            return stored(clamp((-1 if n[0] else 1) << 70, to), to)
        return stored(clamp(exact.signed(exact.integral(n, rounding)) >> -exact.UNIT, to), to)

    def to_float(bits):
        n = decode(source, flush(source, bits) if "ftz" in words and source == "f32" else bits)
        if rounding:
            n = exact.integral(n, rounding)
        result = encode(to, n, mode, "satfinite" in words)
        if "ftz" in words and to == "f32":
            result = flush(to, result)
        if "sat" in words:
            result = saturated(to, result)
        return clipped(to, result) if "relu" in words else result
    return from_integer if is_integer(source) else to_integer if is_integer(to) else to_float


row("cvt", convert, needs="u8|u16|u32|u64|s8|s16|s32|s64|f16|f32|f64|bf16|tf32", without="f16x2 bf16x2 e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2")
PAIRS = "f16x2 bf16x2 e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2"
WIDTH = {"e2m1x2": 4, "f16x2": 16, "bf16x2": 16}


def scale_of(words):
    """ue8m0: the power of two of the magnitude, 2^-127 to 2^127, and 255 for NaN."""
    def scale(n):
        if n is None:
            return 255
        if n[1] == exact.INF:
            return 254 if "satfinite" in words else 255
        least = 1 << -127 - exact.UNIT
        if n[1] <= least:
            return 0
        power = n[1].bit_length() - 1
        up = "rp" in words and n[1] != 1 << power
        code = power + exact.UNIT + 127 + up
        return 254 if code == 255 and "satfinite" in words else code
    return scale


def convert_pair(words, types):
    """From two f32, the first in the upper half; or from a pair, half by half."""
    to, source = types
    form, width = to[:-2], WIDTH.get(to, 8)

    def one(n):
        if form == "ue8m0":
            return scale_of(words)(n)
        result = encode(form, n, next((w for w in words if w in ("rn", "rz")), "rn"), "satfinite" in words)
        return clipped(form, result) if "relu" in words else result

    def half(bits):
        if source == "ue8m0x2":
            return None if bits == 255 else (0, 1 << bits - 127 - exact.UNIT)
        return decode(source[:-2], bits)
    if source == "f32":
        return lambda a, b: one(decode("f32", a)) << width | one(decode("f32", b))
    from_width = WIDTH.get(source, 8)
    return lambda a: one(half(a >> from_width & (1 << from_width) - 1)) << width | one(half(a & (1 << from_width) - 1))


row("cvt", convert_pair, needs=PAIRS.replace(" ", "|"))
