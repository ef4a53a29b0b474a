"""The element types of the language in NumPy, written from LANGUAGE and from the formats' definitions alone.

Storage: NumPy's own type where it has one, else the bits in the low end of an unsigned integer (i4: an int8). A tensor of
a 4-bit type is packed two a byte, low nibble first, only where it goes to a device.
"""

import numpy as np

# name: storage, bits, exponent bits, mantissa bits, bias, what the top exponent means
#   ieee: infinities and NaN; fn: NaN is all ones, no infinities; fnuz: NaN is -0, no infinities; finite: no NaN at all
FLOATS = {
    "f64": ("f8", 64, 11, 52, 1023, "ieee"),
    "f32": ("f4", 32, 8, 23, 127, "ieee"),
    "f16": ("f2", 16, 5, 10, 15, "ieee"),
    "bf16": ("u2", 16, 8, 7, 127, "ieee"),
    "f8e4m3": ("u1", 8, 4, 3, 7, "fn"),
    "f8e5m2": ("u1", 8, 5, 2, 15, "ieee"),
    "f8e4m3fnuz": ("u1", 8, 4, 3, 8, "fnuz"),
    "f8e5m2fnuz": ("u1", 8, 5, 2, 16, "fnuz"),
    "f8e8m0": ("u1", 8, 8, 0, 127, "e8m0"),
    "f4e2m1": ("u1", 4, 2, 1, 1, "finite"),
}
INTEGERS = {"i64": ("i8", 64), "i32": ("i4", 32), "i16": ("i2", 16), "i8": ("i1", 8), "u8": ("u1", 8), "i4": ("i1", 4), "bool": ("u1", 8)}
NATIVE = {"f64": np.float64, "f32": np.float32, "f16": np.float16}
OLD = ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"]
NEW = ["f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "i4"]


def is_float(t):
    return t in FLOATS


def storage(t):
    return np.dtype((FLOATS.get(t) or INTEGERS[t])[0])


def bits(t):
    return (FLOATS.get(t) or INTEGERS[t])[1]


def size_bits(t):
    return bits(t)


def compute_type(t):
    return "f64" if t == "f64" else "f32"


def least(t):
    return 0 if t in ("u8", "bool") else -(1 << bits(t) - 1)


def most(t):
    return 1 if t == "bool" else (1 << bits(t)) - 1 if t == "u8" else (1 << bits(t) - 1) - 1


def least_exponent(t):
    return (2 if t == "f8e8m0" else 1) - FLOATS[t][4] - (1 if t == "f8e8m0" else 0)


def decode_table(t):
    """The value of every pattern of a type of 16 bits or fewer."""
    _, width, e, m, bias, kind = FLOATS[t]
    pattern = np.arange(1 << width)
    if kind == "e8m0":
        return np.where(pattern == 255, np.nan, np.ldexp(1.0, pattern - 127))
    exponent, mantissa = pattern >> m & (1 << e) - 1, pattern & (1 << m) - 1
    size = np.where(
        exponent == 0, np.ldexp(mantissa.astype(float), 1 - bias - m), np.ldexp((mantissa + (1 << m)).astype(float), exponent - bias - m)
    )
    value = np.where(pattern >> (e + m), -size, size)
    top = exponent == (1 << e) - 1
    if kind == "ieee":
        value = np.where(top, np.where(mantissa == 0, np.copysign(np.inf, value), np.nan), value)
    elif kind == "fn":
        value[top & (mantissa == (1 << m) - 1)] = np.nan
    elif kind == "fnuz":
        value[1 << (width - 1)] = np.nan
    return value


TABLES = {}


def decode(t, stored):
    """Floats of storage as float64."""
    if t in NATIVE:
        return stored.astype(np.float64)
    if t not in TABLES:
        TABLES[t] = decode_table(t)
    return TABLES[t][stored]


def largest(t):
    if t in NATIVE:
        return float(np.finfo(NATIVE[t]).max)
    table = decode_table(t)
    return float(table[np.isfinite(table)].max())


def overflow(t):
    """From here on values round to infinity, in types that have one."""
    m = FLOATS[t][3]
    return largest(t) * (1 + 2.0 ** -(m + 1) / (2 - 2.0**-m)) if t != "f64" else np.inf


def ulp(t, x):
    """The spacing of the type at |x|; of denormals below the normal numbers."""
    low, m = least_exponent(t), FLOATS[t][3]
    size = np.minimum(np.abs(np.asarray(x, np.float64)), largest(t))
    size = np.where(np.isfinite(size), size, 1)
    exponent = np.maximum(np.frexp(size)[1] - 1, low)
    exponent = np.where(size == 0, low, exponent)
    return np.ldexp(1.0, exponent - m)


def encode(t, x):
    """float64 (or an exact wider type that float64 holds) to storage, to nearest even, as `cast` has it: f64 f32 f16 bf16 overflow
    to infinity, all shorter ones saturate; NaN stays NaN where there is one."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        if t in NATIVE:
            return x.astype(NATIVE[t])
    values = TABLES.setdefault(t, decode_table(t))
    patterns = np.flatnonzero(np.isfinite(values) & ~np.signbit(values))
    grid = values[patterns]  # ascending
    size, negative = np.abs(x), np.signbit(x)
    at = np.clip(np.searchsorted(grid, size), 1, len(grid) - 1)
    low, high = grid[at - 1], grid[at]
    up = (size - low > high - size) | ((size - low == high - size) & (patterns[at] % 2 == 0))
    if t == "f8e8m0":  # takes no sign; ties go up: its ulp has no even neighbour to choose
        up = size - low >= high - size
    found = np.where(size >= high, at, np.where(up, at, at - 1))
    found = np.where(size <= grid[0], 0, found)
    result = patterns[found]
    kind, width = FLOATS[t][5], FLOATS[t][1]
    if t == "bf16":
        result = np.where(size >= overflow(t), 0x7F80, result)
    if kind == "e8m0":
        result = np.where(np.isnan(x) | ((x < 0)), 255, result)
    else:
        sign = 1 << (width - 1)
        result = np.where(negative, result | sign, result)
        if kind == "fnuz":
            result = np.where(result == sign, 0, result)  # no -0
        nan = {"ieee": ((1 << FLOATS[t][2]) - 1 << FLOATS[t][3]) | 1 << max(FLOATS[t][3] - 1, 0), "fn": 0x7F, "fnuz": 0x80, "finite": 0x7}[
            kind
        ]
        result = np.where(np.isnan(x), nan, result)
    return result.astype(storage(t))


def pack(t, stored):
    """Storage, along its last axis, as bytes."""
    flat = np.ascontiguousarray(stored).reshape(-1)
    if bits(t) != 4:
        return flat.tobytes()
    nibbles = flat.astype(np.uint8) & 15
    return (nibbles[0::2] | nibbles[1::2] << 4).astype(np.uint8).tobytes()


def unpack(t, memory, count):
    if bits(t) != 4:
        return np.frombuffer(memory, storage(t), count)
    b = np.frombuffer(memory, np.uint8)
    nibbles = np.stack([b & 15, b >> 4], axis=-1).reshape(-1)[:count]
    return ((nibbles.astype(np.int8) ^ 8) - 8).astype(np.int8) if t == "i4" else nibbles
