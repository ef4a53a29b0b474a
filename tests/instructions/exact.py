"""Numbers in every format of PTX, and IEEE arithmetic on them, exactly: integers of any size, one rounding at the end. Nothing here
is the simulator's: this is what it is compared with.

A number is None (NaN), (sign, INF), or (sign, m) with m * 2**UNIT its magnitude, an integer, 0 included.
"""
import functools, math

INF = "inf"
UNIT = -2200  # of magnitudes: below the square of the smallest double
NEAREST, ZERO, DOWN, UP, AWAY = "rn", "rz", "rm", "rp", "rna"


class Format:
    """`top`: what the highest exponent holds: "ieee" infinity and NaN, "nan" NaN where all bits are set, "number" numbers."""

    def __init__(self, exponent, fraction, top="ieee", shift=0):
        self.exponent, self.fraction, self.top, self.shift = exponent, fraction, top, shift  # shift: bits below that are zero
        self.bits = 1 + exponent + fraction
        self.bias = 2 ** (exponent - 1) - 1
        self.least = 1 - self.bias - fraction  # the exponent of the last place of subnormal numbers
        self.infinity = (2 ** exponent - 1) << fraction
        self.nan = {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FF8000000000000}.get(self.bits, 2 ** (self.bits - 1) - 1)
        self.largest = {"ieee": self.infinity - 1, "nan": self.nan - 1, "number": 2 ** (self.bits - 1) - 1}[top]


FORMATS = {"f16": Format(5, 10), "bf16": Format(8, 7), "f32": Format(8, 23), "f64": Format(11, 52), "tf32": Format(8, 10, shift=13),
           "e4m3": Format(4, 3, "nan"), "e5m2": Format(5, 2), "e2m1": Format(2, 1, "number"), "e2m3": Format(2, 3, "number"),
           "e3m2": Format(3, 2, "number")}


@functools.lru_cache(None)
def decode(form, bits):
    f = FORMATS[form]
    bits >>= f.shift
    sign, field, fraction = bits >> (f.bits - 1) & 1, bits >> f.fraction & (2 ** f.exponent - 1), bits & (2 ** f.fraction - 1)
    magnitude = bits & (2 ** (f.bits - 1) - 1)
    if f.top == "nan" and magnitude == f.nan or f.top == "ieee" and magnitude > f.infinity:
        return None
    if f.top == "ieee" and magnitude == f.infinity:
        return sign, INF
    if field:
        fraction |= 1 << f.fraction
    return sign, fraction << (max(field, 1) - 1 + f.least - UNIT)


def encode(form, number, mode=NEAREST, satfinite=False, sticky=0):
    """The bits of a number rounded to a format. sticky: it is a little more than it says (never for what is exact)."""
    f = FORMATS[form]
    if number is None:
        return f.nan << f.shift | ((1 << f.shift) - 1 if f.shift else 0) if f.top != "number" else f.largest
    sign, magnitude = number
    top = f.infinity if f.top == "ieee" and not satfinite else f.largest
    if magnitude == INF:
        return (sign << (f.bits - 1) | top) << f.shift
    drop = max(magnitude.bit_length() - (f.fraction + 1), f.least - UNIT)
    kept, rest, half = magnitude >> drop, magnitude & ((1 << drop) - 1), 1 << (drop - 1)
    inexact = rest or sticky
    if mode == NEAREST:
        up = rest > half or rest == half and (sticky or kept & 1)
    elif mode == AWAY:
        up = rest >= half
    else:
        up = inexact and mode == (DOWN if sign else UP)
    kept += bool(up)
    field = drop + UNIT - f.least  # 0: subnormal, or the first normal exponent
    bits = kept + (field << f.fraction)
    if bits > f.largest:
        inward = mode == ZERO or mode == (UP if sign else DOWN)
        bits = f.largest if inward and f.top == "ieee" else top
    return (sign << (f.bits - 1) | bits) << f.shift


def value(number):
    """As a Python float: for approximations, and to read messages."""
    if number is None:
        return math.nan
    sign, magnitude = number
    if magnitude == INF:
        return -math.inf if sign else math.inf
    bits = encode("f64", number)
    import struct
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def of_float(x):
    """The number that a Python float is."""
    if x != x:
        return None
    sign = int(math.copysign(1, x) < 0)
    if math.isinf(x):
        return sign, INF
    fraction, exponent = math.frexp(abs(x))
    return sign, int(fraction * 2 ** 53) << (exponent - 53 - UNIT)


def of_int(n):
    return int(n < 0), abs(n) << -UNIT


def negate(a):
    return a and (1 - a[0], a[1])


def magnitude_of(a):
    return a and (0, a[1])


def signed(a):
    return -a[1] if a[0] else a[1]


def add(a, b, mode):
    if a is None or b is None:
        return None
    if INF in (a[1], b[1]):
        if a[1] == b[1] and a[0] != b[0]:
            return None
        return a if a[1] == INF else b
    total = signed(a) + signed(b)
    if total:
        return int(total < 0), abs(total)
    return (a[0], 0) if a[0] == b[0] else (int(mode == DOWN), 0)


def multiply(a, b):
    """Exactly. Twice the unit would do; shifting back loses nothing, as no factor has more than 53 bits above its last place."""
    if a is None or b is None:
        return None
    sign = a[0] ^ b[0]
    if INF in (a[1], b[1]):
        return None if 0 in (a[1], b[1]) else (sign, INF)
    product = a[1] * b[1]
    assert product & ((1 << -UNIT) - 1) == 0
    return sign, product >> -UNIT


def divided(form, a, b, mode):
    """The bits of a / b."""
    if a is None or b is None or a[1] == b[1] and a[1] in (0, INF):
        return encode(form, None)
    sign = a[0] ^ b[0]
    if a[1] == INF or b[1] == 0:
        return encode(form, (sign, INF))
    if b[1] == INF:
        return encode(form, (sign, 0))
    quotient, rest = divmod(a[1] << -UNIT, b[1])
    return encode(form, (sign, quotient), mode, sticky=rest)


def root(form, a, mode):
    """The bits of the square root of a."""
    if a is None or a[0] and a[1]:
        return encode(form, None)
    if a[1] in (0, INF):
        return encode(form, a)
    whole = math.isqrt(a[1] << -UNIT)
    return encode(form, (0, whole), mode, sticky=whole * whole != a[1] << -UNIT)


def integral(a, mode):
    """a rounded to an integer: still a number, its sign kept."""
    if a is None or a[1] == INF:
        return a
    whole, rest = a[1] >> -UNIT, a[1] & ((1 << -UNIT) - 1)
    half = 1 << (-UNIT - 1)
    up = {"rni": rest > half or rest == half and whole & 1, "rzi": False, "rmi": rest and a[0], "rpi": rest and not a[0]}[mode]
    return a[0], (whole + bool(up)) << -UNIT


def less(a, b):
    """a < b of numbers that are not NaN; infinities compare too, zeros are equal."""
    key = [(-1 if n[0] else 1) * (1 << 6000 if n[1] == INF else n[1]) for n in (a, b)]
    return key[0] < key[1]


def equal(a, b):
    return not less(a, b) and not less(b, a)


def flush(form, bits):
    """Subnormal numbers become zeros of their sign."""
    f = FORMATS[form]
    return bits if bits & f.infinity else bits & 1 << (f.bits - 1)
