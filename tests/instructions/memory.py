"""Loads, stores, atomics and what else has an address: every form, each thread on memory of its own."""
import random
import numpy as np
import exact, forms
from rows import signed
from rows_float import number_type

THREADS = 64
ROOM = 32  # bytes of a thread: the widest access
FORMS_A_KERNEL = 400
NAMES = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}
OPS = ("ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "discard", "applypriority")


def space_of(words):
    """Where the memory lies: that of the form, global where it says none."""
    for w in words[1:]:
        base = w.split("::")[0]
        if base in ("global", "shared", "local", "const", "param"):
            return base
    return "global"


def takes(form):
    return form.split(".")[0] in OPS


class Instance:
    """One form: lines of a kernel, the slots of 8 bytes that they fill, and what must be there."""

    def __init__(self, form):
        self.form = form
        self.words, types, _ = forms.split(form)
        self.op, self.space = self.words[0], space_of(self.words)
        self.type = types[0] if types else None
        self.of_call = self.space == "param" and (self.op == "st" or "param::func" in self.words)  # of a routine that is called
        self.count = next((int(w[1:]) for w in self.words if w in ("v2", "v4", "v8")), 1)
        self.bytes = forms.BITS[self.type] // 8 if types else 0
        self.kind = forms.FAMILY[forms.BITS[self.type]] if types else ""
        self.whole = self.type == "b128"  # as two halves
        if self.whole:
            self.count, self.bytes, self.kind = 2, 8, "d"

    def address(self):
        """A register that holds the thread's room in that space; entries of .param are named. What .nc and ldu read, nobody writes."""
        if "nc" in self.words or self.op == "ldu":
            return "dm"
        return {"global": "dg", "shared": "ds", "local": "dl", "const": "dc", "param": "call" if self.of_call else "data"}[self.space]

    def text(self, result, values):
        """The instruction on registers of that kind."""
        def tuple_of(names):
            return "{" + ", ".join(names) + "}" if self.count > 1 else "".join(names)
        hint = ["dh"] if "L2::cache_hint" in self.words else []
        at = f"[{self.address()}]"
        if self.whole:
            return self.whole_text(result, values, at, hint)
        parts = {"ld": [tuple_of(result), at], "ldu": [tuple_of(result), at], "st": [at, tuple_of(values)], "red": [at, tuple_of(values)],
                 "atom": [tuple_of(result), at, tuple_of(values)] + ([f"{self.kind}w"] if "cas" in self.words else [])}.get(self.op, [at])
        if self.op in ("discard", "applypriority"):
            return f"{self.form} [dq], 128;"
        return f"{self.form} {', '.join(parts + hint)};"

    def whole_text(self, result, values, at, hint):
        packed = [f"mov.b128 qv, {{{', '.join(values)}}};"] if values else []
        packed += ["mov.b128 qw, {dw, dw};"] if "cas" in self.words else []
        parts = {"st": [at, "qv"], "atom": ["qd", at, "qv"] + ["qw"] * ("cas" in self.words)}.get(self.op, ["qd", at])
        unpacked = [f"mov.b128 {{{', '.join(result)}}}, qd;"] if self.op != "st" else []
        return "\n".join(packed + [f"{self.form} {', '.join(parts + hint)};"] + unpacked)

    def registers(self, letter, kind=None):
        return [f"{kind or self.kind}{letter}{i}" for i in range(self.count)]

    def lines(self, at):
        """Loads keep their elements, and those below 32 bits again in a wider register; stores and atomics what memory then holds."""
        out, self.plain = [], self.op in OPS[5:]
        kept = lambda kind, names: [line for i, name in enumerate(names) for line in (
            widened(kind, name), f"st.global.b64 [do+{8 * THREADS * (at + len(out_slots) + i)}], dz;")]
        out_slots = []
        if self.plain:
            self.slots = 0
            return [self.text([], [])]
        if self.op in ("ld", "ldu"):
            names = self.registers("d")
            out = (self.fill() if self.of_call else []) + [self.text(names, [])] + kept(self.kind, names)
            out_slots += names
            self.wide = self.kind == "h"
            if self.wide:
                names = self.registers("d", "r")
                out += [self.text(names, [])] + kept("r", names)
                out_slots += names
        else:
            values = self.registers("v")
            out = self.fill() + [line for i, v in enumerate(values) for line in operand(self.kind, v, "di", i)]
            if "cas" in self.words:
                out += operand(self.kind, f"{self.kind}w", "di", 8)
            names = self.registers("d")
            out.append(self.text(names, values))
            if self.op == "atom":
                out += kept(self.kind, names)
                out_slots += names
            for i in range(self.count):
                raw = NAMES[self.bytes]
                out += [f"ld.{self.space}.{raw} {self.kind}z, [{self.address()}+{i * self.bytes}];"] + kept(self.kind, [f"{self.kind}z"])
                out_slots.append("memory")
        self.slots = len(out_slots)
        return ["{", f".param .align 32 .b8 call[{ROOM}];", *out, "}"] if self.of_call else out

    def fill(self):
        """What an atomic finds; what a store overwrites."""
        return [f"ld.global.b64 dz, [dm+{8 * i}];\nst.{self.space}.b64 [{self.address()}+{8 * i}], dz;" for i in range((self.count * self.bytes + 7) // 8)]

    # ---- what must come out: arrays [slot][thread] ----

    def elements(self, array):
        """The numbers in memory, from bytes [thread][ROOM]."""
        return [np.ascontiguousarray(array[:, i * self.bytes:(i + 1) * self.bytes]).view(f"<u{self.bytes}").ravel().astype(np.uint64) for i in range(self.count)]

    def expected(self, inputs):
        if self.op in ("ld", "ldu"):
            found = self.elements(inputs["memory"])
            return [self.extended(e, 16) for e in found] + ([self.extended(e, 32) for e in found] if self.wide else [])
        values = [self.cut(inputs["operands"][:, i]) for i in range(self.count)]
        if self.op == "st":
            return values
        old, swap = self.elements(inputs["memory"]), self.cut(inputs["operands"][:, 8])
        if self.whole:
            swaps = "cas" in self.words
            kept = (old[0] != values[0]) | (old[1] != values[1]) if swaps else np.zeros(THREADS, bool)
            return old + [np.where(kept, o, swap if swaps else v) for o, v in zip(old, values)]
        key = next(w for w in self.words[1:] if w in ATOMIC), self.type, self.count
        if key not in LEFT:  # scopes, spaces and hints change no number
            LEFT[key] = [np.array([self.combined(key[0], *map(int, each)) for each in zip(a, b, swap)], np.uint64) for a, b in zip(old, values)]
        new = LEFT[key]
        return (old if self.op == "atom" else []) + new

    def cut(self, values):
        return values & np.uint64((1 << 8 * self.bytes) - 1)

    def extended(self, values, bits):
        if self.type in ("s8", "s16"):
            return np.array([signed(int(v), 8 * self.bytes) & (1 << bits) - 1 for v in values], np.uint64)
        return values

    def combined(self, op, old, value, swap):
        """The number that an atomic leaves."""
        bits, mask = 8 * self.bytes, (1 << 8 * self.bytes) - 1
        if self.type[0] in "fb" and "f" in self.type:
            return of_floats(op, self.type, old, value)
        if self.type[0] == "s":
            old, value = signed(old, bits), signed(value, bits)
        return ATOMIC[op](old, value, swap) & mask


LEFT = {}  # what atomics leave, by operation, type and count
ATOMIC = {"add": lambda o, v, s: o + v, "min": lambda o, v, s: min(o, v), "max": lambda o, v, s: max(o, v), "and": lambda o, v, s: o & v,
          "or": lambda o, v, s: o | v, "xor": lambda o, v, s: o ^ v, "exch": lambda o, v, s: v, "cas": lambda o, v, s: s if o == v else o,
          "inc": lambda o, v, s: 0 if o >= v else o + 1, "dec": lambda o, v, s: v if o == 0 or o > v else o - 1}


def of_floats(op, t, old, value):
    form, result = number_type(t), 0
    width = exact.FORMATS[form].bits
    for at in range(0, forms.BITS[t], width):
        a, b = (exact.decode(form, x >> at & (1 << width) - 1) for x in (old, value))
        if op == "add":
            n = exact.add(a, b, "rn")
        elif a is None or b is None:
            n = a if b is None else b
        else:
            n = a if (exact.less(a, b) or exact.equal(a, b) and a[0]) == (op == "min") else b
        result |= exact.encode(form, n) << at
    return result


def widened(kind, name):
    return {"h": f"cvt.u64.u16 dz, {name};", "r": f"cvt.u64.u32 dz, {name};", "d": f"mov.b64 dz, {name};"}[kind]


def operand(kind, name, base, index):
    load = f"ld.global.b64 dz, [{base}+{8 * index}];"
    return [load, {"h": f"cvt.u16.u64 {name}, dz;", "r": f"cvt.u32.u64 {name}, dz;", "d": f"mov.b64 {name}, dz;"}[kind]]


def registers():
    each = [f"{k}{l}{i}" for k in "hrd" for l in "dv" for i in range(8)] + [k + l for k in "hrd" for l in "wz"]
    mine = "dg ds dl dc dm di do dh dq dt".split()
    kinds = {"h": "b16", "r": "b32", "d": "b64"}
    return [".reg .b128 qd, qv, qw;"] + [f".reg .{t} {', '.join(n for n in each + mine + ['rt'] if n[0] == k)};" for k, t in kinds.items()]


def kernel(name, instances):
    """Parameters: memory to read, operands, scratch to write, results; 32 bytes of data for ld.param."""
    at, body = 0, []
    for one in instances:
        body += one.lines(at)
        at += one.slots
    head = registers() + [
        f".local .align 32 .b8 mine[{ROOM}];", f".shared .align 32 .b8 ours[{ROOM * THREADS}];",
        "ld.param.u64 dm, [memory];", "ld.param.u64 di, [operands];", "ld.param.u64 dg, [scratch];", "ld.param.u64 do, [out];",
        "mov.u32 rt, %tid.x;", f"mul.wide.u32 dt, rt, {ROOM};", "add.s64 dm, dm, dt;", "add.s64 dg, dg, dt;", "mov.u64 ds, ours;", "add.s64 ds, ds, dt;",
        "mov.u64 dl, mine;", "mov.u64 dc, table;", "add.s64 dc, dc, dt;", "mul.wide.u32 dt, rt, 72;", "add.s64 di, di, dt;",
        "mul.wide.u32 dt, rt, 8;", "add.s64 do, do, dt;", "createpolicy.fractional.L2::evict_first.b64 dh, 1.0;" if any("L2::cache_hint" in i.form for i in instances) else "",
        "mul.wide.u32 dt, rt, 128;", "ld.param.u64 dq, [lines];", "add.s64 dq, dq, dt;"]
    for i in range(ROOM // 8):
        head.append(f"ld.global.b64 dz, [dm+{8 * i}];")
        head += [f"st.{space}.b64 [{base}+{8 * i}], dz;" for space, base in (("global", "dg"), ("shared", "ds"), ("local", "dl"))]
    parameters = "(.param .u64 memory, .param .u64 operands, .param .u64 scratch, .param .u64 lines, .param .u64 out, .param .align 32 .b8 data[32])"
    return f".visible .entry {name}{parameters}\n{{\n" + "\n".join(head + body) + "\nret;\n}\n", at


def inputs():
    """Numbers of all widths where something may happen: bytes, and floats of each format among them."""
    rng = random.Random(5)
    memory = np.frombuffer(rng.randbytes(THREADS * ROOM), np.uint8).reshape(THREADS, ROOM).copy()
    words = memory.view("<u8")
    special = [0, 0xFFFFFFFFFFFFFFFF, 0x8000000080008080, 0x7FFFFFFF7FFF7F7F, 0x3F8000003C003F80, 0x7F8000007C007F80, 0xFF800000FC00FF80, 0x7FC000007E007FC0,
               0x3FF0000000000000, 0x7FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x0000000100010001, 0x8000000000000000, 5, 0x00000005_00000005]
    for i, value in enumerate(special):
        words[i] = value
    operands = np.array([[rng.choice(special + [rng.getrandbits(64)] * 4) for _ in range(9)] for _ in range(THREADS)], np.uint64)
    operands[:20, 0] = words[:20, 0]  # cas that succeeds, at every width
    operands[:12, 1] = words[:12, 1]
    return {"memory": memory, "operands": operands}


def run(arch, instances, open_module, report):
    data = inputs()
    chunks = [instances[i:i + FORMS_A_KERNEL] for i in range(0, len(instances), FORMS_A_KERNEL)]
    texts = [kernel(f"k{i}", chunk) for i, chunk in enumerate(chunks)]
    table = f".const .align 32 .b8 table[{THREADS * ROOM}] = {{{', '.join(str(b) for b in data['memory'].ravel())}}};\n"
    device = open_module(arch, table + "\n".join(text for text, _ in texts))
    parameter = data["memory"].copy()
    parameter[:] = parameter[40]
    for i, (chunk, (_, slots)) in enumerate(zip(chunks, texts)):
        out = np.zeros((max(slots, 1), THREADS), np.uint64)
        scratch, lines = np.zeros((THREADS, ROOM), np.uint8), np.zeros((THREADS, 128), np.uint8)
        device.run(f"k{i}", 1, THREADS, [data["memory"], data["operands"], scratch, lines], out, parameter[0])
        at = 0
        for one in chunk:
            given = {"memory": parameter, "operands": data["operands"]} if one.address() == "data" else data
            want = [] if one.plain else one.expected(given)
            report(one.form, compare(one, out[at:at + one.slots], want))
            at += one.slots
    return device


def compare(one, got, want):
    for slot, (have, expect) in enumerate(zip(got, want)):
        same = have == expect
        if one.type == "f64":  # any NaN
            same |= np.isnan(have.view(np.float64)) & np.isnan(expect.view(np.float64))
        if not same.all():
            t = int(np.argmin(same))
            return f"slot {slot}, thread {t}: {int(have[t]):#x}, expected {int(expect[t]):#x}"
    return ""
