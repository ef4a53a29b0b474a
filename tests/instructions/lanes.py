"""Runs instructions that work on one lane at a time: every form of a row on the values where it may go wrong, many forms a kernel."""
import itertools, random
import numpy as np
import exact, forms, rows
import rows_convert, rows_float, rows_integer  # noqa: they fill the table

VECTORS = 640  # threads, each with its own operands
FORMS_A_KERNEL = 150
LETTERS = "abce"
OWN_REGISTERS = "pg pw pz cz rt rz dt dn dz di do hz hw rw dw qw".split()


def integer_edges(bits):
    top = 1 << bits - 1
    values = [0, 1, 2, 3, 5, 7, 8, 31, 32, 100, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, top + top // 2, 0x5555555555555555, 0x00FF00FF00FF00FF,
              0x123456789ABCDEF0]
    values += [0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0xFFFF8000, 0x10000] if bits >= 32 else [0x7F, 0x80, 0xFF, 0x100]
    values += [0xFFFFFFFF, 0x100000000, 0x80000000, 0x7FFFFFFF00000001] if bits == 64 else []
    return sorted({v & (1 << bits) - 1 for v in values})


def float_edges(name):
    if name == "ue8m0":
        return list(range(256))
    f = exact.FORMATS[name]
    top, one = 1 << f.bits - 1, f.bias << f.fraction
    values = [0, 1, (1 << f.fraction) - 1, 1 << f.fraction, (1 << f.fraction) + 1, one, one + 1, one - 1, one + (1 << f.fraction - 1), one - (1 << f.fraction),
              f.largest, f.largest - 1, one + (5 << max(f.fraction - 2, 0)), one + (f.fraction << f.fraction) + 1, one - (f.fraction + 1 << f.fraction)]
    values += [f.infinity, f.infinity + 1, f.infinity + (1 << f.fraction - 1), f.nan] if f.top == "ieee" else [f.nan]
    if f.bits >= 32:  # where other formats end, between their numbers, and where PTX's bounds change
        for x in (65504, 65519.99, 65520, 448, 464, 465, 57344, 61440, 6, 5, 1.25, 7.5, 28, 30, 0.25, 2.0 ** -24, 2.0 ** -25, 1.5 * 2.0 ** -25, 2.0 ** -10, 2.0 ** -17,
                  2.0 ** 31, 2.0 ** 32, 255.5, 127.5, 2.5, 0.5, 3.7, 3.14159274, 40.0, 1.0009765625 + 2.0 ** -11, 1 + 2.0 ** -8, 2.0 ** 126, 1.5 * 2.0 ** 126, 2.0 ** -127):
            values.append(exact.encode(name, exact.of_float(x)))
    return sorted({v & 2 * top - 1 for v in values} | {v & 2 * top - 1 ^ top for v in values})


def edges(t):
    """Bits of type t; of pairs all combinations that a few dozen vectors can hold."""
    if t == "pred":
        return [0, 1]
    if t in rows_float.HALVES or t.endswith("x2") and t[0] in "eu" and t != "u16x2":
        name = t[:-2]
        width = rows_convert.WIDTH.get(t, 8 if t != "f32x2" else 32)
        single = float_edges(name)
        rng = random.Random(t)
        return [a | rng.choice(single) << width for a in single * 2] if width > 4 else list(range(256))
    if t in exact.FORMATS:
        return float_edges(t)
    if t.endswith("x2"):
        single = integer_edges(16)
        return [a | b << 16 for a, b in zip(single, random.Random(t).sample(single, len(single)))] + integer_edges(32)
    return integer_edges(min(forms.BITS[t], 64))


def vectors(domains):
    """VECTORS tuples, one value of each domain: all of them where they fit."""
    rng = random.Random(len(domains))
    size = int(np.prod([len(d) for d in domains], dtype=object))
    if size <= VECTORS:
        every = list(itertools.product(*domains))
        return (every * (VECTORS // size + 1))[:VECTORS]
    return [tuple(rng.choice(d) for d in domains) for _ in range(VECTORS)]


def takes(form):
    return rows.find(form) is not None


class Instance:
    """One form in a kernel: its lines, and what its result must be."""

    def __init__(self, form):
        self.form, self.row = form, rows.find(form)
        self.words, self.types, _ = forms.split(form)
        self.kinds = forms.operands(form)
        if self.words[0] == "setp":
            self.kinds[0] = "p|p"
        self.sources = [k for k in self.kinds[1:] if not k[0].isdigit()]
        self.domains = tuple(tuple(d) for d in self.source_domains())

    def source_types(self):
        t, op = self.types, self.words[0]
        if op in ("set", "cvt"):
            t = t[1:]
        elif op in ("add", "sub", "fma") and len(t) == 2:
            t = [t[1]] * (2 if op == "fma" else 1) + [t[0]]
        elif op in ("dp4a", "dp2a"):
            t = ["u32"]
        elif op == "slct":
            t = [t[0], t[0], t[1]]
        elif op in ("mul", "mad") and "wide" in self.words:
            t = [t[0], t[0], rows.wide_type(self.words, t)]
        names = [t[min(i, len(t) - 1)] for i in range(len(self.sources))]
        return ["pred" if k == "p" else n for n, k in zip(names, self.sources)]

    def source_domains(self):
        given = self.row.edges or []
        for i, (t, kind) in enumerate(zip(self.source_types(), self.sources)):
            mine = given[i] if i < len(given) else None
            yield mine if mine is not None else edges(t if kind != "r" or forms.BITS[t] == 32 or t == "pred" else "u32")

    def read(self, values):
        """The sources as the row's meaning wants them."""
        types = self.row.read and self.row.read(self.words, self.types)
        if not types:
            return values
        types = types if isinstance(types, list) else [types] * len(values)
        return [rows.signed(v, forms.BITS[t]) if t[0] == "s" else v for v, t in zip(values, types)]

    def expected(self, inputs):
        kind = self.kinds[0][0]
        bits = {"p": 1, "c": 8, "h": 16, "r": 32, "d": 64, "q": 64}[kind] + ("|" in self.kinds[0])
        meaning, mask = self.row.make(self.words, self.types), (1 << bits) - 1
        return [meaning(*self.read(v)) & mask for v in inputs]

    # ---- text ----

    def body(self, at):
        """Lines that compute the form and store 8 bytes: as it is, and with a source as the destination, odd lanes alone."""
        lines = [forms.register_text_of(self.form, self.kinds)] + store(self.kinds[0], "d", at)
        kind = self.kinds[0]
        self.doubled = kind in self.sources and kind in "hrd"
        if self.doubled:
            self.same = self.sources.index(kind)
            place = self.kinds.index(kind, 1)
            bits = {"h": 16, "r": 32, "d": 64}[kind]
            text = forms.register_text_of(self.form, self.kinds, {0: kind + "w", place: kind + "w"})
            lines += [f"mov.b{bits} {kind}w, {kind}{LETTERS[self.same]};", "@pg " + text] + store(kind, "w", at + 1)
        return lines

    def slots(self):
        return 2 if self.doubled else 1

    def wrong(self, got, inputs):
        """'' or the first thing that is wrong."""
        if self.row.near:
            check = self.row.make(self.words, self.types)
            memo = {}
            for i, v in enumerate(inputs):
                key = (int(got[0][i]), v)
                if key not in memo:
                    memo[key] = check(*((key[0],) + v))
                if not memo[key]:
                    return self.say(v, key[0], "a value within the bound")
            return ""
        want = np.array(self.expected(inputs), np.uint64)
        for slot, have in enumerate(got):
            expect = want
            if slot == 1:
                kept = np.array([v[self.same] for v in inputs], np.uint64)
                expect = np.where(np.arange(VECTORS) % 2 == 1, want, kept)
            have = self.one_nan(have)
            bad = np.flatnonzero(have != self.one_nan(expect))
            if len(bad):
                i = bad[0]
                return self.say(inputs[i], int(have[i]), f"{int(expect[i]):#x}" + (" in place, odd lanes" if slot else ""))
        return ""

    def one_nan(self, bits):
        """Where any NaN will do, all are one: f64, abs, neg."""
        t = self.types[0]
        if self.words[0] not in ("setp", "set", "selp", "slct", "mov", "testp") and (t == "f64" or self.row.any_nan):
            form = rows_float.number_type(t)
            f, width = exact.FORMATS[form], exact.FORMATS[form].bits
            bits = bits.copy()
            for at in (0, width) if t in rows_float.HALVES else (0,):
                part = bits >> np.uint64(at) & np.uint64((1 << width) - 1)
                nan = (part & np.uint64((1 << width - 1) - 1)) > np.uint64(f.infinity)
                bits[nan] = bits[nan] & ~np.uint64(((1 << width) - 1) << at) | np.uint64(f.nan << at)
        return bits

    def say(self, sources, got, want):
        return f"of {', '.join(f'{s:#x}' for s in sources)}: {got:#x}, expected {want}"


def store(kind, letter, at):
    """The register as 8 bytes; a predicate beside it is the bit above."""
    name = kind[0] + letter
    lines = {"d": [f"mov.b64 dz, {name};"], "r": [f"cvt.u64.u32 dz, {name};"], "h": [f"cvt.u64.u16 dz, {name};"],
             "c": [f"mov.b16 hz, {{{name}, cz}};", "and.b16 hz, hz, 255;", "cvt.u64.u16 dz, hz;"],
             "q": [f"mov.b128 {{dz, dt}}, {name};"],
             "p": [f"selp.b64 dz, 1, 0, {name};"]}[kind[0]]
    if "|" in kind:
        lines += [f"selp.b64 dt, {2 if kind[0] == 'p' else 1 << 32}, 0, pq;", "or.b64 dz, dz, dt;"]
    return lines + [f"st.global.b64 [do+{at * VECTORS * 8}], dz;"]


def load(letter, at, kinds):
    lines = [f"ld.global.b64 d{letter}, [di+{at}];"]
    if set("hc") & kinds:
        lines.append(f"cvt.u16.u64 h{letter}, d{letter};")
    if "c" in kinds:
        lines.append(f"mov.b16 {{c{letter}, cz}}, h{letter};")
    if "r" in kinds:
        lines.append(f"cvt.u32.u64 r{letter}, d{letter};")
    if "p" in kinds:
        lines += [f"and.b64 dt, d{letter}, 1;", f"setp.ne.s64 p{letter}, dt, 0;"]
    if "q" in kinds:
        lines.append(f"mov.b128 q{letter}, {{d{letter}, d{letter}}};")
    return lines


def kernel(name, instances):
    """The text, and how many slots it fills."""
    at, body = 0, []
    for one in instances:
        body += one.body(at)
        at += one.slots()
    kinds = [set().union(*(one.sources[i] for one in instances if i < len(one.sources))) for i in range(4)]
    head = [forms.declarations(90), *(f".reg .{t} {', '.join(n for n in OWN_REGISTERS if n[0] == k)};" for k, t in zip("pchrdq", "pred b8 b16 b32 b64 b128".split())),
            "ld.param.u64 di, [in];", "ld.param.u64 do, [out];", "mov.u32 rt, %tid.x;", "mul.wide.u32 dt, rt, 32;", "add.s64 di, di, dt;",
            "mul.wide.u32 dt, rt, 8;", "add.s64 do, do, dt;", "and.b32 rz, rt, 1;", "setp.ne.s32 pg, rz, 0;", "mov.b16 hz, 0;", "mov.b16 {cz, cd}, hz;"]
    for i, letter in enumerate(LETTERS):
        head += load(letter, 8 * i, kinds[i])
    return f".visible .entry {name}(.param .u64 in, .param .u64 out)\n{{\n" + "\n".join(head + body) + "\nret;\n}\n", at


def input_array(inputs):
    array = np.zeros((VECTORS, 4), np.uint64)
    for i, v in enumerate(inputs):
        array[i, :len(v)] = np.array(v, np.uint64)
    return array


def run(arch, instances, open_module, report):
    """open_module(arch, text) gives a Device; report(form, wrong)."""
    groups = {}
    for one in instances:
        groups.setdefault(one.domains, []).append(one)
    chunks = [(domains, group[i:i + FORMS_A_KERNEL]) for domains, group in groups.items() for i in range(0, len(group), FORMS_A_KERNEL)]
    texts = [kernel(f"k{i}", chunk) for i, (_, chunk) in enumerate(chunks)]
    device = open_module(arch, "\n".join(text for text, _ in texts))
    cache = {}
    for i, ((domains, chunk), (_, slots)) in enumerate(zip(chunks, texts)):
        inputs = cache.setdefault(domains, vectors(domains))
        out = np.zeros((slots, VECTORS), np.uint64)
        device.run(f"k{i}", 1, VECTORS, [input_array(inputs)], out)
        at = 0
        for one in chunk:
            report(one.form, one.wrong(out[at:at + one.slots()], inputs))
            at += one.slots()
    return device
