#!/usr/bin/python3
"""What ptxas takes: runs NVIDIA's assembler over every form of ptx_forms.def and over many that are in no row, and prints
what does not agree. With -w writes legal.txt, which the test reads where there is no ptxas.

    ask_ptxas.py [-w] [--ptxas PATH]
"""
import argparse, os, random, re, subprocess, sys, tempfile

sys.dont_write_bytecode = True
import forms

ARCHS = "75 80 86 89 90 90a 100 100a 120 120a".split()
VERSIONS = (63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)
OLDEST = {"75": 63, "80": 70, "86": 71, "89": 78, "90": 78, "90a": 80, "100": 86, "100a": 86, "120": 87, "120a": 87}


def accepted(ptxas, arch, version, statements):
    """Which of the statements the assembler takes. It stops at the first that it cannot parse: those with errors go until none has."""
    good = set()
    for at in range(0, len(statements), 4000):
        part, wrong = statements[at:at + 4000], True
        while wrong and part:
            wrong = errors(ptxas, arch, version, part)
            part = [s for i, s in enumerate(part) if i not in wrong]
        good |= set(part)
    return good


def errors(ptxas, arch, version, part):
    """The places of the statements that have errors."""
    head = f".version {version // 10}.{version % 10}\n.target sm_{arch}\n.address_size 64\n.visible .entry k()\n{{\n{forms.declarations(version)}\n"
    first = head.count("\n") + 1
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(head + "\n".join(part) + "\nret;\n}\n")
        file.flush()
        said = subprocess.run([ptxas, f"-arch=sm_{arch}", file.name, "-o", "/dev/null"], capture_output=True, text=True).stderr
    wrong = {int(m) - first for m in re.findall(r"line (\d+); (?:error|fatal|warning : Vector)", said)}
    if "fatal" in said and not wrong:
        sys.exit(said)
    return wrong


def legality(ptxas, list_of_forms):
    """{form: (where, version)} as ptx_forms.def writes them; a form that no architecture has is not in it."""
    statements = {f: forms.statement(f) for f in list_of_forms}
    every = sorted(statements.values())
    by_arch = {a: accepted(ptxas, a, 90, every) for a in ARCHS}
    where = {}
    for s in every:
        have = [a for a in ARCHS if s in by_arch[a]]
        if have:
            plain = [a for a in have if a[-1] != "a"]
            where[s] = plain[0] if plain and have == [a for a in ARCHS if int(a.rstrip("a")) >= int(plain[0])] else " ".join(have)
    oldest = {}
    for arch in ARCHS:
        mine = [s for s in every if s in where and where[s].split()[0] == arch]
        for version in VERSIONS:
            if mine and version >= OLDEST[arch]:
                for s in accepted(ptxas, arch, version, mine):
                    oldest.setdefault(s, 0 if version == 63 else version)
    return {f: (where[s], oldest[s]) for f, s in statements.items() if s in where}


def sooner_agrees(ptxas):
    """Whether the rows of SOONER hold: taken by that target from that version on, and not before."""
    agrees = True
    for where, version, pattern in forms.rows("SOONER"):
        every = [forms.statement(f) for f in forms.expand(pattern)]
        before = [v for v in VERSIONS if OLDEST[where] <= v < version]
        if len(accepted(ptxas, where, version, every)) < len(every) or any(accepted(ptxas, where, v, every) for v in before[-1:]):
            agrees = False
            print(f"SOONER {where} {version} {pattern}: ptxas does not say so")
    return agrees


def near_misses(rows):
    """Forms beside those of the rows: a type or a word of the same instruction exchanged, added or left out. What has a row is not among them."""
    known = {tuple(sorted(f.partition("/")[0].split("."))) for row in rows for f in forms.expand(row[2])}
    by_op = {}
    for row in rows:
        for f in forms.expand(row[2])[:400]:
            by_op.setdefault(f.split(".")[0], []).append(f.partition("/")[0])
    found = []
    for op, mine in sorted(by_op.items()):
        rng, words = random.Random(op), sorted({w for f in mine for w in f.split(".")[1:]} | {"sat", "ftz", "rz", "u8", "f16", "bf16x2", "f32", "b64", "s32"})
        misses = set()
        for _ in range(400):
            parts = rng.choice(mine).split(".")
            at, change = rng.randrange(1, len(parts) + 1), rng.choice(("add", "drop", "swap", "swap"))
            parts[at:at + (change != "add")] = [] if change == "drop" else [rng.choice(words)]
            form = ".".join(parts)
            if tuple(sorted(parts)) not in known and len(misses) < 24 and len(set(parts)) == len(parts):
                misses.add(form)
        found += sorted(misses)
    return found


def operands_or_none(form):
    try:
        return forms.statement(form)
    except (IndexError, KeyError, StopIteration):
        return None


def judge(ptxas, candidates):
    """(refused everywhere, {taken somewhere}) of the candidates whose operands can be told."""
    statements = {f: operands_or_none(f) for f in candidates}
    every = [s for s in statements.values() if s]
    taken = set().union(*(accepted(ptxas, a, 90, every) for a in ("90a", "100a", "120a")))
    return [f for f, s in statements.items() if s and s not in taken], [f for f, s in statements.items() if s and s in taken]


def write(ptxas, rows):
    refused, missing = judge(ptxas, near_misses(rows))
    with open(os.path.join(forms.HERE, "legal.txt"), "w") as out:
        out.write("# Made by ask_ptxas.py -w. yes: every form of this row is what ptxas takes, from this target and version on and not before.\n"
                  "# no: no target has this. more: some target has it, the simulator does not.\n")
        out.writelines(f"yes {where.replace(' ', ',')} {version} {pattern}\n" for where, version, pattern in rows)
        out.writelines(f"no {f}\n" for f in refused)
        out.writelines(f"more {f}\n" for f in missing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-w", action="store_true", help="write legal.txt, where nothing disagrees")
    parser.add_argument("--only", default="", help="rows that begin so")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    args = parser.parse_args()
    of_row = {f: row for row in forms.rows() if row[2].lstrip("(").startswith(args.only) for f in forms.expand(row[2])}
    legal = legality(args.ptxas, of_row)
    rows, agrees = {}, True
    for f, row in of_row.items():
        rows.setdefault((*forms.stricter(row, f.split(".")), row[2]), {}).setdefault(legal.get(f), []).append(f)
    for row, found in rows.items():
        for have, some in found.items():
            if have != row[:2]:
                agrees = False
                print(f"{row}: ptxas says {have} of {len(some)}: {some[:6]}")
    agrees = sooner_agrees(args.ptxas) and agrees
    if args.w and agrees and not args.only:
        write(args.ptxas, forms.rows())
    return not agrees


if __name__ == "__main__":
    sys.exit(main())
