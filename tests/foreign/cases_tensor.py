"""wmma.cu, mma.cu, wgmma.cu: tensor cores; tma.cu: tensor copies. Integers and small numbers whose sums are exact are compared bit for bit."""
import numpy as np
from case import In, Launch, Map, Out, case

i32, f16, f32, f64 = np.int32, np.float16, np.float32, np.float64


def bf16(x):
    return (np.ascontiguousarray(x, f32).view(np.uint32) >> 16).astype(np.uint16)


def small(r, shape):
    return r.integers(-8, 9, shape).astype(f64) / 4


# ---- wmma: name: m n k, how A and B are stored, type of C, layouts of A B and C

STORE = {"f16": f16, "s8": np.int8, "u8": np.uint8, "f32": f32, "f64": f64, "s32": i32, "bf16": bf16}
WMMA = {
    "wmma_f16_rr": (16, 16, 16, "f16", "f32", "rrr"), "wmma_f16_rc": (16, 16, 16, "f16", "f32", "rcc"),
    "wmma_f16_cr": (16, 16, 16, "f16", "f16", "crr"), "wmma_f16_cc": (16, 16, 16, "f16", "f16", "ccc"),
    "wmma_f16_32x8": (32, 8, 16, "f16", "f32", "rcr"), "wmma_f16_8x32": (8, 32, 16, "f16", "f32", "crr"),
    "wmma_s8": (16, 16, 16, "s8", "s32", "rcr"), "wmma_u8": (16, 16, 16, "u8", "s32", "crc"),
    "wmma_s8_32x8": (32, 8, 16, "s8", "s32", "rcr"), "wmma_s8_8x32": (8, 32, 16, "s8", "s32", "ccr"),
    "wmma_bf16": (16, 16, 16, "bf16", "f32", "rcr"), "wmma_bf16_32x8": (32, 8, 16, "bf16", "f32", "crr"),
    "wmma_bf16_8x32": (8, 32, 16, "bf16", "f32", "rrc"), "wmma_tf32": (16, 16, 8, "f32", "f32", "rcr"),
    "wmma_tf32_cr": (16, 16, 8, "f32", "f32", "crc"), "wmma_f64": (8, 8, 4, "f64", "f64", "rcr"),
    "wmma_f64_cr": (8, 8, 4, "f64", "f64", "crc"),
}


def stored(x, kind, layout):
    convert = STORE[kind] if kind == "bf16" else lambda v: np.ascontiguousarray(v).astype(STORE[kind])
    return convert(x.T.copy() if layout == "c" else x)


def wmma(name, m, n, step, kind, acc, layouts):
    def make(r):
        k = 3 * step
        if kind[1:] == "8":
            low, high = (-128, 128) if kind == "s8" else (0, 256)
            a, b, c = r.integers(low, high, (m, k)), r.integers(low, high, (k, n)), r.integers(-10**6, 10**6, (m, n))
        else:
            a, b, c = small(r, (m, k)), small(r, (k, n)), small(r, (m, n))
        d = stored(a @ b + c, acc, layouts[2])
        args = [In(stored(a, kind, layouts[0])), In(stored(b, kind, layouts[1])), In(stored(c, acc, layouts[2])), Out(d), i32(k)]
        return [Launch(name, 1, 32, args)]

    make.__name__ = name
    return make


for name, row in WMMA.items():
    case("wmma")(wmma(name, *row))


def wmma_packed(name, low, high, store, product):
    def make(r):
        k = 384 if high == 2 else 96
        a, b, c = r.integers(low, high, (8, k)), r.integers(low, high, (8, k)), r.integers(-99, 99, (8, 8))
        args = [In(store(a)), In(store(b)), In(c.T.astype(i32)), Out((product(a, b) + c).astype(i32)), i32(k)]
        return [Launch(name, 1, 32, args)]

    make.__name__ = name
    case("wmma")(make)


wmma_packed("wmma_s4", -8, 8, lambda x: nibbles(x), lambda a, b: a @ b.T)
wmma_packed("wmma_u4", 0, 16, lambda x: nibbles(x), lambda a, b: a @ b.T)
wmma_packed("wmma_b1_xor", 0, 2, lambda x: bits(x), lambda a, b: (a[:, None] ^ b[None]).sum(2))
wmma_packed("wmma_b1_and", 0, 2, lambda x: bits(x), lambda a, b: a @ b.T)


@case("wmma")
def wmma_gemm(r):
    a, b, c = r.normal(size=(64, 48)).astype(f16), r.normal(size=(48, 96)).astype(f16), r.normal(size=(64, 96)).astype(f32)
    want = 0.5 * (a.astype(f64) @ b.astype(f64)) + c
    return [Launch("wmma_gemm", (3, 2), 128, [In(a), In(b), Out(want, f32, abs=1e-5, start=c), i32(96), i32(48), f32(0.5)])]


# ---- mma.sync: A is m x k and B is n x k, both with k fastest


def start_of(m):
    """What the kernels put into C."""
    d, g, t = np.zeros((m, 8)), np.arange(8), np.arange(4)
    for i in range(4 if m == 16 else 2):
        d[np.ix_(g + 8 * (i // 2), 2 * t + i % 2)] = i + 1
    return d


def fp8(x, exponent_bits, fraction_bits):
    """Codes of numbers that the format has."""
    bias, size = (1 << exponent_bits - 1) - 1, np.abs(x)
    exponent = np.floor(np.log2(np.where(size == 0, 1, size)))
    code = (exponent + bias) * 2**fraction_bits + (size / 2**exponent - 1) * 2**fraction_bits
    return np.where(size == 0, 0, code + (x < 0) * 128).astype(np.uint8)


def nibbles(x):
    low, high = x[:, 0::2] & 15, x[:, 1::2] & 15
    return (low | high << 4).astype(np.uint8).view(np.int8)


def bits(x):
    return np.packbits(x.astype(np.uint8), axis=1, bitorder="little").view(np.int8)


def ints(low, high):
    return lambda r, shape: r.integers(low, high, shape)


def quarters(r, shape):
    return r.integers(-7, 8, shape) / 4  # at most three bits: every format has them


s8, u8, s4, u4, ones = ints(-128, 128), ints(0, 256), ints(-8, 8), ints(0, 16), ints(0, 2)
byte = lambda x: x.astype(np.uint8).view(np.int8)
half, e4m3, e5m2 = lambda x: x.astype(f16), lambda x: fp8(x, 4, 3), lambda x: fp8(x, 5, 2)
single, double = lambda x: x.astype(f32), lambda x: x.astype(f64)
# name: m k, numbers of A and B, how they are stored, type of D
MMA = {
    "mma_f16_k8": (16, 8, small, small, half, half, f32), "mma_f16_k16": (16, 16, small, small, half, half, f32),
    "mma_bf16_k8": (16, 8, small, small, bf16, bf16, f32), "mma_bf16_k16": (16, 16, small, small, bf16, bf16, f32),
    "mma_tf32_k4": (16, 4, small, small, single, single, f32), "mma_tf32_k8": (16, 8, small, small, single, single, f32),
    "mma_s8_m8": (8, 16, s8, s8, byte, byte, i32), "mma_u8_m8": (8, 16, u8, u8, byte, byte, i32),
    "mma_s8_k16": (16, 16, s8, s8, byte, byte, i32), "mma_s8_k32": (16, 32, s8, s8, byte, byte, i32),
    "mma_u8s8_k32": (16, 32, u8, s8, byte, byte, i32), "mma_s4_m8": (8, 32, s4, s4, nibbles, nibbles, i32),
    "mma_s4_k32": (16, 32, s4, s4, nibbles, nibbles, i32), "mma_u4_k64": (16, 64, u4, u4, nibbles, nibbles, i32),
    "mma_b1_k128": (16, 128, ones, ones, bits, bits, i32), "mma_b1_k256": (16, 256, ones, ones, bits, bits, i32),
    "mma_e4m3": (16, 32, quarters, quarters, e4m3, e4m3, f32), "mma_e5m2": (16, 32, quarters, quarters, e5m2, e4m3, f32),
    "mma_f64": (8, 4, small, small, double, double, f64),
}


def mma(name, m, k, of_a, of_b, store_a, store_b, out):
    def make(r):
        a, b = of_a(r, (m, k)), of_b(r, (8, k))
        args = [In(store_a(a)), In(store_b(b)), Out((a @ b.T + start_of(m)).astype(out))]
        return [Launch(name, 1, 32, args)]

    make.__name__ = name
    return make


for name, row in MMA.items():
    case("mma")(mma(name, *row))


@case("mma")
def mma_b1_xor(r):
    a, b = ones(r, (8, 128)), ones(r, (8, 128))
    want = (a[:, None] ^ b[None]).sum(2) + start_of(8)
    return [Launch("mma_b1_xor", 1, 32, [In(bits(a)), In(bits(b)), Out(want.astype(i32))])]


@case("mma")
def mma_gemm(r):
    a, b = r.normal(size=(128, 112)).astype(f16), r.normal(size=(112, 64)).astype(f16)
    want = a.astype(f64) @ b.astype(f64)
    return [Launch("mma_gemm", (1, 2), 128, [In(a), In(b), Out(want, f32, abs=1e-5), i32(64), i32(112)])]


# ---- wgmma: one warpgroup, operands in shared memory in every swizzle

def wgmma_tiles(name, across):
    def make(r):
        a, b = (small(r, (32, 64)), small(r, (32, 64))) if across else (small(r, (64, 64)), small(r, (16, 64)))
        want = a.T @ b if across else a @ b.T
        return [Launch(name, 1, 128, [Out(want, f32), In(a.astype(f16)), In(b.astype(f16))])]

    make.__name__ = name
    case("wgmma", ["sm_90a"])(make)


for _mode in ("none", "32", "64", "128"):
    wgmma_tiles("wgmma_k_" + _mode, False)
    wgmma_tiles("wgmma_mn_" + _mode, True)


@case("wgmma", ["sm_90a"])
def wgmma_registers(r):
    a, b = small(r, (64, 16)), small(r, (16, 16))
    product = a @ b.T
    return [Launch("wgmma_registers", 1, 128,
                   [Out(1 + product, f32), Out(2 - product, f32), In(a.astype(f16)), In(b.astype(f16))])]


def wgmma_one(name, make_a, make_b, out, want=None):
    """make: numbers, and how they are stored in 32 bytes a row."""
    def make(r):
        (a, stored_a), (b, stored_b) = make_a(r, 64), make_b(r, 8)
        product = want(a, b) if want else a @ b.T
        return [Launch(name, 1, 128, [Out(product, out), In(stored_a), In(stored_b)])]

    make.__name__ = name
    case("wgmma", ["sm_90a"])(make)


def bytes_of(kind):
    def make(r, rows):
        x = r.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (rows, 32))
        return x.astype(f64), x.astype(kind)
    return make


def random_bits(r, rows):
    x = r.integers(0, 2, (rows, 256))
    return x.astype(f64), np.packbits(x.astype(np.uint8), axis=1, bitorder="little")


def eighths(k, store):
    def make(r, rows):
        x = small(r, (rows, k))
        return x, store(x)
    return make


def minifloat(exponents, fractions, bias):
    """Random bits whose numbers are neither infinite nor NaN nor so far apart that a sum would be rounded."""
    def make(r, rows):
        exponent, fraction = r.integers(bias - 2, bias + 3, (rows, 32)), r.integers(0, 1 << fractions, (rows, 32))
        sign = r.integers(0, 2, (rows, 32))
        value = (1 - 2 * sign) * (1 + fraction / 2.0**fractions) * 2.0 ** (exponent - bias)
        return value, (sign << 7 | exponent << fractions | fraction).astype(np.uint8)
    return make


wgmma_one("wgmma_s8", bytes_of(np.int8), bytes_of(np.int8), i32)
wgmma_one("wgmma_u8s8", bytes_of(np.uint8), bytes_of(np.int8), i32)
wgmma_one("wgmma_b1", random_bits, random_bits, i32)
wgmma_one("wgmma_tf32", eighths(8, lambda x: x.astype(f32)), eighths(8, lambda x: x.astype(f32)), f32)
wgmma_one("wgmma_bf16", eighths(16, bf16), eighths(16, bf16), f32, lambda a, b: 0 - a @ b.T)
wgmma_one("wgmma_e5m2e4m3", minifloat(5, 2, 15), minifloat(4, 3, 7), f32)


def wgmma_sparse(name, numbers, store, out, k):
    def make(r):
        a, b = numbers(r, (64, k // 2)), numbers(r, (8, k))
        full, meta = spread(r, a, 2)
        return [Launch(name, 1, 128, [Out((full @ b.T).astype(out)), In(store(a)), In(store(b)), In(meta)])]

    make.__name__ = name
    case("wgmma", ["sm_90a"])(make)


wgmma_sparse("wgmma_sparse_f16", small, half, f32, 32)
wgmma_sparse("wgmma_sparse_s8", s8, byte, i32, 64)


# ---- tma.cu


@case("tma", ["sm_90a"])
def tma_ring(r):
    """Rows and columns past the end: the boxes reach out of both tensors."""
    x = r.integers(-99, 99, (40, 5 * 64 - 8)).astype(np.float16)
    return [Launch("tma_ring", 3, 96, [Map(In(x), (16, 64), 3), Map(Out(x * 2, np.float16), (16, 64), 0), np.int32(5)])]


@case("tma", ["sm_90a"])
def bulk_sum(r):
    x = r.integers(-999, 999, (6, 256)).astype(np.int32)
    return [Launch("bulk_sum", 6, 256, [In(x), Out((x * 3 + np.arange(256)).sum(0).astype(np.int32), start=np.zeros(256, np.int32))])]


@case("tma", ["sm_90a"])
def tma_group(r):
    """The map that it starts from describes something else."""
    x = r.integers(-99, 99, (3, 16, 128)).astype(np.float16)
    want = np.zeros((3, 16, 64), np.float16)
    for b in range(3):
        rows = 5 + 4 * b
        want[b, :rows, :56] = x[b, :rows, :56]
    other = np.zeros((8, 64), np.float16)
    return [Launch("tma_group", 3, 32, [Map(In(other), (8, 64), 0), In(x), Out(start=np.zeros((3, 128), np.uint8), check=lambda got: ""), Out(want)])]


# ---- sparse.cu: A has two of four elements (or pairs), or one of two; `indices` says which


ORDERED, ANY_ORDER, OF_TWO = [4, 8, 9, 12, 13, 14], [4, 8, 9, 12, 13, 14, 1, 2, 6, 3, 7, 11], [4, 14]


def spread(r, a, sections, unit=1, chosen=ORDERED):
    """A of full width, and its metadata: a word a row and section. unit: elements that go together."""
    rows, k = a.shape[0], 2 * a.shape[1]
    chunk = 2 if chosen is OF_TWO else 4 * unit
    indices, full = r.choice(chosen, (rows, k // chunk)), np.zeros((rows, k))
    for row, c in np.ndindex(indices.shape):
        bits = int(indices[row, c])
        for n, place in enumerate([bits == 14] if chosen is OF_TWO else [bits & 3, bits >> 2]):
            to, stored = c * chunk + place * unit, c * chunk // 2 + n * unit
            full[row, to:to + unit] = a[row, stored:stored + unit]
    words = indices.reshape(rows, sections, -1) << 4 * np.arange(k // chunk // sections)
    return full, words.sum(2).astype(np.uint32)


def sparse(name, k, numbers, store, out, sections, **how):
    """numbers(r, shape) are those of the type."""
    def make(r):
        a, b = numbers(r, (16, k // 2)), numbers(r, (8, k))
        full, meta = spread(r, a, sections, **how)
        return [Launch(name, 1, 32, [In(store(a)), In(store(b)), In(meta), Out((full @ b.T + start_of(16)).astype(out))])]

    make.__name__ = name
    case("sparse")(make)


sparse("sparse_f16_k16_0", 16, small, half, f32, 1)
sparse("sparse_f16_k16_1", 16, small, half, f32, 1, chosen=ANY_ORDER)
sparse("sparse_f16_k16_2", 16, small, half, f32, 1)
sparse("sparse_bf16_k16_3", 16, small, bf16, f32, 1)
sparse("sparse_f16_k32_0", 32, small, half, f32, 2)
sparse("sparse_f16_k32_1", 32, small, half, f32, 2)
sparse("sparse_tf32_k8_2", 8, small, single, f32, 1, chosen=OF_TWO)
sparse("sparse_tf32_k16_1", 16, small, single, f32, 2, chosen=OF_TWO)
sparse("sparse_s8_k32_0", 32, s8, byte, i32, 1)
sparse("sparse_s8_k32_1", 32, s8, byte, i32, 1)
sparse("sparse_u8_k64_0", 64, u8, byte, i32, 2)
sparse("sparse_s4_k64_1", 64, s4, nibbles, i32, 1, unit=2)
sparse("sparse_s4_k128_0", 128, s4, nibbles, i32, 2, unit=2)
sparse("sparse_e4m3_k64_0", 64, quarters, e4m3, f32, 2)


def quads(name, rows_a, rows_b):
    def make(r):
        a, b = small(r, (4, 8, 4)), small(r, (4, 8, 4))
        lie = lambda x, rows: (x if rows else x.transpose(0, 2, 1)).astype(f16)
        return [Launch(name, 1, 32, [In(lie(a, rows_a)), In(lie(b, rows_b)), Out((a @ b.transpose(0, 2, 1)).astype(f32))])]

    make.__name__ = name
    case("sparse")(make)


quads("quads_row_col", True, True)
quads("quads_col_row", False, False)
quads("quads_row_row", True, False)
quads("quads_col_col", False, True)
