"""matmul with every number of stages, on every architecture: small integers, so that sums are exact whatever their order.

Operands that are copied as they are form rings where the architecture has such copies; one that is converted as it is
loaded passes through registers beside them.
"""
import os
import re
import subprocess
import kctest
import numpy as np
from kctest import *

STAGES = (1, 2, 3, 4, 5)
ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a")
SIZES = [(70, 72, 136), (1, 8, 8), (65, 64, 0), (33, 24, 40)]


def matmul(stages, unit, a="f16", b="f16", second="b", options="", a_shape="M, K", b_shape="K, N"):
    return f"""
dims: {{K: {{multiple_of: 8}}, N: {{multiple_of: 8}}, M: {{min: 1}}}}
inputs: {{a: "{a}[{a_shape}]", b: "{b}[{b_shape}]"}}
outputs: {{y: "f32[M, N]"}}
schedule: [{{stages: {stages}, unit: {unit}, tile: [64, 64, 16]}}]
body: |
  y = matmul(a, {second}{options})
"""


def functions(stages, unit):
    return {
        f"f16_{stages}": matmul(stages, unit),
        f"nt_{stages}": matmul(stages, unit, options=", transpose_b=true", b_shape="N, K"),
        f"tn_{stages}": matmul(stages, unit, options=", transpose_a=true", a_shape="K, M"),
        f"f32_{stages}": matmul(stages, "fma", "f32", "f32"),
        f"mixed_{stages}": matmul(stages, "fma", "f32", "i8", 'cast(b, "f32")'),
    }


def stored(kind, a, b):
    if kind == "f32":
        return {"a": a, "b": b}
    if kind == "mixed":
        return {"a": a, "b": b.astype(np.int8)}
    a, b = a.astype(np.float16), b.astype(np.float16)
    return {"a": np.ascontiguousarray(a.T) if kind == "tn" else a, "b": np.ascontiguousarray(b.T) if kind == "nt" else b}


def check(name, model, sizes, seeds, kinds, stages):
    for m, n, k in sizes:
        a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (k, n)))
        for seed in seeds:
            os.environ["KCSIM_SEED"] = str(seed)
            for kind in kinds:
                for s in stages:
                    compare(f"{name} {kind} {m}x{n}x{k}, {s} stages, seed {seed}", model, f"{kind}_{s}", stored(kind, a, b), {"y": a @ b})


def build(arch, unit):
    all_functions = {}
    for s in STAGES:
        all_functions |= functions(s, unit)
    return Model(all_functions, f"stages_{arch}_{unit}", target="cuda:" + arch)


def ptx_of(stages, unit):
    """The instructions of the main loop of the first kernel."""
    source = os.path.join(kctest.WORK, "ptx.yaml")
    with open(source, "w") as f:
        f.write("kc: 1\nmodule: ptx\nfunctions:\n  f:\n" + "".join(f"    {line}\n" for line in matmul(stages, unit).strip().split("\n")))
    folder = os.path.join(kctest.WORK, f"ptx_{unit}_{stages}/")
    subprocess.run([f"{kctest.BUILD}/bin/kc", "build", source, "--target", "cuda:sm_80", "--emit", "ptx", "-o", folder], check=True)
    text = open(folder + "ptx.sm_80.ptx").read()
    text = text[text.index(".entry f_v0_k0") :]
    for label in re.finditer(r"^(\$L__BB\d+_\d+):", text, re.M):
        back = re.search(rf"bra\S*\s+{re.escape(label[1])};", text[label.end() :])
        loop = text[label.end() : label.end() + back.end()] if back else ""
        if "cp.async.wait_group" in loop:
            return loop
    return ""


def check_loop(stages, unit):
    loop = ptx_of(stages, unit)
    name = f"main loop with {stages} stages, {unit}: "
    test(name + "one wait and one barrier", re.findall(r"cp\.async\.wait_group\s+(\d+)", loop) == [str(stages - 2)] and loop.count("bar.sync") == 1, loop[:300])
    test(name + "one group, 16 bytes at a time", loop.count("cp.async.commit_group") == 1 and "cp.async.cg.shared.global" in loop, loop[:300])
    test(name + "no division, nothing through registers", not re.search(r"\b(rem|div|ld\.global|st\.shared)\b", loop), loop[:300])
    if unit == "tensor":  # the next step's first fragments are loaded before this step's last products
        test(name + "products behind the barrier", 0 < loop.find("bar.sync") < loop.find("ldmatrix", loop.find("bar.sync")) < loop.rfind("mma.sync"), loop[:300])


for s in STAGES[1:]:
    check_loop(s, "fma")
    check_loop(s, "tensor")
everything = ("f16", "nt", "tn", "f32", "mixed")
for unit in ("fma", "tensor"):
    check(unit, build("sm_80", unit), SIZES, (1,), everything if unit == "fma" else everything[:3], STAGES)
    check(unit, build("sm_80", unit), SIZES[:1], (2, 3), everything if unit == "fma" else everything[:3], STAGES)
for arch in ARCHS:
    kctest.DEVICE = "cuda-sim:" + arch
    check(arch, build(arch, "fma"), SIZES[:1], (4,), ("f16", "mixed"), STAGES)
finish()
