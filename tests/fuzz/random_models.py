#!/usr/bin/python3
"""Random models: each is built, run on the simulator and compared with the reference.

    random_models.py BUILD [SECONDS [SEED [TARGET]]]

Prints the seed; a failure prints the model, its inputs and the message, and SEED replays the run.
"""
import math, os, random, re, shutil, subprocess, sys, tempfile, time

BUILD, SECONDS = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
TARGET = sys.argv[4] if len(sys.argv) > 4 else "cuda:sm_80"
DEVICE = TARGET.split(",")[0].replace(":", "-sim:")
CHECK = ["--check"] if os.path.exists(f"{BUILD}/lib/libkcrt_ref.so") else []
FUNCTIONS_A_MODEL, RUNS_A_FUNCTION = 12, 3
r = random.Random(SEED)
WORK = tempfile.mkdtemp(prefix="kc-random-")

FLOATS, INTS = ["f32", "f16", "bf16", "f64"], ["i8", "u8", "i16", "i32", "i64"]


class Value:
    def __init__(self, text, kind, shape):
        self.text, self.kind, self.shape = text, kind, shape  # shape: names of symbols and numbers


class Function:
    """A body grown statement by statement; every value made can be used again."""

    def __init__(self, name):
        self.name, self.inputs, self.lines, self.values = name, {}, [], []
        self.symbols = r.sample(["M", "N", "K"], r.randint(1, 3))
        for _ in range(r.randint(1, 3)):
            self.add_input(r.choice(FLOATS + FLOATS + INTS), [self.extent() for _ in range(r.choice([0, 1, 2, 2, 3, 4]))])
        for _ in range(r.randint(1, 7)):
            for _ in range(20):
                made = r.choice(OPS)(self)
                if made and len(made.text) < 300:
                    name = f"t{len(self.lines)}"
                    self.lines.append(f"{name} = {made.text}")
                    self.values.append(Value(name, made.kind, made.shape))
                    break
        self.outputs = {}
        for i in r.sample(range(len(self.lines)), min(len(self.lines), r.randint(1, 2))) if self.lines else []:
            v = self.values[len(self.values) - len(self.lines) + i]
            kind = r.choice(["f32", "f16", "bf16"]) if v.kind == "f32" else v.kind
            self.outputs[f"y{i}"] = f"{kind}[{', '.join(map(str, v.shape))}]"
            self.lines.append(f"y{i} = {v.text}")
        self.drop_unused()

    def drop_unused(self):
        used = set(self.outputs)
        for line in reversed(self.lines):
            if line.split(" ")[0] in used:
                used |= set(re.findall(r"[a-zA-Z_]\w*", line))
        self.lines = [line for line in self.lines if line.split(" ")[0] in used]
        self.inputs = {n: t for n, t in self.inputs.items() if n in used}

    def extent(self):
        return r.choice(self.symbols) if r.random() < 0.6 else r.choice([1, 1, 2, 3, 5, 8, 16, 33])

    def add_input(self, kind, shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = (kind, shape)
        self.values.append(Value(name, kind, shape))
        return self.values[-1]

    def pick(self, good=lambda v: True):
        found = [v for v in self.values if good(v)]
        return found[-1] if found and r.random() < 0.5 else r.choice(found) if found else None

    def like(self, shape, kind):
        """A value that broadcasts with shape: one there is, or a new input."""
        v = self.pick(lambda v: v.kind == kind and broadcast(v.shape, shape) == shape)
        if v and r.random() < 0.8:
            return v
        if len(self.inputs) > 5:
            return None
        cut = shape[r.randint(0, len(shape)):] if r.random() < 0.4 else shape
        return self.add_input(kind, [1 if r.random() < 0.15 else d for d in cut])

    def yaml(self):
        def table(args):
            return "".join(f'      {n}: "{t}"\n' for n, t in args.items())
        inputs = {n: f"{k}[{', '.join(map(str, s))}]" for n, (k, s) in self.inputs.items()}
        return (f"  {self.name}:\n    inputs:\n{table(inputs)}    outputs:\n{table(self.outputs)}    body: |\n"
                + "".join(f"      {line}\n" for line in self.lines))

    def sizes(self):
        edges = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100]
        return {s: r.choice(edges) if r.random() < 0.9 else r.randint(1, 300) for s in self.symbols}

    def run_arguments(self):
        while True:
            sizes = self.sizes()
            if all(math.prod(sizes.get(d, d) for d in shape) <= 100000 for _, shape in self.inputs.values()):
                break
        args = []
        for name, (kind, shape) in self.inputs.items():
            extents = [sizes.get(d, d) for d in shape]
            fill = r.choice(["normal", "normal", "uniform", "arange", "ones"]) if kind in FLOATS else r.choice(["uniform", "arange"])
            text = "x".join(map(str, extents)) + ":" + fill if shape else str(r.randint(-3, 3) if kind != "u8" else 2)
            args += ["--input", f"{name}={text}"]
        bound = {d for _, shape in self.inputs.values() for d in shape}
        for symbol in self.symbols:  # what only an output's shape has
            if symbol not in bound and re.search(rf"\b{symbol}\b", " ".join(self.outputs.values()) + " ".join(self.lines)):
                args += ["--dim", f"{symbol}={sizes[symbol]}"]
        return args


def broadcast(a, b):
    out = []
    for i in range(max(len(a), len(b))):
        p, q = a[len(a) - 1 - i] if i < len(a) else 1, b[len(b) - 1 - i] if i < len(b) else 1
        if p != q and p != 1 and q != 1:
            return None
        out.insert(0, q if p == 1 else p)
    return out


def computed(kind):
    return kind if kind == "f64" else "f32"


def unary(f):
    v = f.pick(lambda v: v.kind in FLOATS)
    op = r.choice(["exp(-abs({}))", "tanh({})", "sigmoid({})", "{} * 0.5 + 1", "sqrt(abs({}))", "relu({})", "sin({})", "abs({})", "-{}", "gelu({})", "floor({})", "clamp({}, -1, 1)"])
    keeps = op in ("relu({})", "abs({})", "-{}", "clamp({}, -1, 1)")
    return v and Value(op.format(v.text), v.kind if keeps else computed(v.kind), v.shape)


def binary(f):
    a = f.pick()
    b = a and f.like(a.shape, a.kind)
    if not b:
        return None
    if a.kind == "bool":
        return Value(f"{a.text} {r.choice(['and', 'or'])} {b.text}", "bool", broadcast(a.shape, b.shape))
    op = r.choice(["+", "-", "*", "min", "max", "<", "=="])
    shape = broadcast(a.shape, b.shape)
    if op in ("min", "max"):
        return Value(f"{op}({a.text}, {b.text})", a.kind, shape)
    if op in ("<", "=="):
        return Value(f"{a.text} {op} {b.text}", "bool", shape)
    return Value(f"{a.text} {op} {b.text}", computed(a.kind) if a.kind in FLOATS else a.kind, shape)


def where(f):
    c, a = f.pick(lambda v: v.kind == "bool"), f.pick(lambda v: v.kind != "bool")
    shape = c and a and broadcast(c.shape, a.shape)
    return Value(f"where({c.text}, {a.text}, 0)", a.kind, shape) if shape is not None and shape is not False and c and a and shape else None


def cast(f):
    v, kind = f.pick(), r.choice(FLOATS + INTS)
    return Value(f'cast({v.text}, "{kind}")', kind, v.shape)


def reduction(f):
    v = f.pick(lambda v: len(v.shape) > 0 and v.kind != "bool" and all(d != 0 for d in v.shape))
    if not v:
        return None
    axes = sorted(r.sample(range(len(v.shape)), r.randint(1, len(v.shape))))
    op = r.choice(["sum", "mean", "sum", "max", "min", "argmax", "argmin"])
    if op in ("max", "min", "argmax", "argmin") and any(isinstance(v.shape[a], str) for a in axes):
        op = "sum"  # of nothing there is no largest
    if op.startswith("arg"):
        axes = axes[:1]
    keep = r.random() < 0.4
    shape = [1 if i in axes else d for i, d in enumerate(v.shape)] if keep else [d for i, d in enumerate(v.shape) if i not in axes]
    kind = "i64" if op.startswith("arg") else v.kind if op in ("max", "min") else computed(v.kind) if v.kind in FLOATS else "f32" if op == "mean" else "i64" if v.kind == "i64" else "i32"
    return Value(f"{op}({v.text}, axis={axes if len(axes) > 1 else axes[0]}{', keepdims=true' if keep else ''})", kind, shape)


def matmul(f):
    a = f.pick(lambda v: len(v.shape) in (2, 3) and v.kind in ("f32", "f16", "bf16", "f64", "i8"))
    if not a or len(f.inputs) > 5:
        return None
    ta, tb = r.random() < 0.3, r.random() < 0.3
    m, k = (a.shape[-1], a.shape[-2]) if ta else (a.shape[-2], a.shape[-1])
    n = f.extent()
    b = f.add_input(a.kind, (a.shape[:-2] if r.random() < 0.5 else []) + ([n, k] if tb else [k, n]))
    options = (", transpose_a=true" if ta else "") + (", transpose_b=true" if tb else "")
    return Value(f"matmul({a.text}, {b.text}{options})", "i32" if a.kind == "i8" else computed(a.kind), a.shape[:-2] + [m, n])


def rows(f):
    v = f.pick(lambda v: len(v.shape) > 0 and v.kind in FLOATS)
    return v and Value(f"{r.choice(['softmax', 'log_softmax'])}({v.text}, axis={r.randrange(len(v.shape))})", computed(v.kind), v.shape)


def norm(f):
    v = f.pick(lambda v: len(v.shape) > 0 and v.kind in FLOATS)
    if not v or len(f.inputs) > 4:
        return None
    s = f.add_input("f32", [v.shape[-1]])
    kind = "f64" if v.kind == "f64" else "f32"
    return Value(f"rmsnorm({v.text}, {s.text})", kind, v.shape)


def transpose(f):
    v = f.pick(lambda v: len(v.shape) > 1)
    if not v:
        return None
    perm = r.sample(range(len(v.shape)), len(v.shape))
    return Value(f"transpose({v.text}, {perm})", v.kind, [v.shape[p] for p in perm])


def reshape(f):
    v = f.pick(lambda v: len(v.shape) > 1)
    if not v:
        return None
    i = r.randrange(len(v.shape) - 1)
    a, b = v.shape[i], v.shape[i + 1]
    joined = a * b if isinstance(a, int) and isinstance(b, int) else f"{a} * {b}"
    if isinstance(joined, str):
        return Value(f"reshape({v.text}, [{', '.join(map(str, v.shape[:i] + [1, a, b] + v.shape[i + 2:]))}])", v.kind, v.shape[:i] + [1, a, b] + v.shape[i + 2:]) if len(v.shape) < 5 else None
    shape = v.shape[:i] + [joined] + v.shape[i + 2:]
    return Value(f"reshape({v.text}, [{', '.join(map(str, shape))}])", v.kind, shape)


def concat(f):
    v = f.pick(lambda v: len(v.shape) > 0 and any(isinstance(d, int) for d in v.shape))
    if not v:
        return None
    axis = r.choice([i for i, d in enumerate(v.shape) if isinstance(d, int)])
    shape = list(v.shape)
    shape[axis] *= 2
    return Value(f"concat([{v.text}, {v.text}], axis={axis})", v.kind, shape)


def pad(f):
    v = f.pick(lambda v: 0 < len(v.shape) < 4 and v.kind not in ("bool", "u8") and all(isinstance(d, int) for d in v.shape))
    if not v:
        return None
    pads = [[r.randint(0, 3), r.randint(0, 3)] for _ in v.shape]
    return Value(f"pad({v.text}, {pads}, value={r.randint(-2, 2)})", v.kind, [d + sum(p) for d, p in zip(v.shape, pads)])


def part(f):
    v = f.pick(lambda v: any(isinstance(d, int) and d > 1 for d in v.shape))
    if not v:
        return None
    axis = r.choice([i for i, d in enumerate(v.shape) if isinstance(d, int) and d > 1])
    start = r.randrange(v.shape[axis])
    end, step = r.randint(start + 1, v.shape[axis]), r.randint(1, 3)
    shape = list(v.shape)
    shape[axis] = -(-(end - start) // step)
    return Value(f"slice({v.text}, [{start}], [{end}], axes=[{axis}], steps=[{step}])", v.kind, shape)


def gather(f):
    v = f.pick(lambda v: 0 < len(v.shape) < 4 and any(isinstance(d, int) for d in v.shape))
    if not v or len(f.inputs) > 5:
        return None
    axis = r.choice([i for i, d in enumerate(v.shape) if isinstance(d, int)])
    n = r.choice([d for _, shape in f.inputs.values() for d in shape] + [1, 7])
    index = f"iota([{n}], dtype=\"i64\") % {v.shape[axis]}"
    return Value(f"gather({v.text}, {index}, axis={axis})", v.kind, v.shape[:axis] + [n] + v.shape[axis + 1:])


OPS = [unary, unary, binary, binary, binary, where, cast, reduction, reduction, reduction, matmul, rows, norm, transpose, reshape, concat, pad, part, gather]


def errors(text):
    lines = text.split("\n")
    return "\n".join(line for i, line in enumerate(lines) if any("error: " in l for l in lines[max(i - 2, 0):i + 1]))[:1500]


def fail(what, function, args, message):
    print(f"seed {SEED}: {what}\n{function.yaml()}    {' '.join(args)}\n{message}")
    return 1


def try_model(number):
    functions = [f for f in (Function(f"f{i}") for i in range(FUNCTIONS_A_MODEL)) if f.outputs]
    source, package = os.path.join(WORK, "m.yaml"), os.path.join(WORK, "m.kcb")
    failures = runs = 0
    while functions:
        with open(source, "w") as out:
            out.write("kc: 1\nmodule: m\nfunctions:\n" + "".join(f.yaml() for f in functions))
        p = subprocess.run([f"{BUILD}/bin/kc", "build", source, "--target", TARGET, "--images", "ptx", "-o", package], capture_output=True, text=True)
        if p.returncode == 0:
            break
        # Leave out what does not build: an error is a failure of the generator or of kc; a person decides.
        bad = [f for f in functions if f"compiling {f.name} " in p.stderr]
        failures += fail("does not build", (bad or functions)[0], [], errors(p.stderr))
        functions = [f for f in functions if f not in bad] if bad else []
    for f in functions:
        for _ in range(RUNS_A_FUNCTION):
            args, runs = f.run_arguments(), runs + 1
            p = subprocess.run([f"{BUILD}/bin/kcrun", package, f.name, "--device", DEVICE] + CHECK + args, capture_output=True, text=True)
            if p.returncode:
                failures += fail(f"exit {p.returncode}", f, args, (p.stdout + p.stderr)[:1500])
                break
    return failures, runs


def main():
    print(f"random_models: seed {SEED}, {TARGET}")
    end, failures, runs, models = time.time() + SECONDS, 0, 0, 0
    while time.time() < end or not models:
        bad, more = try_model(models)
        failures, runs, models = failures + bad, runs + more, models + 1
    shutil.rmtree(WORK, ignore_errors=True)
    print(f"random_models: {models} models, {runs} runs, {failures} failures")
    sys.exit(failures > 0)


main()
