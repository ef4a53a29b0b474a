#!/usr/bin/python3
"""Random models: built, run on simulators with hostile memory, compared with NumPy, the reference device and a twin.

    run.py [--seed S] [--count N] [--only I]... [--target cuda:sm_80] [--jobs 2] [--build BUILD] [--cases 2] [--no-shrink]

Model I of seed S is the same whatever the count; `--only I` replays it. Models are built in blocks of 8 functions a file. A
failure prints one line and leaves the model, shrunk, with the command that replays it, in BUILD/random/SEED-I/.
"""
import argparse, json, os, random, shutil, signal, sys, tempfile, time, traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate, shrink
from bench import Bench, Case, Invalid, Setup, device_of, with_schedule

BLOCK = 8          # models a file
LIMIT = 240        # seconds that a block may take


# ---- a block, in a process of its own

class Job:
    """Some models of one block. Everything that it finds goes to a file as lines of JSON, as soon as it is known."""

    def __init__(self, options, number, indices):
        self.options, self.number, self.indices = options, number, indices
        self.setup = Setup(random.Random(f"{options.seed}:block:{number}"), options.target)
        self.functions, self.scheduled, self.r = {}, {}, {}
        self.failed = set()  # by themselves or as twins, before anything ran

    def generate(self, i):
        """The function, its schedules' copy, and the source of what its cases need: as often as wanted the same."""
        f = generate.Generator(f"{self.options.seed}:{i}").function()
        r = random.Random(f"{self.options.seed}:{i}:run")
        return f, with_schedule(f, r) if self.setup.twin == "schedule" else f, r

    def say(self, index, **what):
        print(json.dumps({"index": index, **what}), file=self.out, flush=True)

    def work(self, out):
        self.out = out
        with tempfile.TemporaryDirectory(prefix="kc-random-") as folder:
            self.bench = Bench(self.options.build, folder)
            for i in self.indices:
                self.functions[i], self.scheduled[i], self.r[i] = self.generate(i)
            packages = self.build(self.bench.build_base, self.functions, "base", refusable=False)
            twins = packages
            if self.setup.twin != "architecture":
                wanted = {i: f for i, f in self.scheduled.items() if f and i in packages}
                twins = self.build(self.bench.build_twin, wanted, "twin", refusable=self.setup.twin == "schedule")
            for i in self.indices:
                if i in packages and i not in self.failed and not self.cases(i, packages[i], twins.get(i)):
                    return

    def build(self, build, functions, name, refusable):
        """{index: package}, together or, when that is refused, one by one."""
        if not functions:
            return {}
        p = build({f"f{i}": f for i, f in functions.items()}, self.setup, name)
        if p.returncode == 0:
            return {i: name for i in functions}
        packages = {}
        for i, f in functions.items():
            p = build({f"f{i}": f}, self.setup, f"{name}{i}")
            if p.returncode == 0:
                packages[i] = f"{name}{i}"
            elif not (refusable and p.returncode == 1):
                self.say(i, kind=f"build exit {p.returncode}", message=p.stderr.strip()[:3000])
                self.failed.add(i)
        return packages

    def open(self, name, package, twin):
        """The function on the device, its twin, and on the reference."""
        def function(target, package): return self.bench.load(target, package).function(name)
        other = twin and function(device_of(self.setup.other), twin)
        return function(device_of(self.setup.target), package), other, function("ref", package)

    def cases(self, i, package, twin):
        """False after a failure: the simulated device may be out of order."""
        done, f, r = 0, self.functions[i], self.r[i]
        self.say(i, start=self.setup.target)
        functions = self.open(f.instance(f"f{i}"), package, twin)
        for _ in range(self.options.cases):
            sizes = generate.choose_sizes(f, r)
            if sizes is None:
                break
            case = Case(sizes, r)
            self.say(i, case=vars(case))
            f.text("f")  # names
            try:
                failure = self.bench.run(functions, f, case, self.setup)
            except Invalid:
                continue
            done += 1
            if failure:
                self.say(i, kind=failure[0], message=failure[1], case=vars(case))
                return False
        self.say(i, done=done)
        return True


def isolated(work, seconds):
    """Runs work(file) in a child; what it wrote, and its exit status (negative: a signal)."""
    out = tempfile.TemporaryFile("w+")
    child = os.fork()
    if child == 0:
        run_child(work, out, seconds)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out.seek(0)
    return out.read(), status


def run_child(work, out, seconds):
    status = 70
    try:
        signal.alarm(int(seconds))
        work(out)
        status = 0
    except BaseException:
        out.write(json.dumps({"index": -1, "trouble": traceback.format_exc()[-1500:]}) + "\n")
    finally:
        out.flush()
        os._exit(status)


# ---- shrinking, in a process of its own

def once(options, job, f, case):
    """'' or the failure of this function alone; in a child, which may die."""
    def work(out):
        with tempfile.TemporaryDirectory(prefix="kc-random-") as folder:
            bench = Bench(options.build, folder)
            job.bench = bench
            failure, twin = "", "base"
            p = bench.build_base({"f0": f}, job.setup)
            if p.returncode == 0 and job.setup.twin != "architecture":
                p, twin = bench.build_twin({"f0": f}, job.setup), "twin"
            if p.returncode:
                failure = (f"build exit {p.returncode}", p.stderr.strip()[:3000])
            elif case:
                f.text("f0")
                try:
                    failure = bench.run(job.open(f.instance("f0"), "base", twin), f, case, job.setup)
                except Invalid:
                    pass
            out.write(json.dumps(failure))
    text, status = isolated(work, 100)
    if status < 0:
        return "crash", f"ended by signal {-status}"
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    return tuple(found) if isinstance(found, list) else ""


def report(options, index, failure, case):
    """Shrinks, and leaves the model behind. The line to print."""
    job = Job(options, index // BLOCK, [index])
    f, scheduled, r = job.generate(index)
    if case:
        c, case = case, Case(case["sizes"], r)
        case.__dict__.update(c)
    f = scheduled if job.setup.twin == "schedule" and scheduled else f
    again = once(options, job, f, case)
    if again and options.shrink:
        f, case, failure = shrink.shrink(lambda g, c: once(options, job, g, c), f, case, again, options.shrink_seconds)
    keep = f"{options.build}/random/{options.seed}-{index}"
    shutil.rmtree(keep, ignore_errors=True)
    os.makedirs(keep)
    f.text("f")
    f.write_constants("f", keep)
    lines = [f"seed {options.seed}, model {index}, {job.setup.text()}: {failure[0]}"] + failure[1].split("\n")[:12]
    lines += [f"replay: tests/random/run.py --build {options.build} --seed {options.seed} --only {index}" + (f" --target {options.target}" if options.target else "")]
    lines += [] if again else ["it did not fail again alone"]
    text = f.text("f")
    if case:
        lines += ["constants are in files beside it"] * bool(f.constants()) + ["arch " + job.setup.target.split(":")[1], case.text(), "run " + replay_line(f, case)]
    with open(f"{keep}/m.yaml", "w") as out:
        out.write("".join(f"# {l}\n" for l in lines) + "kc: 1\nfunctions:\n" + text)
    return failure, keep


def replay_line(f, case):
    """Inputs and dimensions for a kept model; the values are others."""
    from model import sizes_of
    words = []
    for n in f.inputs():
        kind = "normal" if n.t in ("f64", "f32", "f16", "bf16") else "uniform"
        words.append(f"{n.name}={'x'.join(map(str, sizes_of(n.shape, case.sizes)))}:{kind}" if n.shape else f"{n.name}=1")
    bare = f.bare()
    return " ".join(words + [f"--dim {s}={x}" for s, x in sorted(case.sizes.items()) if s in f.symbols() and (s not in bare or s.startswith("ld"))])


# ---- many

class Runner:
    def __init__(self, options):
        self.options, self.children = options, {}
        self.models = self.cases = self.failures = 0
        self.shrinking = []

    def start(self, kind, work, seconds, what):
        out = tempfile.TemporaryFile("w+")
        child = os.fork()
        if child == 0:
            run_child(work, out, seconds)
        self.children[child] = (kind, out, what)

    def blocks(self):
        o = self.options
        indices = o.only or range(o.first, o.first + o.count)
        by_number = {}
        for i in indices:
            by_number.setdefault(i // BLOCK, []).append(i)
        return list(by_number.items())

    def run(self):
        o, end = self.options, time.time() + self.options.seconds
        waiting = self.blocks()
        while waiting or self.children or self.shrinking:
            if self.failures >= o.most_failures and waiting:
                print(f"random: {self.failures} failures are enough", flush=True)
                waiting = []
            while len(self.children) < o.jobs and (self.shrinking or (waiting and time.time() < end)):
                if self.shrinking:
                    index, failure, case = self.shrinking.pop(0)
                    self.start("shrink", lambda out: out.write(json.dumps(report(o, index, failure, case))), 2 * o.shrink_seconds + 300, index)
                else:
                    number, indices = waiting.pop(0)
                    job = Job(o, number, indices)
                    self.start("block", job.work, LIMIT, job)
            if not self.children:
                break
            child, status = os.wait()
            kind, out, what = self.children.pop(child)
            out.seek(0)
            if kind == "block":
                rest = self.finish(what, out.read(), os.waitstatus_to_exitcode(status))
                if rest:
                    waiting.insert(0, (what.number, rest))
            else:
                self.print_failure(what, out.read())

    def finish(self, job, text, status):
        """Takes note of a block's lines; the models that it has not come to."""
        left, last, case = list(job.indices), None, None
        for line in text.splitlines():
            said = json.loads(line)
            i = said["index"]
            if "trouble" in said:
                self.failures += 1
                print(f"FAILED {last if last is not None else job.indices}: the harness: {said['trouble']}", flush=True)
                return [j for j in left if last is not None and j != last]
            if "start" in said:
                last, case = i, None
            elif "kind" in said:
                self.fail(i, (said["kind"], said["message"]), said.get("case"))
                left.remove(i)
                last = None
            elif "done" in said:
                self.models += 1
                self.cases += said["done"]
                left.remove(i)
                last = None
            elif "case" in said:
                case = said["case"]
        if status < 0 and last is not None:
            self.fail(last, ("crash" if status != -signal.SIGALRM else "time", f"ended by signal {-status}"), case)
            left.remove(last)
        elif status < 0:
            print(f"FAILED {left}: ended by signal {-status}", flush=True)
            self.failures += 1
            return []
        return left

    def fail(self, index, failure, case):
        self.failures += 1
        self.models += 1
        self.shrinking.append((index, failure, case))

    def print_failure(self, index, text):
        try:
            (kind, message), keep = json.loads(text)
            print(f"FAILED {index} {kind}: {first_line(message)} -> {keep}", flush=True)
        except ValueError:
            print(f"FAILED {index}: no report: {text[:1500]}", flush=True)


def first_line(message):
    for line in message.split("\n"):
        if "error" in line or "BUG" in line:
            return line[:240]
    return message.split("\n")[0][:240]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--count", type=int, default=64)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--only", type=int, action="append")
    p.add_argument("--target")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--cases", type=int, default=2)
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--shrink-seconds", type=float, default=60)
    p.add_argument("--most-failures", type=int, default=20)
    p.add_argument("--no-shrink", dest="shrink", action="store_false")
    options = p.parse_args()
    options.build = os.path.abspath(options.build)
    if options.seed is None:
        options.seed = int(time.time())
    print(f"random: seed {options.seed}", flush=True)
    start, runner = time.time(), Runner(options)
    runner.run()
    minutes = (time.time() - start) / 60
    print(f"random: {runner.models} models, {runner.cases} runs with their twins, {runner.failures} failures; {runner.models / minutes:.0f} models a minute", flush=True)
    sys.exit(runner.failures > 0 or runner.models == 0)


if __name__ == "__main__":
    main()
