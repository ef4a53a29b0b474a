#!/usr/bin/env python3
"""Writes data/ anew: generate.py [FAMILY...]. Needs numpy >= 2, scipy and mpmath (README.md).

generate.py --formats compares elements.py with ml_dtypes instead."""

import importlib, os, sys, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
FAMILIES = ["elementwise", "cast", "reduce", "movement", "rows", "matmul", "scan", "conv", "scaled", "short"]

if sys.argv[1:] == ["--formats"]:
    importlib.import_module("generator.formats").check()
    sys.exit()
for name in sys.argv[1:] or FAMILIES:
    begin = time.time()
    importlib.import_module("generator." + name).write()
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", name)
    print(f"{name}: {os.path.getsize(here + '.npz') // 1024} KiB, {time.time() - begin:.1f} s")
