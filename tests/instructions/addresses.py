"""cvta and isspacep: variables of every space, seen as generic addresses."""
import numpy as np
import forms

OPS = ("cvta", "isspacep")
SPACES = {"global": "words", "shared": "ours", "local": "mine", "const": "fixed", "param": "data"}  # a variable in each
WRITABLE = ("global", "shared", "local")


def takes(form):
    return form.split(".")[0] in OPS


class Instance:
    def __init__(self, form):
        self.form = form
        self.words = forms.split(form)[0]
        self.space = next(w.split("::")[0] for w in self.words[1:] if w.split("::")[0] in SPACES)


def generic(space, to):
    """Through the plain form, which has a row of its own."""
    return [f"mov.u64 {to}, {SPACES[space]};", f"cvta.{space}.u64 {to}, {to};"]


def lines(one, at):
    """What must be 1, a word each: cvta gives an address at which the other way round finds the same; isspacep is true of its own
    space and of no other."""
    variable = SPACES[one.space]
    if one.words[0] == "isspacep":
        out = []
        for i, space in enumerate(SPACES):
            want = "pd" if space == one.space else "!pd"
            out += generic(space, "da") + [f"{one.form} pd, da;", "selp.b32 rd, 1, 0, pd;" if want == "pd" else "selp.b32 rd, 0, 1, pd;",
                                           f"st.global.u32 [do+{4 * (at + i)}], rd;"]
        return out, len(SPACES)
    if "to" in one.words:
        out = generic(one.space, "da") + [f"{one.form} db, da;", f"mov.u64 dc, {variable};", "setp.eq.u64 pd, db, dc;"]
    else:
        out = [f"mov.u64 db, {variable};", f"{one.form} da, db;"]
        if one.space in WRITABLE:
            out += [f"st.u32 [da], {1000 + at};", f"ld.{one.space}.u32 rd, [{variable}];", f"setp.eq.u32 pd, rd, {1000 + at};"]
        else:
            out += ["ld.u32 rd, [da];", f"ld.{one.space}.u32 re, [{variable}];", "setp.eq.u32 pd, rd, re;"]
    return out + ["selp.b32 rd, 1, 0, pd;", f"st.global.u32 [do+{4 * at}], rd;"], 1


def run(arch, instances, open_module, report):
    at, body, places = 0, [], []
    for one in instances:
        text, count = lines(one, at)
        places.append(range(at, at + count))
        body += text
        at += count
    head = [".reg .pred pd;", ".reg .b32 rd, re;", ".reg .b64 da, db, dc, do;", ".shared .align 8 .b32 ours;", ".local .align 8 .b32 mine;",
            "ld.param.u64 do, [out];", "st.local.u32 [mine], 7;", "st.shared.u32 [ours], 7;"]
    device = open_module(arch, ".global .align 8 .b32 words = 5;\n.const .align 8 .b32 fixed = 77;\n"
                         ".visible .entry k(.param .u64 out, .param .align 8 .b8 data[8])\n{\n" + "\n".join(head + body) + "\nret;\n}\n")
    out = np.zeros(at, np.uint32)
    device.run("k", 1, 1, [], out, np.arange(1, 3, dtype=np.uint32))
    for one, mine in zip(instances, places):
        wrong = [list(SPACES)[i] if len(mine) > 1 else "the address" for i, p in enumerate(mine) if out[p] != 1]
        report(one.form, f"is wrong for {', '.join(wrong)}" if wrong else "")
    return device
