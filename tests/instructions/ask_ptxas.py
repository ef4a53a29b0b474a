#!/usr/bin/python3
"""What ptxas takes: runs NVIDIA's assembler over every form of ptx_forms.def and over many that are in no row, and prints
what does not agree. With -w writes legal.txt, which the test reads where there is no ptxas.

    ask_ptxas.py [-w] [--ptxas PATH]
"""
import argparse, itertools, os, re, subprocess, sys, tempfile

sys.dont_write_bytecode = True
import forms

ARCHS = "75 80 86 89 90 90a 100 100a 120 120a".split()
VERSIONS = (63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)
OLDEST = {"75": 63, "80": 70, "86": 71, "89": 78, "90": 78, "90a": 80, "100": 86, "100a": 86, "120": 87, "120a": 87}


def accepted(ptxas, arch, version, statements):
    """Which of the statements the assembler takes."""
    good = set()
    for at in range(0, len(statements), 4000):
        part = statements[at:at + 4000]
        head = f".version {version // 10}.{version % 10}\n.target sm_{arch}\n.address_size 64\n.visible .entry k()\n{{\n{forms.declarations(version)}\n"
        first = head.count("\n") + 1
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(head + "\n".join(part) + "\nret;\n}\n")
            file.flush()
            said = subprocess.run([ptxas, f"-arch=sm_{arch}", file.name, "-o", "/dev/null"], capture_output=True, text=True).stderr
        wrong = {int(m) - first for m in re.findall(r"line (\d+); (?:error|fatal|warning : Vector)", said)}
        if "fatal" in said and not wrong:
            sys.exit(said)
        good |= {s for i, s in enumerate(part) if i not in wrong}
    return good


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-w", action="store_true")
    parser.add_argument("--only", default="", help="rows that begin so")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    args = parser.parse_args()
    of_row = {f: row for row in forms.rows() if row[2].lstrip("(").startswith(args.only) for f in forms.expand(row[2])}
    legal = legality(args.ptxas, of_row)
    rows = {}
    for f, row in of_row.items():
        rows.setdefault((*forms.stricter(row, f.split(".")), row[2]), {}).setdefault(legal.get(f), []).append(f)
    for row, found in rows.items():
        for have, some in found.items():
            if have != row[:2]:
                print(f"{row}: ptxas says {have} of {len(some)}: {some[:6]}")


if __name__ == "__main__":
    main()
