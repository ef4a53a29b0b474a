"""A model as data: dimensions, nodes, a function; its text for kc and its value for the oracle."""
import re
import numpy as np
import values as v


NAME = re.compile(r"[A-Za-z_]\w*")


class Dim:
    """A polynomial in symbols: {(names, sorted): coefficient}. A name may be a quotient such as (M // 2), known by its text."""

    def __init__(self, terms):
        self.terms = {k: c for k, c in terms.items() if c}

    @staticmethod
    def of(x):
        return x if isinstance(x, Dim) else Dim({(): x}) if isinstance(x, int) else Dim({(x,): 1})

    def __add__(self, other):
        terms = dict(self.terms)
        for k, c in Dim.of(other).terms.items():
            terms[k] = terms.get(k, 0) + c
        return Dim(terms)

    def __mul__(self, other):
        terms = {}
        for k, c in self.terms.items():
            for l, d in Dim.of(other).terms.items():
                m = tuple(sorted(k + l))
                terms[m] = terms.get(m, 0) + c * d
        return Dim(terms)

    def __sub__(self, other): return self + Dim.of(other) * -1
    def __eq__(self, other): return isinstance(other, (Dim, int, str)) and self.terms == Dim.of(other).terms
    def __hash__(self): return hash(frozenset(self.terms.items()))
    def number(self): return self.terms.get((), 0) if set(self.terms) <= {()} else None
    def symbols(self): return {n for k in self.terms for s in k for n in NAME.findall(s)}
    def at(self, sizes): return sum(c * int(np.prod([sizes[s] if s in sizes else quotient(s, sizes) for s in k], dtype=object)) for k, c in self.terms.items())
    def name(self): return str(self) if len(self.terms) == 1 and list(self.terms.values()) == [1] and len(list(self.terms)[0]) == 1 and str(self)[0] != "(" else None

    def replace(self, symbol, with_):
        out = Dim({})
        for k, c in self.terms.items():
            term = Dim({tuple(s for s in k if s != symbol): c})
            for _ in range(k.count(symbol)):
                term = term * with_
            out = out + term
        return out

    def __str__(self):
        text = ""
        for k, c in sorted(self.terms.items(), key=lambda t: (not t[0], t[1] < 0, t[0])):
            part = " * ".join(([str(abs(c))] if abs(c) != 1 or not k else []) + list(k))
            text += (" - " if c < 0 else " + ") + part if text else ("-" if c < 0 else "") + part
        return text or "0"


def quotient(text, sizes): return eval(text.replace(" / ", " // "), {}, dict(sizes))
def shape_text(shape): return "[" + ", ".join(map(str, shape)) + "]"
def sizes_of(shape, sizes): return tuple(d.at(sizes) for d in shape)


class Lit:
    """A number, or a dimension, without a type."""

    def __init__(self, value):
        self.value = value

    def text(self):
        if isinstance(self.value, Dim):
            return f"({self.value})" if len(self.value.terms) > 1 else str(self.value)
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, float) and np.isinf(self.value):
            return "inf" if self.value > 0 else "-inf"
        return f"({self.value!r})" if self.value < 0 else repr(self.value)

    def is_real(self): return isinstance(self.value, float)
    def at(self, sizes): return self.value.at(sizes) if isinstance(self.value, Dim) else self.value


class Node:
    """op 'input' has no args. fill: what an input's values are like, ('index', Dim) for those that index a dimension."""

    def __init__(self, op, args, t, shape, attrs=None, fill=None):
        self.op, self.args, self.t, self.shape = op, list(args), t, [Dim.of(d) for d in shape]
        self.attrs, self.fill, self.inline, self.name = attrs or {}, fill, False, None
        self.data = None  # of an input that is a constant: its values
        self.strides = self.order = None  # of an input or output: Dims, and the axes, innermost first

    def nodes(self): return [a for a in self.args if isinstance(a, Node)]


class Output:
    """inout: the input that it is the new contents of; then that one's strides are its own."""

    def __init__(self, node, t, inout=None):
        self.node, self.t, self.strides, self.order, self.alias, self.inout, self.name = node, t, None, None, None, inout, None


class Function:
    def __init__(self):
        self.facts, self.outputs, self.schedule = {}, [], []  # facts: {symbol: {min, max, multiple_of}}; schedule: [(node, keys)]
        self.types = []  # the function is written for these types, of which the first is the one that nodes have

    def nodes(self):
        """Those that outputs need, operands first, in the order of making."""
        seen, out = set(), []

        def visit(n):
            if id(n) in seen:
                return
            seen.add(id(n))
            for a in n.nodes():
                visit(a)
            out.append(n)
        for o in self.outputs:
            visit(o.node)
            if o.inout:
                visit(o.inout)
        return out

    def instance(self, name): return f"{name}_{self.types[0]}" if self.types else name
    def is_inout(self, n): return any(o.inout is n for o in self.outputs)
    def inputs(self): return [n for n in self.nodes() if n.op == "input" and n.data is None]
    def constants(self): return [n for n in self.nodes() if n.op == "input" and n.data is not None]

    def symbols(self):
        found = set()
        for n in self.nodes():
            for d in n.shape + list(n.strides or []):
                found |= d.symbols()
            for a in n.args:
                if isinstance(a, Lit) and isinstance(a.value, Dim):
                    found |= a.value.symbols()
            for d in attribute_dims(n):
                found |= d.symbols()
        for o in self.outputs:
            for d in o.strides or []:
                found |= d.symbols()
        return found

    def write_constants(self, name, folder):
        """The files that text(name) names."""
        for n in self.constants():
            np.save(f"{folder}/{name}_{n.name}.npy", v.filed(n.data, n.t))

    def bare(self):
        found = set()
        for n in self.inputs():
            found |= {d.name() for d in n.shape + list(n.strides or []) if d.name()}
        return found

    # ---- text

    def text(self, name):
        text = self.plain_text(name)
        if self.types:
            text = re.sub(rf'(: |type: )"{self.types[0]}(["[])', r'\1"T\2', text)
            text = re.sub(rf'(, |dtype=)"{self.types[0]}"\)', r"\1T)", text)
            text = text.replace("    inputs:", f"    types: {{T: [{', '.join(self.types)}]}}\n    inputs:", 1)
        return text

    def plain_text(self, name):
        nodes = self.nodes()
        uses = {}
        for n in nodes:
            for a in n.nodes():
                uses[id(a)] = uses.get(id(a), 0) + 1
        for i, n in enumerate(n for n in nodes if n.op == "input"):
            n.name = f"x{i}"
        lines, first_output = [], {}
        for i, o in enumerate(self.outputs):
            o.name = o.inout.name if o.inout else f"y{i}"
            if o.node.op != "input" and not o.inout:
                first_output.setdefault(id(o.node), o.name)
        count = 0
        for n in nodes:
            if n.op == "input":
                continue
            n.inlined = n.inline and uses.get(id(n), 0) == 1 and not any(o.node is n for o in self.outputs)
            if n.inlined:
                continue
            n.name = first_output.get(id(n))
            if not n.name:
                n.name, count = f"t{count}", count + 1
            lines.append(f"{n.name} = {expression(n, True)}")
        old = {}  # the contents of an inout that another result takes over, under a name that does not change
        for o in self.outputs:
            if o.node.op == "input" and self.is_inout(o.node) and o.node is not o.inout:
                if id(o.node) in old:
                    continue
                old[id(o.node)] = f"old_{o.node.name}"
                lines.append(f"old_{o.node.name} = {o.node.name}")
        for o in sorted(self.outputs, key=lambda o: o.inout is not None):  # then names of inouts are new contents
            value = old.get(id(o.node), o.node.name)
            if value != o.name:
                lines.append(f"{o.name} = {value}")
        used = self.symbols()
        declared = {s for n in self.inputs() for d in n.shape for s in d.symbols()} | {s for o in self.outputs for d in o.node.shape for s in d.symbols()}
        facts = {s: f or {"min": 0} for s, f in self.facts.items() if s in used and (f or s not in declared)}
        out = f"  {name}:\n"
        if facts:
            out += "    dims: {" + ", ".join(s + ": {" + ", ".join(f"{k}: {x}" for k, x in f.items()) + "}" for s, f in facts.items()) + "}\n"
        for key, kept in (("inputs", lambda n: not self.is_inout(n)), ("inouts", self.is_inout)):
            arguments = [argument(n.name, n.t, n.shape, n.strides) for n in self.inputs() if kept(n)]
            out += f"    {key}:\n" + "".join(arguments) if arguments else ""
        stored = [f'      {n.name}: {{file: {name}_{n.name}.npy, type: "{n.t}{shape_text(n.shape) if n.shape else ""}"}}\n' for n in self.constants()]
        out += "    constants:\n" + "".join(stored) if stored else ""
        arguments = [argument(o.name, o.t, o.node.shape, o.strides, o.alias and o.alias.name) for o in self.outputs if not o.inout]
        out += "    outputs:\n" + "".join(arguments) if arguments else ""
        out += "    body: |\n" + "".join(f"      {l}\n" for l in lines)
        wishes = [(n, keys) for n, keys in self.schedule if any(n is m for m in nodes) and n.op != "input" and not n.inlined]
        return out + ("    schedule:\n" if wishes else "") + "".join(f'      - {{target: "cuda", kernel: {n.name}, {keys}}}\n' for n, keys in wishes)

    # ---- values

    def evaluate(self, sizes, inputs):
        """inputs: {name: array of the type, bf16 as f32}. A list of Values, one an output; `known` has those of all nodes."""
        known = self.known = {}
        for n in self.nodes():
            if n.op == "input":
                known[id(n)] = v.exact(inputs[n.name] if n.data is None else n.data, n.t)
                continue
            args = [known[id(a)] if isinstance(a, Node) else a for a in n.args]
            r = known[id(n)] = EVALUATE[n.op](n, args, sizes)
            want = sizes_of(n.shape, sizes)
            if r.shape != want or r.t != n.t:
                raise Exception(f"the generator is wrong: {expression(n, True)} has {n.t}{want}, its value {r.t}{r.shape}")
        return [known[id(o.node)] for o in self.outputs]


def argument(name, t, shape, strides, alias=None):
    text = f"{t}{shape_text(shape)}" if shape else t
    if strides is None and not alias:
        return f'      {name}: "{text}"\n'
    out = f'      {name}:\n        type: "{text}"\n'
    if strides is not None:
        out += f"        strides: {shape_text(strides)}\n"
    return out + (f"        alias: {alias}\n" if alias else "")


def attribute_dims(n):
    """Dimensions that stand in attributes."""
    out = list(n.attrs.get("bounds", []))
    out += [d for s, e, step in n.attrs.get("slices", {}).values() for d in (s, e)]
    return out + [d for pair in n.attrs.get("pads", []) for d in pair]


# ---- text of expressions

def expression(n, top=False):
    if isinstance(n, Lit):
        return n.text()
    if n.op == "input" or not (top or n.inlined):
        return n.name
    a = [expression(x) for x in n.args]
    return RENDER[n.op](n, a) if n.op in RENDER else f"{n.op}({', '.join(a)})"


def infix(op): return lambda n, a: f"({a[0]} {op} {a[1]})"


def reduction_text(n, a):
    axes = n.attrs["axes"]
    named = n.attrs.get("named") and axes is not None and [n.args[0].shape[i] for i in axes]
    written = [d.name() if named and d.name() and n.args[0].shape.count(d) == 1 else i for i, d in zip(axes or [], named or axes or [])]
    axis = "" if axes is None else f", axis={written[0] if len(axes) == 1 and not n.attrs.get('list') else '[' + ', '.join(map(str, written)) + ']'}"
    return f"{n.attrs['name']}({a[0]}{axis}{', keepdims=true' if n.attrs['keep'] else ''})"


def slice_text(n, a):
    s = n.attrs["slices"]
    text = f"slice({a[0]}, [{', '.join(str(x[0]) for x in s.values())}], [{', '.join(str(x[1]) for x in s.values())}], axes={list(s)}"
    return text + (f", steps={[x[2] for x in s.values()]})" if any(x[2] != 1 for x in s.values()) else ")")


def pads_text(n, a):
    pads = "[" + ", ".join(f"[{l}, {h}]" for l, h in n.attrs["pads"]) + "]"
    return f"pad({a[0]}, {pads}" + (f", value={Lit(n.attrs['value']).text()})" if n.attrs["value"] else ")")


def matmul_text(n, a):
    text = "".join(f", transpose_{s}=true" for s in "ab" if n.attrs.get(s))
    precision = n.attrs.get("precision", "ieee")
    return f"matmul({a[0]}, {a[1]}{text}" + (f', precision="{precision}")' if precision != "ieee" else ")")


def conv_text(n, a):
    s = n.attrs
    (top, bottom), (left, right) = s["around"]
    padding = "" if not (top or bottom or left or right) else f", padding={top}" if top == bottom == left == right else f", padding=[[{top}, {bottom}], [{left}, {right}]]"
    pairs = "".join(f", {key}={list(s[key]) if s[key][0] != s[key][1] else s[key][0]}" for key in ("stride", "dilation") if s[key] != (1, 1))
    return f"conv2d({a[0]}, {a[1]}{pairs}{padding}{', groups=%s' % s['groups'] if s['groups'] != 1 else ''})"


def scaled_text(n, a):
    block = f", block={n.attrs['block']}" if n.attrs["block"] else ""
    return f"{n.op}({a[0]}, {a[1]}{block}" + (f', dtype="{n.t}")' if n.op == "quantize" else ")")


RENDER = {op: infix(op) for op in ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or"]}
RENDER.update({
    "not": lambda n, a: f"(not {a[0]})",
    "-x": lambda n, a: f"(-{a[0]})",
    "cast": lambda n, a: f'cast({a[0]}, "{n.t}")',
    "reduce": reduction_text,
    "matmul": matmul_text,
    "transpose": lambda n, a: f"transpose({a[0]}, {n.attrs['perm']})",
    "reshape": lambda n, a: f"reshape({a[0]}, {n.attrs.get('text') or shape_text(n.shape)})",
    "broadcast": lambda n, a: f"broadcast({a[0]}, {shape_text(n.shape)})",
    "slice": slice_text,
    "concat": lambda n, a: f"concat([{', '.join(a)}], axis={n.attrs['axis']})",
    "pad": pads_text,
    "gather": lambda n, a: f"gather({a[0]}, {a[1]}, axis={n.attrs['axis']})",
    "iota": lambda n, a: f'iota({shape_text(n.shape)}, axis={n.attrs["axis"]}, dtype="{n.t}")',
    "cumsum": lambda n, a: f"cumsum({a[0]}, {'axis=' * n.attrs['word']}{n.attrs['axis']}{', exclusive=true' * n.attrs['exclusive']}{', reverse=true' * n.attrs['reverse']})",
    "conv2d": conv_text, "quantize": scaled_text, "dequantize": scaled_text,
    "softmax": lambda n, a: f"softmax({a[0]}, axis={n.attrs['axis']})",
    "log_softmax": lambda n, a: f"log_softmax({a[0]}, axis={n.attrs['axis']})",
    "layernorm": lambda n, a: f"layernorm({', '.join(a)}, axis={n.attrs['axis']}, eps={n.attrs['eps']!r})",
    "rmsnorm": lambda n, a: f"rmsnorm({', '.join(a)}, axis={n.attrs['axis']}, eps={n.attrs['eps']!r})",
})


# ---- types: which type operands meet in; `t` of a result follows from it

KEEP, ARITHMETIC, REAL, COMPARISON = range(4)


def meet(args, how):
    strong = [a.t for a in args if not isinstance(a, Lit)]
    t = None
    for one in strong:
        t = v.promote(t, one) if t else one
    real = any(isinstance(a, Lit) and a.is_real() for a in args)
    if t is None:
        t = "f32" if real else "i64"
    elif real and not v.is_float(t):
        t = "f32"
    elif t == "bool" and any(isinstance(a, Lit) and not isinstance(a.value, bool) for a in args):
        t = "i64"
    if how == ARITHMETIC:
        return v.compute_type(t)
    if how == REAL:
        return "f32" if v.is_int(t) else v.compute_type(t)
    if how == COMPARISON and v.is_float(t) and v.BITS[t] <= 16:
        for a in args:
            if isinstance(a, Lit) and (isinstance(a.value, Dim) or v.round_to(np.asarray(float(a.value)), t) != a.value):
                return "f32"
    return t


HOW = {**{op: ARITHMETIC for op in ["+", "-", "*", "//", "%", "**"]}, "/": REAL, **{op: COMPARISON for op in v.COMPARE},
       **{op: REAL for op in v.UNARY}, **{op: KEEP for op in ["abs", "neg", "-x", "relu", "min", "max", "clamp", "where"]},
       **{op: REAL for op in v.ROUNDING}}


def met(n, args, sizes, skip=0):
    """The operands in the type they meet in."""
    t = meet(n.args[skip:], HOW[n.op])
    return [v.literal(a.at(sizes), t) if isinstance(a, Lit) else v.cast(a, t) for a in args[skip:]]


# ---- values of expressions

def eval_binary(n, args, sizes):
    x, y = met(n, args, sizes)
    return v.FLOAT_BINARY[n.op](x, y) if v.is_float(x.t) else v.integer(n.op, x, y)


def eval_unary(n, args, sizes):
    if n.op in v.ROUNDING:
        if not v.is_float(args[0].t):
            return args[0]
        return v.ROUNDING[n.op](met(n, args, sizes)[0])
    return v.UNARY[n.op](met(n, args, sizes)[0])


def eval_clamp(n, args, sizes):
    x, low, high = met(n, args, sizes)
    return v.smaller(v.larger(x, low), high)


def eval_reduce(n, args, sizes):
    x, name, axes, keep = args[0], n.attrs["name"], n.attrs["axes"], n.attrs["keep"]
    if name in ("argmax", "argmin"):
        axis = None if axes is None else axes[0] % len(x.shape)
        return v.index_of(x, axis, keep, name == "argmax")
    axes = tuple(range(len(x.shape))) if axes is None else tuple(a % len(x.shape) for a in axes)
    if name in ("max", "min"):
        return v.extreme(x, axes, keep, name == "max")
    x = v.cast(x, v.accumulate_type(x.t) if name != "mean" else "f32" if not v.is_float(x.t) else v.compute_type(x.t))
    return {"sum": v.total, "prod": v.product, "mean": v.mean}[name](x, axes, keep)


def both(x, f):
    """A movement: of the elements and of their bounds."""
    return v.Value(f(x.a), f(x.e), x.t)


def eval_matmul(n, args, sizes):
    x, y = args
    if n.attrs.get("a"):
        x = both(x, lambda a: np.swapaxes(a, -1, -2))
    if n.attrs.get("b"):
        y = both(y, lambda a: np.swapaxes(a, -1, -2))
    return v.matmul(x, y, n.attrs.get("precision", "ieee") if x.t == "f32" else "ieee")


def eval_slice(n, args, sizes):
    index = [slice(None)] * len(args[0].shape)
    for axis, (start, end, step) in n.attrs["slices"].items():
        start, end = start.at(sizes), end.at(sizes)
        if step < 0 and end < -args[0].shape[axis]:
            end = None
        index[axis] = slice(start, end, step)
    return both(args[0], lambda a: a[tuple(index)])


def eval_concat(n, args, sizes):
    args = [v.cast(a, n.t) for a in args]
    axis = n.attrs["axis"]
    return v.Value(np.concatenate([a.a for a in args], axis), np.concatenate([a.e for a in args], axis), n.t)


def eval_pad(n, args, sizes):
    pads = [(l.at(sizes), h.at(sizes)) for l, h in n.attrs["pads"]]
    fill = v.literal(n.attrs["value"], n.t)
    return v.Value(np.pad(args[0].a, pads, constant_values=fill.a), np.pad(args[0].e, pads), n.t)


class Invalid(Exception):
    """These inputs are outside of the model's contract."""


def eval_gather(n, args, sizes):
    x, index = args
    axis = n.attrs["axis"] % len(x.shape)
    extent = x.shape[axis]
    if index.a.size and ((index.a < -extent) | (index.a >= extent)).any():
        raise Invalid("an index out of range")
    if not index.a.size and not extent:
        return v.Value(np.zeros(x.shape[:axis] + index.shape + x.shape[axis + 1:]), 0, x.t)
    taken = both(x, lambda a: np.take(a, index.a.astype(np.int64), axis))
    loose = index.e.reshape([1] * axis + list(index.shape) + [1] * (len(x.shape) - axis - 1))
    return v.Value(taken.a, taken.e + loose, x.t)


def eval_iota(n, args, sizes):
    shape = sizes_of(n.shape, sizes)
    axis = n.attrs["axis"] % len(shape)
    count = np.arange(shape[axis], dtype=np.int64).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return v.cast(v.exact(np.broadcast_to(count, shape), "i64"), n.t)


def eval_norm(n, args, sizes):
    t = meet(n.args, REAL)
    axis = n.attrs["axis"] % len(args[0].shape)
    return (v.layernorm if n.op == "layernorm" else v.rmsnorm)(*[v.cast(a, t) for a in args], axis, n.attrs["eps"])


def eval_soft(n, args, sizes):
    x = v.cast(args[0], meet(n.args, REAL))
    return (v.softmax if n.op == "softmax" else v.log_softmax)(x, n.attrs["axis"] % len(x.shape))


def eval_conv(n, args, sizes):
    """The products of each place of the kernel, summed by matmul over channels and places."""
    x, w = args
    s, groups = n.attrs, n.attrs["groups"]
    (top, bottom), (left, right) = s["around"]
    x = both(x, lambda a: np.pad(a, [(0, 0), (0, 0), (top, bottom), (left, right)]))
    batch, (o, c, kh, kw) = x.shape[0], w.shape
    h, wd = sizes_of(n.shape, sizes)[2:]
    def columns(a, g):  # [N, P * Q, C * R * S] of a group
        rows = [a[:, g * c:(g + 1) * c, r * s["dilation"][0]:, q * s["dilation"][1]:][:, :, ::s["stride"][0], ::s["stride"][1]][:, :, :h, :wd]
                for r in range(kh) for q in range(kw)]
        return np.stack(rows, 2).reshape(batch, c * kh * kw, h * wd).swapaxes(1, 2) if h * wd else np.zeros((batch, 0, c * kh * kw), a.dtype)
    def weights(a, g): return a[g * (o // groups):(g + 1) * (o // groups)].reshape(o // groups, c * kh * kw).T
    parts = [v.matmul(both(x, lambda a: columns(a, g)), both(w, lambda a: weights(a, g)), "ieee") for g in range(groups)]
    shape = (batch, o, h, wd)
    join = lambda arrays: np.concatenate(arrays, 2).swapaxes(1, 2).reshape(shape)
    return v.Value(join([p.a for p in parts]), join([p.e for p in parts]), n.t)


def eval_rope(n, args, sizes):
    t = meet(n.args, REAL)
    x, c, s = (v.cast(a, t) for a in args)
    half = x.shape[-1] // 2
    left, right = both(x, lambda a: a[..., :half]), both(x, lambda a: a[..., half:])
    first, second = v.sub(v.mul(left, c), v.mul(right, s)), v.add(v.mul(right, c), v.mul(left, s))
    return v.Value(np.concatenate([first.a, second.a], -1), np.concatenate([first.e, second.e], -1), t)


def scales(n, args, x):
    """The scale of each element of x."""
    scale, block = args[1], n.attrs["block"]
    if isinstance(scale, Lit):
        return v.literal(scale.value, x.t)
    return both(v.cast(scale, x.t), lambda a: np.repeat(a, block, axis=-1) if block and a.ndim and a.shape[-1] != 1 else a)


def scaled_type(n): return "f64" if any(isinstance(a, Node) and a.t == "f64" for a in n.args) else "f32"


def eval_quantize(n, args, sizes):
    x = v.cast(args[0], scaled_type(n))
    q = v.div(x, scales(n, args, x))
    return v.cast(v.ROUNDING["round"](q) if v.is_int(n.t) else q, n.t)


def eval_dequantize(n, args, sizes):
    x = v.cast(args[0], scaled_type(n))
    return v.mul(x, scales(n, args, x))


def eval_cumsum(n, args, sizes):
    x, axis = v.cast(args[0], v.accumulate_type(args[0].t)), n.attrs["axis"] % len(n.shape)
    turn = (lambda a: np.flip(a, axis)) if n.attrs["reverse"] else lambda a: a
    sums = v.running(both(x, turn), axis)
    if n.attrs["exclusive"]:
        def shifted(a): return np.concatenate([np.zeros_like(np.take(a, [0] * (a.shape[axis] > 0), axis)), np.delete(a, -1, axis) if a.shape[axis] else a], axis)
        sums = both(sums, shifted)
    return both(sums, turn)


def eval_where(n, args, sizes):
    return v.select(args[0], *met(n, args, sizes, 1))


def eval_logic(n, args, sizes):
    f = np.logical_and if n.op == "and" else np.logical_or
    x, y = args
    decided = (~x.a & ~x.open() | ~y.a & ~y.open()) if n.op == "and" else (x.a & ~x.open() | y.a & ~y.open())
    return v.Value(f(x.a, y.a), np.where(decided, 0, v.any_open(x, y)), "bool")


def eval_compare(n, args, sizes):
    return v.compare(n.op, *met(n, args, sizes))


EVALUATE = {
    **{op: eval_binary for op in v.FLOAT_BINARY}, **{op: eval_compare for op in v.COMPARE},
    **{op: eval_unary for op in list(v.UNARY) + list(v.ROUNDING)}, "and": eval_logic, "or": eval_logic,
    "not": lambda n, a, s: v.Value(~a[0].a, a[0].e, "bool"),
    "abs": lambda n, a, s: v.absolute(met(n, a, s)[0]), "neg": lambda n, a, s: v.negative(met(n, a, s)[0]),
    "-x": lambda n, a, s: v.negative(met(n, a, s)[0]),
    "relu": lambda n, a, s: v.larger(a[0], v.literal(0, a[0].t)), "clamp": eval_clamp,
    "min": lambda n, a, s: v.smaller(*met(n, a, s)), "max": lambda n, a, s: v.larger(*met(n, a, s)),
    "where": eval_where, "cast": lambda n, a, s: v.cast(a[0], n.t), "reduce": eval_reduce, "matmul": eval_matmul,
    "transpose": lambda n, a, s: both(a[0], lambda x: np.transpose(x, n.attrs["perm"])),
    "reshape": lambda n, a, s: both(a[0], lambda x: np.reshape(x, sizes_of(n.shape, s))),
    "broadcast": lambda n, a, s: both(a[0] if not isinstance(a[0], Lit) else v.literal(a[0].at(s), n.t), lambda x: np.broadcast_to(x, sizes_of(n.shape, s))),
    "slice": eval_slice, "concat": eval_concat, "pad": eval_pad, "gather": eval_gather, "iota": eval_iota,
    "conv2d": eval_conv, "rope": eval_rope, "cumsum": eval_cumsum, "quantize": eval_quantize, "dequantize": eval_dequantize,
    "softmax": eval_soft, "log_softmax": eval_soft, "layernorm": eval_norm, "rmsnorm": eval_norm,
}
