#!/usr/bin/python3
"""Models that once failed: replay.py [--build BUILD] FILE...   Prints "ok NAME" or "not ok NAME: why".

In a file, comments say where and how its function `f` runs, each line of runs being one:
    # arch sm_80 sm_120a
    # run x0=2x2x5:normal x1=2:normal x2=1.5 --dim M=3
    # same bits
Every run happens with fusion on and off, in several layouts of memory, against the reference. `same bits` says that fusion
may change nothing in it (docs/MODEL.md). Without runs the model need only build.
"""
import argparse, os, random, subprocess, sys, tempfile
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import values as v
from device import Failure, Layout, Runtime

LAYOUTS = 3


class Kept:
    def __init__(self, path):
        self.path, self.arches, self.runs, self.same_bits = path, ["sm_80"], [], False
        with open(path) as f:
            for line in f:
                words = line.split()
                if words[:2] == ["#", "arch"]:
                    self.arches = words[2:]
                elif words[:2] == ["#", "run"]:
                    self.runs.append(words[2:])
                elif words[:3] == ["#", "same", "bits"]:
                    self.same_bits = True


def values_of(words, types, rng):
    """Inputs as stored, and dimensions."""
    inputs, dims = {}, {}
    for word in words:
        name, _, spec = word.partition("=")
        if name not in types:
            if name != "--dim":
                dims[name] = int(spec)
            continue
        shape, _, fill = spec.partition(":")
        if not fill:
            inputs[name] = v.encode(v.rounded(np.asarray(float(spec)), types[name]), types[name])
            continue
        shape = tuple(int(n) for n in shape.split("x"))
        real = {"normal": rng.standard_normal(shape), "uniform": rng.random(shape), "ones": np.ones(shape), "zeros": np.zeros(shape),
                "arange": np.arange(int(np.prod(shape)), dtype=float).reshape(shape)}[fill]
        if fill in ("normal", "uniform") and not v.is_float(types[name]):
            real = rng.integers(0 if types[name] in ("u8", "bool") else -8, 2 if types[name] == "bool" else 9, shape)
        inputs[name] = v.encode(v.rounded(np.asarray(real), types[name]), types[name])
    return inputs, dims


def build(options, path, arch, package, fusion):
    return subprocess.run([f"{options.build}/bin/kc", "build", path, "--target", f"cuda:{arch}", "--images", "ptx", "--fusion", fusion, "-o", package],
                          capture_output=True, text=True)


def check(kept, functions, runtime, words):
    reference = functions["ref"]
    types = {i.name.decode(): i.type.decode() for i in reference.infos}
    inputs, dims = values_of(words, types, np.random.default_rng(1))
    exact, found = reference.run(inputs, dims, Layout(), bounded=True)
    first = {}
    for fusion in ("on", "off"):
        for i in range(LAYOUTS):
            runtime.seed(i)
            got = functions[fusion].run(inputs, dims, Layout(random.Random(i) if i else None))
            for name, a in got.items():
                t = types[name]
                problem = v.beyond(a, exact[name], *found[name], t)
                other = first.setdefault(name, a)
                alike = (a == other) | (np.isnan(v.decode(a, t)) & np.isnan(v.decode(other, t)) if v.is_float(t) else False)
                if not problem and kept.same_bits and not np.all(alike):
                    problem = f"{np.sum(~alike)} elements have other bits"
                if problem:
                    return f"fusion {fusion}, layout {i}, {name}: {problem}"
    return ""


def replay(kept, options, folder):
    runtime = Runtime(options.build)
    for arch in kept.arches:
        functions = {}
        for fusion in ("on", "off"):
            package = f"{folder}/{os.path.basename(kept.path)}-{arch}-{fusion}.kcb"
            p = build(options, kept.path, arch, package, fusion)
            if p.returncode:
                return f"{arch}, fusion {fusion}: {p.stderr.strip()}"
            functions[fusion] = runtime.load(f"cuda-sim:{arch}", package).function("f")
        functions["ref"] = runtime.load("ref", package).function("f")
        for run in kept.runs:
            try:
                problem = check(kept, functions, runtime, run)
            except Failure as e:
                problem = e.message
            if problem:
                return f"{arch}, {' '.join(run)}: {problem}"
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("files", nargs="+")
    options = p.parse_args()
    options.build, failures = os.path.abspath(options.build), 0
    with tempfile.TemporaryDirectory(prefix="kc-replay-") as folder:
        for path in options.files:
            problem, name = replay(Kept(path), options, folder), "random " + os.path.basename(path)[:-5]
            print(f"not ok {name}: {problem[:600]}" if problem else f"ok {name}", flush=True)
            failures += bool(problem)
    sys.exit(failures > 0)


main()
