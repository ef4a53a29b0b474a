"""cumsum: every type, axes, lengths, exclusive, reverse; the types and the bounds of sum."""

import numpy as np
from cases import Writer, argument, bound, exact
from elements import FLOATS, OLD, compute_type, decode, encode, is_float, largest, least, most, storage
from generator.reduce import accumulate, special_rows
from generator.values import SIZES, integers, small


def prefixes(v, axis, exclusive=False, reverse=False):
    if reverse:
        v = np.flip(v, axis)
    r = np.cumsum(v, axis=axis)
    if exclusive:
        r = np.concatenate([np.zeros_like(np.take(r, [0], axis)), np.take(r, range(r.shape[axis] - 1), axis)], axis) if r.shape[axis] else r
    return np.flip(r, axis) if reverse else r


def wrapped(t, v):
    return np.array([(int(x) - least(t)) % (most(t) - least(t) + 1) + least(t) for x in v.reshape(-1)], storage(t)).reshape(v.shape)


def of_type(w, t):
    c = accumulate(t)
    w.function(f"rows_{t}", {"x": f"{t}[M, N]"}, {"y": f"{c}[M, N]"}, "y = cumsum(x, axis=1)")
    w.function(f"columns_{t}", {"x": f"{t}[M, N]"}, {"y": f"{c}[M, N]"}, "y = cumsum(x, axis=0)")
    sizes = SIZES if t in ("f32", "i8") else [0, 1, 2, 3, 7, 17, 33, 65, 257, 1025]
    for n in sizes:
        for axis, name in ((1, "rows"), (0, "columns")):
            x = small(t, (3, n) if axis else (n, 3), n)
            v = decode(t, x) if is_float(t) else x.astype(np.int64)
            w.case(f"{name}_{t}", f"{n}", {"x": argument(t, x)}, {"y": exact(c, prefixes(v, axis).astype(storage(c)), unsigned_zero=True)})


def options(w):
    for exclusive in (False, True):
        for reverse in (False, True):
            words = "".join(f", {k}=true" for k, on in (("exclusive", exclusive), ("reverse", reverse)) if on)
            for axis in (0, 1, -1):
                name = f"axis_{axis}".replace("-", "minus_") + ("_exclusive" if exclusive else "") + ("_reverse" if reverse else "")
                w.function(name, {"x": "i32[A, B, C]"}, {"y": "i32[A, B, C]"}, f"y = cumsum(x, axis={axis}{words})")
                for shape in [(3, 5, 7), (2, 33, 3), (1, 1, 1), (65, 2, 2), (2, 3, 129), (2, 0, 3)]:
                    x = small("i32", shape, 3, size=500)
                    w.case(
                        name,
                        "x".join(map(str, shape)),
                        {"x": argument("i32", x)},
                        {"y": exact("i32", prefixes(x.astype(np.int64), axis, exclusive, reverse).astype(np.int32))},
                    )
    w.function("bools", {"x": "bool[N]"}, {"y": "i32[N]"}, "y = cumsum(x, axis=N)")
    x = (np.arange(130) * 7 % 5 < 2).astype(np.uint8)
    w.case("bools", "", {"x": argument("bool", x)}, {"y": exact("i32", np.cumsum(x))}, sizes=[0, 1, 2, 33, 130])


def special(w):
    rng = np.random.default_rng(51)
    for t in ("f64", "f32", "f16", "bf16"):
        c = compute_type(t)
        u = np.longdouble(2) ** -(FLOATS[c][3] + 1)
        w.function(
            f"ordinary_{t}", {"x": f"{t}[M, N]"}, {"y": f"{c}[M, N]", "z": f"{t}[M, N]"}, "y = cumsum(x, axis=1)\nz = cumsum(x, axis=1)"
        )
        for shape in [(3, 37), (1, 300)]:
            x = encode(t, rng.standard_normal(shape) * np.exp2(rng.uniform(-3, 3, shape)))
            v = decode(t, x).astype(np.longdouble)
            size, steps = np.cumsum(np.abs(v), axis=1), np.arange(shape[1])
            allowed = steps * u * size * (1 + 2.0**-20)
            w.case(
                f"ordinary_{t}",
                f"{shape[0]}x{shape[1]}",
                {"x": argument(t, x)},
                {"y": bound(c, np.cumsum(v, axis=1), allowed), "z": bound(t, np.cumsum(v, axis=1), allowed)},
            )
        x = special_rows(t)
        v = decode(t, x).astype(np.longdouble)
        with np.errstate(all="ignore"):
            huge = np.cumsum(np.where(np.isfinite(v), np.abs(v), 0), axis=1) > largest(c)
            r = np.cumsum(v, axis=1)
        w.function(f"special_{t}", {"x": f"{t}[M, N]"}, {"y": f"{c}[M, N]"}, "y = cumsum(x, axis=1)")
        w.case(
            f"special_{t}",
            "NaN, infinities, zeros",
            {"x": argument(t, x)},
            {"y": exact(c, encode(c, r.astype(np.float64)), unsigned_zero=True, open_=huge)},
        )
    for t in ("i64", "i32", "i16", "i8", "u8"):
        c, x = accumulate(t), integers(t, 79)[:96].reshape(8, 12)
        w.function(f"special_{t}", {"x": f"{t}[M, N]"}, {"y": f"{c}[M, N]"}, "y = cumsum(x, axis=1)")
        w.case(f"special_{t}", "extremes wrap", {"x": argument(t, x)}, {"y": exact(c, wrapped(c, np.cumsum(x.astype(object), axis=1)))})


def write():
    w = Writer("scan")
    for t in OLD[:-1]:
        of_type(w, t)
    options(w)
    special(w)
    w.save()
