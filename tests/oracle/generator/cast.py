"""Casts of every type to every type.

LANGUAGE wins over NumPy and ml_dtypes: floats to integers truncate and saturate and NaN is 0 (C leaves that open, and NumPy with
it); floats to f8 and f4 saturate (ml_dtypes gives NaN or infinity); every cast rounds once (ml_dtypes goes from f64 through f32,
which rounds twice); f8e8m0 has no zero (its least value stands for it), gives NaN for negative values, and ties go up."""

import numpy as np
from cases import Writer, argument, exact
from elements import bits, decode, encode, is_float, least, most, storage, FLOATS, NATIVE, NEW, OLD
from generator.values import floats, integers

ALL = OLD + NEW


def halfway(t, to, count, rng):
    """Values of t between neighbours of the type `to`, and next to them."""
    width = FLOATS[to][1]
    patterns = np.arange(1 << width - 1) if width <= 8 else rng.integers(0, 1 << width - 1, count, dtype=np.int64)
    with np.errstate(all="ignore"):
        if to == "f32":
            low = patterns.astype(np.uint32).view(np.float32).astype(np.float64)
            high = (patterns + 1).astype(np.uint32).view(np.float32).astype(np.float64)
        else:
            table = decode(
                to,
                np.arange(1 << width).astype(storage(to)) if to not in NATIVE else np.arange(1 << width).astype(np.uint16).view(np.float16),
            )
            low, high = table[patterns], table[np.minimum(patterns + 1, (1 << width) - 1)]
        middle = (low + high) / 2
    middle = middle[np.isfinite(middle)]
    if len(middle) > count:
        middle = rng.choice(middle, count, replace=False)
    return np.unique(middle) * rng.choice([1, 1, -1], len(np.unique(middle)))


def sources(t):
    rng = np.random.default_rng([11, bits(t), len(t)])
    if t in NEW and is_float(t):
        return np.arange(1 << bits(t)).astype(storage(t))
    if t == "i4":
        return np.arange(-8, 8).astype(np.int8)
    if t == "bool":
        return np.array([0, 1, 1, 0], np.uint8)
    if not is_float(t):
        extra = [
            2**24 + 1,
            2**24 + 3,
            -(2**24) - 1,
            2**53 + 1,
            2**53 + 3,
            65519,
            65520,
            65535,
            2049,
            2051,
            257,
            259,
            2**31,
            -(2**31) - 1,
            127,
            128,
            247,
            248,
            463,
            464,
            465,
            57344,
            61440,
            17,
            19,
            -17,
            (1 << 61) + (1 << 37),
            (1 << 61) + (1 << 37) + 1,
            (1 << 61) + (3 << 37),
            (1 << 61) + (1 << 37) - 1,
        ]  # halves of f32 in i64, and next to them
        extra += [(1 << 60) + (1 << k) + d for k in (52, 53, 49, 50) for d in (-1, 0, 1)]
        x = np.concatenate([integers(t, 100), np.array([v for v in extra if least(t) <= v <= most(t)], storage(t))])
        return x[: len(x) // 2 * 2]
    parts = [floats(t, 120, 12)]
    shorter = [s for s in FLOATS if bits(s) < bits(t)]
    for s in shorter:
        middle = halfway(t, s, 50, rng)
        stored = encode(t, middle)
        parts.append(stored)
        if t in NATIVE:
            parts += [np.nextafter(stored, NATIVE[t](np.inf)), np.nextafter(stored, NATIVE[t](-np.inf))]
    edge = np.array([2.0**k + d for k in (3, 7, 8, 15, 31, 63) for d in (-1, -0.5, -0.25, 0, 0.5, 1)])
    parts += [encode(t, edge), encode(t, -edge)]
    x = np.concatenate(parts)
    return x[: len(x) // 2 * 2]


def odd_float64(x):
    """i64 in float64 with the last bit set where it was cut off: rounding that again is rounding once."""
    near = x.astype(np.float64)
    out = near.copy()
    for i, v in enumerate(x):
        if int(near[i]) != int(v):
            down = near[i] if abs(int(near[i])) < abs(int(v)) else np.nextafter(near[i], 0)
            bits_ = np.array(down).view(np.int64) | 1
            out[i] = np.array(bits_).view(np.float64)
    return out


def cast(a, b, x):
    """(storage of the result, where it is left open)"""
    open_ = np.zeros(x.shape, bool)
    if b == "bool":
        return ((decode(a, x) != 0) if is_float(a) else x != 0), open_
    if is_float(a) and is_float(b):
        if a == b:
            return x, open_
        v = decode(a, x)
        if b == "f8e8m0":
            open_ = (v == 0) & np.signbit(v)
        return encode(b, v), open_
    if is_float(a):
        v = decode(a, x)
        inside = np.where(np.isfinite(v), np.clip(np.trunc(v), -(2.0**62), 2.0**62), 0).astype(np.int64)
        inside = np.where(
            np.isfinite(v) & (np.abs(v) > 2.0**62) & (np.abs(v) < 2.0**63), np.where(np.abs(v) < 2.0**63, v, 0).astype(np.int64), inside
        )
        r = [0 if np.isnan(f) else least(b) if f <= least(b) else most(b) if f >= most(b) else int(i) for f, i in zip(v, inside)]
        return np.array(r, storage(b)), open_
    if is_float(b):
        if b in ("f64", "f32"):
            return x.astype(NATIVE[b]), open_
        return encode(b, odd_float64(x.astype(np.int64))), open_
    size = 1 << bits(b)
    return np.array([(int(v) - least(b)) % size + least(b) for v in x], storage(b)), open_


def one(w, name, a, targets, x):
    dims = "{N: {multiple_of: 2}}" if any(bits(t) == 4 for t in [a, *targets]) else None
    w.function(
        name, {"x": f"{a}[N]"}, {f"to_{t}": f"{t}[N]" for t in targets}, "\n".join(f'to_{t} = cast(x, "{t}")' for t in targets), dims=dims
    )
    wants = {}
    for t in targets:
        r, open_ = cast(a, t, x)
        wants[f"to_{t}"] = exact(t, r, open_=open_)
    w.case(name, "special values", {"x": argument(a, x)}, wants)


def write():
    w = Writer("cast")
    with np.errstate(all="ignore"):
        for a in ALL:
            x = sources(a)
            one(w, f"from_{a}", a, OLD, x)
            for b in NEW:  # by itself, so that each is refused or not
                one(w, f"from_{a}_to_{b}", a, [b], x)
    w.save()
