"""Barriers, fences and what else has no value to compare: two warps that need the barrier to see each other's words; the rest is
executed, and must leave no finding and no trace."""
import numpy as np
import forms, sim

OPS = ("bar", "barrier", "membar", "fence", "nanosleep", "pmevent", "griddepcontrol", "createpolicy", "exit", "trap", "brkpt")
THREADS = 64


def takes(form):
    return form.split(".")[0] in OPS


class Instance:
    def __init__(self, form):
        self.form = form
        self.words = forms.split(form)[0]

    def body(self):
        """rd holds what each thread found: of barriers the number that the other warp stored."""
        if "red" in self.words:
            counts = "popc" in self.words
            first, second = ("rd", "re") if counts else ("pd", "pd")
            return [f"{self.form} {first}, 0, po;", "" if counts else "selp.b32 rd, 1, 0, pd;", f"{self.form} {second}, 1, 64, pt;",
                    "" if counts else "selp.b32 re, 1, 0, pd;", "shl.b32 re, re, 8;", "or.b32 rd, rd, re;"]
        if self.words[0] in ("bar", "barrier") and not {"cluster", "warp"} & set(self.words):
            other = self.form.replace("arrive", "sync")
            if "arrive" in self.words:  # the first warp arrives, the second waits for it
                return ["st.shared.u32 [dm], rt;", f"@pf bra FIRST{self.number};", f"{other} 2, 64;", "ld.shared.u32 rd, [dn];", f"bra.uni NEXT{self.number};",
                        f"FIRST{self.number}:", f"{self.form} 2, 64;", "mov.u32 rd, 0;", f"NEXT{self.number}:"]
            return ["st.shared.u32 [dm], rt;", f"{self.form} 0;", "ld.shared.u32 rd, [dn];", f"{self.form} 3, 64;"]
        if "cluster" in self.words and self.words[0] == "barrier":  # the other half of the pair is the plain one
            arrives = "arrive" in self.words
            fence = ["fence.acq_rel.cluster;"] if "relaxed" in self.words else []
            first, second = (self.form, "barrier.cluster.wait.aligned") if arrives else ("barrier.cluster.arrive.aligned", self.form)
            return ["st.shared.u32 [dm], rt;", *fence, f"{first};", f"{second};", *fence, "ld.shared.u32 rd, [dn];"]
        if self.words[0] == "exit":
            return ["mov.u32 rd, 0;", "@pf exit;"]
        operands = {"nanosleep": " 20", "pmevent": " 3", "createpolicy": " dh, 0.5", "bar": " -1"}.get(self.words[0], "")
        if "tensormap::generic" in self.words and "acquire" in self.words:
            operands = " [map], 128"
        return ["mov.u32 rd, 7;", f"{self.form}{operands};"]

    def expected(self):
        t = np.arange(THREADS)
        if "red" in self.words:  # odd threads, then all threads
            first = {"popc": 32, "and": 0, "or": 1}[next(w for w in self.words if w in ("popc", "and", "or"))]
            return np.full(THREADS, first | (64 if "popc" in self.words else 1) << 8)
        if self.words[0] in ("bar", "barrier") and "warp" not in self.words:
            return np.where(t < 32, 0, t - 32) if "arrive" in self.words and "cluster" not in self.words else t ^ 32
        return np.where(t < 32, 99, 0) if self.words[0] == "exit" else np.full(THREADS, 7)


def kernel(i, one):
    one.number = i
    head = [".reg .pred pd, po, pt, pf;", ".reg .b32 rd, re, rt;", ".reg .b64 dm, dn, dt, do, dh;", f".shared .align 8 .b32 words[{THREADS}];",
            "ld.param.u64 do, [out];", "mov.u32 rt, %tid.x;", "mul.wide.u32 dt, rt, 4;", "add.s64 do, do, dt;", "mov.u64 dm, words;", "add.s64 dm, dm, dt;",
            "xor.b32 re, rt, 32;", "mul.wide.u32 dt, re, 4;", "mov.u64 dn, words;", "add.s64 dn, dn, dt;", "and.b32 re, rt, 1;", "setp.ne.u32 po, re, 0;",
            "setp.lt.u32 pf, rt, 32;", "setp.lt.u32 pt, rt, 64;"]
    return f".visible .entry k{i}(.param .u64 out)\n{{\n" + "\n".join(head + one.body() + ["st.global.u32 [do], rd;", "ret;"]) + "\n}\n"


def traps(arch, one, open_module, report):
    """The launch fails and says why; the module goes, as nothing else can run behind it."""
    module = open_module(arch, kernel(0, one))
    try:
        module.run("k0", 1, THREADS, [], np.zeros(THREADS, np.uint32))
        report(one.form, "the launch did not fail")
    except sim.Failed:
        text = module.device.text("kcsim_fault_text")
        report(one.form, "" if "trap" in text else f"the launch failed, saying {text!r}")
    module.device.close()


def run(arch, instances, open_module, report):
    for one in [i for i in instances if i.form in ("trap", "brkpt")]:
        traps(arch, one, open_module, report)
    instances = [i for i in instances if i.form not in ("trap", "brkpt")]
    device = open_module(arch, ".global .align 128 .b8 map[128];\n" + "\n".join(kernel(i, one) for i, one in enumerate(instances)))
    for i, one in enumerate(instances):
        out = np.full(THREADS, 99, np.uint32)
        device.run(f"k{i}", 1, THREADS, [], out)
        bad = np.flatnonzero(out != one.expected())
        report(one.form, f"thread {bad[0]}: {out[bad[0]]}, expected {one.expected()[bad[0]]}" if len(bad) else "")
    return device
