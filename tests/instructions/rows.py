"""A row says what forms of an instruction compute. The rows of rows_*.py together have to know every form of ptx_forms.def."""
import forms

TABLE = {}  # op -> its rows


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 & 1 else value


def clamp(value, t):
    bits = int(t[1:])
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if t[0] == "s" else (0, (1 << bits) - 1)
    return max(least, min(most, value))


def wide_type(words, types):
    return types[0][0] + str(2 * int(types[0][1:]))


class Row:
    """make(words, types) gives the meaning: a function of the sources that returns the result; with near=True a function of the
    result and the sources that says whether the result is good.

    needs "a|b c": words that must be there, =x: the last type; without: words that must not. read: how sources are
    understood, one type or a list; without it they are bits. result: the destination's type where it is not the first.
    edges: lists of values by source, where those of the type will not do."""

    def __init__(self, make, needs, without, read, result, edges, near, any_nan):
        self.make, self.near, self.any_nan = make, near, any_nan
        self.needs = [set(n.split("|")) for n in needs.split()]
        self.without = set(without.split())
        self.read, self.result, self.edges = read, result, edges

    def takes(self, words, types):
        have = set(words) | {"=" + types[-1]} if types else set(words)
        return all(n & have for n in self.needs) and not self.without & set(words)


def row(ops, make, needs="", without="", read=None, result=None, edges=None, near=False, any_nan=False):
    for op in ops.split():
        TABLE.setdefault(op, []).append(Row(make, needs, without, read, result, edges, near, any_nan))


def find(form):
    """The row of a form, or None; two are a mistake of the table."""
    words, types, _ = forms.split(form)
    found = [r for r in TABLE.get(words[0], ()) if r.takes(words, types)]
    assert len(found) < 2, f"two rows for {form}"
    return found[0] if found else None
