"""triton/kernels.py. How a kernel is launched stands in ptx/triton.txt, as Triton said it."""
import os
import numpy as np
from case import In, Launch, Map, Out, case

i32, f16, f32 = np.int32, np.float16, np.float32
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptx", "triton.txt")) as f:
    META = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in f}


def launch(name, grid, args):
    """One a device: shared memory and parameters depend on it."""

    def at(arch):
        threads, shared, extra = META[f"{name}.{arch}"]
        return Launch(name, grid, threads, args + [np.uint64(0)] * extra, shared)

    return [at]


def bf16(x):
    """Rounded to nearest even: (bits, values)."""
    bits = x.astype(f32).view(np.uint32)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return bits.astype(np.uint16), (bits << 16).astype(np.uint32).view(f32)


def e4m3(r, shape):
    """(bytes, values) of numbers of at most 3 significant bits."""
    x = r.integers(-7, 8, shape)
    exponent = np.where(x == 0, -7, np.floor(np.log2(np.maximum(np.abs(x), 1)))).astype(int)
    fraction = np.where(x == 0, 0, np.abs(x) * 8 // 2.0**exponent - 8).astype(int)
    return ((x < 0) * 128 + ((exponent + 7) << 3) + fraction).astype(np.uint8), x.astype(f32)


@case("triton_add")
def triton_add(r):
    x, y = r.normal(size=(2, 1000)).astype(f32)
    return launch("triton_add", 4, [In(x), In(y), Out(x + y), i32(1000)])


@case("triton_softmax")
def triton_softmax(r):
    x = r.normal(0, 4, (3, 781)).astype(f32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return launch("triton_softmax", 3, [In(x), Out(e / e.sum(1, keepdims=True), f32, rel=4e-6), i32(781)])


@case("triton_layernorm")
def triton_layernorm(r):
    n = 400
    x, w, b = r.normal(2, 3, (3, n)).astype(f16), r.normal(size=n).astype(f32), r.normal(size=n).astype(f32)
    v = x.astype(np.float64)
    want = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * w + b
    return launch("triton_layernorm", 3, [In(x), In(w), In(b), Out(want, f16, rel=2.0**-10, abs=1e-5), i32(n), f32(1e-5)])


def product(name, a, b, as_stored, out, rel=0.0, bound=0.0):
    m, k, n = *a.shape, b.shape[1]
    want = a.astype(np.float64) @ b.astype(np.float64)
    return launch(name, -(-m // 64) * -(-n // 64), [In(as_stored[0]), In(as_stored[1]), Out(want, out, rel=rel, abs=bound), i32(m), i32(n), i32(k)])


@case("triton_matmul_f16")
def triton_matmul_f16(r):
    a, b = r.normal(size=(100, 208)).astype(f16), r.normal(size=(208, 96)).astype(f16)
    return product("triton_matmul_f16", a, b, (a, b), f16, rel=2.0**-11, bound=2e-3)


@case("triton_matmul_bf16")
def triton_matmul_bf16(r):
    (a, va), (b, vb) = bf16(r.normal(size=(100, 208))), bf16(r.normal(size=(208, 96)))
    return product("triton_matmul_bf16", va, vb, (a, b), f32, bound=1e-4)


@case("triton_matmul_tf32")
def triton_matmul_tf32(r):
    a, b = r.normal(size=(100, 208)).astype(f32), r.normal(size=(208, 96)).astype(f32)
    return product("triton_matmul_tf32", a, b, (a, b), f32, bound=208 * 16 * 2.0**-10 * 0.25)


@case("triton_matmul_s8")
def triton_matmul_s8(r):
    a, b = r.integers(-128, 128, (128, 224)).astype(np.int8), r.integers(-128, 128, (224, 64)).astype(np.int8)
    return product("triton_matmul_s8", a, b, (a, np.ascontiguousarray(b.T)), i32)


@case("triton_matmul_e4m3")
def triton_matmul_e4m3(r):
    (a, va), (b, vb) = e4m3(r, (128, 224)), e4m3(r, (224, 64))
    return product("triton_matmul_e4m3", va, vb, (a, b), f32)


@case("triton_matmul_tma")
def triton_matmul_tma(r):
    """A descriptor is a tensor map, the shape and the strides. Boxes and swizzles are those that Triton asks for."""
    m, n, k = 128, 192, 208
    a, b = r.normal(size=(m, k)).astype(f16), r.normal(size=(k, n)).astype(f16)
    c = Out(a.astype(np.float64) @ b.astype(np.float64), f16, rel=2.0**-11, abs=2e-3)
    described = lambda of, box, swizzle: [Map(of, box, swizzle), *(i32(v) for v in of.array.shape), np.int64(of.array.shape[1]), np.int64(1)]
    args = described(In(a), (64, 32), 2) + described(In(b), (32, 64), 3) + described(c, (64, 64), 3) + [i32(m), i32(n), i32(k)]
    return [lambda arch: Launch("triton_matmul_tma", (m // 64, n // 64), 128, args + [np.uint64(0)] * 2, META[f"triton_matmul_tma.{arch}"][1])]


def attention(r, name, causal):
    heads, n, d = 2, 256, 64
    q, k, v = r.normal(size=(3, heads, n, d)).astype(f16)
    s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
    if causal:
        s[:, np.arange(n)[:, None] < np.arange(n)] = -np.inf
    p = np.exp(s - s.max(2, keepdims=True))
    want = p / p.sum(2, keepdims=True) @ v.astype(np.float64)
    # probabilities are rounded to f16 before the second product, the result after it
    return launch(name, (n // 64, heads), [In(q), In(k), In(v), Out(want, f16, rel=2.0**-11, abs=2e-3), f32(0.125), i32(n)])


@case("triton_attention")
def triton_attention(r):
    return attention(r, "triton_attention", False)


@case("triton_attention_causal")
def triton_attention_causal(r):
    return attention(r, "triton_attention_causal", True)


@case("triton_scan_sort")
def triton_scan_sort(r):
    x = r.integers(-1000, 1000, (2, 256)).astype(i32)
    return launch("triton_scan_sort", 2, [In(x), Out(x.cumsum(1).astype(i32)), Out(np.sort(x, 1))])


@case("triton_histogram")
def triton_histogram(r):
    x = r.integers(0, 50, 500).astype(i32)
    blocks = [x[:256], np.append(x[256:], np.zeros(12, i32))]
    top = max(int(b.argmax()) + 1000 * int(b.max()) for b in blocks)
    return launch("triton_histogram", 2, [In(x), Out(np.bincount(x, minlength=50).astype(i32), start=np.zeros(50, i32)),
                                          Out(np.array([top], i32), start=np.zeros(1, i32)), i32(500)])


@case("triton_fp8")
def triton_fp8(r):
    x = r.normal(0, 100, 512).astype(f32)
    e5m2 = (x.astype(f16).view(np.uint16).astype(np.uint32))  # two roundings would differ; the values below have 11 bits
    x = x.astype(f16).astype(f32)
    near = e5m2 + 0x7f + (e5m2 >> 8 & 1) & 0xff00
    want = near.astype(np.uint16).view(f16).astype(f32) + bf16(x)[1]
    return launch("triton_fp8", 2, [In(x), Out(want)])


# ---- products of blocks with factors


def smallfloats(r, shape, exponents, fractions, low, high):
    """(bits, values) of random numbers with biased exponents of low .. high - 1, subnormal ones among them where low is 0."""
    exponent, fraction, sign = r.integers(low, high, shape), r.integers(0, 1 << fractions, shape), r.integers(0, 2, shape)
    size = np.where(exponent == 0, fraction * 2.0, (1 << fractions) + fraction) * 2.0 ** (np.maximum(exponent, 0) - (1 << exponents - 1) + 1 - fractions)
    return (sign << exponents + fractions | exponent << fractions | fraction).astype(np.uint8), size * (1 - 2 * sign)


def scaled(name, a, b, pack, block, e4m3_factors):
    def make(r):
        (ca, va), (cb, vb) = (smallfloats(r, (rows, 256), *kind) for rows, kind in ((128, a), (64, b)))
        store = lambda codes: codes if pack == 1 else (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8)

        def factors(rows):
            if not e4m3_factors:
                bits = r.integers(120, 134, (rows, 256 // block)).astype(np.uint8)
                return bits, 2.0 ** (bits.astype(int) - 127)
            bits, values = smallfloats(r, (rows, 256 // block), 4, 3, 5, 9)
            return bits & 127, np.abs(values)

        (fa, wa), (fb, wb) = factors(128), factors(64)
        want = (va * np.repeat(wa, block, 1)) @ (vb * np.repeat(wb, block, 1)).T
        return launch(name, (2, 2), [In(store(ca)), In(fa), In(store(cb)), In(fb), Out(want, f32, rel=2.0**-20, abs=2.0**-8), i32(256)])

    make.__name__ = name
    case(name)(make)


scaled("triton_scaled_mxfp8", (4, 3, 4, 10), (5, 2, 12, 18), 1, 32, False)
scaled("triton_scaled_mxfp4", (2, 1, 0, 4), (2, 1, 0, 4), 2, 32, False)
scaled("triton_scaled_nvfp4", (2, 1, 0, 4), (2, 1, 0, 4), 2, 16, True)
