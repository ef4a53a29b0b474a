"""What the comparisons with NumPy share: build a model, run its functions on a simulated GPU, compare within a bound.

Bounds are stated, not found by trial: each test says how many roundings of which size its result may carry.
"""
import json, os, shutil, subprocess, sys, tempfile
import numpy as np

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BUILD", "build"))
WORK = tempfile.mkdtemp(prefix="kctest-")
TARGET = os.environ.get("KC_TEST_TARGET", "cuda:sm_80")
DEVICE = os.environ.get("KC_TEST_DEVICE", TARGET.replace(":", "-sim:"))
EPS = {np.dtype(np.float16): 2.0**-11, np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}  # half an ulp, relative
TINY = {np.dtype(np.float16): 2.0**-25, np.dtype(np.float32): 2.0**-150, np.dtype(np.float64): 2.0**-1075}
SEEDS = int(os.environ.get("KC_TEST_SEEDS", 1))  # of the scheduler: each run is repeated, and gives the same bits
rng = np.random.default_rng(2)
failures = 0


def test(name, good, detail=""):
    global failures
    print(("ok " if good else "not ok ") + name + ("" if good else f": {detail}"), flush=True)
    failures += not good


def finish():
    shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(failures > 0)


class Model:
    """functions: {name: YAML of the function without its name}, or the functions' text."""

    def __init__(self, functions, module="m", target=TARGET):
        text = f"kc: 1\nmodule: {module}\nfunctions:\n"
        for name, body in functions.items():
            text += f"  {name}:\n" + "".join("    " + line + "\n" for line in body.strip("\n").split("\n"))
        self.path, source = os.path.join(WORK, module + ".kcb"), os.path.join(WORK, module + ".yaml")
        with open(source, "w") as f:
            f.write(text)
        p = subprocess.run([f"{BUILD}/bin/kc", "build", source, "--target", target, "--images", "ptx", "-o", self.path],
                           capture_output=True, text=True)
        self.counters = None
        if p.returncode:
            test("build " + module, False, p.stderr)
            finish()

    def run(self, function, inputs, outputs, dims=None, counters=False, check=False, device=None):
        """Arrays (or Python numbers for scalars) in, a list of arrays out. None when the run failed. `outputs` are names, or a
        map that gives what follows their file: {"y": ":f32"} converts."""
        args = [f"{BUILD}/bin/kcrun", self.path, function, "--device", device or DEVICE]
        for name, value in inputs.items():
            if isinstance(value, np.ndarray):
                path = os.path.join(WORK, f"in_{name}.npy")
                np.save(path, value)
                value = path
            args += ["--input", f"{name}={value}"]
        for name in outputs:
            args += ["--output", f"{name}={WORK}/out_{name}.npy{outputs[name] if isinstance(outputs, dict) else ''}"]
        for name, value in (dims or {}).items():
            args += ["--dim", f"{name}={value}"]
        if counters:
            args += ["--counters", f"{WORK}/counters.json"]
        if check:
            args += ["--check"]
        p = subprocess.run(args, capture_output=True, text=True)
        self.message = p.stdout + p.stderr
        if p.returncode or not self.repeats(args, outputs, device or DEVICE):
            return None
        if counters:
            with open(f"{WORK}/counters.json") as f:
                self.counters = json.load(f)["kernels"]
        return [np.load(f"{WORK}/out_{name}.npy") for name in outputs]

    def repeats(self, args, outputs, device):
        if SEEDS == 1 or "sim" not in device:
            return True
        files = [f"{WORK}/out_{name}.npy" for name in outputs]
        first = [open(f, "rb").read() for f in files]
        for seed in range(7919, 7919 * SEEDS, 7919):
            p = subprocess.run(args, capture_output=True, text=True, env={**os.environ, "KCSIM_SEED": str(seed)})
            if p.returncode or [open(f, "rb").read() for f in files] != first:
                self.message = f"seed {seed}: {p.stdout}{p.stderr}" + ("" if p.returncode else "not the bits of seed 0")
                return False
        return True


def difference(got, want, bound):
    """'' or where it is wrong. want in double or better; bound: absolute, beyond rounding to the output's type."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype.kind != "f":
        wrong = np.argwhere(got != want)
        return "" if not len(wrong) else f"{len(wrong)} wrong, first {wrong[0]}: {got[tuple(wrong[0])]}, expected {want[tuple(wrong[0])]}"
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        same = (np.isnan(got) & np.isnan(want)) | (got == rounded)
        allowed = bound + np.abs(want) * EPS[got.dtype] + TINY[got.dtype]
        wrong = np.argwhere(~(same | (np.isfinite(got) & (np.abs(got.astype(np.longdouble) - want) <= allowed))))
    if not len(wrong):
        return ""
    i = tuple(wrong[0])
    b = np.broadcast_to(bound, want.shape)[i]
    return f"{len(wrong)} of {got.size} wrong, first at {i}: {got[i]!r}, expected {want[i]!r} within {b:.3g}"


def compare(name, model, function, inputs, wants, bounds=0, dims=None):
    """wants: {output: array}; bounds: a number or {output: array}."""
    got = model.run(function, inputs, list(wants), dims)
    if got is None:
        return test(name, False, model.message.strip()[:300])
    for array, (output, want) in zip(got, wants.items()):
        problem = difference(array, np.asarray(want), bounds[output] if isinstance(bounds, dict) else bounds)
        if problem:
            return test(name, False, f"{output}: {problem}")
    test(name, True)
