"""Smaller models that fail in the same way."""
import copy, re, time
import generate, values as v
from model import Node


def signature(failure):
    kind, message = failure
    if kind.startswith("build") or kind == "run":
        error = re.search(r"(?:error|BUG|bug)[^\n]*", message)
        text = error.group(0) if error else message
        return kind, re.sub(r"'[^']*'|`[^`]*`|%\w+|[A-Za-z_]*\d[\w.]*|\[[^]]*\]", "#", text)[:60]
    return kind, ""


def variants(f, case):
    """Smaller functions, with their case."""
    for i in range(len(f.outputs)):
        if len(f.outputs) > 1:
            g, c = copy.deepcopy((f, case))
            del g.outputs[i]
            yield g, c
    count = len(f.nodes())
    for i in reversed(range(count)):
        n = f.nodes()[i]
        if n.op == "input":
            continue
        for a in range(len(n.args)):
            arg = n.args[a]
            if isinstance(arg, Node) and arg.t == n.t and arg.shape == n.shape:
                g, c = copy.deepcopy((f, case))
                new = g.nodes()[i]
                substitute(g, new, new.args[a])
                yield g, c
        g, c = copy.deepcopy((f, case))
        new = g.nodes()[i]
        fill = "normal" if v.is_float(n.t) else "small"
        substitute(g, new, Node("input", [], n.t, n.shape, fill=fill))
        yield g, c
    for i, o in enumerate(f.outputs):
        if o.node.nodes() and len(f.outputs) == 1:
            for a in range(len(o.node.nodes())):  # an operand itself becomes the output
                g, c = copy.deepcopy((f, case))
                g.outputs[0].node = g.outputs[0].node.nodes()[a]
                g.outputs[0].t, g.outputs[0].strides, g.outputs[0].alias = g.outputs[0].node.t, None, None
                yield g, c
        if o.inout:
            g, c = copy.deepcopy((f, case))
            g.outputs[i].inout = None
            yield g, c
        if o.strides or o.alias or o.t != o.node.t:
            g, c = copy.deepcopy((f, case))
            g.outputs[i].strides = g.outputs[i].alias = None
            yield g, c
            g, c = copy.deepcopy((g, c))
            g.outputs[i].t = g.outputs[i].node.t
            yield g, c
    if f.types:
        g, c = copy.deepcopy((f, case))
        g.types = []
        yield g, c
    if f.schedule:
        g, c = copy.deepcopy((f, case))
        g.schedule = []
        yield g, c
    for i, n in enumerate(f.nodes()):
        if n.data is not None:
            g, c = copy.deepcopy((f, case))
            g.nodes()[i].data = None
            yield g, c
        if n.strides or n.inline or (n.op == "input" and n.fill in ("special", "any")):
            g, c = copy.deepcopy((f, case))
            g.nodes()[i].strides, g.nodes()[i].inline = None, False
            if n.op == "input" and n.fill in ("special", "any"):
                g.nodes()[i].fill = "small"
            yield g, c
    for s in sorted(f.facts):
        if f.facts[s] and s in f.symbols():
            for key in list(f.facts[s]):
                g, c = copy.deepcopy((f, case))
                del g.facts[s][key]
                yield g, c
    if case:
        for s in sorted(f.symbols()):
            size = case.sizes.get(s, 0)
            for smaller in {1, 2, size // 2, size - 1}:
                fact = f.facts.get(s, {})
                if fact.get("min", 0) <= smaller < size and smaller % fact.get("multiple_of", 1) == 0:
                    g, c = copy.deepcopy((f, case))
                    c.sizes[s] = smaller
                    if generate.acceptable(g, c.sizes):
                        yield g, c


def substitute(f, old, new):
    for n in f.nodes():
        n.args = [new if a is old else a for a in n.args]
    for o in f.outputs:
        o.node = new if o.node is old else o.node
        o.inout = new if o.inout is old else o.inout


def shrink(fails, f, case, failure, seconds):
    """fails(f, case): '' or (kind, message)."""
    want, end, again = signature(failure), time.time() + seconds, True
    while again and time.time() < end:
        again = False
        for g, c in variants(f, case):
            if time.time() > end:
                break
            found = fails(g, c)
            if found and signature(found) == want:
                f, case, failure, again = g, c, found, True
                break
    return f, case, failure
