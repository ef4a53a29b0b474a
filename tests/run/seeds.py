"""Every kernel of ours gives the same bits under every seed of the scheduler, and no finding: the examples, the op reference's examples and
the comparisons with NumPy, for the oldest architecture and for a new one.

    seeds.py BUILD [--seeds N] [--all]     --all: the comparisons that take long, too
"""
import os, shutil, subprocess, sys, tempfile

BUILD = os.path.abspath(sys.argv[1])
SEEDS = int(sys.argv[sys.argv.index("--seeds") + 1]) if "--seeds" in sys.argv else 3
ARCHS = ("sm_75", "sm_90a")
EXAMPLES = ("conv", "digits", "kv_cache", "linear_gelu", "mlp", "rmsnorm", "saxpy", "softmax", "transpose")
ELSEWHERE = ("c_program", "gemm_ladder")  # a program with a device of its own; for one architecture, with seeds of numpy_stages
CHEAP = ("op_examples", "numpy_elementwise", "numpy_carry", "numpy_move")
LONG = ("numpy_reduce", "numpy_rows", "numpy_scales", "numpy_scan", "numpy_split", "numpy_small", "numpy_small_types", "numpy_conv",
        "numpy_matmul")
WORK = tempfile.mkdtemp(prefix="seeds-")
failed = 0


def test(name, good, detail=""):
    global failed
    failed += not good
    print(("ok " if good else "not ok ") + name + ("" if good else ":\n" + detail), flush=True)


def environment(arch):
    return {**os.environ, "KC_TEST_SEEDS": str(SEEDS), "KC_TEST_ARCH": arch, "KC_TEST_TARGET": f"cuda:{arch}", "KC_REAL": f"{BUILD}/bin/kc",
            "KC_SEEDS_LOG": f"{WORK}/log", "BUILD": f"{WORK}/build"}


def lines_of(path):
    return len(open(path).readlines()) if os.path.exists(path) else 0


def example(name, arch):
    before = lines_of(f"{WORK}/log")
    p = subprocess.run([f"examples/{name}/run.sh"], capture_output=True, text=True, env=environment(arch))
    runs = lines_of(f"{WORK}/log") - before
    test(f"examples/{name} on {arch}, {SEEDS} seeds", p.returncode == 0 and runs > 0, p.stdout[-1500:] + p.stderr[-1500:])


def comparisons(name, arch):
    p = subprocess.run(["/usr/bin/python3", f"tests/run/{name}.py", BUILD], capture_output=True, text=True, env=environment(arch))
    lines = p.stdout.split("\n")
    bad = [line for line in lines if line.startswith("not ok")] + ([p.stderr[-1000:]] if p.returncode else [])
    test(f"{name} on {arch}, {SEEDS} seeds", not bad and any(line.startswith("ok ") for line in lines), "\n".join(bad[:5]))


unknown = {e for e in os.listdir("examples") if os.path.exists(f"examples/{e}/run.sh")} - {*EXAMPLES, *ELSEWHERE}
test("all examples are here", not unknown, str(unknown))
os.makedirs(f"{WORK}/build/bin")
os.symlink(os.path.abspath("tests/run/seeds_kc.py"), f"{WORK}/build/bin/kc")
os.symlink(f"{BUILD}/lib", f"{WORK}/build/lib")
for arch in ARCHS:
    for name in EXAMPLES:
        example(name, arch)
    for name in CHEAP + (LONG if "--all" in sys.argv else ()):
        comparisons(name, arch)
shutil.rmtree(WORK, ignore_errors=True)
sys.exit(failed > 0)
