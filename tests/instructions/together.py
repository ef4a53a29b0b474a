"""What the lanes of a warp do together: shuffles, votes, matches, reductions, by whole warps and by halves that interleave."""
import random
import numpy as np
import exact, forms
from rows import signed

WARPS = 32
OPS = ("shfl", "vote", "match", "redux", "activemask", "elect")
FULL, EVEN = 0xFFFFFFFF, 0x55555555


def takes(form):
    return form.split(".")[0] in OPS


class Instance:
    def __init__(self, form):
        self.form = form
        self.words, self.types, _ = forms.split(form)
        self.op = self.words[0]

    def lines(self, at):
        """Two slots: the result, and the predicate beside it. Warp w has the operands of row w."""
        value = {"b64": "dv", "b32": "rf"}[self.types[0]] if self.op == "match" else ""
        text = {"shfl": f"{self.form} rd|pd, rv, rb, rc, -1;", "vote": f"{self.form} {'rd' if 'ballot' in self.words else 'pd'}, pv, rm;",
                "match": f"{self.form} rd{'|pd' if 'all' in self.words else ''}, {value}, rm;", "redux": f"{self.form} rd, rv, rm;",
                "activemask": f"{self.form} rd;", "elect": f"{self.form} rd|pd, rm;"}[self.op]
        first = ["mov.b32 rd, 0;", "setp.ne.b32 pd, rd, rd;", text, "cvt.u64.u32 dz, rd;", f"st.global.b64 [do+{at * WARPS * 256}], dz;"]
        return first + ["selp.b64 dz, 1, 0, pd;", f"st.global.b64 [do+{(at + 1) * WARPS * 256}], dz;"]

    def expected(self, rows):
        """[2][WARPS * 32]"""
        result = np.zeros((2, WARPS, 32), np.uint64)
        for w in range(WARPS):
            for team in [range(32)] if self.op in ("shfl", "activemask") else teams(rows["mask"][w]):
                for lane, pair in getattr(self, self.op)(rows, w, team).items():
                    result[:, w, lane] = pair
        return result.reshape(2, -1)

    def shfl(self, rows, w, team):
        """PTX's own program, lane by lane."""
        found = {}
        for lane in team:
            b, c = int(rows["b"][w]), int(rows["c"][w])
            bound, segment, offset = c & 31, c >> 8 & 31, b & 31
            most = lane & segment | bound & ~segment & 31
            least = lane & segment
            if "up" in self.words:
                source, good = lane - offset, lane - offset >= most
            elif "down" in self.words:
                source, good = lane + offset, lane + offset <= most
            elif "bfly" in self.words:
                source, good = lane ^ offset, (lane ^ offset) <= most
            else:
                source = least | offset & ~segment & 31
                good = source <= most
            found[lane] = (int(rows["value"][w, source if good else lane]), int(good))
        return found

    def vote(self, rows, w, team):
        yes = [int(rows["value"][w, lane]) & 1 for lane in team]
        ballot = sum(y << lane for y, lane in zip(yes, team))
        holds = {"all": all(yes), "any": any(yes), "uni": len(set(yes)) == 1}
        answer = next((holds[word] for word in holds if word in self.words), None)
        return {lane: (ballot, 0) if answer is None else (0, int(answer)) for lane in team}

    def match(self, rows, w, team):
        bits = forms.BITS[self.types[0]]
        values = {lane: int(rows["few"][w, lane]) & (1 << bits) - 1 for lane in team}
        same = {lane: sum(1 << other for other in team if values[other] == values[lane]) for lane in team}
        everyone = sum(1 << lane for lane in team)
        if "any" in self.words:
            return {lane: (same[lane], 0) for lane in team}
        all_same = same[team[0]] == everyone
        return {lane: (everyone if all_same else 0, int(all_same)) for lane in team}

    def redux(self, rows, w, team):
        values, t = [int(rows["value"][w, lane]) for lane in team], self.types[0]
        if t == "f32":
            return {lane: (self.least_float(values), 0) for lane in team}
        if t == "s32":
            values = [signed(v, 32) for v in values]
        op = self.words[2]
        total = values[0]
        for v in values[1:]:
            total = {"add": total + v, "min": min(total, v), "max": max(total, v), "and": total & v, "or": total | v, "xor": total ^ v}[op]
        return {lane: (total & FULL, 0) for lane in team}

    def least_float(self, values):
        numbers = [exact.decode("f32", v) for v in values]
        if "abs" in self.words:
            numbers = [exact.magnitude_of(n) for n in numbers]
        known = [n for n in numbers if n is not None]
        if not known or len(known) < len(numbers) and "NaN" in self.words:
            return exact.encode("f32", None)
        chosen = known[0]
        for n in known[1:]:
            below = exact.less(n, chosen) or exact.equal(n, chosen) and n[0] > chosen[0]
            above = exact.less(chosen, n) or exact.equal(n, chosen) and n[0] < chosen[0]
            chosen = n if (below if "min" in self.words else above) else chosen
        return exact.encode("f32", chosen)

    def activemask(self, rows, w, team):
        return {lane: (FULL, 0) for lane in team}

    def elect(self, rows, w, team):
        return {lane: (team[0], int(lane == team[0])) for lane in team}


def teams(mask):
    masks = sorted({int(m) for m in mask})
    return [[lane for lane in range(32) if m >> lane & 1] for m in masks]


def inputs():
    rng = random.Random(9)
    special = [0, 0x80000000, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x00000001, 0x80000001]
    rows = {"value": np.array([[rng.choice(special + [rng.getrandbits(32)] * 6) for _ in range(32)] for _ in range(WARPS)], np.uint64),
            "few": np.array([[rng.choice([5, 5 | 1 << 40, 7]) for _ in range(32)] for _ in range(WARPS)], np.uint64),
            "b": np.array([rng.choice([0, 1, 2, 3, 5, 16, 31, 32, 33]) for _ in range(WARPS)], np.uint64),
            "c": np.array([rng.choice([0x1F, 0, 31, 0x1C03, 0x181F, 0x1C1F, 0x101F, 0x1000, 0x1E01, 0x0F, 0x1F1F]) for _ in range(WARPS)], np.uint64),
            "mask": np.array([[FULL] * 32 if w % 2 == 0 else [EVEN if lane % 2 == 0 else FULL ^ EVEN for lane in range(32)] for w in range(WARPS)], np.uint64)}
    rows["few"][:6] = 5
    rows["value"][2] |= np.uint64(1)
    rows["value"][4] &= np.uint64(0xFFFFFFFE)
    for w in range(8, 12):  # a NaN here and there, and nothing but NaN
        rows["value"][w, :: w - 7] = 0x7FC00000
    rows["value"][8] = 0xFFC00001
    return rows


def run(arch, instances, open_module, report):
    rows = inputs()
    body = [line for i, one in enumerate(instances) for line in one.lines(2 * i)]
    head = [".reg .pred pd, pv;", ".reg .b32 rd, rv, rb, rc, rm, rt, rf;", ".reg .b64 dv, dz, dt, di, do;",
            "ld.param.u64 di, [in];", "ld.param.u64 do, [out];", "mov.u32 rt, %tid.x;", "mul.wide.u32 dt, rt, 40;", "add.s64 di, di, dt;",
            "mul.wide.u32 dt, rt, 8;", "add.s64 do, do, dt;", "ld.global.u32 rv, [di];", "ld.global.u64 dv, [di+8];", "ld.global.u32 rb, [di+16];",
            "ld.global.u32 rc, [di+24];", "ld.global.u32 rm, [di+32];", "and.b32 rt, rv, 1;", "setp.ne.b32 pv, rt, 0;", "cvt.u32.u64 rf, dv;"]
    text = f".visible .entry k(.param .u64 in, .param .u64 out)\n{{\n" + "\n".join(head + body) + "\nret;\n}\n"
    device = open_module(arch, text)
    table = np.zeros((WARPS, 32, 5), np.uint64)
    table[:, :, 0], table[:, :, 1], table[:, :, 4] = rows["value"], rows["few"], rows["mask"]
    table[:, :, 2], table[:, :, 3] = rows["b"][:, None], rows["c"][:, None]
    out = np.zeros((2 * len(instances), WARPS * 32), np.uint64)
    device.run("k", 1, WARPS * 32, [table], out)
    for i, one in enumerate(instances):
        want = one.expected(rows)
        bad = np.argwhere(out[2 * i:2 * i + 2] != want)
        report(one.form, "" if not len(bad) else f"warp {bad[0][1] // 32}, lane {bad[0][1] % 32}, slot {bad[0][0]}: "
               f"{int(out[2 * i + bad[0][0], bad[0][1]]):#x}, expected {int(want[bad[0][0], bad[0][1]]):#x}")
    return device
