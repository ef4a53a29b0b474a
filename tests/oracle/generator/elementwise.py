"""Elementwise ops, op by type: unary, binary, comparisons, logic, selections, promotion, sizes."""

import numpy as np
import scipy.special
from cases import Writer, argument, bound, exact, ulps
from elements import bits, compute_type, decode, encode, is_float, largest, least, storage, FLOATS, OLD
from generator import exact as e
from generator.values import floats, integers, spread, SIZES

FLOAT_TYPES, INT_TYPES = ["f64", "f32", "f16", "bf16"], ["i64", "i32", "i16", "i8", "u8"]
C = {"f64": np.float64, "f32": np.float32}


def table(names, t):
    return {n: t + "[N]" for n in names}


def lines(form, names):
    return "\n".join(f"{n}_ = " + form.format(n) for n in names)


def widened(t, x):
    """Storage in the type it is computed in."""
    return decode(t, x).astype(C[compute_type(t)])


# ---- one operand


def unary_functions(w):
    for t in FLOAT_TYPES:
        x = floats(t, {"f64": 500, "f32": 700}.get(t, 350), seed=1)
        v = decode(t, x)
        names = list(e.FUNCTIONS)
        c = compute_type(t)
        w.function(f"functions_{t}", {"x": f"{t}[N]"}, table([n + "_" for n in names], c), lines("{}(x)", names))
        outputs = {}
        for n in names:
            want, low = e.of_one(n, v)
            outputs[n + "_"] = (
                exact(c, np.sqrt(widened(t, x))) if n == "sqrt" else ulps(c, want, e.FUNCTIONS[n][2], low if c == "f64" else None)
            )
        w.case(f"functions_{t}", "special values", {"x": argument(t, x)}, outputs)


def unary_signs(w):
    for t in FLOAT_TYPES:
        x, c = floats(t, 150, seed=2), compute_type(t)
        v = widened(t, x)
        sign = storage(t).str.replace("f", "u").lstrip("<")
        flip = np.array(1 << bits(t) - 1, sign)
        w.function(
            f"signs_{t}",
            {"x": f"{t}[N]"},
            table(["abs_", "neg_", "relu_"], t) | table(["floor_", "ceil_", "round_"], c),
            "abs_ = abs(x)\nneg_ = -x\nrelu_ = relu(x)\nfloor_ = floor(x)\nceil_ = ceil(x)\nround_ = round(x)",
        )
        # max(x, 0), where maximum(-0, +0) is +0 as IEEE 754-2019 has it.
        relu = np.where(np.isnan(v), v, np.where(v > 0, v, 0))
        w.case(
            f"signs_{t}",
            "special values",
            {"x": argument(t, x)},
            {
                "abs_": exact(t, (x.view(sign) & ~flip).view(x.dtype)),
                "neg_": exact(t, (x.view(sign) ^ flip).view(x.dtype)),
                "relu_": exact(t, encode(t, relu)),
                "floor_": exact(c, np.floor(v)),
                "ceil_": exact(c, np.ceil(v)),
                "round_": exact(c, np.rint(v)),
            },
        )
    for t in INT_TYPES:
        x = integers(t)
        names = ["abs_", "neg_", "floor_", "ceil_", "round_"]
        w.function(
            f"signs_{t}",
            {"x": f"{t}[N]"},
            table(names, t),
            "abs_ = abs(x)\nneg_ = -x\nfloor_ = floor(x)\nceil_ = ceil(x)\nround_ = round(x)",
        )
        w.case(
            f"signs_{t}",
            "special values",
            {"x": argument(t, x)},
            {"abs_": exact(t, np.abs(x)), "neg_": exact(t, np.negative(x))} | {n: exact(t, x) for n in names[2:]},
        )


def activations(w):
    """By the formulas of docs/OPS.md: what the roundings of their steps allow. NaN where the formula multiplies an infinity by 0."""
    names = ["sigmoid", "silu", "gelu", "gelu_tanh"]
    for t in FLOAT_TYPES:
        x, c = spread(t, {"f32": 300, "f64": 200}.get(t, 120), seed=3), compute_type(t)
        v = decode(t, x)
        w.function(f"activations_{t}", {"x": f"{t}[N]"}, table([n + "_" for n in names], c), lines("{}(x)", names))
        w.case(f"activations_{t}", "special values", {"x": argument(t, x)}, {n + "_": bound(c, *activation(n, v, c)) for n in names})


def activation(name, v, t):
    i = e.Interval.exactly
    x, one, half = i(v, t), i(np.ones(v.shape), t), i(np.full(v.shape, 0.5), t)
    M = e.M
    constant = lambda k: i(np.full(v.shape, np.longdouble(repr(k))), t).rounded(0.5)
    if name in ("sigmoid", "silu"):
        t_ = i(-np.abs(v), t).through(np.exp, 2)  # no formula may overflow: exp(x) to the left of 0
        below = one + t_
        if name == "sigmoid":
            left, r = t_ / below, one / below
        else:
            left, r = (x * t_ / below).hull(x * (t_ / below)), (x / below).hull(x * (one / below))
        exactly = (lambda a: 1 / (1 + M.exp(-a))) if name == "sigmoid" else (lambda a: a / (1 + M.exp(-a)))
        plain = scipy.special.expit if name == "sigmoid" else lambda a: a / (1 + np.exp(-a))
    else:
        if name == "gelu":
            inner = (x * constant(0.70710678118654752440)).through(erf_long, 4)
            exactly = lambda a: a / 2 * (1 + M.erf(a / M.sqrt(2)))
        else:
            cubic = x + constant(0.044715) * x.square() * x
            cubic = cubic.hull(x * (one + constant(0.044715) * x.square()))
            inner = (constant(0.79788456080286535588) * cubic).through(np.tanh, 4)
            exactly = lambda a: a / 2 * (1 + M.tanh(M.sqrt(2 / M.pi) * (a + M.mpf("0.044715") * a**3)))
        r = (x * half * (one + inner)).hull(x * ((one + inner) * half))
        plain = lambda a: np.where(np.isneginf(a), np.nan, a)
    want, _ = e.over(lambda a: exactly(M.mpf(a)), plain, v)
    allowed = r.bound(want)
    if name in ("sigmoid", "silu"):
        allowed = np.where(v < 0, left.bound(want), allowed)
    return want, np.where(np.isfinite(v), allowed, 0)


def erf_long(x):
    """A little wider than float64 knows it: its error is added where the interval is rounded."""
    return np.asarray(scipy.special.erf(np.asarray(x, np.float64)), np.longdouble)


# ---- two operands


def pairs(t, x, n, seed):
    """Every pair of the first values, and random ones."""
    rng = np.random.default_rng(seed)
    special = x[:n]
    rest = x[n:]
    return (np.concatenate([np.repeat(special, n), rng.permutation(rest)]), np.concatenate([np.tile(special, n), rng.permutation(rest)]))


def least_of(a, b, sign):
    """IEEE 754-2019 minimum, or with sign -1 maximum: NaN wins, -0 is below +0. NumPy leaves the zeros open."""
    first = np.where(sign * a == sign * b, np.signbit(a) if sign > 0 else ~np.signbit(a), sign * a < sign * b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(first, a, b))


def binary_floats(w):
    names = ["add_", "sub_", "mul_", "div_", "mod_", "floordiv_", "pow_"]
    for t in FLOAT_TYPES:
        a, b = pairs(t, floats(t, {"f32": 400, "f64": 250}.get(t, 120), seed=4), 22, 5)
        c = compute_type(t)
        p, q = widened(t, a), widened(t, b)
        w.function(
            f"arithmetic_{t}",
            {"a": f"{t}[N]", "b": f"{t}[N]"},
            table(names, c) | table(["min_", "max_"], t),
            "add_ = a + b\nsub_ = a - b\nmul_ = a * b\ndiv_ = a / b\nmod_ = a % b\nfloordiv_ = a // b\npow_ = a ** b\nmin_ = min(a, b)\nmax_ = max(a, b)",
        )
        power, low = e.power(p.astype(np.float64), q.astype(np.float64))
        w.case(
            f"arithmetic_{t}",
            "pairs",
            {"a": argument(t, a), "b": argument(t, b)},
            {
                "add_": exact(c, p + q),
                "sub_": exact(c, p - q),
                "mul_": exact(c, p * q),
                "div_": exact(c, p / q),
                "mod_": exact(c, np.remainder(p, q)),
                "floordiv_": floor_divide(c, p, q),
                "pow_": ulps(c, power, 4, low if c == "f64" else None),
                "min_": exact(t, encode(t, least_of(p, q, 1))),
                "max_": exact(t, encode(t, least_of(p, q, -1))),
            },
        )


def floor_divide(t, a, b):
    """NumPy's: floor(a / b) of the exact quotient where that is below 2^(bits - 2) of the type, beyond it two roundings."""
    want = np.floor_divide(a, b)
    size = 2.0 ** (FLOATS[t][3] - 1)
    near = ~(np.abs(want) >= size) | ~np.isfinite(want)
    quotient = np.abs(a.astype(np.longdouble) / b) / np.longdouble(largest(t))
    near &= ~((quotient > 0.999) & (quotient < 1.001))
    for x, y, r in zip(a[near], b[near], want[near]):  # the claim, checked
        if np.isfinite(x) and np.isfinite(y) and y != 0 and np.isfinite(r):
            assert float(e.M.floor(e.M.mpf(float(x)) / e.M.mpf(float(y)))) == r, (x, y, r)
    return exact(t, want, open_=~near)


def compare_and_select(w):
    names = ["lt_", "le_", "gt_", "ge_", "eq_", "ne_"]
    body = "lt_ = a < b\nle_ = a <= b\ngt_ = a > b\nge_ = a >= b\neq_ = a == b\nne_ = a != b\nwhere_ = where(a < b, a, b)\nclamp_ = clamp(a, b, b)"
    functions = [np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]
    for t in FLOAT_TYPES + INT_TYPES:
        x = floats(t, 80, seed=6) if is_float(t) else integers(t, 60)
        a, b = pairs(t, x, 18, 7)
        p, q = (decode(t, a), decode(t, b)) if is_float(t) else (a, b)
        clamped = least_of(least_of(p, q, -1), q, 1) if is_float(t) else np.minimum(np.maximum(p, q), q)
        w.function(f"select_{t}", {"a": f"{t}[N]", "b": f"{t}[N]"}, table(names, "bool") | table(["where_", "clamp_"], t), body)
        w.case(
            f"select_{t}",
            "pairs",
            {"a": argument(t, a), "b": argument(t, b)},
            {n: exact("bool", f(p, q)) for n, f in zip(names, functions)}
            | {"where_": exact(t, np.where(p < q, a, b)), "clamp_": exact(t, encode(t, clamped) if is_float(t) else clamped)},
        )


def binary_integers(w):
    names = ["add_", "sub_", "mul_", "floordiv_", "mod_", "min_", "max_"]
    for t in INT_TYPES:
        a, b = pairs(t, integers(t, 150), 14, 8)
        w.function(
            f"arithmetic_{t}",
            {"a": f"{t}[N]", "b": f"{t}[N]", "k": f"{t}[N]"},
            table(names + ["pow_"], t) | {"div_": "f32[N]"},
            "add_ = a + b\nsub_ = a - b\nmul_ = a * b\nfloordiv_ = a // b\nmod_ = a % b\nmin_ = min(a, b)\nmax_ = max(a, b)\npow_ = a ** k\ndiv_ = a / b",
        )
        zero = b == 0  # an unspecified value and no fault
        safe = np.where(zero, 1, b).astype(b.dtype)
        minus = (safe == -1) if least(t) else np.zeros(b.shape, bool)  # NumPy warns about the least // -1; it wraps
        k = (np.abs(b.astype(np.int64)) % 67).astype(b.dtype)
        wrap = lambda v: np.array([(int(i) - least(t)) % (1 << bits(t)) + least(t) for i in v], b.dtype)
        f = lambda v: v.astype(np.float32)
        w.case(
            f"arithmetic_{t}",
            "pairs",
            {"a": argument(t, a), "b": argument(t, b), "k": argument(t, k)},
            {
                "add_": exact(t, a + b),
                "sub_": exact(t, a - b),
                "mul_": exact(t, a * b),
                "floordiv_": exact(t, np.where(minus, np.negative(a), a // np.where(minus, 1, safe)), open_=zero),
                "mod_": exact(t, np.where(minus, 0, a % np.where(minus, 1, safe)), open_=zero),
                "min_": exact(t, np.minimum(a, b)),
                "max_": exact(t, np.maximum(a, b)),
                "pow_": exact(t, wrap([pow(int(p), int(q)) for p, q in zip(a, k)])),
                "div_": exact("f32", f(a) / f(b)),
            },
        )  # docs/MODEL.md: in f32, whatever the width; NumPy divides in f64


def bools(w):
    a, b = np.array([0, 0, 1, 1] * 9, bool), np.array([0, 1, 0, 1] * 9, bool)
    names = ["and_", "or_", "not_", "eq_", "ne_", "lt_", "le_", "min_", "max_", "where_"]
    w.function(
        "bools",
        {"a": "bool[N]", "b": "bool[N]"},
        table(names, "bool"),
        "and_ = a and b\nor_ = a or b\nnot_ = not a\neq_ = a == b\nne_ = a != b\nlt_ = a < b\nle_ = a <= b\nmin_ = min(a, b)\nmax_ = max(a, b)\nwhere_ = where(a, b, not b)",
    )
    w.case(
        "bools",
        "all",
        {"a": argument("bool", a), "b": argument("bool", b)},
        {n: exact("bool", v) for n, v in zip(names, [a & b, a | b, ~a, a == b, a != b, ~a & b, ~a | b, a & b, a | b, np.where(a, b, ~b)])},
    )


# ---- promotion: every pair of types


def promoted(a, b):
    """NumPy 2's rule for the types it has; bf16 counts as f16 among integers, and with f16 gives f32."""
    if {a, b} == {"f16", "bf16"}:
        return "f32"

    def known(t):
        return np.float16 if t == "bf16" else storage(t)

    r = np.promote_types(known(a), known(b))
    found = {"float64": "f64", "float32": "f32", "float16": "bf16" if "bf16" in (a, b) else "f16"}.get(r.name)
    return found or {"int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}[r.name]


def promotion(w):
    types = OLD[:-1]
    values = {
        "f64": [0.1, 1e300, -2.5],
        "f32": [0.1, 16777216, -2.5],
        "f16": [0.1, 2048, -2.5],
        "bf16": [0.1, 256, -2.5],
        "i64": [2**40 + 1, -7, 3],
        "i32": [2**30 + 1, -7, 3],
        "i16": [2**14 + 1, -7, 3],
        "i8": [101, -7, 3],
        "u8": [201, 7, 3],
    }
    x = {t: encode(t, np.array(values[t], np.float64)) if is_float(t) else np.array(values[t], storage(t)) for t in types}
    for i, a in enumerate(types):
        outputs, wants, body = {}, {}, []
        for b in types[i:]:
            r = promoted(a, b)
            c = compute_type(r) if is_float(r) else r

            def wide(t):
                return (decode(t, x[t]) if is_float(t) else x[t]).astype(storage(c))

            n = f"y_{b}"
            outputs[n], wants[n] = c + "[N]", exact(c, wide(a) + wide(b))
            body.append(f"{n} = x_{a} + x_{b}")
        w.function(f"promote_{a}", {f"x_{b}": b + "[N]" for b in types[i:]}, outputs, "\n".join(body))
        w.case(f"promote_{a}", "values", {f"x_{b}": argument(b, x[b]) for b in types[i:]}, wants)


# ---- sizes: remainders around every vector and tile


def sizes(w):
    """One function an element size, and one with mixed sizes; then unaligned bases and strides."""
    n = 70001
    base = np.arange(n) % 2003
    for t, values in (("i8", base % 251 - 125), ("i16", base * 7 - 300), ("f32", base * 0.5 - 100), ("f64", base * 0.25)):
        x = np.asarray(values).astype(storage(t))
        w.function(f"sizes_{t}", {"x": f"{t}[N]"}, {"y": f"{t}[N]"}, "y = x + x")
        w.case(f"sizes_{t}", "", {"x": argument(t, x)}, {"y": exact(t, x + x)}, sizes=SIZES + [70001])
        for offset in (1, 2, 3, 4):
            for k in (1, 5, 33, 130):
                w.case(
                    f"sizes_{t}",
                    f"offset {offset}, {k} elements",
                    {"x": argument(t, x[:k], offset=offset)},
                    {"y": exact(t, (x + x)[:k], offset=5 - offset)},
                )
    w.function(
        "sizes_mixed",
        {"a": "i8[N]", "b": "f16[N]", "c": "f64[N]"},
        {"p": "f16[N]", "q": "f64[N]", "r": "bool[N]"},
        'p = cast(a, "f16") + b\nq = c * 2\nr = b > a',
    )
    a, b, c = (base % 100 - 50).astype(np.int8), (base % 77 * 0.5 - 12).astype(np.float16), base * 1.5
    w.case(
        "sizes_mixed",
        "",
        {"a": argument("i8", a), "b": argument("f16", b), "c": argument("f64", c)},
        {"p": exact("f16", (a.astype(np.float32) + b).astype(np.float16)), "q": exact("f64", c * 2), "r": exact("bool", b > a)},
        sizes=SIZES,
    )
    w.function("strided", {"x": ("f32[M, N]", "[sx, tx]"), "b": ("f32[N]", "[sb]")}, {"y": ("f32[M, N]", "[sy, ty]")}, "y = x * 2 + b")
    for m, k, sx, tx, sb, sy, ty in [
        (5, 7, 7, 1, 1, 7, 1),
        (5, 7, 9, 1, 2, 11, 1),
        (7, 33, 1, 7, 0, 33, 1),
        (4, 5, 40, 3, 1, 2, 9),
        (1, 1, 0, 0, 0, 1, 1),
        (3, 129, 0, 1, 1, 132, 1),
        (33, 65, 65, 1, 0, 1, 33),
        (0, 4, 4, 1, 1, 4, 1),
        (6, 0, 0, 1, 1, 1, 1),
        (16, 16, 16, 1, 1, 16, 1),
        (2, 128, 256, 2, 1, 128, 1),
        (9, 1, 5, 1, 7, 3, 1),
    ]:
        # where a stride is 0 the elements along it are one
        x = np.broadcast_to((np.arange(m)[:, None] * (sx != 0) * 3 + np.arange(k) * (tx != 0) - 8).astype(np.float32), (m, k))
        b = np.broadcast_to((np.arange(k) * (sb != 0) * 0.5).astype(np.float32), (k,))
        w.case(
            "strided",
            f"{m}x{k} strides {sx},{tx} {sb} to {sy},{ty}",
            {"x": argument("f32", x, strides=[sx, tx]), "b": argument("f32", b, strides=[sb])},
            {"y": exact("f32", x * 2 + b, strides=[sy, ty])},
        )


def write():
    w = Writer("elementwise")
    with np.errstate(all="ignore"):
        for part in (
            unary_functions,
            unary_signs,
            activations,
            binary_floats,
            compare_and_select,
            binary_integers,
            bools,
            promotion,
            sizes,
        ):
            part(w)
    w.save()
