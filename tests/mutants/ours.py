"""Mutants of what kc emits for models.yaml, each run checked against the reference by kcrun."""
import json, os, re, subprocess, tempfile
import mutate, package, pool

HERE = os.path.dirname(os.path.abspath(__file__))
# Inputs of each function; together they take every variant that differs in how threads meet.
RUNS = {
    "product": [dict(a="128x160", b="160x128"), dict(a="65x171", b="171x67")],
    "ring": [dict(a="40x96", b="96x36"), dict(a="33x75", b="75x33")],
    "both": [dict(a="128x160", b="160x64", bias="64"), dict(a="66x171", b="171x300", bias="300"), dict(a="65x168", b="168x1200", bias="1200")],
    "rows": [dict(x="3x1024"), dict(x="2x2100"), dict(x="3x3001"), dict(x="2x9000"), dict(x="2x9001"), dict(x="5x37")],
    "norm": [dict(x=f"{9000 // n + 7}x{n}", s=f"{n}", b=f"{n}") for n in (1024, 2100, 3001, 9000, 9001, 37)],
    "total": [dict(x="3000"), dict(x="30001")],
    "columns": [dict(x="70x64"), dict(x="70x33"), dict(x="3000x6")],
    "turned": [dict(x="64x96"), dict(x="35x67")],
    "turned_bytes": [dict(x="64x96"), dict(x="35x67")],
    "sums": [dict(x="3x1024"), dict(x="2x2100"), dict(x="2x3001"), dict(x="2x9000"), dict(x="2x9001"), dict(x="5x37")],
    "images": [dict(x="2x8x12x16", w="16x8x3x3"), dict(x="3x8x7x9", w="16x8x3x3")],
}


class Module:
    def __init__(self, build, arch, folder):
        self.kcrun, self.arch, self.name, self.folder = f"{build}/bin/kcrun", arch, f"kc.{arch}", folder
        path = os.path.join(folder, f"{arch}.kcb")
        subprocess.run([f"{build}/bin/kc", "build", f"{HERE}/models.yaml", "--target", f"cuda:{arch}", "--images", "ptx", "-o", path], check=True)
        with open(path, "rb") as f:
            self.data = f.read()
        self.launched = {}  # {kernel: [(function, inputs)]}
        for function, runs in RUNS.items():
            for inputs in runs:
                for kernel in self.kernels(path, function, inputs):
                    self.launched.setdefault(kernel, []).append((function, inputs))

    def run(self, path, function, inputs, seed, *more):
        args = [self.kcrun, path, function, "--device", f"cuda-sim:{self.arch}", "--check", "--seed", str(seed), *more]
        for name, shape in inputs.items():
            args += ["--input", f"{name}={shape}:normal"]
        return subprocess.run(args, capture_output=True, text=True, env={**os.environ, "KCSIM_MULTIPROCESSORS": "2"}, timeout=pool.SECONDS - 2)

    def kernels(self, path, function, inputs):
        """The original's: it must be right under every seed, without a finding."""
        counters = os.path.join(self.folder, "counters.json")
        for seed in range(3):
            p = self.run(path, function, inputs, seed, "--counters", counters)
            assert p.returncode == 0, f"{function} {inputs}, seed {seed}: {p.stderr}"
        with open(counters) as f:
            return [k["name"] for k in json.load(f)["kernels"] if k["launches"]]

    def mutants(self):
        """Of kernels that are launched."""
        found = []
        for image in package.texts(self.data):
            these = [m for m in mutate.mutants(image.decode(), 1024) if m.kernel in self.launched]
            for m in these:
                m.image = image  # that it is of
            found += these
        return found

    def fate(self, mutant, seeds):
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".kcb") as file:
            file.write(package.with_text(self.data, mutant.image, mutant.of(mutant.image.decode()).encode()))
            file.flush()
            for seed in range(seeds):
                for function, inputs in self.launched[mutant.kernel]:
                    p = self.run(file.name, function, inputs, seed)
                    if p.returncode:
                        return caught(p)
        return "survived", ""


def caught(p):
    found = re.search(r"(\w+) in kernel .*", p.stderr)
    if found:
        return "finding", found[0][:200]
    failed = [line for line in p.stdout.splitlines() if "check failed" in line.lower()]
    return ("answer", failed[0]) if failed else ("broken", p.stderr[:300] + p.stdout[-300:])
