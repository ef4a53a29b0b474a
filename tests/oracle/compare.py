"""The verdict on one output.

exact   the same bits; a NaN for a NaN, with any payload. "unsigned_zero": IEEE and LANGUAGE leave the sign of a zero open.
ulp     |got - exact| <= ulps * ulp(exact) in the type of computation, and half an ulp of the output's type where that is narrower.
        A zero has the exact result's sign. Infinity stands for all values from the place on where the type rounds to it.
bound   |got - want| <= bound, likewise; an infinite bound accepts anything.
"""

import numpy as np
import elements
from elements import decode, is_float, overflow, ulp


def target(o):
    """(want, low): the exact result as two numbers, in float64."""
    t, a = o["type"], o["a"]
    if o["rule"] == "exact":
        return (decode(t, a) if is_float(t) else a), 0.0
    low = o["low"].astype(np.float64) * ulp("f64", a) if "low" in o else 0.0
    return a, low


def allowance(o):
    t, a = o["type"], o["a"]
    if o["rule"] == "exact":
        return np.zeros(a.shape)
    if o["rule"] == "ulp":
        base, compute = o["ulps"] * ulp(o["compute"], a), o["compute"]
    else:
        base, compute = o["bound"].astype(np.float64), elements.compute_type(t)
    return base + (0.5 * ulp(t, np.abs(a) + np.where(np.isfinite(base), base, 0)) if compute != t else 0)


def right(o, got):
    """Which elements of `got`, in storage, are right."""
    t = o["type"]
    if o["rule"] == "exact":
        return exactly(o, got)
    want, low = target(o)
    allowed = allowance(o)
    g = decode(t, got)
    with np.errstate(all="ignore"):
        near = np.abs((g.astype(np.longdouble) - want) - low) <= allowed
        beyond = np.isinf(g) & (np.abs(want) + allowed >= overflow(t)) & (np.signbit(g) == np.signbit(want))
        good = (np.isnan(g) & np.isnan(want)) | (g == want) | (np.isfinite(g) & near) | beyond | np.isinf(allowed)
    if o["rule"] == "ulp":
        zero = (want == 0) & (g == 0)
        good = np.where(zero, np.signbit(g) == np.signbit(want), good)
    return good


def exactly(o, got):
    t, want = o["type"], o["a"]
    if not is_float(t):
        good = got == want
    else:
        bits = elements.storage(t).str.replace("f", "u").lstrip("<|")
        g, w = decode(t, got), decode(t, want)
        good = (got.view(bits) == want.view(bits)) | (np.isnan(g) & np.isnan(w))
        if o.get("unsigned_zero"):
            good = good | ((g == 0) & (w == 0))
    return good | o["open"] if "open" in o else good


def describe(o, got, good):
    """'' or where it is wrong."""
    if got.shape != o["a"].shape:
        return f"shape {got.shape}, expected {o['a'].shape}"
    wrong = np.argwhere(~good)
    if not len(wrong):
        return ""
    i = tuple(wrong[0])
    t = o["type"]
    want = target(o)[0][i]
    g = decode(t, got)[i] if is_float(t) else got[i]
    width = elements.bits(t) // 4
    pattern = f" (bits {int(got[i].view(elements.storage(t).str.replace('f', 'u').lstrip('<|'))):0{width}x})" if is_float(t) else ""
    return f"{len(wrong)} of {got.size} wrong, first at {list(map(int, i))}: {g!r}{pattern}, expected {want!r} within {allowance(o)[i]:.4g}"


# ---- the reference's bounds


def reference_accepts(t, got, value, bound):
    """What `--check` says to `got`: runtime/kcrun/check.c."""
    if not is_float(t):
        return (got.astype(np.float64) == value) | (bound > 0)
    g = decode(t, got)
    with np.errstate(all="ignore"):
        rounded = decode(t, elements.encode(t, value))
        half = 0.5 * np.maximum(ulp(t, g), ulp(t, np.where(np.isfinite(value), value, 0)))
        low, high = decode(t, elements.encode(t, value - bound)), decode(t, elements.encode(t, value + bound))
        edge = (np.isinf(g) | np.isinf(value)) & (g >= low) & (g <= high)
        near = np.isfinite(g) & np.isfinite(value) & (np.abs(g - value) <= bound + half)
        return (np.isnan(g) & np.isnan(value)) | (g == value) | (g == rounded) | np.isinf(bound) | edge | near


def right_results(o):
    """Results that are right: the correctly rounded one, and for a rule in ulps the farthest on both sides."""
    t = o["type"]
    if o["rule"] == "exact":
        return [o["a"]]
    want, low = target(o)
    nearest = elements.encode(t, want)
    if o["rule"] != "ulp" or t != o["compute"] or t not in elements.NATIVE:
        return [nearest]
    far = []
    for sign in (-1, 1):
        with np.errstate(all="ignore"):
            end = (want + low) + sign * allowance(o)
            g = elements.encode(t, end)
            over = np.abs(g.astype(np.longdouble) - want - low) > allowance(o)
            g = np.where(over, np.nextafter(g, elements.NATIVE[t](-sign * np.inf)), g)
        far.append(np.where(np.isfinite(want) & (want != 0) & np.isfinite(g), g, nearest).astype(g.dtype))
    return [nearest] + far


def is_open(o):
    """Elements that the definition leaves open."""
    if o["rule"] == "exact":
        return o.get("open", np.zeros(o["a"].shape, bool))
    with np.errstate(all="ignore"):
        return ~np.isfinite(allowance(o)) | (np.isfinite(o["a"]) & (np.abs(o["a"]) + allowance(o) >= overflow(o["type"])))
