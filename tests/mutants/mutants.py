#!/usr/bin/python3
"""Mutants of correct kernels on the simulator: each must have a finding or a wrong answer, or stand in survivors.txt with
a proof that what was taken away is not needed.

    mutants.py BUILD [--sample N] [--file TEXT] [--kind CLASS,...] [--seeds N] [-v]

--sample N: every N-th mutant of each module. Prints "ok MODULE", "not ok MODULE KERNEL CLASS N: why",
and how many were caught by what.
"""
import argparse, fnmatch, os, sys, tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "foreign")]
import ours, pool, vendors


def survivors():
    """{"MODULE KERNEL CLASS N": name of a proof, or of what is unseen}"""
    found, explained = {}, set()
    with open(os.path.join(HERE, "survivors.txt")) as f:
        lines = [line.rstrip() for line in f if line.strip() and line[0] not in "# "]
    for line in lines:
        if line.startswith("proof ") or line.startswith("unseen_"):
            explained.add(line.split()[-1].rstrip(":"))
            continue
        module, kernel, kind, numbers, name = line.split()
        file, archs = module.split(".")
        found |= {f"{file}.{arch} {kernel} {kind} {n}": name for arch in archs.split(",") for n in numbers.split(",")}
    unknown = sorted(set(found.values()) ^ explained)
    assert not unknown, f"survivors.txt: named but not explained, or the reverse: {unknown}"
    return found


def names_of(module, mutants):
    """{mutant: its keys}: by number, and the last of its kernel and class by that word, too."""
    last = {(m.kernel, m.kind): m for m in mutants}
    return {m: [f"{module.name} {m.key()}"] +
               ([f"{module.name} {m.kernel} {m.kind} last"] if last[m.kernel, m.kind] is m else []) for m in mutants}


def judge(module, mutant, seeds):
    """What became of a mutant: finding, answer, hang, survived; unreached: nobody comes to the place."""
    how = module.fate(mutant, seeds)
    return ("unreached", "") if how[0] == "survived" and module.fate(mutant.trap(), 1)[0] == "survived" else how


def all_modules(build, folder):
    yield ours.Module(build, "sm_80", folder)
    yield from vendors.modules(build)


def test(args, folder):
    build, listed, failures = os.path.abspath(args.build), survivors(), 0
    counts = {"finding": 0, "answer": 0, "hang": 0, "unreached": 0, "redundant": 0, "unseen": 0}
    known = set()
    for module in all_modules(build, folder):
        if args.file not in module.name:
            continue
        every = module.mutants()
        keys = names_of(module, every)
        known |= {key for names in keys.values() for key in names}
        chosen = [m for m in every[::args.sample] if not args.kind or m.kind in args.kind.split(",")]
        bad = 0
        for m, (how, what) in pool.run([lambda m=m: judge(module, m, args.seeds) for m in chosen], chosen, args.jobs):
            key = keys[m][0]
            name = next((listed[p] for p in listed if fnmatch.filter(keys[m], p)), None)
            if args.v:
                print(key, how, what, flush=True)
            if how in counts and not name:
                counts[how] += 1
            elif how == "survived" and name:
                counts["unseen" if name.startswith("unseen") else "redundant"] += 1
            else:
                bad += 1
                print(f"not ok {key}: {'survivors.txt lists it, but ' if name else ''}{how} {what} | {m.statement.text}", flush=True)
        failures += bad
        if chosen and not bad:
            print(f"ok {module.name}: {len(chosen)} mutants", flush=True)
    for key in [p for p in listed if not fnmatch.filter(known, p)] if not args.file else []:
        failures += 1
        print(f"not ok {key}: survivors.txt names it, but there is no such mutant")
    print(f"{sum(counts.values()) + failures} mutants: caught {counts['finding']} by a finding, {counts['answer']} by a wrong answer, "
          f"{counts['hang']} by time; {counts['redundant']} proven redundant, {counts['unreached']} never reached, "
          f"{counts['unseen']} unseen, {failures} wrong")
    return failures > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--file", default="")
    parser.add_argument("--kind", default="")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        return test(args, folder)


if __name__ == "__main__":
    sys.exit(main())
