"""Products on tensor cores, exactly: operands are small integers, so that every product and every sum is exact in the type
that accumulates, and a result is right to the bit or wrong.

    tests/run/numpy_gemm.py BUILD [shapes|schedules] [all] [jobs=N] [seed=N] [skip=N]

`shapes`: M, N, K of SIZES, symbolic and as numbers, batches, unaligned leading dimensions, every transposition, type and
architecture; `schedules`: tiles, warps, stages and parts of k, each of which gives the product or an error that names what
was needed and the limit. Every argument lies among hostile bytes (tests/random/device.py). Without `all` a sample is
taken, another one each day; the seed is printed, and replays it. skip: models at the start that an earlier run of the same
day has done.
"""
import itertools, os, random, re, shutil, subprocess, sys, tempfile, time
from concurrent.futures import ProcessPoolExecutor
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "random"))
from device import Failure, Layout, Runtime

WORDS = sys.argv[2:]
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BUILD", "build"))
OPTIONS = dict(w.split("=") for w in WORDS if "=" in w)
DAY = int(time.time() // 86400)
ALL = "all" in WORDS

SIZES = (1, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129)
ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120a")
KINDS = {  # what it is called: element type, option, result, largest integer
    "f16": ("f16", "", "f32", 8), "bf16": ("bf16", "", "f32", 8), "tf32": ("f32", 'precision="fast"', "f32", 8),
    "f64": ("f64", "", "f64", 1000), "i8": ("i8", "", "i32", 127), "f8e4m3": ("f8e4m3", "", "f32", 8), "f8e5m2": ("f8e5m2", "", "f32", 4)}
TRANSPOSES = ("nn", "tn", "nt", "tt")
SAMPLED = (("sm_75", "f16"), ("sm_75", "i8"), ("sm_80", "bf16"), ("sm_86", "tf32"), ("sm_89", "f8e4m3"), ("sm_90", "f64"), ("sm_120a", "f8e5m2"))
SCHEDULED = ("f16", "bf16", "tf32", "i8")
TILES, WARPS, STAGES, SPLITS = ((64, 64, 32), (96, 48, 32), (128, 256, 64)), (1, 4, 8), (1, 2, 3, 4, 5), (1, 3)
LIMITS = (  # what was needed, in parts, and last the limit
    r"are (\d+) a thread; at most (\d+) fit its registers", r"need (\d+) bytes of shared memory, a block of \w+ has (\d+)",
    r"holds (\d+) words of the result and (\d+) of the tiles that are loaded, and has (\d+) registers")


class Function:
    """One product of a model. size: what stands for M, N and K in its types."""

    def __init__(self, kind, transposes, size=("M", "N", "K"), batch=False, strided=False, schedule="", runs=()):
        self.kind, self.t, self.size, self.batch, self.strided, self.schedule, self.runs = kind, transposes, size, batch, strided, schedule, runs
        self.name = None

    def argument(self, name, kind, rows, columns):
        lead = "B, " if self.batch else ""
        text = f'{name}: {{type: "{kind}[{lead}{rows}, {columns}]"'
        return text + (f", strides: [ld{name}, 1]}}" if self.strided else "}")

    def text(self):
        element, option, result, _ = KINDS[self.kind]
        m, n, k = self.size
        a = self.argument("a", element, *((k, m) if self.t[0] == "t" else (m, k)))
        b = self.argument("b", element, *((n, k) if self.t[1] == "t" else (k, n)))
        options = [option] * bool(option) + ["transpose_a=true"] * (self.t[0] == "t") + ["transpose_b=true"] * (self.t[1] == "t")
        lines = [f"  {self.name}:", f"    inputs: {{{a}, {b}}}", f"    outputs: {{{self.argument('y', result, m, n)}}}"]
        lines += ["    schedule:", f"      - {{{self.schedule}}}"] * bool(self.schedule)
        return "\n".join(lines + ["    body: |", f"      y = matmul({', '.join(['a', 'b'] + options)})"]) + "\n"

    def said(self, arch):
        words = [arch, self.kind, self.t] + ["x".join(map(str, self.size))] * (self.size[0] != "M")
        return " ".join(words + ["batches"] * self.batch + ["leading dimensions"] * self.strided + [self.schedule] * bool(self.schedule))


def encode(kind, x):
    """Small integers as bits of a type."""
    if kind == "bf16":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind in ("f8e4m3", "f8e5m2"):
        # Both are f16 with fewer bits: of the mantissa and, of e4m3, of the exponent.
        shift, bias, bits = (7, 8, 3) if kind == "f8e4m3" else (8, 0, 2)
        half = np.abs(x).astype(np.float16).view(np.uint16).astype(np.int64)
        code = np.where(x == 0, 0, (half >> shift) - (bias << bits))
        return (code | (x < 0) << 7).astype(np.uint8)
    return x.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}[kind])


def build(path, functions, arch):
    with open(path + ".yaml", "w") as f:
        f.write("kc: 1\nmodule: gemm\nfunctions:\n" + "".join(g.text() for g in functions))
    p = subprocess.run([f"{BUILD}/bin/kc", "build", path + ".yaml", "--target", "cuda:" + arch, "--images", "ptx", "-j", "1", "-o", path + ".kcb"],
                       capture_output=True, text=True)
    return p.returncode, p.stderr


def refused(text):
    """'' for an error that states what was needed and a lower limit, else what is wrong with it."""
    for pattern in LIMITS:
        found = re.search(pattern, text)
        if found:
            *needed, limit = map(int, found.groups())
            return "" if sum(needed) > limit else "refused, though it fits: " + text
    return "no limit is stated: " + text


def buildable(path, functions, arch, results):
    """Builds those functions that fit; the others' errors are looked at. Returns what was built."""
    code, errors = build(path, functions, arch)
    if code == 0:
        return functions
    kept = []
    for g in functions:
        code, errors = build(path, [g], arch)
        if code == 0:
            kept.append(g)
        else:
            problem = refused(errors) if code == 1 else f"kc exits with {code}: {errors}"
            results.append((g.said(arch) + " is refused with its limit", not problem, problem[:600]))
    if kept and build(path, kept, arch)[0]:
        results.append((f"{arch}: all that builds alone builds together", False, ""))
        return []
    return kept


def run(function, g, shape, arch, r):
    """'' or what is wrong with one product of g."""
    values = np.random.default_rng(r.getrandbits(32))
    m, n, k = shape
    lead = (r.choice((2, 3)),) if g.batch else ()
    element, _, result, most = KINDS[g.kind]
    a, b = values.integers(-most, most + 1, lead + (m, k)), values.integers(-most, most + 1, lead + (k, n))
    stored = {"a": a.swapaxes(-1, -2) if g.t[0] == "t" else a, "b": b.swapaxes(-1, -2) if g.t[1] == "t" else b}
    dims = {f"ld{x}": (stored[x].shape[-1] if x in stored else n) + r.choice((0, 1, 3, 8, 16)) for x in "aby"} if g.strided else {}
    try:
        got = function.run({x: np.ascontiguousarray(encode(element, v)) for x, v in stored.items()}, dims, Layout(r))["y"]
    except Failure as failure:
        return f"{failure.kind}: {failure}"
    want = np.matmul(a.astype(np.float64), b.astype(np.float64))
    got = got.view({"f32": np.float32, "f64": np.float64, "i32": np.int32}[result])
    wrong = np.argwhere(got != want)
    return "" if not len(wrong) else f"{len(wrong)} of {got.size} wrong, first at {wrong[0]}: {got[tuple(wrong[0])]}, expected {want[tuple(wrong[0])]}"


def chunk(arch, functions, seed):
    """Functions of one model, built, each run at its shapes: [(name, good, detail)]."""
    r, results, folder = random.Random(seed), [], tempfile.mkdtemp(prefix="gemm-")
    try:
        for i, g in enumerate(functions):
            g.name = f"f{i}"
        path = os.path.join(folder, "gemm")
        functions = buildable(path, functions, arch, results)
        runtime = Runtime(BUILD)
        module = runtime.load("cuda-sim:" + arch, path + ".kcb") if functions else None
        for g in functions:
            function = module.function(g.name)
            problems = []
            for shape in g.runs:
                runtime.seed(r.getrandbits(32))
                problem = run(function, g, shape, arch, r)
                problems += [f"{'x'.join(map(str, shape))}: {problem}"] * bool(problem)
            results.append((g.said(arch), not problems, f"{len(problems)} of {len(g.runs)} shapes, seed {seed}: " + "; ".join(problems[:2])[:600]))
    except Failure as failure:
        results.append((f"{arch}, seed {seed}", False, str(failure)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return results


def shapes_of(r):
    """Triples: all, or some that hold every size in every place."""
    if ALL:
        return list(itertools.product(SIZES, repeat=3))
    places = [r.sample(SIZES, len(SIZES)) for _ in range(3)]
    return list(zip(*places))


def shape_chunks(r):
    for arch, kind in itertools.product(ARCHS, KINDS) if ALL else SAMPLED:
        functions = []
        for t in TRANSPOSES:
            functions.append(Function(kind, t, runs=shapes_of(r)))
            special = [dict(batch=True), dict(strided=True)]
            for how in special if ALL else r.sample(special, 1):
                functions.append(Function(kind, t, runs=r.sample(shapes_of(r), 200 if ALL else 5), **how))
            for _ in range(12 if ALL else 1):
                size = tuple(r.choice(SIZES) for _ in range(3))
                functions.append(Function(kind, t, size, runs=[size]))
        for i in range(0, len(functions), 15):
            yield arch, functions[i:i + 15]


def scheduled(kind, t, tile, warps, stages, split, more=""):
    m, n, k = tile
    runs = [(m, n, (stages + 2) * k), (m + 9, n - 3, 2 * k * split + 5)]
    return Function(kind, t, runs=runs, schedule=f"tile: {list(tile)}, warps: {warps}, stages: {stages}, split: {split}{more}")


def schedule_chunks(r):
    everything = list(itertools.product(SCHEDULED, TRANSPOSES, TILES, WARPS, STAGES, SPLITS))
    for arch in ARCHS:
        chosen = everything if ALL else r.sample(everything, 9)
        for i in range(0, len(chosen), 30):
            swizzled = scheduled(*chosen[i], more=f", swizzle: {r.choice((0, 32, 64, 128))}")
            yield arch, [scheduled(*c) for c in chosen[i:i + 30]] + [swizzled]


def main():
    work = []
    for part, chunks, seed in (("shapes", shape_chunks, 1), ("schedules", schedule_chunks, DAY)):
        if part in WORDS or not {"shapes", "schedules"} & set(WORDS):
            seed = int(OPTIONS.get("seed", seed))
            r = random.Random(seed)
            work += [(*c, r.getrandbits(32)) for c in chunks(r)]
            print(f"numpy_gemm: {part} seed={seed}")
    random.Random(DAY).shuffle(work)  # a run that is cut short has seen some of everything
    work = work[int(OPTIONS.get("skip", 0)):]
    bad = 0
    with ProcessPoolExecutor(int(OPTIONS.get("jobs", 1))) as pool:
        for results in pool.map(chunk, *zip(*work)):
            for name, good, detail in results:
                print(("ok " if good else "not ok ") + name + ("" if good else ": " + detail.replace("\n", " ")), flush=True)
                bad += not good
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
