"""Instructions on matrices, asynchronous copies, mbarriers, and what changes where a program goes: tests of their own execute them.
An instruction of ptx_ops.def that has neither a row in ptx_forms.def nor a test that names it is a failure."""
import os, re
import forms

ROOT = os.path.join(forms.HERE, "..", "..")
FOLDERS = ("tests/unit/sim", "tests/zoo", "tests/foreign/ptx")


def mnemonics():
    with open(os.path.join(forms.DEF, "ptx_ops.def")) as f:
        return re.findall(r'^OP\(\w+, "([^"]*)"', f.read(), re.M)


def texts():
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith((".c", ".zoo", ".ptx")):
                with open(os.path.join(ROOT, folder, name)) as f:
                    yield f.read()


def run(tested, report):
    """tested: the forms that ran here."""
    left = {m for m in mnemonics() if not any(f == m or f.startswith(m + ".") for f in tested)}
    missing = set(left)
    for text in texts():
        missing -= {m for m in missing if m in text and re.search(r"(?:(?<![\w.])|(?<=\\n))" + re.escape(m) + r"(?!\w)", text)}
    for m in sorted(left):
        report(m, "no test names it" if m in missing else "")
