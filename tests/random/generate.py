"""Random valid models. Generator(seed).function() is one function; sizes() and fill() make a case for it."""
import random
import numpy as np
import values as v
from model import Dim, Function, Lit, Node, Output, meet, scaled_type, sizes_of, ARITHMETIC, KEEP, REAL

MOST_ELEMENTS = 40000
EXTENTS = [1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33]
SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 130, 257, 300, 1000, 2500, 9000]
SMALL = ["f8e4m3", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "f4e2m1", "i4", "i4"]
TYPES = SMALL[::3] + ["f32"] * 8 + ["f16"] * 4 + ["bf16"] * 2 + ["f64"] * 2 + ["i32"] * 2 + ["i64", "i16", "i8", "u8", "bool"]
THEMES = {"integers": ["i64", "i32", "i32", "i16", "i8", "u8", "bool"], "narrow": ["f16", "bf16", "i8", "u8", "bool", "i16"],
          "small": SMALL + ["f16", "i8", "u8"]}
ONE = Dim.of(1)


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    # ---- the pool

    def function(self):
        r = self.r
        self.f, self.pool = Function(), []
        self.theme = r.choice(["ones", "square", "integers", "narrow", "small"] + ["any"] * 6)
        self.symbols = r.sample(["M", "N", "K"], 1 if self.theme == "square" else r.choice([0, 1, 1, 2, 2, 3]))
        for s in self.symbols:
            fact = {}
            if r.random() < 0.4:
                fact["min"] = r.choice([1, 1, 2, 4])
            if r.random() < 0.15:
                fact["multiple_of"] = r.choice([2, 4, 8])
            if r.random() < 0.1:
                fact["max"] = r.choice([64, 1000, 65536])
            self.f.facts[s] = fact
        for _ in range(r.choice([1, 1, 1, 2])):
            self.input(r.choice(THEMES.get(self.theme, TYPES)), [self.extent() for _ in range(r.choice([0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5]))])
        wanted = r.choice([1, 2, 3, 3, 4, 5, 6, 8, 11, 16])
        steps = [s for s in STEPS for _ in range(STEPS[s])]
        made = tries = 0
        while made < wanted and tries < 60:
            tries += 1
            n = r.choice(steps)(self)
            if n is None or len(n.shape) > 6 or not self.fits(n):
                continue
            n.inline = r.random() < 0.35
            self.pool.append(n)
            made += 1
        self.choose_outputs()
        self.inouts()
        self.constants()
        self.strides()
        self.types()
        return self.f

    def fits(self, n):
        """Not too large at middling sizes."""
        return int(np.prod([d.at({s: 8 for s in "MNK"}) for d in n.shape], dtype=object)) <= MOST_ELEMENTS

    def extent(self):
        r = self.r
        if self.theme == "ones" and r.random() < 0.6:
            return ONE
        if self.theme == "square" and r.random() < 0.6:
            return Dim.of(self.symbols[0])
        if self.symbols and r.random() < 0.6:
            d = Dim.of(r.choice(self.symbols))
            x = r.random()
            return d + r.randint(1, 3) if x < 0.06 else d * r.randint(2, 3) if x < 0.12 else self.quotient(d) if x < 0.15 else d
        return Dim.of(r.choice(EXTENTS) if r.random() < 0.97 else 0)

    def quotient(self, d):
        step = self.f.facts[str(d)].get("multiple_of")
        return Dim.of(self.r.choice([f"({d} // 2)", f"(({d} + 1) // 2)", f"(({d} + 3) // 4)"] + [f"({d} / {step})"] * 3 * (step is not None)))

    def input(self, t, shape, fill=None):
        r = self.r
        if t in v.PACKED and not self.packable(shape):
            t = r.choice(["f8e4m3", "i8"])
        if fill is None:
            if v.is_float(t):
                fill = r.choice(["normal", "normal", "small", "positive", "special"] if r.random() < 0.5 else ["normal", "small"])
            else:
                fill = "any" if r.random() < 0.1 else "small"
        n = Node("input", [], t, shape, fill=fill)
        self.pool.append(n)
        return n

    def packable(self, shape):
        """Whether an argument of that shape may hold two elements a byte: the last dimension is even for all to see."""
        def even(names): return any(self.f.facts.get(s, {}).get("multiple_of", 1) % 2 == 0 for s in names)
        return bool(shape) and all(c % 2 == 0 or even(names) for names, c in shape[-1].terms.items())

    def pick(self, good=lambda n: True):
        found = [n for n in self.pool if good(n)]
        if not found:
            return None
        return found[-1] if self.r.random() < 0.4 else self.r.choice(found)

    def inputs_left(self): return sum(n.op == "input" for n in self.pool) < 6

    def partner(self, x, t=None, full=False):
        """An operand that broadcasts with x: one there is, a new input, a number or x itself."""
        r = self.r
        found = [n for n in self.pool if (t is None or n.t == t) and merge(x.shape, n.shape) is not None and len(n.shape) > 0]
        if found and r.random() < 0.6:
            return r.choice(found)
        if not self.inputs_left():
            return r.choice(found) if found else None
        shape = list(x.shape)
        kind = r.random()
        if not full:
            if kind < 0.35:
                shape = shape[r.randint(0, len(shape)):]
            elif kind < 0.6:
                shape = [ONE if r.random() < 0.5 else d for d in shape]
            elif kind < 0.7 and len(shape) < 4:
                shape = [self.extent()] + shape
        return self.input(t or r.choice(THEMES.get(self.theme, TYPES)), shape)

    def number(self, t):
        r = self.r
        bound = sorted({s for n in self.pool if n.op == "input" for d in n.shape for s in d.symbols()})
        if bound and r.random() < 0.12 and t in ("f64", "f32", "i64", "i32"):
            return Lit(Dim.of(r.choice(bound)) + r.choice([0, 0, 1]) * (t != "i32"))
        if t in v.SMALL:
            return Lit(r.choice([0.5, 1.0, 2.0, 1, 4]))
        if v.is_float(t) or (t in ("i32", "i64", "i8") and r.random() < 0.1):
            return Lit(r.choice([0.5, 2.0, -1.5, 0.1, 3.0, 1e-3, 1, 2, -3]))
        return Lit(r.randint(0 if t == "u8" else -5, 7))

    # ---- outputs

    def choose_outputs(self):
        r, f = self.r, self.f
        made = [n for n in self.pool if n.op != "input"] or self.pool
        used = {id(a) for n in made for a in n.nodes()}
        leaves = [n for n in made if id(n) not in used]
        chosen = leaves[:4] if len(leaves) <= 4 else r.sample(leaves, 4)
        if r.random() < 0.4:
            chosen = chosen + [r.choice(made)]
        if r.random() < 0.05:
            chosen = chosen + [r.choice(self.pool)]
        if r.random() < 0.04:
            chosen = chosen + [chosen[0]]
        for n in chosen:
            if len(n.shape) > 5 and r.random() < 0.5 and n is not chosen[0]:
                continue
            t = n.t
            if v.is_float(t) and r.random() < 0.35:
                t = r.choice(["f32", "f16", "bf16", "f64"] * 2 + v.SMALL)
            if t in v.PACKED and not self.packable(n.shape):
                n, t = (n, "f32") if v.is_float(t) else (Node("cast", [n], "i8", n.shape), "i8")
            f.outputs.append(Output(n, t))
        if r.random() < 0.1:
            for o in f.outputs:
                same = [i for i in f.inputs() if i.t == o.t and i.shape == o.node.shape and i.shape]
                if same and r.random() < 0.7:
                    o.alias = r.choice(same)
                    break

    def inouts(self):
        """Inputs that become updated in place: one that fits an output, or a new one that takes some elements of it."""
        r, f = self.r, self.f
        if r.random() > 0.2:
            return
        for o in f.outputs:
            if o.alias or not o.node.shape or r.random() < 0.4:
                continue
            fitting = [n for n in f.inputs() if n.shape == o.node.shape and (n.t == o.node.t or v.is_float(n.t) and v.is_float(o.node.t))
                       and n is not o.node and not any(n in (p.alias, p.inout) for p in f.outputs)]
            if fitting and r.random() < 0.5:
                o.inout = r.choice(fitting)
            elif self.inputs_left():
                o.inout = self.input(o.t if v.is_float(o.t) else o.node.t, o.node.shape)
                o.node = self.updated(o.inout, o.node)
            if o.inout:
                o.t = o.inout.t

    def updated(self, old, new):
        """`old` with elements of `new` along an axis; both have one shape."""
        r, axis = self.r, self.r.randrange(len(old.shape))
        extent, kind = old.shape[axis].number(), r.random()
        if kind < 0.2:
            return new
        if kind < 0.5 and extent and extent > 1:
            at = r.randrange(extent)
            def cut(n, start, end):
                return Node("slice", [n], n.t, [Dim.of(end - start) if i == axis else d for i, d in enumerate(n.shape)],
                            {"slices": {axis: (Dim.of(start), Dim.of(end), 1)}})
            parts = [cut(old, 0, at)] * (at > 0) + [cut(new, at, at + 1)] + [cut(old, at + 1, extent)] * (at + 1 < extent)
            return Node("concat", parts, v.promote(old.t, new.t), old.shape, {"axis": axis})
        place = Node("iota", [], "i64", [d if i == axis else ONE for i, d in enumerate(old.shape)], {"axis": axis})
        here = Node(r.choice(["==", ">=", "<"]), [place, Lit(r.randint(0, 5))], "bool", place.shape)
        here.inline = r.random() < 0.5
        return Node("where", [here, new, old], v.promote(old.t, new.t), old.shape)

    def constants(self):
        """Inputs of known shape that become constants."""
        r, f = self.r, self.f
        if r.random() > 0.35:
            return
        for n in f.inputs():
            known = all(d.number() is not None for d in n.shape) and (not isinstance(n.fill, tuple) or n.fill[1].number())
            if known and r.random() < 0.6 and not any(n in (o.alias, o.inout) for o in f.outputs):
                n.data = fill(n, {}, np.random.default_rng(r.randrange(1 << 30)))

    def types(self):
        """Written for several types: what is right for one 16-bit float is right for the other."""
        arguments = [n.t for n in self.f.inputs() if not self.f.is_inout(n)]
        if arguments and self.r.random() < 0.1:
            t = self.r.choice(arguments)
            others = [] if any(n.t == t for n in self.f.constants()) else ["f16", "bf16"]  # their files have one type
            self.f.types = [t] + [u for u in others if t in ("f16", "bf16") and u != t and self.r.random() < 0.7]

    def strides(self):
        r, f = self.r, self.f
        often = r.choice([0.05, 0.05, 0.3, 0.6])
        aliased = [x for o in f.outputs if o.alias for x in (o, o.alias)]
        for i, n in enumerate(list(f.inputs()) + f.outputs):
            shape = n.shape if isinstance(n, Node) else n.node.shape
            if not isinstance(n, Node) and n.inout:
                continue
            if len(shape) > 0 and n.t not in v.PACKED and r.random() < often and not any(n is a for a in aliased):
                self.stride(n, shape, f"ld{i}")

    def stride(self, n, shape, name):
        """Any order of the axes in memory, padding, stride names anywhere; of an input also 0."""
        r = self.r
        n.order = list(range(len(shape)))[::-1]  # innermost first
        if r.random() < 0.4:
            r.shuffle(n.order)
        named = r.choice([0, 0, 0.3, 0.7, 1])
        n.strides, step = [None] * len(shape), Dim.of(r.choice([1, 1, 1, 1, 1, 2, 3]))
        for k, axis in enumerate(n.order):
            if (k > 0 and r.random() < named) or r.random() < named * 0.2:
                n.strides[axis] = Dim.of(f"{name}_{axis}")
                if r.random() < 0.3:
                    self.f.facts[f"{name}_{axis}"] = {"multiple_of": r.choice([2, 4, 8])}
                step = n.strides[axis]
            else:
                n.strides[axis] = step
            step = step * (shape[axis] if shape[axis].number() != 0 else ONE) + (r.choice([1, 2, 3, 4, 8]) if r.random() < 0.4 else 0)
        if isinstance(n, Node) and not self.f.is_inout(n) and r.random() < 0.12:
            n.strides[r.randrange(len(shape))] = Dim.of(0)


def schedule(f, r):
    """Wishes; those that cannot be built are refused with a reason, and that is right too."""
    nodes = [n for n in f.nodes() if n.op != "input"]
    products = [n for n in nodes if n.op == "matmul"]
    for n in r.sample(nodes, min(len(nodes), 1)) if not products else [r.choice(products)]:
        keys = []
        if n.op == "matmul" and r.random() < 0.8:
            keys.append("tile: [%d, %d, %d]" % (r.choice([16, 32, 64, 128]), r.choice([8, 16, 32, 64, 128]), r.choice([8, 16, 32, 64])))
        elif n.shape and r.random() < 0.5:
            keys.append(f"tile: {[r.choice([1, 1, 2, 4, 16, 32, 64]) for _ in n.shape]}")
        for key, choices in {"warps": [1, 2, 4, 8], "stages": [1, 2, 2, 3], "vector": [1, 2, 4, 8, 16], "unit": ["fma", "tensor"],
                             "split": [2, 3, 8], "raster": ["row", '"grouped:4"', "hilbert"], "swizzle": [0, 32, 64, 128]}.items():
            if r.random() < {"warps": 0.4, "vector": 0.3, "stages": 0.3, "split": 0.3}.get(key, 0.03):
                keys.append(f"{key}: {r.choice(choices)}")
        if keys:
            f.schedule.append((n, ", ".join(keys)))


def merge(a, b):
    out = []
    for i in range(max(len(a), len(b))):
        p = a[len(a) - 1 - i] if i < len(a) else ONE
        q = b[len(b) - 1 - i] if i < len(b) else ONE
        if p != q and p != ONE and q != ONE:
            return None
        out.insert(0, q if p == ONE else p)
    return out


# ---- steps: each gives a node or None

def unary(g):
    x = g.pick(lambda n: n.t != "bool")
    if not x:
        return None
    op = g.r.choice(["abs", "neg", "-x", "relu"] + list(v.UNARY) + list(v.ROUNDING))
    if x.t == "f8e8m0" and op in ("neg", "-x", "relu"):
        op = "abs"
    if op in ("abs", "neg", "-x", "relu"):
        return Node(op, [x], x.t, x.shape)
    if op in v.ROUNDING:
        return Node(op, [x], v.compute_type(x.t), x.shape)
    t = meet([x], REAL)
    if op in ("sqrt", "rsqrt", "log", "log2") and g.r.random() < 0.7:
        x = Node("abs", [x], x.t, x.shape)
        x.inline = True
    return Node(op, [x], t, x.shape)


def binary(g):
    x = g.pick()
    if not x:
        return None
    r = g.r
    if x.t == "bool":
        y = g.partner(x, "bool")
        if not y or y.t != "bool":
            return None
        if r.random() < 0.2:
            return Node("not", [x], "bool", x.shape)
        return Node(r.choice(["and", "or"]), [x, y], "bool", merge(x.shape, y.shape))
    op = r.choice(["+", "-", "*", "+", "-", "*", "/", "min", "max", "//", "%", "**"])
    if r.random() < 0.3:
        y = g.number(x.t)
        if op in ("//", "%") and isinstance(y.value, (int, float)) and y.value == 0:
            y = Lit(3)
        if op == "**":
            y = Lit(r.choice([2, 3, 0, 1])) if not v.is_float(x.t) else Lit(r.choice([2, 3, 0.5, -1, 1.5, 0, -2.0]))
            if not v.is_float(x.t) and y.value < 0:
                return None
    else:
        y = g.partner(x, x.t if r.random() < 0.75 else None)
        if y is None or y.t == "bool":
            return None
        if op == "**" and not v.is_float(meet([x, y], KEEP)):
            op = "*"
    args = [x, y] if op == "**" and isinstance(y, Lit) or r.random() < 0.7 else [y, x]
    t = meet(args, KEEP if op in ("min", "max") else REAL if op == "/" else ARITHMETIC)
    if isinstance(y, Lit) and isinstance(y.value, int) and t == "u8" and y.value < 0:
        return None
    if op in ("min", "max") and isinstance(y, Lit) and isinstance(y.value, Dim) and t not in ("f64", "f32", "i64", "i32"):
        return None
    return Node(op, args, t, merge(x.shape, [] if isinstance(y, Lit) else y.shape))


def compare(g):
    x = g.pick(lambda n: n.t != "bool")
    if not x:
        return None
    y = g.number(x.t) if g.r.random() < 0.4 else g.partner(x, x.t if g.r.random() < 0.8 else None)
    if y is None or (isinstance(y, Node) and y.t == "bool"):
        return None
    return Node(g.r.choice(list(v.COMPARE)), [x, y], "bool", merge(x.shape, [] if isinstance(y, Lit) else y.shape))


def where(g):
    r = g.r
    c = g.pick(lambda n: n.t == "bool")
    if not c or r.random() < 0.3:
        c = compare(g)
        if not c:
            return None
        c.inline = True
    x = g.partner(c)
    y = g.number(x.t) if x and x.t != "bool" and r.random() < 0.4 else x and g.partner(x, x.t if r.random() < 0.7 else None)
    if x is None or y is None:
        return None
    if isinstance(y, Lit) and v.is_float(x.t) and x.t not in v.SMALL and r.random() < 0.3:
        y = Lit(r.choice([float("inf"), float("-inf")]))
    shape = merge(c.shape, x.shape)
    shape = shape is not None and (merge(shape, y.shape) if isinstance(y, Node) else shape)
    if shape is None or shape is False:
        return None
    args = [x, y] if r.random() < 0.6 else [y, x]
    t = meet(args, KEEP)
    if isinstance(y, Lit) and isinstance(y.value, Dim) and t not in ("f64", "f32", "i64", "i32"):
        return None
    return Node("where", [c] + args, t, shape)


def clamp(g):
    x = g.pick(lambda n: n.t != "bool")
    if not x:
        return None
    if x.t in v.SMALL:
        low, high = g.r.choice([(0.5, 1.0), (1, 2)])
    elif v.is_float(x.t):
        low, high = g.r.choice([(-1.0, 1.0), (0.1, 2), (-3, 0.5)])
    else:
        low, high = g.r.choice([(0, 3), (1, 5)])
    return Node("clamp", [x, Lit(low), Lit(high)], x.t, x.shape)


def cast(g):
    x = g.pick()
    return x and Node("cast", [x], g.r.choice(v.WIDE * 3 + v.SMALL + v.INTS * 2 + ["bool"]), x.shape)


def reduction(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0)
    if not x:
        return None
    if r.random() < 0.3:  # of an expression
        e = (unary if r.random() < 0.5 else binary)(g)
        if e is not None and len(e.shape) and g.fits(e):
            e.inline, x = True, e
    name = r.choice(["sum", "sum", "sum", "mean", "mean", "prod", "max", "max", "min", "argmax", "argmin"])
    if x.t == "bool" and name in ("prod", "mean"):
        name = "sum"
    rank = len(x.shape)
    if r.random() < 0.15:
        axes = None
    elif name.startswith("arg"):
        axes = [r.randrange(rank)]
    else:
        axes = sorted(r.sample(range(rank), r.choice([1] * 3 + list(range(1, rank + 1)))))
    keep = r.random() < 0.4
    gone = set(range(rank)) if axes is None else set(axes)
    if name in ("max", "min", "argmax", "argmin") and any(x.shape[i].number() == 0 for i in gone):
        name = "sum"
    shape = [ONE if i in gone else d for i, d in enumerate(x.shape)] if keep else [d for i, d in enumerate(x.shape) if i not in gone]
    if name.startswith("arg"):
        t = "i64"
    elif name in ("max", "min"):
        t = x.t
    elif name == "mean":
        t = v.compute_type(x.t) if v.is_float(x.t) else "f32"
    else:
        t = v.accumulate_type(x.t)
    written = axes
    if axes is not None and r.random() < 0.3:
        written = [a - rank for a in axes]
    n = Node("reduce", [x], t, shape, {"name": name, "axes": written, "keep": keep, "list": r.random() < 0.2, "named": r.random() < 0.2})
    if len(x.shape) > 0 and r.random() < 0.5:  # used across the broadcast
        g.pool.append(n)
        wide = n.shape
        if merge(wide, x.shape) == x.shape and x.t != "bool" and n.t != "bool":
            op = r.choice(["-", "*", "/", "+", "<"])
            return Node(op, [x, n], "bool" if op == "<" else meet([x, n], REAL if op == "/" else ARITHMETIC), x.shape)
    return n


def matmul(g):
    r = g.r
    x = g.pick(lambda n: 1 <= len(n.shape) <= 4 and n.t in v.FLOATS + ["i8", "u8", "i4"] and n.t != "f8e8m0")
    if not x:
        return None
    ta = len(x.shape) > 1 and r.random() < 0.3
    tb = r.random() < 0.4
    k = x.shape[-2] if ta else x.shape[-1]
    found = [n for n in g.pool if n.t == x.t and 1 <= len(n.shape) <= 3]
    y = None
    r.shuffle(found)
    for n in found if r.random() < 0.5 else []:
        inner = n.shape[-1] if tb or len(n.shape) == 1 else n.shape[-2]
        if inner == k and (len(n.shape) < 3 or len(x.shape) < 3 or merge(x.shape[:-2], n.shape[:-2])):
            y = n
            break
    if y is None:
        if not g.inputs_left():
            return None
        if r.random() < 0.12:
            y = g.input(x.t, [k])
            if y.t != x.t:
                return None
        else:
            m = g.extent() if r.random() < 0.7 else Dim.of(r.choice([1, 8, 64, 65, 128]))
            batch = [] if r.random() < 0.6 or len(x.shape) < 2 else list(x.shape[:-2]) if r.random() < 0.7 else [g.extent()] if len(x.shape) == 2 else [ONE if r.random() < 0.5 else d for d in x.shape[:-2]]
            y = g.input(x.t, batch + ([m, k] if tb else [k, m]))
            if y.t != x.t:
                return None
    if len(y.shape) == 1:
        tb = False
    attrs = {"a": ta, "b": tb}
    if x.t == "f32" and r.random() < 0.15:
        attrs["precision"] = r.choice(["high", "fast"])
    rows = [] if len(x.shape) == 1 else [x.shape[-1] if ta else x.shape[-2]]
    columns = [] if len(y.shape) == 1 else [y.shape[-2] if tb else y.shape[-1]]
    batch = merge(x.shape[:-2], y.shape[:-2])
    if batch is None:
        return None
    t = v.compute_type(x.t) if v.is_float(x.t) else "i32"
    n = Node("matmul", [x, y], t, batch + rows + columns, attrs)
    return n


def transpose(g):
    x = g.pick(lambda n: len(n.shape) > 1)
    if not x:
        return None
    perm = g.r.sample(range(len(x.shape)), len(x.shape))
    return Node("transpose", [x], x.t, [x.shape[p] for p in perm], {"perm": perm})


def reshape(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0)
    if not x:
        return None
    shape = list(x.shape)
    for _ in range(r.randint(1, 2)):
        kind = r.random()
        i = r.randrange(len(shape)) if shape else 0
        step = shape and shape[i].name() and g.f.facts.get(shape[i].name(), {}).get("multiple_of")
        if step and r.random() < 0.5 and len(shape) < 6:
            parts = [Dim.of(f"({shape[i]} / {step})"), Dim.of(step)]
            shape[i:i + 1] = parts if r.random() < 0.5 else parts[::-1]
        elif kind < 0.4 and len(shape) > 1:
            i = r.randrange(len(shape) - 1)
            shape[i:i + 2] = [shape[i] * shape[i + 1]]
        elif kind < 0.6 and len(shape) < 5:
            shape.insert(r.randint(0, len(shape)), ONE)
        elif kind < 0.7 and ONE in shape:
            shape.remove(ONE)
        else:
            i = r.randrange(len(shape)) if shape else 0
            if shape and shape[i].terms:
                factor = int(np.gcd.reduce([c for c in shape[i].terms.values()]))
                divisors = [d for d in range(2, min(factor, 64) + 1) if factor % d == 0]
                if divisors and len(shape) < 6:
                    d = r.choice(divisors)
                    rest = Dim({k: c // d for k, c in shape[i].terms.items()})
                    shape[i:i + 1] = [rest, Dim.of(d)] if r.random() < 0.5 else [Dim.of(d), rest]
    if all(d.number() is not None for d in shape) and r.random() < 0.3:
        r.shuffle(shape)
    n = Node("reshape", [x], x.t, shape)
    known = [i for i, d in enumerate(shape) if all(e.number() not in (None, 0) for j, e in enumerate(shape) if j != i)]
    if known and r.random() < 0.3:
        i = r.choice(known)
        n.attrs["text"] = "[" + ", ".join("-1" if i == j else str(d) for j, d in enumerate(shape)) + "]"
    return n


def broadcast(g):
    r = g.r
    if r.random() < 0.15:
        value = r.choice([0.5, 2, -1.25])
        return Node("broadcast", [Lit(value)], "f32" if isinstance(value, float) else "i64", [g.extent() for _ in range(r.randint(1, 2))])
    x = g.pick(lambda n: len(n.shape) < 4)
    if not x:
        return None
    shape = [g.extent() if d == ONE else d for d in x.shape]
    if r.random() < 0.6:
        shape = [g.extent()] + shape
    return Node("broadcast", [x], x.t, shape)


def part(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0)
    if not x:
        return None
    shape, slices = list(x.shape), {}
    for axis in sorted(r.sample(range(len(shape)), r.randint(1, min(2, len(shape))))):
        d, size = shape[axis], shape[axis].number()
        if size is not None:
            start, end = r.randint(-size - 2, size + 2), r.randint(-size - 2, size + 2)
            if r.random() < 0.7:
                start, end = sorted([r.randint(0, size), r.randint(0, size)])
            step = r.choice([1, 1, 1, 2, 3])
            if r.random() < 0.2:
                step, start, end = -r.choice([1, 1, 2]), size - 1 - r.randint(0, size // 2), r.choice([-size - 1, 0])
            count = len(range(*slice(start, None if step < 0 and end < -size else end, step).indices(size)))
            shape[axis], slices[axis] = Dim.of(count), (Dim.of(start), Dim.of(end), step)
        elif d.name() and d.name() in g.symbols:
            least = g.f.facts[d.name()].get("min", 0)
            if r.random() < 0.3:
                slices[axis] = (Dim.of(-1), Dim.of(-2**40), -1)  # reversed
                continue
            if r.random() < 0.25:
                half = Dim.of(f"({d} // 2)")
                slices[axis], shape[axis] = r.choice([((Dim({}), half, 1), half), ((half, d, 1), d - half), ((Dim({}), d, 2), Dim.of(f"(({d} + 1) // 2)"))])
                continue
            start = r.randint(0, least)
            back = r.randint(0, least - start)
            end = d - back if not back or r.random() < 0.5 else Dim.of(-back)
            shape[axis], slices[axis] = d - (start + back), (Dim.of(start), end, 1)
    return slices and Node("slice", [x], x.t, shape, {"slices": slices}) or None


def concat(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0)
    if not x:
        return None
    axis = r.randrange(len(x.shape))
    def joins(n): return len(n.shape) == len(x.shape) and all(i == axis or d == e for i, (d, e) in enumerate(zip(x.shape, n.shape)))
    parts = [x]
    for _ in range(r.choice([1, 1, 2, 3])):
        found = [n for n in g.pool if joins(n) and (n.t == x.t or r.random() < 0.15)]
        if r.random() < 0.5 or not g.inputs_left():
            parts.insert(r.randint(0, len(parts)), r.choice(found) if found else x)
        else:
            shape = list(x.shape)
            shape[axis] = g.extent()
            y = g.input(x.t, shape)
            if y.t != x.t:
                return None
            parts.insert(r.randint(0, len(parts)), y)
    shape, t = list(x.shape), parts[0].t
    shape[axis] = Dim({})
    for p in parts:
        shape[axis], t = shape[axis] + p.shape[axis], v.promote(t, p.t)
    return Node("concat", parts, t, shape, {"axis": axis})


def pad(g):
    r = g.r
    x = g.pick(lambda n: 0 < len(n.shape) < 5)
    if not x:
        return None
    pads = [(Dim.of(r.choice([0, 0, 1, 3])), Dim.of(r.choice([0, 0, 1, 2, 5]))) for _ in x.shape]
    if g.symbols and r.random() < 0.15:
        pads[0] = (Dim.of(r.choice(g.symbols)), pads[0][1])
    value = r.choice([0, 0, 1, 2]) if x.t != "bool" else r.choice([0, 1])
    if v.is_float(x.t):
        value = r.choice([0, 0, -1.5, 0.1, float("-inf"), float("inf")]) if x.t not in v.SMALL else r.choice([1, 0.5, 2])
    return Node("pad", [x], x.t, [d + l + h for d, (l, h) in zip(x.shape, pads)], {"pads": pads, "value": value})


def gather(g):
    r = g.r
    x = g.pick(lambda n: 0 < len(n.shape) < 4)
    if not x:
        return None
    axis = r.randrange(len(x.shape))
    kind = r.random()
    if kind < 0.6 and g.inputs_left():
        t = r.choice(["i64", "i64", "i32", "i8", "i16", "u8"])
        index = g.input(t, [g.extent() for _ in range(r.choice([0, 1, 1, 1, 2]))], ("index", x.shape[axis]))
    elif kind < 0.8 and x.shape[axis].number():
        shape = [g.extent() for _ in range(r.choice([1, 1, 2]))]
        iota = Node("iota", [], "i64", shape, {"axis": r.randrange(len(shape))})
        index = Node("%", [iota, Lit(x.shape[axis])], "i64", shape)
        iota.inline = index.inline = True
    else:
        index = g.pick(lambda n: n.op == "reduce" and n.attrs["name"].startswith("arg"))
        if not index:
            return None
    return Node("gather", [x, index], x.t, x.shape[:axis] + index.shape + x.shape[axis + 1:], {"axis": axis})


def iota(g):
    shape = [g.extent() for _ in range(g.r.randint(1, 3))]
    return Node("iota", [], g.r.choice(["i64", "i32", "f32", "i8", "f16"]), shape, {"axis": g.r.randrange(len(shape))})


def softmax(g):
    x = g.pick(lambda n: len(n.shape) > 0 and n.t != "bool")
    if not x:
        return None
    return Node(g.r.choice(["softmax", "log_softmax"]), [x], meet([x], REAL), x.shape, {"axis": g.r.randrange(-len(x.shape), len(x.shape))})


def norm(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0 and v.is_float(n.t))
    if not x:
        return None
    axis = r.randrange(-len(x.shape), len(x.shape)) if r.random() < 0.4 else -1
    def parameter():
        found = [n for n in g.pool if n.t != "bool" and n.shape == [x.shape[axis]]]
        if found and (r.random() < 0.3 or not g.inputs_left()):
            return r.choice(found)
        return g.input(x.t if r.random() < 0.6 else "f32", [x.shape[axis]]) if g.inputs_left() else None
    args = [x] + [parameter() for _ in range(r.choice([1, 2]))]
    if None in args:
        return None
    return Node("layernorm" if len(args) == 3 else "rmsnorm", args, meet(args, REAL), x.shape, {"axis": axis, "eps": r.choice([1e-5, 1e-6, 0.1])})


def attention(g):
    """A product, its rows normalised, another product: three kernels."""
    r = g.r
    x = g.pick(lambda n: 2 <= len(n.shape) <= 4 and n.t in ("f32", "f16", "bf16", "f64"))
    if not x or sum(n.op == "input" for n in g.pool) > 4:
        return None
    batch, (m, d), t = x.shape[:-2], x.shape[-2:], x.t
    n, e = (g.extent() if r.random() < 0.6 else Dim.of(r.choice([64, 100, 128])) for _ in range(2))
    keys, values = g.input(t, batch + [n, d]), g.input(t, (batch if r.random() < 0.7 else []) + [n, e])
    s = Node("matmul", [x, keys], v.compute_type(t), batch + [m, n], {"b": True})
    if r.random() < 0.7:
        s = Node("*", [s, Lit(0.125)], s.t, s.shape)
    if r.random() < 0.3:
        rows = Node("iota", [], "i32", [m, ONE], {"axis": 0})
        columns = Node("iota", [], "i32", [n], {"axis": 0})
        seen = Node(">=", [rows, columns], "bool", [m, n])
        s = Node("where", [seen, s, Lit(float("-inf"))], s.t, s.shape)
    p = Node("softmax", [s], s.t, s.shape, {"axis": -1})
    made = [s, p] + ([Node("cast", [p], t, p.shape)] if p.t != t else [])
    if not all(g.fits(n) for n in made):
        return None
    g.pool += made
    return Node("matmul", [made[-1], values], v.compute_type(t), batch + [m, e])


def scores(g):
    """A product whose rows, columns or elements are reduced: tiles of the product may hold them."""
    r = g.r
    x = g.pick(lambda n: 2 <= len(n.shape) <= 4 and n.t in ("f32", "f16", "bf16", "f64", "i8"))
    if not x or not g.inputs_left():
        return None
    batch, (m, k), t = x.shape[:-2], x.shape[-2:], x.t
    n = g.extent() if r.random() < 0.3 else Dim.of(r.choice([8, 33, 64, 96, 100, 128, 256, 300]))
    y = g.input(t, (batch if r.random() < 0.7 else []) + [n, k])
    if y.t != t:
        return None
    p = Node("matmul", [x, y], v.compute_type(t) if v.is_float(t) else "i32", batch + [m, n], {"b": True})
    if not g.fits(p):
        return None
    if r.random() < 0.3:
        g.pool.append(p)
    if p.t != "i32" and r.random() < 0.4:
        p = Node("*", [p, Lit(0.125)], p.t, p.shape)
        p.inline = True
    if p.t != "i32" and r.random() < 0.5:
        return Node(r.choice(["softmax", "log_softmax"]), [p], p.t, p.shape, {"axis": r.choice([-1, -1, -2])})
    axes = r.choice([[-1], [-1], [-2], [-2, -1]])
    shape = [d for i, d in enumerate(p.shape) if i - len(p.shape) not in axes]
    return Node("reduce", [p], p.t, shape, {"name": r.choice(["sum", "max"]), "axes": axes, "keep": False, "list": False, "named": False})


def layer(g):
    """A product with bias and activation."""
    r = g.r
    x = matmul(g)
    if not x or not g.fits(x) or not v.is_float(x.t):
        return x
    g.pool.append(x)
    if g.inputs_left() and x.shape:
        b = g.input(r.choice(["f32", "f16", x.t]), x.shape[-1:])
        x = Node("+", [x, b], meet([x, b], ARITHMETIC), x.shape)
        x.inline = True
    op = r.choice(["relu", "gelu", "silu", "tanh", "sigmoid"])
    return Node(op, [x], x.t, x.shape)


def conv2d(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) == 4 and n.t in v.FLOATS + ["i8", "u8", "i4"] and n.t != "f8e8m0")
    if x is None or r.random() < 0.6:
        if not g.inputs_left():
            return None
        channels = Dim.of(r.choice([1, 2, 3, 4, 6, 8])) if r.random() < 0.8 else g.extent()
        x = g.input(r.choice(["f32", "f32", "f16", "bf16", "f64", "i8", "u8", "f8e4m3"]), [g.extent() if r.random() < 0.5 else ONE, channels] + [Dim.of(r.choice([1, 3, 5, 7, 8, 12])) if r.random() < 0.5 else g.extent() for _ in range(2)])
    c, groups = x.shape[1], 1
    if c.number() and r.random() < 0.4:
        groups = r.choice([d for d in range(1, c.number() + 1) if c.number() % d == 0])
    places = [(top := r.choice([0, 0, 0, 1, 2]), top if r.random() < 0.7 else r.choice([0, 1])) for _ in range(2)]
    stride, dilation = [tuple(r.choice(choices) for _ in range(2)) if r.random() < 0.3 else (r.choice(choices),) * 2 for choices in ([1, 1, 2, 3], [1, 1, 1, 2])]
    kernel, extents = [], []
    for i in range(2):
        d = x.shape[2 + i]
        room = (d.number() if d.number() is not None else g.f.facts.get(d.name(), {}).get("min", 0) if d.name() else 0) + sum(places[i])
        fitting = [k for k in (1, 2, 3, 5) if dilation[i] * (k - 1) + 1 <= room]
        if not fitting:
            return None
        kernel.append(r.choice(fitting))
        free = d + (sum(places[i]) - dilation[i] * (kernel[i] - 1) - 1)
        if free.number() is not None:
            extents.append(Dim.of(free.number() // stride[i] + 1))
        else:
            extents.append(free + 1 if stride[i] == 1 else Dim.of(f"(({free}) // {stride[i]})") + 1)
    out = Dim.of(groups * r.choice([1, 2, 3, 8])) if groups > 1 or r.random() < 0.8 else g.extent()
    inner = Dim.of(c.number() // groups) if c.number() is not None else c
    if not g.inputs_left():
        return None
    w = g.input(x.t, [out, inner] + [Dim.of(k) for k in kernel])
    if w.t != x.t:
        return None
    t = v.compute_type(x.t) if v.is_float(x.t) else "i32"
    return Node("conv2d", [x, w], t, [x.shape[0], out] + extents, {"around": tuple(places), "stride": stride, "dilation": dilation, "groups": groups})


def divided(g, d, n):
    """d / n when that is a dimension for all to see."""
    if all(c % n == 0 for c in d.terms.values()) and d.terms:
        return Dim({k: c // n for k, c in d.terms.items()})
    step = d.name() and g.f.facts.get(d.name(), {}).get("multiple_of", 1)
    return Dim.of(f"({d} / {n})") if step and step % n == 0 else None


def rope(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0 and n.t != "bool" and divided(g, n.shape[-1], 2) is not None)
    if not x or sum(n.op == "input" for n in g.pool) > 4:
        return None
    half = divided(g, x.shape[-1], 2)
    shape = x.shape[:-1] + [half]
    if r.random() < 0.7:
        shape = shape[r.randint(0, len(shape) - 1):]
    t = r.choice(["f32", "f32", "f16", x.t if v.is_float(x.t) else "f32"])
    args = [x, g.input(t, shape), g.input(t, shape if r.random() < 0.8 else [half])]
    return Node("rope", args, meet(args, REAL), x.shape)


def scale_for(g, x):
    """A scale for x and its block."""
    r = g.r
    if r.random() < 0.15:
        return Lit(r.choice([0.5, 2.0, 0.1])), None
    blocks = [b for b in (1, 2, 4, 8, 16, 32) if divided(g, x.shape[-1], b) is not None]
    block = r.choice(blocks) if blocks and r.random() < 0.7 else None
    shape = x.shape[:-1] + [divided(g, x.shape[-1], block) if block else ONE]
    if r.random() < 0.4:
        shape = [ONE if r.random() < 0.4 else d for d in shape]
    elif r.random() < 0.3:
        shape = shape[r.randint(0, len(shape) - 1):]
    if not block and r.random() < 0.2:
        shape = []
    if not g.inputs_left():
        return None, None
    return g.input(r.choice(["f32", "f16", "bf16", "f8e8m0", "f8e8m0", "f8e4m3", "f64"]), shape, "positive"), block


def quantize(g):
    x = g.pick(lambda n: len(n.shape) > 0 and n.t != "bool")
    scale, block = scale_for(g, x) if x else (None, None)
    if scale is None:
        return None
    return Node("quantize", [x, scale], g.r.choice(["i8", "i8", "u8", "i4", "f8e4m3", "f8e5m2", "f4e2m1", "f4e2m1", "i16", "f16"]), x.shape, {"block": block})


def dequantize(g):
    r = g.r
    x = g.pick(lambda n: len(n.shape) > 0 and n.t != "bool")
    if x and x.t in WIDER and r.random() < 0.7 and g.inputs_left():
        x = g.input(r.choice(["i8", "i4", "f8e4m3", "f4e2m1"]), x.shape)
    scale, block = scale_for(g, x) if x else (None, None)
    if scale is None:
        return None
    n = Node("dequantize", [x, scale], "f32", x.shape, {"block": block})
    n.t = scaled_type(n)
    return n


def cumsum(g):
    r, x = g.r, g.pick(lambda n: len(n.shape) > 0)
    attrs = {"axis": r.randrange(-len(x.shape), len(x.shape)), "word": r.random() < 0.5, "exclusive": r.random() < 0.3, "reverse": r.random() < 0.3} if x else {}
    return x and Node("cumsum", [x], v.accumulate_type(x.t), x.shape, attrs)


WIDER = ["f64", "f32", "f16", "bf16", "i64", "i32", "i16"]
STEPS = {conv2d: 4, cumsum: 3, rope: 2, quantize: 3, dequantize: 2, unary: 9, binary: 12, compare: 2, where: 4, clamp: 1, cast: 3, reduction: 13, matmul: 6, transpose: 3, reshape: 4, broadcast: 2,
         part: 3, concat: 3, pad: 2, gather: 2, iota: 1, softmax: 3, norm: 2,
         attention: 1, layer: 2, scores: 2}


# ---- cases

def choose_sizes(f, r):
    """Sizes that facts allow and that keep every value small; None when there are none."""
    symbols = sorted(f.symbols())
    for attempt in range(60):
        sizes = {}
        for s in symbols:
            fact = f.facts.get(s, {})
            step = fact.get("multiple_of", 1)
            n = r.choice(SIZES if attempt < 30 else [0, 1, 2, 3, 5, 8, 16])
            n = max(n, fact.get("min", 0))
            sizes[s] = min(-(-n // step) * step, fact.get("max", 1 << 30) // step * step)
        least = strides_need(f, sizes, r)
        sizes.update(least)
        if acceptable(f, sizes):
            return sizes
    return None


def strides_need(f, sizes, r):
    """Stride names: at least what the axes further in span."""
    out = {}
    for n in list(f.inputs()) + f.outputs:
        if not n.strides:
            continue
        shape, span = sizes_of(n.shape if isinstance(n, Node) else n.node.shape, sizes), 1
        for axis in n.order:
            name = n.strides[axis].name()
            if name and name.startswith("ld") and name not in out:
                step = f.facts.get(name, {}).get("multiple_of", 1)
                out[name] = -(-(span + r.choice([0, 0, 1, 3, 4])) // step) * step
            span += max(shape[axis] - 1, 0) * n.strides[axis].at({**sizes, **out})
    return out


def memory_of(n, shape, sizes):
    """Elements that the argument's buffer holds."""
    return 1 + sum(max(e - 1, 0) * s.at(sizes) for e, s in zip(shape, n.strides))


def acceptable(f, sizes):
    work = 0
    for n in f.nodes():
        shape = sizes_of(n.shape, sizes)
        elements = int(np.prod(shape, dtype=object))
        if elements > MOST_ELEMENTS or elements < 0 or any(e < 0 for e in shape):
            return False
        if n.op == "matmul":
            work += elements * n.args[0].shape[-2 if n.attrs.get("a") else -1].at(sizes)
        if n.op == "conv2d":
            work += elements * int(np.prod(sizes_of(n.args[1].shape[1:], sizes), dtype=object))
        if n.op == "gather" and elements and n.args[0].shape[n.attrs["axis"]].at(sizes) < 1:
            return False
        if n.op == "input" and isinstance(n.fill, tuple) and elements and n.fill[1].at(sizes) < 1:
            return False
        if n.op == "input" and isinstance(n.fill, tuple) and n.t in ("i8", "u8") and n.fill[1].at(sizes) > 127:
            return False
        if n.op in ("//", "%") and isinstance(n.args[1], Lit) and n.args[1].at(sizes) == 0:
            return False
    for n in list(f.inputs()) + f.outputs:
        shape = n.shape if isinstance(n, Node) else n.node.shape
        if n.strides and (any(s.at(sizes) < 0 for s in n.strides) or memory_of(n, sizes_of(shape, sizes), sizes) > 8 * MOST_ELEMENTS):
            return False
    return work < 3_000_000


def fill(n, sizes, rng):
    """Values for an input, bf16 as f32."""
    shape = sizes_of(n.shape, sizes)
    if n.strides:  # along a stride of 0 all elements are one
        shape = tuple(1 if s.at(sizes) == 0 and e else e for e, s in zip(shape, n.strides))
    if isinstance(n.fill, tuple):
        extent = max(n.fill[1].at(sizes), 1)
        a = rng.integers(0 if n.t == "u8" else -extent, extent, shape)
    elif n.t == "bool":
        a = rng.random(shape) < 0.5
    elif v.is_int(n.t):
        a = rng.integers(v.least(n.t), v.most(n.t), shape, endpoint=True) if n.fill == "any" else rng.integers(max(v.least(n.t), -8), min(9, v.most(n.t) + 1), shape)
    else:
        a = rng.standard_normal(shape) * rng.choice([0.3, 1, 1, 3])
        if n.fill == "small":
            a = np.rint(a * 2)
        elif n.fill == "positive":
            a = np.abs(a) + 0.1
        elif n.fill == "special":
            hit = rng.random(shape) < 0.05
            a = np.where(hit, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 60000.0], shape), a)
    a = np.broadcast_to(np.asarray(a), sizes_of(n.shape, sizes))
    if n.t == "f8e8m0" and n.fill != "special":
        a = np.abs(a)
    return np.ascontiguousarray(v.rounded(a, n.t)).reshape(a.shape)
