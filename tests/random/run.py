#!/usr/bin/python3
"""Random models: built for an architecture, run on its simulator, compared with NumPy and the reference device.

    run.py [--seed S] [--count N] [--arch sm_80|random] [--jobs 2] [--build BUILD] [--cases 2] [--no-check] [--no-shrink]

Model I of seed S is the same whatever the count; `--only I` replays it. A failure prints one line and leaves the model,
shrunk, with the command that shows it, in BUILD/random/.
"""
import argparse, concurrent.futures, copy, os, random, re, shlex, shutil, subprocess, sys, tempfile, time
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate, values as v
from model import Invalid, Node

ARCHS = ["sm_75", "sm_80", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_90", "sm_100a", "sm_120a"]


class Case:
    """Sizes and a seed of data for one function."""

    def __init__(self, sizes, seed, given):
        self.sizes, self.seed, self.given = sizes, seed, given  # given: symbols that --dim passes


class Bench:
    """Builds and runs one function in a folder."""

    def __init__(self, build, arch, check, folder):
        self.build, self.arch, self.check, self.folder = os.path.abspath(build), arch, check, folder

    def compile(self, text):
        with open(f"{self.folder}/m.yaml", "w") as out:
            out.write("kc: 1\nfunctions:\n" + text)
        return self.tool("kc", "build", f"{self.folder}/m.yaml", "--target", f"cuda:{self.arch}", "--images", "ptx", "-j", "1", "-o", f"{self.folder}/m.kcb")

    def tool(self, name, *args):
        env = {**os.environ, "KCRT_REF": f"{self.build}/lib/libkcrt_ref.so"}
        try:
            return subprocess.run([f"{self.build}/bin/{name}", *args], capture_output=True, text=True, errors="replace", timeout=120, env=env)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess([name, *args], 124, "", "error: takes more than 120 s")

    def arguments(self, f, name, case):
        rng = np.random.default_rng(case.seed)
        args, inputs = [f"{self.folder}/m.kcb", name, "--device", f"cuda-sim:{self.arch}"], {}
        for n in f.inputs():
            a = inputs[n.name] = generate.fill(n, case.sizes, rng)
            if not n.shape:
                args += ["--input", f"{n.name}={a[()].item()!r}".replace("True", "true").replace("False", "false")]
                continue
            path = f"{self.folder}/in_{n.name}.npy"
            np.save(path, (a.view(np.uint32) >> 16).astype(np.uint16) if n.t == "bf16" else a)
            args += ["--input", f"{n.name}={path}"]
        for i, o in enumerate(f.outputs):
            args += ["--output", f"y{i}={self.folder}/out_y{i}.npy" + (":f32" if o.t == "bf16" else "")]
        for s in case.given:
            if s in f.symbols():
                args += ["--dim", f"{s}={case.sizes[s]}"]
        return args, inputs

    def run(self, f, name, case):
        """'' when all is well, else (kind, message)."""
        args, inputs = self.arguments(f, name, case)
        wants = f.evaluate(case.sizes, inputs)
        p = self.tool("kcrun", *args, *(["--check"] if self.check else []))
        message = p.stdout + p.stderr
        failed = p.returncode and "check FAILED" not in message
        if failed:
            return "run", message.strip()[:2000]
        for i, (o, want) in enumerate(zip(f.outputs, wants)):
            got = np.load(f"{self.folder}/out_y{i}.npy")
            problem = v.difference(got, want, o.t)
            if problem:
                return "wrong", f"y{i}: {problem}" + ("\n" + message.strip()[:1000] if p.returncode else " (the reference agrees)" if self.check else "")
        return ("reference", message.strip()[:2000]) if p.returncode else ""

    def fails(self, f, case):
        p = self.compile(f.text("f"))
        if p.returncode:
            return f"build exit {p.returncode}", p.stderr.strip()[:3000]
        try:
            return case and self.run(f, "f", case)
        except Invalid:
            return ""


# ---- shrinking

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
        if o.strides or o.alias or o.t != o.node.t:
            g, c = copy.deepcopy((f, case))
            g.outputs[i].strides = g.outputs[i].alias = None
            yield g, c
            g, c = copy.deepcopy((g, c))
            g.outputs[i].t = g.outputs[i].node.t
            yield g, c
    if f.schedule:
        g, c = copy.deepcopy((f, case))
        g.schedule = []
        yield g, c
    for i, n in enumerate(f.nodes()):
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
        if o.node is old:
            o.node = new


def shrink(bench, f, case, failure, seconds):
    want, end, again = signature(failure), time.time() + seconds, True
    while again and time.time() < end:
        again = False
        for g, c in variants(f, case):
            if time.time() > end:
                break
            try:
                found = bench.fails(g, c)
            except Exception:
                continue
            if found and signature(found) == want:
                f, case, failure, again = g, c, found, True
                break
    return f, case, failure


# ---- one model

def attempt(options, index):
    seed = f"{options.seed}:{index}"
    r = random.Random(seed + ":run")
    arch = r.choice(ARCHS) if options.arch == "random" else options.arch
    folder = tempfile.mkdtemp(prefix="kc-random-")
    try:
        bench = Bench(options.build, arch, options.check, folder)
        f = generate.Generator(seed).function()
        case = None
        p = bench.compile(f.text("f"))
        if p.returncode == 1 and f.schedule:  # a wish that cannot be built is refused
            f.schedule = []
            p = bench.compile(f.text("f"))
        failure = p.returncode and (f"build exit {p.returncode}", p.stderr.strip()[:3000])
        cases = 0
        while not failure and cases < options.cases:
            cases += 1
            sizes = generate.choose_sizes(f, r)
            if sizes is None:
                break
            bare = f.bare()
            given = sorted(s for s in sizes if s not in bare or s.startswith("ld"))
            case = Case(sizes, r.randrange(1 << 30), given)
            try:
                failure = bench.run(f, "f", case)
            except Invalid:
                continue
        if not failure:
            return index, arch, None, cases
        if options.shrink:
            f, case, failure = shrink(bench, f, case, failure, options.shrink_seconds)
        return index, arch, report(options, bench, index, f, case, failure), cases
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(options, bench, index, f, case, failure):
    kind, message = failure
    keep = f"{options.build}/random/{options.seed}-{index}"
    shutil.rmtree(keep, ignore_errors=True)
    os.makedirs(keep)
    text = f.text("f")
    bench.folder = keep
    bench.compile(text)
    lines = [f"# seed {options.seed}, model {index}, {bench.arch}: {kind}"] + ["#   " + l for l in message.split("\n")[:12]]
    if case:
        args, inputs = bench.arguments(f, "f", case)
        lines.append(f"# sizes {case.sizes}; inputs " + ", ".join(f"{n}={list(a.shape)}" for n, a in inputs.items()))
        lines.append("# kcrun " + " ".join(map(shlex.quote, args)))
    with open(f"{keep}/m.yaml", "w") as out:
        out.write("\n".join(lines) + "\nkc: 1\nfunctions:\n" + text)
    return kind, message, text, case and case.sizes, keep


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--count", type=int, default=50)
    p.add_argument("--only", type=int, action="append")
    p.add_argument("--arch", default="random")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--cases", type=int, default=2)
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--shrink-seconds", type=float, default=60)
    p.add_argument("--no-check", dest="check", action="store_false")
    p.add_argument("--no-shrink", dest="shrink", action="store_false")
    options = p.parse_args()
    if options.seed is None:
        options.seed = int(time.time())
    options.check = options.check and os.path.exists(f"{options.build}/lib/libkcrt_ref.so")
    print(f"random: seed {options.seed}, {options.arch}, {'with' if options.check else 'without'} the reference", flush=True)
    end, failures, models, cases = time.time() + options.seconds, 0, 0, 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) if options.jobs > 1 else concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = {}
        indices = iter(options.only or range(options.count))
        while True:
            while len(waiting) < options.jobs + 1 and time.time() < end:
                index = next(indices, None)
                if index is None:
                    break
                waiting[pool.submit(attempt, options, index)] = index
            if not waiting:
                break
            done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                index = waiting.pop(future)
                try:
                    index, arch, failure, n = future.result()
                except Exception as e:
                    failures += 1
                    print(f"FAILED {index}: the generator: {type(e).__name__}: {e}"[:400], flush=True)
                    continue
                models, cases = models + 1, cases + n
                if failure:
                    failures += 1
                    kind, message, text, sizes, keep = failure
                    print(f"FAILED {index} {arch} {kind}: {first_line(message)} -> {keep}", flush=True)
    print(f"random: {models} models, {cases} runs, {failures} failures", flush=True)
    sys.exit(failures > 0)


def first_line(message):
    for line in message.split("\n"):
        if "error" in line or "BUG" in line:
            return line[:200]
    return message.split("\n")[0][:200]


if __name__ == "__main__":
    main()
