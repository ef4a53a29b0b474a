"""Reductions in the kernel of the product that they reduce, against NumPy: softmax, norms, sums, maxima, argmax; rows,
columns and both; sizes around the edges of tiles; types, transposes, batches, masks; architectures of each unit.

Bounds: the product's, as in numpy_matmul.py, through what is made of it. Values that are whole numbers are compared exactly.
"""
import numpy as np
from kctest import *

U = 2.0**-24
TRANSPOSES = {"nn": "", "tn": "transpose_a=true", "nt": "transpose_b=true", "tt": "transpose_a=true, transpose_b=true"}
NUMPY = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "u8": np.uint8}


def shapes(t, m, n, k, batch=""):
    return f"[{batch}{k}, {m}]" if t[0] == "t" else f"[{batch}{m}, {k}]", f"[{batch}{n}, {k}]" if t[1] == "t" else f"[{batch}{k}, {n}]"


def function(kind, t, m, n, k, out, body, more="", batch="", dims="{M: {max: 5000}, K: {max: 300}}"):
    a, b = shapes(t, m, n, k, batch)
    product = f"matmul(a, b{', ' * (t != 'nn')}{TRANSPOSES[t]})"
    lines = "".join("\n  " + line for line in body.replace("PRODUCT", product).split(";"))
    outputs = ", ".join(f'{name}: "{type}"' for name, type in out.items())
    return f"""
dims: {dims}
inputs: {{a: "{kind}{a}", b: "{kind}{b}"{more}}}
outputs: {{{outputs}}}
body: |{lines}
"""


def random(shape, kind):
    if kind in ("i8", "u8"):
        info = np.iinfo(NUMPY[kind])
        return rng.integers(info.min, info.max, shape, NUMPY[kind], endpoint=True)
    return rng.standard_normal(shape).astype(NUMPY[kind])


def stored(a, b, t):
    turn = lambda x: np.ascontiguousarray(np.swapaxes(x, -1, -2))
    return {"a": turn(a) if t[0] == "t" else a, "b": turn(b) if t[1] == "t" else b}


def product(a, b):
    wide = np.int64 if a.dtype.kind in "iu" else np.longdouble
    return np.matmul(a.astype(wide), b.astype(wide))


def of_product(a, b, unit=U):
    return (a.shape[-1] + 1) * unit * np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))


def softmax(x, error):
    """The softmax and its bound where elements of x are wrong by at most `error`."""
    e = np.exp(x - x.max(-1, keepdims=True))
    y = e / e.sum(-1, keepdims=True)
    worst = np.max(error, -1, keepdims=True)
    return y, (y * (np.expm1(2 * worst) + (x.shape[-1] + 16) * U) * np.ones_like(y)).astype(float)


def kernels(model):
    return len(model.counters)


def one_kernel(name, model, f, inputs, outputs, wanted=1):
    got = model.run(f, inputs, outputs, counters=True)
    test(f"{name} is {wanted} kernel{'s' * (wanted > 1)}", got is not None and kernels(model) == wanted, model.message.strip()[:200] if got is None else kernels(model))
    if got is not None:
        conflicts = sum(k["shared_bank_conflicts"] for k in model.counters)
        test(f"{name} has no bank conflicts", conflicts == 0, conflicts)


# ---- softmax of scores ----------------------------------------------------------------------------------------------------

NS = (8, 24, 33, 64, 96, 100, 128, 200, 256)
functions = {f"softmax_f16_{n}": function("f16", "nt", "M", n, "K", {"y": f"f32[M, {n}]"}, "y = softmax(PRODUCT * 0.125, axis=-1)") for n in NS}
functions |= {f"softmax_f32_{t}": function("f32", t, "M", 40, "K", {"y": "f32[M, 40]"}, "y = softmax(PRODUCT * 0.125)") for t in TRANSPOSES}
functions |= {f"softmax_bits16_{t}": function("f16", t, "M", 72, "K", {"y": "f16[M, 72]"}, "y = softmax(PRODUCT)") for t in TRANSPOSES}
functions["masked"] = function("f16", "nt", "M", 128, 64, {"y": "f32[B, H, M, 128]"}, "s = PRODUCT * 0.125 + m; y = softmax(s, axis=-1)".replace("; ", ";"),
                               ', m: "f32[B, 1, M, 128]"', "B, H, ", "{}")
functions["causal"] = function("f16", "nt", 96, 96, 64, {"y": "f16[H, 96, 96]"},
                               "s = PRODUCT * 0.125;i = iota([96, 96], axis=0);j = iota([96, 96], axis=1);y = softmax(where(j <= i, s, -inf))", batch="H, ", dims="{}")
functions["scores"] = function("f16", "nt", "M", 128, 64, {"y": "f32[M, 128]"}, "y = softmax(PRODUCT)", dims="{M: {max: 5000}}")
functions["attention"] = """
inputs: {q: "f16[H, S, 64]", k: "f16[H, 128, 64]", v: "f16[H, 128, 64]"}
outputs: {y: "f32[H, S, 64]"}
body: |
  p = softmax(matmul(q, k, transpose_b=true) * 0.125)
  y = matmul(cast(p, "f16"), v)
"""
functions["row_by_fact"] = function("f16", "nt", "M", "N", "K", {"y": "f32[M, N]"}, "y = softmax(PRODUCT)", dims="{M: {max: 5000}, N: {max: 128}, K: {max: 300}}")

# ---- norms ------------------------------------------------------------------------------------------------------------------

functions["rmsnorm"] = function("f16", "nn", "M", 96, "K", {"y": "f32[M, 96]"}, "y = rmsnorm(PRODUCT + r, s)", ', r: "f32[M, 96]", s: "f32[96]"')
functions["layernorm"] = function("f32", "nn", "M", 64, "K", {"y": "f32[M, 64]", "p": "f32[M, 64]"}, "p = PRODUCT + c;y = layernorm(p, s, z)", ', c: "f32[64]", s: "f32[64]", z: "f32[64]"')
functions["normalise"] = function("f16", "nt", "M", 128, "K", {"y": "f16[M, 128]"}, "p = PRODUCT;y = p / sqrt(sum(p * p, axis=-1, keepdims=true))")

# ---- sums, maxima, places -----------------------------------------------------------------------------------------------------

for kind in ("i8", "u8", "f16", "f32", "f64"):
    total = {"f64": "f64", "i8": "i32", "u8": "i32"}.get(kind, "f32")
    for t in TRANSPOSES:
        functions[f"rows_{kind}_{t}"] = function(kind, t, "M", 70, "K", {"s": f"{total}[M]", "l": f"{total}[M, 1]", "i": "i64[M]"},
                                                 "p = PRODUCT;s = sum(p, axis=1);l = max(p, axis=1, keepdims=true);i = argmax(p, axis=1)")
    functions[f"columns_{kind}"] = function(kind, "nn", 70, "N", "K", {"s": f"{total}[N]", "l": f"{total}[N]", "i": "i64[N]"},
                                            "p = PRODUCT;s = sum(p, axis=0);l = min(p, axis=0);i = argmin(p, axis=0)", dims="{N: {max: 5000}, K: {max: 300}}")
    functions[f"all_{kind}"] = function(kind, "nt", 50, 70, "K", {"s": f"{total}[]", "l": f"{total}[]"}, "p = PRODUCT;s = sum(p);l = max(p)", dims="{K: {max: 300}}")
functions["of_each"] = function("f16", "nn", "M", 48, "K", {"s": "f32[B, M]", "y": "f32[B, M, 48]"}, "p = relu(PRODUCT);s = sum(p, axis=-1);y = p * p", batch="B, ")
functions["both_ways"] = function("f16", "nn", 32, 48, "K", {"s": "f32[32]", "z": "f32[48]"}, "p = PRODUCT;s = sum(p, axis=1);z = sum(p, axis=0)", dims="{K: {max: 300}}")
functions["batches_summed"] = function("f16", "nn", "M", 48, "K", {"s": "f32[M, 48]"}, "s = sum(PRODUCT, axis=0)", batch="B, ")
functions["turned"] = function("f16", "nn", "M", 48, "K", {"y": "f32[48, M]"}, "y = transpose(softmax(PRODUCT), [1, 0])")
functions["in_heads"] = function("f16", "nn", "M", 48, "K", {"y": "f32[M, 4, 12]"}, "y = reshape(softmax(PRODUCT), [M, 4, 12])")
functions["scheduled"] = function("f16", "nt", "M", 64, "K", {"y": "f32[M, 64]"}, "p = PRODUCT;y = softmax(p)") + 'schedule:\n  - {kernel: p, tile: [32, 64, 32], warps: 4}\n'
functions["narrow"] = function("f16", "nt", "M", 64, "K", {"y": "f32[M, 64]"}, "p = PRODUCT;y = softmax(p)") + 'schedule:\n  - {kernel: p, tile: [32, 32, 32]}\n'

# ---- rows and columns longer than a tile ----------------------------------------------------------------------------------------

LONG = "{M: {max: 5000}, N: {max: 5000}, K: {max: 300}}"
for kind in ("i8", "f16", "f32", "f64"):
    total = {"f64": "f64", "i8": "i32"}.get(kind, "f32")
    functions[f"long_rows_{kind}"] = function(kind, "nt", "M", "N", "K", {"s": f"{total}[M]"}, "s = sum(PRODUCT, axis=1)", dims=LONG)
    functions[f"long_places_{kind}"] = function(kind, "nn", "M", "N", "K", {"i": "i64[M]"}, "i = argmax(PRODUCT, axis=1)", dims=LONG)
    functions[f"long_columns_{kind}"] = function(kind, "nn", "M", "N", "K", {"s": f"{total}[N]"}, "s = max(PRODUCT, axis=0)", dims=LONG)
    functions[f"long_all_{kind}"] = function(kind, "nn", "M", "N", "K", {"s": f"{total}[]"}, "s = sum(PRODUCT)", dims=LONG)
functions["long_fixed"] = function("f16", "nn", "M", 1000, 64, {"s": "f32[B, M, 1]"}, "s = max(PRODUCT + c, axis=2, keepdims=true)", ', c: "f32[1000]"', "B, ", "{}")
functions["long_narrow"] = function("f16", "tn", "M", 40, 64, {"s": "f32[]"}, "s = sum(relu(PRODUCT))", dims="{M: {max: 5000}}")
functions["squared_error"] = function("f16", "nn", "M", 512, 64, {"s": "f32[M]"}, "d = PRODUCT - t;s = sum(d * d, axis=1)", ', t: "f32[M, 512]"', dims="{M: {max: 5000}}")
functions["long_scheduled"] = function("f16", "nn", "M", 512, 64, {"s": "f32[M]"}, "p = PRODUCT;s = sum(p, axis=1)", dims="{M: {max: 5000}}") + 'schedule:\n  - {kernel: p, tile: [64, 96, 32]}\n'


def softmaxes(model, arch, few):
    for n in NS[::1 + 3 * few]:
        m, k = int(rng.integers(1, 150)), int(rng.choice([16, 33, 64, 72]))
        a, b = random((m, k), "f16"), random((k, n), "f16")
        want, bound = softmax(product(a, b) / 8, of_product(a, b))
        compare(f"{arch} softmax of {m}x{n}x{k}", model, f"softmax_f16_{n}", stored(a, b, "nt"), {"y": want}, bound)
    for kind, name, n in (("f32", "softmax_f32", 40), ("f16", "softmax_bits16", 72)):
        for t in list(TRANSPOSES)[:1 if few else 4]:
            for m, k in ((1, 5), (17, 64), (65, 129)):
                a, b = random((m, k), kind), random((k, n), kind)
                scale = 0.125 if kind == "f32" else 1
                want, bound = softmax(product(a, b) * scale, of_product(a, b))
                compare(f"{arch} softmax {kind} {t} {m}x{n}x{k}", model, f"{name}_{t}", stored(a, b, t), {"y": want}, bound)
    a, b, m = random((2, 3, 37, 64), "f16"), random((2, 3, 64, 128), "f16"), random((2, 1, 37, 128), "f32")
    want, bound = softmax(product(a, b) / 8 + m, of_product(a, b) + 8 * U)
    compare(f"{arch} softmax of masked scores", model, "masked", {**stored(a, b, "nt"), "m": m}, {"y": want}, bound)
    a, b = random((3, 96, 64), "f16"), random((3, 64, 96), "f16")
    scores = np.where(np.tril(np.ones((96, 96), bool)), product(a, b) / 8, -np.inf)
    want, bound = softmax(scores, of_product(a, b))
    compare(f"{arch} causal softmax", model, "causal", stored(a, b, "nt"), {"y": want}, bound)
    for n, k in ((1, 8), (77, 40), (128, 64)):
        a, b = random((33, k), "f16"), random((k, n), "f16")
        want, bound = softmax(product(a, b), of_product(a, b))
        compare(f"{arch} softmax of rows that a fact bounds: {n}", model, "row_by_fact", stored(a, b, "nt"), {"y": want}, bound)
    q, k, v = random((2, 70, 64), "f16"), random((2, 128, 64), "f16"), random((2, 128, 64), "f16")
    good = model.run("attention", {"q": q, "k": k, "v": v}, ["y"], check=True) is not None
    test(f"{arch} attention by hand", good, model.message.strip()[:300])


def norms(model, arch):
    for m, k in ((1, 64), (50, 31), (130, 96)):
        a, b, r, s = random((m, k), "f16"), random((k, 96), "f16"), random((m, 96), "f32"), random((96,), "f32")
        good = model.run("rmsnorm", {"a": a, "b": b, "r": r, "s": s}, ["y"], check=True) is not None
        test(f"{arch} rmsnorm of a product {m}x{k}", good, model.message.strip()[:300])
        a, b, c, s, z = random((m, k), "f32"), random((k, 64), "f32"), random((64,), "f32"), random((64,), "f32"), random((64,), "f32")
        good = model.run("layernorm", {"a": a, "b": b, "c": c, "s": s, "z": z}, ["y", "p"], check=True) is not None
        test(f"{arch} layernorm of a product {m}x{k}", good, model.message.strip()[:300])
        a, b = random((m, k), "f16"), random((k, 128), "f16")
        good = model.run("normalise", stored(a, b, "nt"), ["y"], check=True) is not None
        test(f"{arch} rows of length 1 {m}x{k}", good, model.message.strip()[:300])


def whole(shape, kind):
    """Whole numbers: sums of their products are exact in every type."""
    return random(shape, kind) if kind in ("i8", "u8") else rng.integers(-8, 8, shape, endpoint=True).astype(NUMPY[kind])


def kinds(few):
    return ("i8", "f16") if few else ("i8", "u8", "f16", "f32", "f64")


def sums(model, arch, few):
    for kind in kinds(few):
        for t in list(TRANSPOSES)[:1 if few else 4]:
            for m, k in ((1, 3), (33, 64), (65, 50)):
                a, b = whole((m, k), kind), whole((k, 70), kind)
                p = product(a, b)
                wants = {"s": p.sum(1), "l": p.max(1, keepdims=True), "i": p.argmax(1)}
                compare(f"{arch} sum, max and argmax of rows {kind} {t} {m}x{k}", model, f"rows_{kind}_{t}", stored(a, b, t), wants)
        for n, k in ((1, 3), (33, 64), (129, 50)):
            a, b = whole((70, k), kind), whole((k, n), kind)
            p = product(a, b)
            compare(f"{arch} sum, min and argmin of columns {kind} {n}x{k}", model, f"columns_{kind}", stored(a, b, "nn"), {"s": p.sum(0), "l": p.min(0), "i": p.argmin(0)})
        a, b = whole((50, 40), kind), whole((40, 70), kind)
        p = product(a, b)
        compare(f"{arch} sum and max of all of a product {kind}", model, f"all_{kind}", stored(a, b, "nt"), {"s": p.sum().astype(np.int32) if kind in ("i8", "u8") else p.sum(), "l": p.max()})


def others(model, arch):
    a, b = whole((3, 37, 24), "f16"), whole((3, 24, 48), "f16")
    p = np.maximum(product(a, b), 0)
    compare(f"{arch} a sum and what was summed, by batches", model, "of_each", {"a": a, "b": b}, {"s": p.sum(-1), "y": p * p})
    p = product(a, b)
    compare(f"{arch} sums over batches of products", model, "batches_summed", {"a": a, "b": b}, {"s": p.sum(0)})
    a, b = whole((32, 24), "f16"), whole((24, 48), "f16")
    p = product(a, b)
    compare(f"{arch} sums of rows and of columns", model, "both_ways", {"a": a, "b": b}, {"s": p.sum(1), "z": p.sum(0)})
    a, b = random((37, 24), "f16"), random((24, 48), "f16")
    want, bound = softmax(product(a, b), of_product(a, b))
    compare(f"{arch} a softmax that is turned", model, "turned", {"a": a, "b": b}, {"y": want.T}, bound.T)
    compare(f"{arch} a softmax in heads", model, "in_heads", {"a": a, "b": b}, {"y": want.reshape(37, 4, 12)}, bound.reshape(37, 4, 12))
    a, b = random((37, 24), "f16"), random((24, 64), "f16")
    want, bound = softmax(product(a, b), of_product(a, b))
    for name in ("scheduled", "narrow"):
        compare(f"{arch} a softmax of a product with a schedule, {name}", model, name, stored(a, b, "nt"), {"y": want}, bound)
    for m, k in ((0, 5), (5, 0)):
        a, b = whole((m, k), "f16"), whole((k, 70), "f16")
        p = product(a, b)
        wants = {"s": p.sum(1), "l": p.max(1, keepdims=True), "i": p.argmax(1)}
        compare(f"{arch} rows of a product of size {m}x70x{k}", model, "rows_f16_nn", {"a": a, "b": b}, wants)
    a, b = whole((33, 5), "f16"), whole((5, 0), "f16")
    good = model.run("row_by_fact", stored(a, b, "nt"), ["y"], check=True) is not None
    test(f"{arch} a softmax of empty rows", good, model.message.strip()[:300])


def long_rows(model, arch, few):
    for kind in [kind for kind in kinds(few) if kind != "u8"]:
        for m, n, k in ((1, 1, 3), (33, 65, 16), (20, 1000, 40), (300, 257, 8))[2 * few:]:
            a, b = whole((m, k), kind), whole((k, n), kind)
            p = product(a, b)
            total = p.sum().astype(np.int32) if kind == "i8" else p.sum()
            name = f"of a product {kind} {m}x{n}x{k}"
            compare(f"{arch} sums of long rows {name}", model, f"long_rows_{kind}", stored(a, b, "nt"), {"s": p.sum(1)})
            compare(f"{arch} argmax of long rows {name}", model, f"long_places_{kind}", stored(a, b, "nn"), {"i": p.argmax(1)})
            compare(f"{arch} max of long columns {name}", model, f"long_columns_{kind}", stored(a, b, "nn"), {"s": p.max(0)})
            compare(f"{arch} sum of all {name}", model, f"long_all_{kind}", stored(a, b, "nn"), {"s": total})
    a, b, c = whole((2, 37, 64), "f16"), whole((2, 64, 1000), "f16"), whole((1000,), "f32")
    compare(f"{arch} max of rows of 1000", model, "long_fixed", {"a": a, "b": b, "c": c}, {"s": (product(a, b) + c).max(2, keepdims=True)})
    a, b = whole((700, 64), "f16"), whole((64, 40), "f16")
    compare(f"{arch} sum of a long narrow product", model, "long_narrow", stored(a, b, "tn"), {"s": np.maximum(product(a, b), 0).sum()})
    a, b, t = whole((50, 64), "f16"), whole((64, 512), "f16"), whole((50, 512), "f32")
    d = product(a, b) - t
    compare(f"{arch} squared error", model, "squared_error", {"a": a, "b": b, "t": t}, {"s": (d * d).sum(1)}, 520 * U * (d * d).sum(1).astype(float))
    compare(f"{arch} long rows of a product with a schedule", model, "long_scheduled", {"a": a, "b": b}, {"s": product(a, b).sum(1)})


def sampled(name):
    return not name.endswith(("_tn", "_tt", "softmax_f32_nt", "bits16_nt", "8_nt", "6_nt", "_u8", "_f32", "_f64", "_33", "_24", "_64", "_100", "_128", "_200")) and "u8" not in name


for arch in ("sm_80", "sm_75", "sm_90a"):
    few = arch != "sm_80"
    model = Model({n: f for n, f in functions.items() if not few or sampled(n)}, "epilogue_" + arch, f"cuda:{arch}")
    run = model.run
    model.run = lambda *args, device=None, run=run, arch=arch, **more: run(*args, device=f"cuda-sim:{arch}", **more)
    softmaxes(model, arch, few)
    norms(model, arch)
    sums(model, arch, few)
    others(model, arch)
    long_rows(model, arch, few)
    a, b = random((256, 64), "f16"), random((64, 128), "f16")
    one_kernel(f"{arch} softmax of 256x128x64", model, "scores", stored(a, b, "nt"), ["y"])
    one_kernel(f"{arch} sums of 256x512x64", model, "long_scheduled", {"a": a, "b": random((64, 512), "f16")}, ["s"], 2)
    bytes = sum(k["global_load_bytes"] + k["global_store_bytes"] for k in model.counters)
    test(f"{arch} a product that is only summed is not stored ({bytes} bytes)", bytes < 256 * 512 * 4, bytes)
    one_kernel(f"{arch} a narrow schedule", model, "narrow", stored(a, random((64, 64), "f16"), "nt"), ["y"], 2)
finish()
