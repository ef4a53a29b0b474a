#!/usr/bin/python3
"""Models that once failed: replay.py [--build BUILD] FILE...   Prints "ok NAME" or "not ok NAME: why".

In a file, comments say where and how it runs, each line of runs being one:
    # arch sm_80 sm_120a
    # run x0=2x2x5:normal x1=2:normal --dim M=3
Every run is compared with the reference. The comment `# builds` alone asks only that it builds.
"""
import argparse, os, subprocess, sys, tempfile


def replay(path, build, folder):
    arches, runs = ["sm_80"], []
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[:2] == ["#", "arch"]:
                arches = words[2:]
            elif words[:2] == ["#", "run"]:
                runs.append(words[2:])
    for arch in arches:
        package = f"{folder}/m.kcb"
        p = subprocess.run([f"{build}/bin/kc", "build", path, "--target", f"cuda:{arch}", "--images", "ptx", "-o", package], capture_output=True, text=True)
        if p.returncode:
            return f"{arch}: {p.stderr.strip()}"
        for run in runs:
            args = [x for word in run for x in (["--input", word] if "=" in word and ":" in word else [word])]
            p = subprocess.run([f"{build}/bin/kcrun", package, "f", "--device", f"cuda-sim:{arch}", "--check", *args], capture_output=True, text=True)
            if p.returncode:
                return f"{arch}, {' '.join(run)}: {(p.stdout + p.stderr).strip()}"
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("BUILD", "build"))
    p.add_argument("files", nargs="+")
    options = p.parse_args()
    build, failures = os.path.abspath(options.build), 0
    with tempfile.TemporaryDirectory(prefix="kc-replay-") as folder:
        for path in options.files:
            problem, name = replay(path, build, folder), "random " + os.path.basename(path)[:-5]
            print(f"not ok {name}: {problem[:600]}" if problem else f"ok {name}", flush=True)
            failures += bool(problem)
    sys.exit(failures > 0)


main()
