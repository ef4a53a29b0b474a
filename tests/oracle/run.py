#!/usr/bin/python3
"""Compares what `ref` and compiled code on a simulator give with the results of NumPy and SciPy in data/.

    run.py BUILD [FAMILY...] [--arch sm_80,sm_90a] [--case TEXT] [-v]

Checked for each output of each case, README.md says why:
  - `ref`, rounded to the output's type, and the device obey the rule of the data;
  - nothing outside the output is written (gaps between strides, bytes around);
  - `ref`'s bound accepts every right result that the data knows, and is finite where the result is defined.
"""

import argparse, fnmatch, os, re, subprocess, sys, tempfile, time
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases, compare, elements

HERE = os.path.dirname(os.path.abspath(__file__))
INPUT, OUTPUT, VALUE, DIMENSION = range(4)
BATCH = 40  # refused functions a build: kc shows 100 errors at most
GUARD = 32  # elements before and after a tensor that has a layout of its own
POISON = 0xFF  # NaN in every float that has one, -1 in integers
np.seterr(all="ignore")


# ---- arguments in memory


def place(argument):
    """(shape, strides, first, total) in elements."""
    shape = list(argument["a"].shape)
    strides, extent = [], 1
    for n in reversed(shape):
        strides.insert(0, extent)
        extent *= n
    if "strides" not in argument and "offset" not in argument:
        return shape, strides, 0, extent
    strides = argument.get("strides", strides)
    first = GUARD + argument.get("offset", 0)
    reach = sum((n - 1) * s for n, s in zip(shape, strides)) + 1 if extent else 0
    return shape, strides, first, first + reach + GUARD


def view(memory, shape, strides, first):
    size = memory.dtype.itemsize
    return np.lib.stride_tricks.as_strided(memory[first:], shape, [s * size for s in strides])


def memory_of(argument, is_output):
    t = argument["type"]
    shape, strides, first, total = place(argument)
    if elements.bits(t) == 4:  # never with strides
        return elements.pack(t, argument["a"]) if not is_output else bytes([POISON]) * ((total + 1) // 2)
    memory = np.full(total * elements.storage(t).itemsize, POISON, np.uint8)
    if not is_output and argument["a"].size:
        view(memory.view(elements.storage(t)), shape, strides, first)[...] = argument["a"]
    return memory.tobytes()


def blob(data):
    return np.int64(len(data)).tobytes() + data + bytes(-len(data) % 8)


def words(*values):
    return np.array(values, np.int64).tobytes()


def call_bytes(function, name, inputs, outputs, dims):
    parts = [blob(name.encode()), words(len(inputs) + len(outputs) + len(function["free"]))]
    for kind, arguments in ((INPUT, inputs), (OUTPUT, outputs)):
        for a in arguments.values():
            shape, strides, first, _ = place(a)
            scalar = kind == INPUT and not shape
            offset = first * elements.bits(a["type"]) // 8
            parts += [words(VALUE if scalar else kind, len(shape), *shape, *strides, offset), blob(memory_of(a, kind == OUTPUT))]
    for d in function["free"]:
        parts += [words(DIMENSION, 0, 0), blob(words(dims[d]))]
    return b"".join(parts)


class Results:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data, self.at = f.read(), 0

    def word(self):
        self.at += 8
        return int(np.frombuffer(self.data, np.int64, 1, self.at - 8)[0])

    def blob(self):
        n = self.word()
        start, self.at = self.at, self.at + n + -n % 8
        return self.data[start : start + n]


# ---- one family


class Run:
    def __init__(self, options, family, work):
        self.o, self.family, self.work = options, family, work
        self.data = cases.Reader(family)
        self.refused = {}
        for pattern, text in read_refused(family):
            found = fnmatch.filter(self.data.texts, pattern)
            self.refused |= dict.fromkeys(found, text)
            if not found:
                print(f"not ok {family} refused.txt: no function is called {pattern}")
        self.checked, self.problems = 0, {}

    def build(self, arch):
        kept = [n for n in self.data.texts if n not in self.refused]
        self.package = f"{self.work}/{self.family}-{arch}.kcb"
        status, message = self.kc(kept, arch, self.package)
        if status:
            self.problem("build", f"exit {status}: " + "; ".join(re.findall(r"error: (.*)", message)[:3]))
        return status == 0 and bool(kept)

    def kc(self, names, arch, package):
        if not names:
            return 0, ""
        path = f"{self.work}/{self.family}.yaml"
        with open(path, "w") as f:
            f.write(f"kc: 1\nmodule: {self.family}\nfunctions:\n" + "".join("\n".join(self.data.texts[n]) + "\n" for n in names))
        p = subprocess.run(
            [f"{self.o.build}/bin/kc", "build", path, "--target", f"cuda:{arch}", "--images", "ptx", "-j", "2", "-o", package],
            capture_output=True,
            text=True,
        )
        return p.returncode, p.stderr

    def check_refused(self, arch):
        """Each function of refused.txt is refused, in the words given there, at a place inside it."""
        names = list(self.refused)
        for i in range(0, len(names), BATCH):
            self.check_batch(arch, names[i : i + BATCH])

    def check_batch(self, arch, names):
        status, message = self.kc(names, arch, f"{self.work}/refused.kcb")
        errors, start = re.findall(r":(\d+):\d+: error: (.*)", message), 4
        for name in names:
            end, text = start + len(self.data.texts[name]), self.refused[name]
            own = [e for line, e in errors if start <= int(line) < end]
            if not own:
                self.problem(name, "is no longer refused: take it out of tests/oracle/refused.txt")
            elif not any(text in e for e in own):
                self.problem(name, f"is refused by `{own[0]}`, expected `{text}`")
            self.checked += 1
            start = end

    def launch(self, device, chosen):
        calls, results = f"{self.work}/calls", f"{self.work}/results"
        with open(calls, "wb") as f:
            for name, _, inputs, outputs, dims in chosen:
                f.write(call_bytes(self.data.functions[name], name, inputs, outputs, dims))
        p = subprocess.run([self.o.launch, self.package, device, calls, results], capture_output=True, text=True)
        if p.returncode:
            self.problem(device, f"launch: {p.stderr[:400]}")
            return None
        return Results(results)

    def problem(self, where, text):
        self.problems.setdefault(where, []).append(text)

    def judge(self, chosen, device, results, reference=None):
        """Returns the reference's values and bounds, when it is the reference that ran."""
        kept = []
        for i, (name, tag, _, outputs, _) in enumerate(chosen):
            status, message = results.word(), results.blob().decode()
            found = {}
            for output, o in outputs.items():
                memory = results.blob()
                extra = (
                    tuple(np.frombuffer(results.blob(), np.float64).reshape(o["a"].shape) for _ in range(2))
                    if device == "ref" and status == 0
                    else None
                )
                if device == "ref" and status != 0:
                    results.blob(), results.blob()
                self.checked += 1
                problem = (
                    self.verdict(o, memory, extra or (reference[i].get(output) if reference else None), device == "ref")
                    if status == 0
                    else message
                )
                if problem:
                    self.problem(f"{name}.{output}", f"{device}, {tag}: {problem}")
                found[output] = extra
            kept.append(found)
        return kept

    def verdict(self, o, memory, reference, is_reference):
        t = o["type"]
        shape, strides, first, total = place(o)
        if elements.bits(t) == 4:
            got = elements.unpack(t, memory, total).reshape(shape)
        else:
            whole = np.frombuffer(bytearray(memory), elements.storage(t))
            got = view(whole, shape, strides, first).copy()
            view(whole, shape, strides, first)[...] = np.full(1, POISON, np.uint8).repeat(whole.dtype.itemsize).view(whole.dtype)[0]
            if (whole.view(np.uint8) != POISON).any():
                return "memory around the output is written"
        problem = compare.describe(o, got, compare.right(o, got))
        if problem or reference is None:
            return problem
        value, bound = reference
        if not is_reference:
            problem = compare.describe(o, got, compare.reference_accepts(t, got, value, bound))
            return problem and "the reference's bound does not accept it: " + problem
        return self.bounds(o, value, bound)

    def bounds(self, o, value, bound):
        t, open_ = o["type"], compare.is_open(o)
        for result in compare.right_results(o):
            accepts = compare.reference_accepts(t, result, value, bound) | open_
            if not accepts.all():
                i = tuple(np.argwhere(~accepts)[0])
                shown = elements.decode(t, result)[i] if elements.is_float(t) else result[i]
                return f"{(~accepts).sum()} right results are refused by the reference's bound, first at {list(map(int, i))}: {shown!r}, value {value[i]!r} +- {bound[i]:.3g}"
        vacuous = np.isinf(bound) & ~open_ & ~(o["rule"] == "bound" and np.isnan(o["a"]))
        if vacuous.any():
            i = tuple(np.argwhere(vacuous)[0])
            return f"{vacuous.sum()} defined elements have an infinite bound in the reference, first at {list(map(int, i))}: value {value[i]!r}"
        return ""

    def run(self):
        for arch in self.o.arch:
            begin = time.time()
            self.check_refused(arch)
            if not self.build(arch):
                continue
            built = time.time()
            chosen = [c for c in self.data.expanded() if c[0] not in self.refused and self.o.case in f"{c[0]} {c[1]}"]
            reference = None
            for device in ("ref", f"cuda-sim:{arch}"):
                results = self.launch(device, chosen) if chosen else None
                if results:
                    kept = self.judge(chosen, device, results, reference)
                    reference = reference or kept
            if self.o.verbose:
                print(f"# {self.family} {arch}: build {built - begin:.1f} s, all {time.time() - begin:.1f} s, {len(chosen)} cases")
        return self.report()

    def report(self):
        for where, texts in self.problems.items():
            print(f"not ok {self.family} {where}: {texts[0]}" + (f"   (and {len(texts) - 1} more)" if len(texts) > 1 else ""))
            if self.o.verbose:
                print("".join(f"    {t}\n" for t in texts[1:8]), end="")
        if not self.problems:
            print(f"ok {self.family}: {self.checked} outputs, {len(self.refused)} functions refused as expected")
        sys.stdout.flush()
        return not self.problems


def read_refused(family):
    """[(pattern of names, what the error says)]"""
    with open(f"{HERE}/refused.txt") as f:
        lines = [line.split("#")[0].split(None, 2) for line in f]
    return [(words[1], words[2].strip()) for words in lines if words and words[0] == family]


def compile_launcher(build, work):
    out = f"{work}/launch"
    subprocess.run(
        [
            *os.environ.get("CC", "cc").split(),
            *os.environ.get("CFLAGS", "").split(),
            "-std=c11",
            "-O1",
            f"-I{HERE}/../..",
            f"{HERE}/launch.c",
            "-o",
            out,
            f"{build}/lib/libkcrt.a",
            "-ldl",
            "-lpthread",
            "-lm",
        ],
        check=True,
    )
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("family", nargs="*")
    p.add_argument("--arch", default=os.environ.get("KC_ORACLE_ARCH", "sm_80"))
    p.add_argument("--case", default="")
    p.add_argument("-v", "--verbose", action="store_true")
    o = p.parse_args()
    o.build, o.arch = os.path.abspath(o.build), o.arch.split(",")
    os.environ |= {"KCRT_CUDA_SIM": f"{o.build}/lib/libkcsim_cuda.so", "KCRT_REF": f"{o.build}/lib/libkcrt_ref.so"}
    good = True
    with tempfile.TemporaryDirectory(prefix="kc-oracle-") as work:
        o.launch = compile_launcher(o.build, work)
        for name in o.family or sorted(n[:-4] for n in os.listdir(cases.DATA) if n.endswith(".npz")):
            good &= Run(o, name, work).run()
    sys.exit(not good)


if __name__ == "__main__":
    main()
