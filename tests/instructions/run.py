#!/usr/bin/python3
"""Runs every instruction form that the simulator accepts and compares with what rows_*.py say it computes.

    run.py BUILD [--only TEXT] [-v]

Prints "ok FAMILY" or "not ok FORM: ...": a wrong result, a finding, a form that is refused, a form that has no row.
"""
import argparse, ctypes, os, re, sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "foreign")]
import numpy as np
import addresses, carry, elsewhere, forms, lanes, memory, plain, sim, specials, together

SUITES = (lanes, carry, memory, together, addresses, plain)
HEADER = ".version 9.0\n.target sm_{}\n.address_size 64\n"


class Module:
    """A module on a simulated device."""

    def __init__(self, driver, arch, text):
        self.text = HEADER.format(arch) + text
        self.device = sim.Device(driver, "sm_" + arch, self.text)
        self.device.forget()

    def run(self, name, grid, block, inputs, out, data=None):
        """One launch; the inputs and the result are parameters, addresses in this order, then bytes that are passed themselves."""
        places = [self.device.place(a) for a in (*inputs, out)]
        for place, array in zip(places, (*inputs, out)):
            self.device.write(place, array)
        grid, block = ([n, 1, 1] if isinstance(n, int) else n for n in (grid, block))
        if data is not None:
            self.data = ctypes.create_string_buffer(data.tobytes(), data.nbytes)
        self.device.launch(name, grid, block, 0, places + ([self.data] if data is not None else []))
        self.device.read(places[-1], out)
        self.device.free()


def accepted():
    """{form: the architecture to test it on}"""
    found = {}
    for row in forms.rows():
        for form in forms.expand(row[2]):
            found.setdefault(form, forms.stricter(row, form.split("."))[0].split()[0])
    return found


def legality(driver, report):
    """What ptxas said (legal.txt): our rows are those that it takes, and what it refuses we refuse, naming the line."""
    with open(os.path.join(HERE, "legal.txt")) as f:
        said = [line.split(None, 1) for line in f if line[0] != "#"]
    confirmed = {rest.strip() for kind, rest in said if kind == "yes"}
    for where, version, pattern in forms.rows():
        text = f"{where.replace(' ', ',')} {version} {pattern}"
        report(f"legal.{pattern}", "" if text in confirmed else "has changed since ask_ptxas.py -w was run")
    for form in (rest.strip() for kind, rest in said if kind != "yes"):
        text = ".visible .entry k()\n{\n" + forms.declarations(90) + f"\n{forms.statement(form)}\nret;\n}}\n"
        line = (HEADER + text).split("\n").index(forms.statement(form)) + 1
        try:
            Module(driver, "100a", text).device.close()
            report(f"legal.{form}", "loads, although PTX has no such form")
        except sim.Refused as refused:
            report(f"legal.{form}", "" if f"line {line}:" in str(refused) else f"line {line} is refused as {refused}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", default="", help="forms that begin so")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    driver = sim.Driver(os.path.abspath(args.build) + "/lib/libkcsim_cuda.so")
    done, failures, shown = {}, {}, 0

    def report(form, wrong):
        op = form.split(".")[0]
        done[op] = done.get(op, 0) + 1
        if wrong:
            failures.setdefault(op, []).append(f"{form} {wrong}")

    def open_module(arch, text):
        opened[:] = [Module(driver, arch, text)]
        return opened[0]

    opened = []
    work = {}  # {(what runs them, architecture): instances}
    for form, arch in accepted().items():
        if form.startswith(args.only):
            suite = next((s for s in SUITES if s.takes(form)), None)
            if suite:
                work.setdefault((suite, arch), []).append(suite.Instance(form))
            else:
                report(form, "has no row")
    jobs = [lambda suite=suite, arch=arch, mine=mine: suite.run(arch, mine, open_module, report) for (suite, arch), mine in work.items()]
    if not args.only:
        jobs.append(lambda: specials.run(open_module, report))
        elsewhere.run(accepted(), report)
        legality(driver, report)
    for job in jobs:
        try:
            module = job()
        except (sim.Refused, sim.Failed) as failure:
            failures.setdefault("module", []).append(f"{failure} {opened[-1].device.text('kcsim_fault_text') if opened else ''}")
            continue
        for finding in module.device.findings():
            failures.setdefault("finding", []).append(str(finding))
        module.device.close()
    for op in sorted(done):
        if op not in failures:
            print(f"ok {op}: {done[op]} forms")
    for op, texts in failures.items():
        for text in texts[:40 if args.v else 6]:
            print(f"not ok {text}")
        print(f"# {op}: {len(texts)} of {done.get(op, 0)}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
