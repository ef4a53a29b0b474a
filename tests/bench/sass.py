"""Main loops of machine code: what cuobjdump says of a cubin, taken apart."""
import collections, os, re, shutil, subprocess

MATRIX = ("HMMA", "IMMA", "DMMA", "QMMA")
CLASSES = {"LDSM": "matrix loads", "LDS": "shared loads", "LDGSTS": "async copies", "LDG": "global loads", "STS": "shared stores"}


def tool(name, triton=None):
    """A program of the CUDA toolkit: on the path, in the toolkit's place, or beside a Triton from PyPI. None: not here."""
    beside = [os.path.join(triton, "backends", "nvidia", "bin")] if triton else []
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin", *beside]))


def triton_of(python):
    """The folder of the Triton that a Python has. None: it has none."""
    p = subprocess.run([python, "-c", "import triton, os; print(os.path.dirname(triton.__file__))"], capture_output=True, text=True)
    return p.stdout.strip() if p.returncode == 0 else None


class Loop:
    """The loop of a kernel that holds the most tensor-core instructions: how many of what, for each of these. Fillers do not
    count: what does nothing, or under a predicate that is never true. One version of the assembler has them, another not."""

    def __init__(self, instructions):
        texts = [text for _, text in instructions if not re.match(r"@!U?PT\s|NOP", text)]
        names = [re.sub(r"^@!?U?P\w+\s+", "", text).split()[0].split(".")[0] for text in texts]
        self.count = collections.Counter("tensor" if n in MATRIX else CLASSES.get(n, "other") for n in names)
        self.names = collections.Counter(names)
        self.tensor = self.count["tensor"]
        self.each = len(names) / max(self.tensor, 1)

    def mix(self):
        return ", ".join(f"{what} {self.count[what] / self.tensor:.2f}" for what in (*CLASSES.values(), "other") if self.count[what])


def kernels(cuobjdump, cubin):
    """{name: [(address, instruction)]}"""
    text = subprocess.run([cuobjdump, "-sass", cubin], capture_output=True, text=True, check=True).stdout
    found, name = {}, None
    for line in text.splitlines():
        named = re.search(r"Function : (\S+)", line)
        if named:
            name = named[1]
            found[name] = []
        at = re.match(r"\s+/\*([0-9a-f]{4,6})\*/\s+(.*?)\s*;", line)
        if at and name:
            found[name].append((int(at[1], 16), at[2]))
    return found


def main_loop(instructions):
    """The innermost of the backward branches around the most tensor-core instructions; the whole kernel where none is."""
    best = None
    for address, text in instructions:
        branch = re.search(r"\bBRA\b.*?(0x[0-9a-f]+)", text)
        if not branch or int(branch[1], 16) >= address:
            continue
        loop = Loop([i for i in instructions if int(branch[1], 16) <= i[0] <= address])
        if loop.tensor and (best is None or (loop.tensor, -sum(loop.names.values())) > (best.tensor, -sum(best.names.values()))):
            best = loop
    return best or Loop(instructions)
