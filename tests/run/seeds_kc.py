#!/usr/bin/python3
"""`kc`, for the examples' scripts under tests/run/seeds.py: builds for one architecture, and runs each run under several seeds of the
scheduler. What it prints and writes must be the same to the bit."""
import os, subprocess, sys

KC, ARCH, SEEDS = os.environ["KC_REAL"], os.environ["KC_TEST_ARCH"], int(os.environ["KC_TEST_SEEDS"])


def without(args, option):
    return [a for i, a in enumerate(args) if a != option and (i == 0 or args[i - 1] != option)]


def results(args, seed):
    p = subprocess.run([KC] + args, capture_output=True, env={**os.environ, "KCSIM_SEED": str(seed)})
    files = [a.split("=", 1)[1].removesuffix(":f32") for i, a in enumerate(args) if args[i - 1] == "--output"]
    return p, p.stdout + b"".join(open(f, "rb").read() for f in files if os.path.exists(f))


def run(args):
    args = without(args, "--device") + ["--device", f"cuda-sim:{ARCH}"]
    for seed in range(SEEDS):
        p, got = results(args, seed * 7919)
        if seed == 0:
            first, printed = got, p.stdout
        if p.returncode or got != first:
            sys.stdout.buffer.write(p.stdout)
            sys.stderr.buffer.write(p.stderr)
            sys.exit(f"seed {seed * 7919}: " + ("failed" if p.returncode else "not what seed 0 gives") + ": kc " + " ".join(args))
    sys.stdout.buffer.write(printed)
    with open(os.environ["KC_SEEDS_LOG"], "a") as f:
        f.write(" ".join(args) + "\n")


args = sys.argv[1:]
if args[:1] == ["run"]:
    run(args)
    sys.exit(0)
if args[:1] == ["build"]:
    args = without(args, "--target") + ["--target", f"cuda:{ARCH}", "--images", "ptx"]
os.execv(KC, [KC] + args)
