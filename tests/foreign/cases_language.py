"""language.cu, integers.cu: what kernels are made of, and integers."""
import struct
import numpy as np
from case import In, Launch, Out, Set, case

i32, u32, i64, u64, f32 = np.int32, np.uint32, np.int64, np.uint64, np.float32
M32, M64 = 2**32 - 1, 2**64 - 1


@case("language")
def bump__variables(r):
    t, given = np.arange(96), r.normal(size=4).astype(f32)
    weights, pairs = np.array([1, -2, 3.5, 0, 0.25, 6, -7, 8], f32), np.array([1.5, -2.5, 0], f32)
    letters = np.frombuffer(b"kernels".ljust(16, b"\0"), np.uint8)
    sparse = np.where(t < 3, t + 1, 0)

    def variables(counter):
        f = weights[t % 8] + pairs[t % 3] + given[t % 4]
        i = np.array([10, -20, 30])[t % 3] + counter + letters[t % 16] + counter + sparse
        return Launch("variables", 1, 96, [Out(f), Out(i.astype(i32)), Out(np.array([1e300, -0.0, 3.25, 1e-300])[t % 4])])

    return [Set("set_by_host", given), variables(41), Launch("bump", 1, 32, []), variables(42)]


@case("language")
def functions(r):
    x = r.integers(-500, 500, 64).astype(i32)
    d, out = np.zeros(64), np.zeros((64, 3), i32)
    given, block = (1.25, 77), ([1.5, -2.5, 4.0], (0.75, 5), [1, 2, 3, 4, 5])
    for t, v in enumerate(x.tolist()):
        p, b, tail = (given[0] + v, given[1] - t), list(block[0]), list(block[2])
        q = block[1]
        if v & 1:
            b = [b[k] + p[0] * (k + 1) for k in range(3)]
            q = (p[0] * 2, p[1] + 2)
            tail[p[1] & 3] ^= 0x55
        d[t] = b[0] + b[1] * 2 + b[2] * 4 + q[0]
        a, n = v, 360 + t
        while n:
            a, n = n, int(np.fmod(a, n))
        out[t] = a, v + q[1], tail[0] | tail[1] << 8 | tail[2] << 16
    raw = struct.pack("3dfi5B3x", *block[0], *block[1], *block[2])
    return [Launch("functions", 2, 32, [In(x), Out(d), Out(out), struct.pack("fi", *given), raw])]


@case("language")
def switches(r):
    x = r.integers(-1, 12, 64).astype(i32)
    start = np.full(64, 12345, i32)
    want = start.copy()
    for t, v in enumerate(x.tolist()):
        n = 1
        for _ in range(t):
            n = (n * 5 + 1) & M32
        low = -t + -(-(100 + t) // 7) * 7
        table = {0: t, 1: 3 - t + t * t, 2: 1 + t * t, 3: n - 2**32 * (n >> 31), 4: bin(t).count("1") << 4, 6: low, 7: t // 3,
                 8: (t % 5) ^ 0x1234, 9: 1 ^ 0x1234}
        if v != 5:
            want[t] = table.get(v, 99)
    return [Launch("switches", 1, 64, [In(x), Out(want, start=start)])]


@case("language")
def local_arrays(r):
    n = 20
    x = r.integers(0, 50, (64, n)).astype(i32)
    want = []
    for row in x.tolist():
        stack, tally = [], [0] * 10
        for v in row:
            tally[v % 10] += 1
            if v % 3 == 0 and len(stack) > 1:
                top = stack.pop()
                stack[-1] += top
            else:
                stack.append(v)
        total = 0
        for v in stack:
            total = total * 3 + v & M32
        best = int(np.argmax(tally))
        want.append((total, best * 100 + tally[best]))
    return [Launch("local_arrays", 1, 64, [In(x), Out(np.array(want, u32), i32), i32(n)])]


@case("language")
def widths(r):
    c8, c16 = r.integers(0, 256, 32).astype(np.uint8), r.integers(0, 65536, 32).astype(np.uint16)
    q, w = r.integers(0, 1000, (32, 4)).astype(u32), r.integers(-99, 99, (32, 2)).astype(float)
    p, f = r.integers(-128, 128, (32, 2)).astype(np.int8), r.integers(-99, 99, (32, 2)).astype(f32)
    want = c8.astype(i64) + c16.astype(i64) * 3 + q @ [1, 5, 7, 11] + w[:, 0] - w[:, 1] + p.astype(i64).prod(1) + f.prod(1)
    return [Launch("widths", 1, 32, [In(c8), In(c16), In(q), In(w), In(p), In(f), Out(want.astype(i64))])]


@case("language")
def collatz(r):
    x = r.integers(1, 3000, 150).astype(u32)
    want = []
    for v in x.tolist():
        n = 0
        while v != 1:
            v, n = 3 * v + 1 if v & 1 else v // 2, n + 1
        want.append(n)
    return [Launch("collatz", 3, 64, [In(x), Out(np.array(want, i32)), i32(150)])]


@case("language")
def where_am_i(r):
    grid, block = (3, 2, 2), (5, 4, 3)
    places = lambda n: [x | y << 8 | z << 16 for z in range(n[2]) for y in range(n[1]) for x in range(n[0])]
    want = [(t, b, 1, 1) for b in places(grid) for t in places(block)]
    return [Launch("where_am_i", grid, block, [Out(np.array(want, u32))])]


# ---- integers.cu: Python's integers are the definition


def signed(v, bits=32):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> bits - 1 else v


def edges(r, n, bits):
    x = [int(v) for v in r.integers(0, 2**bits, n, dtype=u64 if bits == 64 else i64)]
    x[:6] = 0, 1, 2**bits - 1, 2**(bits - 1), 2**(bits - 1) - 1, 5
    return x


def quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def parts(v, bits, is_signed):
    x = [v >> at & (1 << bits) - 1 for at in range(0, 32, bits)]
    return [signed(p, bits) for p in x] if is_signed else x


def joined(values, bits):
    return sum((int(v) & (1 << bits) - 1) << i * bits for i, v in enumerate(values))


def by_parts(f, a, b, bits, is_signed=False):
    return joined([f(p, q) for p, q in zip(parts(a, bits, is_signed), parts(b, bits, is_signed))], bits)


def run_integers(name, x, y, row, dtype, n_arg=None):
    mask = M64 if dtype in (u64, i64) else M32
    stored = u64 if mask == M64 else u32
    want = np.array([[v & mask for v in row(a, b)] for a, b in zip(x, y)], stored).view(dtype)
    args = [In(np.array(x, stored)), In(np.array(y, stored)), Out(want)]
    return [Launch(name, 1, len(x), args + ([i32(n_arg)] if n_arg else []))]


@case("integers")
def int_bits(r):
    def row(a, b):
        s, t, sel = signed(a), signed(b), b & 0x7777
        pool = a | b << 32
        permuted = joined([pool >> 8 * (sel >> 4 * i & 7) & 255 for i in range(4)], 8)
        reverse = int(f"{a:032b}"[::-1], 2)
        shift = min(b, 32)
        low = lambda v: signed(v & 0xffffff, 24)
        return [permuted, reverse, 32 - a.bit_length(), (a & -a).bit_length(), bin(a).count("1"), (b << 32 | a) << (b & 31) >> 32,
                (b << 32 | a) >> shift, s * t >> 32, a * b >> 32, low(a) * low(b), abs(s - t) + 5, (a + b >> 1) ^ (s + t + 1 >> 1)]

    return run_integers("int_bits", edges(r, 96, 32), edges(r, 96, 32)[::-1], row, u32, 96)


@case("integers")
def int_dots(r):
    def row(a, b):
        dot = lambda x, y: sum(p * q for p, q in zip(x, y))
        A, B, ua, ub = parts(a, 8, True), parts(b, 8, True), parts(a, 8, False), parts(b, 8, False)
        return [dot(A, B) + 17, dot(ua, ub) + 17, dot(parts(a, 16, True), B[:2]) - 3, dot(parts(a, 16, True), B[2:]) - 3,
                dot(parts(a, 16, False), ub[:2]) + 3, dot(A, ub) + 9]

    return run_integers("int_dots", edges(r, 64, 32), edges(r, 64, 32)[::-1], row, u32)


@case("integers")
def int_simd(r):
    def row(a, b):
        clamp = lambda v: max(-32768, min(32767, v))
        return [by_parts(lambda p, q: p + q, a, b, 8), by_parts(lambda p, q: p - q, a, b, 16), by_parts(max, a, b, 8, True),
                by_parts(min, a, b, 16), by_parts(lambda p, q: clamp(p + q), a, b, 16, True),
                by_parts(lambda p, q: 255 if p > q else 0, a, b, 8), by_parts(lambda p, q: p + q + 1 >> 1, a, b, 8),
                max(signed(a + b), 7)]

    return run_integers("int_simd", edges(r, 64, 32), edges(r, 64, 32)[::-1], row, u32)


@case("integers")
def int_64(r):
    def row(a, b):
        s, t = signed(a, 64), signed(b, 64)
        p = a * b + a
        lo = (p - b) % 2**128
        return [a + b, a * b, a * b >> 64, s * t >> 64, a // b if b else 0, a % b if b else 0, quotient(s, t) if t else 0,
                s - quotient(s, t) * t if t else 0, (a << (b & 63)) & M64 ^ (s >> (b & 63)) & M64, int(f"{a:064b}"[::-1], 2),
                64 - a.bit_length() | (a & -a).bit_length() << 8 | bin(a).count("1") << 16, p >> 64, lo >> 3, (min(s, t) & M64) ^ max(a, b)]

    return run_integers("int_64", edges(r, 64, 64), edges(r, 64, 64)[::-1], row, u64)


@case("integers")
def int_divisions(r):
    def row(a, b):
        s, t = signed(a), signed(b)
        b16 = signed(t | 1, 16)
        rem = lambda x, n: x - quotient(x, n) * n
        return [quotient(s, t), rem(s, t), a // b, a % b, quotient(s, 7) + rem(s, 1000) + a // 10, quotient(signed(s, 16), b16),
                signed(s, 8) * (b & 255) + signed(s >> 3, 16), abs(s) + max(s, t) - min(s, t)]

    y = [v or 3 for v in edges(r, 64, 32)[::-1]]
    return run_integers("int_divisions", edges(r, 64, 32), y, row, i32)
