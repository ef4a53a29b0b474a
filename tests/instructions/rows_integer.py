"""What integer instructions compute: a row each, from the PTX ISA, in Python's integers."""
from rows import Row, row, signed, clamp, wide_type

SHIFTS = [0, 1, 5, 8, 15, 16, 17, 24, 31, 32, 33, 47, 63, 64, 65, 127, 255, 256, 0x80000001, 0xFFFFFFFF]


def integers(name, meaning, **more):
    """meaning(*sources) as integers of the instruction's type; the result is cut to the destination's width."""
    row(name, lambda words, types: meaning, read=types_of, **more)


def types_of(words, types):
    return types[0]


def low(value, bits):
    return value & ((1 << bits) - 1)


integers("add", lambda a, b: a + b, without="sat f16 bf16 f16x2 bf16x2 f32 f64 f32x2 cc u16x2 s16x2")
integers("sub", lambda a, b: a - b, without="sat f16 bf16 f16x2 bf16x2 f32 f64 f32x2 cc u16x2 s16x2")
integers("add", lambda a, b: clamp(a + b, "s32"), needs="sat s32")
integers("sub", lambda a, b: clamp(a - b, "s32"), needs="sat s32")
integers("mul", lambda a, b: a * b, needs="lo")
integers("mul", lambda a, b: a * b, needs="wide", result=wide_type)
integers("mad", lambda a, b, c: a * b + c, needs="lo", without="cc")
row("mad", lambda words, types: lambda a, b, c: a * b + c, needs="wide",
    read=lambda words, types: [types[0], types[0], wide_type(words, types)], result=wide_type)
for bits in (16, 32, 64):
    for letter in "us":
        t = f"{letter}{bits}"
        integers("mul", lambda a, b, bits=bits: a * b >> bits, needs=f"hi {t}")
        integers("mad", lambda a, b, c, bits=bits: (a * b >> bits) + c, needs=f"hi {t}", without="sat cc")
integers("mad", lambda a, b, c: clamp((a * b >> 32) + c, "s32"), needs="hi sat")


def low24(t):
    return lambda x: signed(x, 24) if t == "s32" else x & 0xFFFFFF


def product24(words, types):
    cut = low24(types[0])
    return lambda a, b: cut(a) * cut(b)


row("mul24", lambda w, t: product24(w, t), needs="lo", read=types_of)
row("mul24", lambda w, t: lambda a, b: product24(w, t)(a, b) >> 16, needs="hi", read=types_of)
row("mad24", lambda w, t: lambda a, b, c: product24(w, t)(a, b) + c, needs="lo", read=types_of)
row("mad24", lambda w, t: lambda a, b, c: (product24(w, t)(a, b) >> 16) + c, needs="hi", without="sat", read=types_of)
row("mad24", lambda w, t: lambda a, b, c: clamp((product24(w, t)(a, b) >> 16) + c, "s32"), needs="hi sat", read=types_of)


def towards_zero(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# What division by zero gives PTX leaves open: all ones, and the dividend as the remainder, as the hardware's code does.
integers("div", lambda a, b: towards_zero(a, b) if b else -1, without="f32 f64")
integers("rem", lambda a, b: a - towards_zero(a, b) * b if b else a)
integers("abs", abs, needs="s16|s32|s64")
integers("neg", lambda a: -a, needs="s16|s32|s64")
PLAIN = "f32 f64 f16 bf16 f16x2 bf16x2 relu u16x2 s16x2"
integers("min", min, without=PLAIN)
integers("max", max, without=PLAIN)
integers("min", lambda a, b: max(0, min(a, b)), needs="relu s32")
integers("max", lambda a, b: max(0, max(a, b)), needs="relu s32")
integers("sad", lambda a, b, c: abs(a - b) + c)
integers("and", lambda a, b: a & b)
integers("or", lambda a, b: a | b)
integers("xor", lambda a, b: a ^ b)
integers("not", lambda a: ~a)
integers("cnot", lambda a: int(a == 0))


def halves(meaning):
    """Both halves of a packed pair by themselves."""
    def both(words, types):
        cut = (lambda x: signed(x, 16)) if types[0][0] == "s" else (lambda x: x)
        return lambda *sources: sum(low(meaning(*(cut(s >> at & 0xFFFF) for s in sources)), 16) << at for at in (0, 16))
    return both


row("add", halves(lambda a, b: a + b), needs="u16x2|s16x2")
row("min", halves(min), needs="u16x2|s16x2", without="relu")
row("max", halves(max), needs="u16x2|s16x2", without="relu")
row("min", halves(lambda a, b: max(0, min(a, b))), needs="s16x2 relu")
row("max", halves(lambda a, b: max(0, max(a, b))), needs="s16x2 relu")

row("shl", lambda w, t: lambda a, b: a << min(b, 64), edges=[None, SHIFTS])
row("shr", lambda w, t: lambda a, b: a >> min(b, 64), edges=[None, SHIFTS], read=lambda w, t: [t[0], "u32"])


def funnel(words, types):
    left, count = "l" in words, (lambda c: min(c, 32)) if "clamp" in words else (lambda c: c & 31)
    return lambda a, b, c: (b << 32 | a) << count(c) >> 32 if left else (b << 32 | a) >> count(c)


row("shf", funnel, edges=[None, None, SHIFTS])


def extract(words, types):
    width = int(types[0][1:])

    def field(a, position, length):
        position, length = position & 255, length & 255
        sign = 0
        if types[0][0] == "s" and length:
            sign = a >> min(position + length - 1, width - 1) & 1
        bits = [a >> position + i & 1 if position + i < width and i < length else sign for i in range(width)]
        return sum(bit << i for i, bit in enumerate(bits))
    return field


row("bfe", extract, edges=[None, SHIFTS, SHIFTS])


def insert(words, types):
    width = int(types[0][1:])

    def into(a, b, position, length):
        for i in range(length & 255):
            at = (position & 255) + i
            if at < width:
                b = b & ~(1 << at) | (a >> i & 1) << at
        return b
    return into


row("bfi", insert, edges=[None, None, SHIFTS, SHIFTS])


def find(words, types):
    width = int(types[0][1:])

    def highest(a):
        if types[0][0] == "s" and a >> width - 1:
            a = low(~a, width)
        at = a.bit_length() - 1
        return at if at < 0 or "shiftamt" not in words else width - 1 - at
    return highest


row("bfind", find, result=lambda w, t: "u32")
row("brev", lambda w, t: lambda a: int(f"{a:0{int(t[0][1:])}b}"[::-1], 2))
row("clz", lambda w, t: lambda a: int(t[0][1:]) - a.bit_length(), result=lambda w, t: "u32")
row("popc", lambda w, t: lambda a: a.bit_count(), result=lambda w, t: "u32")


def permute(words, types):
    """The modes, by PTX's table: which byte of b:a goes where, by the low bits of c."""
    tables = {"f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"],
              "rc8": ["0000", "1111", "2222", "3333"], "ecl": ["3210", "3211", "3222", "3333"],
              "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"]}
    mode = next((w for w in words if w in tables), None)

    def pick(a, b, c):
        selectors = tables[mode][c & 3] if mode else f"{c & 0xFFFF:04x}"
        result = 0
        for place, selector in enumerate(reversed(selectors)):
            s = int(selector, 16)
            byte = (b << 32 | a) >> 8 * (s & 7) & 255
            if s & 8:
                byte = 255 if byte & 128 else 0
            result |= byte << 8 * place
        return result
    return pick


row("prmt", permute, edges=[None, None, [0, 1, 2, 3, 0x3210, 0x7654, 0x0123, 0xFEDC, 0x89AB, 0x1234FB73, 0x8080, 0xFFFFFFFF, 0x40]])
row("lop3", lambda w, t: lambda a, b, c: (a & b) ^ c, without="and or")  # the table that forms.py writes: 0x6a


def tested(words, types):
    """The result, and above it whether it is not 0, with the last operand."""
    def both(a, b, c, q):
        result = (a & b) ^ c
        return result | (result != 0 and q if "and" in words else result != 0 or q) << 32
    return both


row("lop3", tested, needs="and|or", edges=[None, None, [0, 1, 0x80000000, 0xFFFFFFFF]])


def bit_mask(words, types):
    def clamped(a, b):
        return ((1 << min(b, 32)) - 1) << a if a < 32 else 0
    return clamped if "clamp" in words else lambda a, b: clamped(a & 31, b & 31)


row("bmsk", bit_mask, edges=[SHIFTS, SHIFTS])


def extend(words, types):
    def clamped(a, n):
        n = min(n, 32)
        return low(a, n) if types[0] == "u32" else signed(a, n) if n else 0
    return clamped if "clamp" in words else lambda a, n: clamped(a, n & 31)


row("szext", extend, edges=[None, SHIFTS])


def dot(words, types):
    reads = [(lambda x, bits: signed(x, bits)) if t == "s32" else low for t in types]
    a_bits, at = (8, 0) if words[0] == "dp4a" else (16, 16 if "hi" in words else 0)

    def product(a, b, c):
        return c + sum(reads[0](a >> a_bits * i, a_bits) * reads[1](b >> at + 8 * i, 8) for i in range(32 // a_bits))
    return product


row("dp4a", dot)
row("dp2a", dot)
row("selp", lambda w, t: lambda a, b, c: a if c else b)
row("slct", lambda w, t: lambda a, b, c: a if c < 2 ** 31 else b, needs="=s32")
row("mov", lambda w, t: lambda a: a)
