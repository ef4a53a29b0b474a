#!/usr/bin/python3
"""Runs kernels that other compilers made on the simulator and compares with NumPy.

    run.py BUILD [--arch sm_80,...] [--file TEXT] [--case TEXT] [--seeds N] [-v]
    run.py --gpu libcuda.so.1      the same on a GPU

Prints "ok FILE.ARCH KERNEL" or "not ok ...": wrong answers, findings, refusals. refused.txt names the modules that the
simulator refuses and what it must say; a line that no longer holds is a failure.
"""
import argparse, os, re, sys, time, zlib
import numpy as np

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import case, sim
import cases_blocks, cases_calls, cases_cluster, cases_language, cases_numbers, cases_tensor, cases_triton  # noqa: they fill case.cases

np.seterr(all="ignore")


def modules():
    """{(file, arch): path} of what is in ptx/."""
    found = {}
    for name in sorted(os.listdir(os.path.join(HERE, "ptx"))):
        if name.endswith(".ptx"):
            file, arch = name[:-4].rsplit(".", 1)
            found[file, arch] = os.path.join(HERE, "ptx", name)
    return found


def refusals():
    """{(file, arch): what the message must contain}"""
    with open(os.path.join(HERE, "refused.txt")) as f:
        lines = [line.split("#")[0].split(None, 1) for line in f]
    return {tuple(line[0].rsplit(".", 1)): line[1].strip() for line in lines if line}


def without_partner(paths, refused):
    """Kernels without a case though some device takes their module, cases without a kernel."""
    kernels, taken = set(), set()
    for (file, arch), path in paths.items():
        with open(path) as f:
            here = {(file, name) for name in re.findall(r"\.entry ([a-z]\w*)", f.read())}
        kernels |= here
        taken |= here if (file, arch) not in refused else set()
    tested = {(file, kernel) for file, name, _, _ in case.cases for kernel in case.launched(name)}
    return sorted(taken - tested | tested - kernels)


def check(make, name, device, seed):
    """'' or what is wrong with one case under one seed of the scheduler."""
    device.driver.set_seed(seed)
    device.forget()
    try:
        for step in make(np.random.default_rng(zlib.crc32(name.encode()))):
            wrong = case.run(step(device.arch) if callable(step) else step, device)
            if wrong:
                return wrong
    except sim.Failed as failure:
        return f"{failure}; {device.text('kcsim_fault_text')}"
    findings = device.findings()
    return f"finding: {findings[0]}" if findings else ""


def run_module(file, arch, path, args, report):
    with open(path) as f:
        text = f.read()
    wanted = [(name, make) for of, name, make, archs in case.cases
              if of == file and (archs is None or arch in archs) and args.case in name and f".entry {case.launched(name)[0]}(" in text]
    for name, make in wanted:
        start = time.process_time()
        for seed in range(args.seeds):
            device = sim.Device(args.driver, arch, text)
            wrong = check(make, name, device, seed)
            device.close()
            if wrong:
                wrong = f"seed {seed}: {wrong}"
                break
        report(f"{file}.{arch} {name}", wrong, time.process_time() - start)
    return len(wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--gpu")
    parser.add_argument("--arch", default="")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--file", default="")
    parser.add_argument("--case", default="")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    library = args.gpu or os.path.abspath(args.build) + "/lib/libkcsim_cuda.so"
    args.driver = sim.Driver(library, is_gpu=args.gpu is not None)
    failures = 0

    def report(name, wrong, seconds):
        nonlocal failures
        failures += wrong != ""
        print(f"{'not ok' if wrong else 'ok'} {name}{': ' + wrong if wrong else ''}{f' ({seconds:.2f} s)' if args.v else ''}", flush=True)

    paths, refused = modules(), {} if args.gpu else refusals()
    for file, name in without_partner(paths, refusals()):
        report(f"{file} {name}", "a kernel without a case, or a case without a kernel", 0)
    for (file, arch), path in paths.items():
        if (args.arch and arch not in args.arch.split(",")) or args.file not in file or not args.driver.takes(arch):
            continue
        try:
            with open(path) as f:
                sim.Device(args.driver, arch, f.read()).close()
        except sim.Refused as message:
            expected = refused.get((file, arch))
            good = expected is not None and expected in str(message)
            report(f"{file}.{arch} refused", "" if good else str(message), 0)
            continue
        if (file, arch) in refused:
            report(f"{file}.{arch}", "refused.txt says it is refused, but it loads", 0)
        run_module(file, arch, path, args, report)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
