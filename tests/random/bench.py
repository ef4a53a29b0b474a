"""One model put to every check: built twice, run on the simulator, compared with NumPy, with `ref`, and with its twin.

A setup says for which architecture a model is built, and what its twin is: the same model with fusion off, with a random
schedule, or for another architecture. Wherever docs/MODEL.md fixes bits the two must have the same.
"""
import copy, os, random, subprocess
import numpy as np
import bits, generate, values as v
from device import Failure, Layout, Runtime
from model import Invalid

# A simulated device an architecture. Those of AMD join when their simulator exists; until then they are built only.
SIMULATED = ["cuda:sm_75", "cuda:sm_80", "cuda:sm_80", "cuda:sm_86", "cuda:sm_89", "cuda:sm_90a", "cuda:sm_90", "cuda:sm_100a", "cuda:sm_120a"]
BUILT_ONLY = ["hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100", "hip:gfx1201"]
TWINS = ["fusion off"] * 4 + ["schedule"] * 2 + ["architecture"] * 2


class Setup:
    def __init__(self, r, target=None):
        self.target = target or r.choice(SIMULATED)
        self.twin = r.choice(TWINS)
        self.other = r.choice([t for t in SIMULATED if t != self.target]) if self.twin == "architecture" else self.target
        self.built_only = [r.choice(BUILT_ONLY)] if r.random() < 0.1 else []

    def text(self): return f"{self.target}, twin: {self.twin}" + (f" {self.other}" if self.twin == "architecture" else "") + "".join(f", {t} built" for t in self.built_only)


class Case:
    """Sizes for one function, and the seeds of everything else."""

    def __init__(self, sizes, r):
        self.sizes, self.data, self.layout, self.scheduler = sizes, r.randrange(1 << 30), r.randrange(1 << 30), r.randrange(1 << 30)

    def text(self): return f"sizes {self.sizes}, data {self.data}, layout {self.layout}, scheduler {self.scheduler}"


def device_of(target): return target.replace(":", "-sim:")


class Bench:
    def __init__(self, build, folder):
        self.build, self.folder, self.runtime = os.path.abspath(build), folder, None
        self.loaded = {}

    # ---- building

    def compile(self, functions, targets, package, options=()):
        """functions: {name: Function}. The finished process."""
        source = f"{self.folder}/{package}.yaml"
        with open(source, "w") as out:
            out.write("kc: 1\nfunctions:\n" + "".join(f.text(name) for name, f in functions.items()))
        for name, f in functions.items():
            f.write_constants(name, self.folder)
        args = [f"{self.build}/bin/kc", "build", source, "--images", "ptx", "--no-portable", "-j", "1", "-o", f"{self.folder}/{package}.kcb", *options]
        for target in targets:
            args += ["--target", target]
        try:
            return subprocess.run(args, capture_output=True, text=True, errors="replace", timeout=300)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(args, 124, "", "error: kc build takes more than 300 s")

    def build_base(self, functions, setup, package="base"):
        targets = [setup.target, *setup.built_only] + ([setup.other] if setup.other != setup.target else [])
        return self.compile(functions, targets, package)

    def build_twin(self, functions, setup, package="twin"):
        """None: the base is the twin's package too."""
        if setup.twin == "architecture":
            return None
        if setup.twin == "fusion off":
            return self.compile(functions, [setup.target], package, ["--fusion", "off"])
        return self.compile(functions, [setup.target], package)

    # ---- running

    def load(self, device, package):
        """Once; later builds of a package with that name are not seen."""
        self.runtime = self.runtime or Runtime(self.build)
        if (device, package) not in self.loaded:
            self.loaded[device, package] = self.runtime.load(device, f"{self.folder}/{package}.kcb")
        return self.loaded[device, package]

    def inputs(self, f, case):
        rng = np.random.default_rng(case.data)
        return {n.name: generate.fill(n, case.sizes, rng) for n in f.inputs()}

    def run(self, functions, f, case, setup):
        """functions: of the device, its twin or None, and `ref`. '' when all is well, else (kind, message)."""
        try:
            return self.checked(functions, f, case, setup)
        except Failure as e:
            return e.kind, e.message

    def checked(self, functions, f, case, setup):
        inputs = self.inputs(f, case)
        wants = f.evaluate(case.sizes, inputs)
        wants = [v.cast(w, o.t) for w, o in zip(wants, f.outputs)]
        stored = {n.name: v.encode(inputs[n.name], n.t) for n in f.inputs()}
        base, twin, reference = functions
        dims = {s: case.sizes[s] for s in case.sizes if any(s == x.name.decode() for x in base.symbols)}
        self.runtime.seed(case.scheduler)
        got = base.run(stored, dims, Layout(random.Random(case.layout)))
        problem = self.judge(f, got, wants, "")
        exact, found = reference.run(stored, dims, Layout(), bounded=True)
        problem = problem or self.judge_reference(f, got, exact, found)
        if problem or twin is None:
            return problem
        self.runtime.seed(case.scheduler + 1)
        other = twin.run(stored, dims, Layout(random.Random(case.layout + 1)))
        return self.judge(f, other, wants, f"twin ({setup.twin}): ") or self.compare(f, got, other, wants, setup)

    def judge(self, f, got, wants, who):
        for o, want in zip(f.outputs, wants):
            problem = v.difference(v.decode(got[o.name], o.t), want, o.t)
            if problem:
                return "wrong", f"{who}{o.name}: {problem}"
        return ""

    def judge_reference(self, f, got, exact, found):
        for o in f.outputs:
            problem = v.beyond(got[o.name], exact[o.name], *found[o.name], o.t)
            if problem:
                return "reference", f"{o.name}: {problem}"
        return ""

    def compare(self, f, got, other, wants, setup):
        for o, b, want in zip(f.outputs, bits.analyse(f, f.known), wants):
            problem = bits.disagree(b, want, o.t, got[o.name], other[o.name], setup.other == setup.target)
            if problem:
                return "bits", f"{o.name}, {setup.twin}: {problem}"
        return ""


def with_schedule(f, r):
    """A copy with a wish; None when it got none."""
    g = copy.deepcopy(f)
    generate.schedule(g, r)
    return g if g.schedule else None


__all__ = ["Bench", "Case", "Invalid", "Setup", "device_of", "with_schedule"]
