"""Which results have their bits fixed, and whether two runs agree on them: docs/MODEL.md, "What fusion may change".

A node is ANYWHERE: the definition fixes its bits; HERE: every build for one architecture has the same (a mathematical
function took part); or LOOSE: a product may lose its rounding in an addition, or an order of summing is free. Elements of a
loose node still have fixed values where the oracle's bound is 0: exact sums, comparisons that no error can turn.
"""
import numpy as np
import values as v
from model import Lit

LOOSE, HERE, ANYWHERE = range(3)

MOVES = {"neg", "-x", "transpose", "reshape", "broadcast", "slice", "concat", "pad", "gather", "where"}
ROUNDED_ONCE = {"abs", "relu", "min", "max", "clamp", "+", "-", "*", "/", "%", "sqrt", "cast", "iota", "and", "or", "not"} | set(v.COMPARE) | set(v.ROUNDING)
FUNCTIONS = {"rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "sigmoid", "silu", "//"}
ENDS_IN_PRODUCT = {"**", "gelu"}
ADDITIONS = {"+", "-"}


class Bits:
    """level: of its three; product: a rounding that an addition may drop; free: elements without a value of their own."""

    def __init__(self, level, product=False, free=False):
        self.level, self.product, self.free = level, product, free


def of_node(n, args, known):
    """args: Bits of the operands that are nodes; known: Values by id of the node."""
    level = min([ANYWHERE] + [a.level for a in args])
    free = any(a.free for a in args) or picks_freely(n, known)
    operands = n.nodes()
    if n.op == "input":
        return Bits(ANYWHERE)
    if n.op in MOVES:
        same = any(a.product and x.t == n.t for a, x in zip(args, operands))
        return Bits(level, same, free)
    if n.op == "cast":
        return Bits(level, args[0].product and operands[0].t == n.t, free)
    if n.op == "reduce":
        ordered = n.attrs["name"] == "mean" or (v.is_float(n.t) and n.attrs["name"] in ("sum", "prod"))
        return Bits(LOOSE if ordered else level, False, free)
    if n.op in ("matmul", "conv2d", "cumsum"):
        return Bits(LOOSE if v.is_float(n.t) else level, False, free)
    if n.op == "quantize":
        return Bits(level, False, free)
    if n.op == "dequantize":
        return Bits(level, True, free)
    if n.op in ADDITIONS and v.is_float(n.t):
        return Bits(LOOSE if any(a.product for a in args) else level, False, free)
    if n.op in ROUNDED_ONCE:
        return Bits(level, n.op == "*" and v.is_float(n.t), free)
    if n.op in FUNCTIONS:
        return Bits(level if not v.is_float(n.t) else min(level, HERE), False, free)
    if n.op in ENDS_IN_PRODUCT:
        return Bits(min(level, HERE) if v.is_float(n.t) else level, v.is_float(n.t), free)
    return Bits(LOOSE, False, free)


def picks_freely(n, known):
    """An integer division by zero, an extreme of nothing: any value is right, also another one each time."""
    if n.op in ("//", "%") and not v.is_float(n.t):
        y = n.args[1]
        return not isinstance(y, Lit) and bool((known[id(y)].a == 0).any())
    return n.op == "reduce" and n.attrs["name"] in ("max", "min", "argmax", "argmin") and known[id(n)].open().any()


def analyse(f, known):
    """A Bits for each output."""
    found = {}
    for n in f.nodes():
        found[id(n)] = of_node(n, [found[id(a)] for a in n.nodes()], known)
    return [found[id(o.node)] for o in f.outputs]


def disagree(bits, want, t, a, b, here):
    """'' or where two runs' outputs, as stored, differ though they must not. want: the oracle's Value as of the output."""
    same = a == b
    if v.is_float(t):
        x, y = v.decode(a, t), v.decode(b, t)
        same = same | (np.isnan(x) & np.isnan(y))
    if bits.level == ANYWHERE or (bits.level == HERE and here):
        fixed = ~want.open() if bits.free else np.ones(a.shape, bool)
    else:
        fixed = (want.e == 0) & ~want.open()
        same = same | (x == y) if v.is_float(t) else same  # orders may differ in the sign of a zero
    wrong = np.argwhere(fixed & ~same)
    if not len(wrong):
        return ""
    i = tuple(wrong[0])
    how = {ANYWHERE: "fixed anywhere", HERE: "fixed on one architecture", LOOSE: "fixed in value"}[bits.level]
    return f"{len(wrong)} of {a.size} differ, {how}, first at {list(map(int, i))}: {v.decode(a, t)[i]!r} and {v.decode(b, t)[i]!r} ({a[i]:#x}, {b[i]:#x})"
