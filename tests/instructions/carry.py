"""Sums that pass a carry on: each form with a carry and without one coming in, its result and the carry that it leaves.

PTX: add.cc and mad.cc set CC.CF to the carry out, sub.cc to the borrow out, which subc takes off. What a subtraction leaves is
asked for by a subtraction here; addc behind sub.cc has a test of its own in tests/unit/sim/test_lanes.c."""
import forms, lanes
from rows import signed

OPS = ("addc", "subc", "madc")


def takes(form):
    words = form.split(".")
    return words[0] in OPS or "cc" in words


class Instance(lanes.Instance):
    def __init__(self, form):
        self.form = form
        self.words, self.types, _ = forms.split(form)
        self.kinds = forms.operands(form)
        self.sources = self.kinds[1:] + ["r"]  # the last: whether there is a carry
        bits = forms.BITS[self.types[0]]
        self.domains = tuple(tuple(lanes.integer_edges(bits)) for _ in self.kinds[1:]) + ((0, 1),)
        self.given = "abce"[len(self.sources) - 1]
        self.subtracts, self.leaves = self.words[0] in ("sub", "subc"), "cc" in self.words

    def body(self, at):
        family = "sub" if self.subtracts else "add"
        preset = f"sub.cc.u32 rz, 0, r{self.given};" if self.subtracts else f"add.cc.u32 rz, r{self.given}, 0xffffffff;"
        text = forms.register_text_of(self.form, self.kinds)
        asked = f"{family}c.u32 rw, 0, 0;" if self.leaves else "mov.b32 rw, 0;"
        return [preset, text, asked] + lanes.store(self.kinds[0], "d", at) + lanes.store("r", "w", at + 1)

    def slots(self):
        return 2

    def wrong(self, got, inputs):
        bits = forms.BITS[self.types[0]]
        mask = (1 << bits) - 1
        for i, v in enumerate(inputs):
            *sources, carry = v
            carry = carry if self.words[0] in OPS else 0
            if "hi" in self.words or "lo" in self.words:
                a, b = (signed(s, bits) if self.types[0][0] == "s" else s for s in sources[:2])
                sources = [(a * b >> (bits if "hi" in self.words else 0)) & mask, sources[2]]
            a, b = sources
            total = a - b - carry if self.subtracts else a + b + carry
            left = (total < 0 if self.subtracts else total >> bits) if self.leaves else 0
            want = (total & mask, (-left if self.subtracts else left) & 0xFFFFFFFF)
            have = (int(got[0][i]), int(got[1][i]))
            if have != want:
                return self.say(v, have[0], f"{want[0]:#x}; carry {have[1]:#x}, expected {want[1]:#x}")
        return ""


run = lanes.run
