"""What kernels move, from the simulator's counters: bank conflicts, sectors used, bytes read, kernels started."""
import numpy as np
from kctest import *

model = Model({
    "transpose": """
inputs: {x: "f32[1000, 777]"}
outputs: {y: "f32[777, 1000]"}
body: |
  y = transpose(x, [1, 0])
""",
    "softmax": """
inputs: {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
body: |
  y = softmax(x)
""",
    "rmsnorm": """
inputs: {x: "f32[M, N]", s: "f32[N]"}
outputs: {y: "f32[M, N]"}
body: |
  y = rmsnorm(x, s)
""",
    "softmax_f16": """
inputs: {x: "f16[M, N]"}
outputs: {y: "f16[M, N]"}
body: |
  y = softmax(x)
""",
    "residuals": """
inputs: {x: "f16[256, 128]", w: "f16[128, 256]", b: "f16[256]", r: "f16[256, 256]", q: "f16[256, 256]"}
outputs: {y: "f16[256, 256]"}
body: |
  y = silu(matmul(x, w) + b) * q + r
schedule: [{tile: [128, 128, 32], warps: 8, stages: 4}]
"""}, "traffic")


def total(name):
    return sum(k[name] for k in model.counters)


def launches():
    return sum(k["launches"] for k in model.counters)


def counted(name, function, inputs, check=False):
    got = model.run(function, inputs, ["y"], counters=True, check=check)
    if got is None:
        test(name, False, model.message.strip())
    return got


def efficiency():
    used = total("global_load_sectors") + total("global_store_sectors")
    return (total("global_load_sectors_ideal") + total("global_store_sectors_ideal")) / max(used, 1)


x = np.arange(1000 * 777, dtype=np.float32).reshape(1000, 777)
got = counted("transpose", "transpose", {"x": x})
if got:
    test("transpose 1000x777 is right", np.array_equal(got[0], x.T))
    test("transpose 1000x777 has no bank conflicts", total("shared_bank_conflicts") == 0, total("shared_bank_conflicts"))
    test(f"transpose 1000x777 uses 90% of the sectors ({efficiency():.3f})", efficiency() >= 0.90, efficiency())

for n in (1, 3, 32, 63, 128, 257, 1000, 1024, 2048, 4096, 5003, 8191, 8192):
    m = 1 if n > 2048 else 3 if n > 256 else 64
    x = rng.standard_normal((m, n)).astype(np.float32)
    for function, extra in (("softmax", {}), ("rmsnorm", {"s": rng.standard_normal(n).astype(np.float32)})):
        name = f"{function} {m}x{n}"
        if counted(name, function, {"x": x} | extra):
            # Each row wants the scale once more.
            wanted = x.nbytes * (1 + len(extra))
            ratio = total("global_load_bytes") / wanted
            test(f"{name} reads its rows once ({ratio:.3f}), without bank conflicts, in one kernel",
                 ratio <= 1.02 and total("shared_bank_conflicts") == 0 and launches() == 1,
                 f"{total('global_load_bytes')} bytes of {wanted}, {total('shared_bank_conflicts')} conflicts, {launches()} launches")
x = rng.standard_normal((2, 8192)).astype(np.float16)
if counted("softmax f16 2x8192", "softmax_f16", {"x": x}):
    test("softmax f16 2x8192 reads its rows once", total("global_load_bytes") <= 1.02 * x.nbytes, total("global_load_bytes"))

x = rng.standard_normal((1, 100003)).astype(np.float32)
got = counted("softmax of a row of 100003", "softmax", {"x": x}, check=True)
if got:
    y = np.exp(x.astype(np.longdouble) - x.max())
    test("softmax of a row of 100003 is right", difference(got[0], y / y.sum(), (y / y.sum() * (100003 + 40) * 2.0**-24).astype(float)) == "")
    test("softmax of a row of 100003 is one kernel", launches() == 1 and len(model.counters) == 1, model.counters)

# 4 blocks; 4 steps each, a barrier a step and one before them; the result is turned once, whatever is read beside it.
x, w = (rng.standard_normal(shape).astype(np.float16) for shape in ((256, 128), (128, 256)))
r, q, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((256, 256), (256, 256), 256))
if counted("residuals", "residuals", {"x": x, "w": w, "b": b, "r": r, "q": q}, check=True):
    test("residuals are read as the result is stored: two barriers", total("barriers") == 4 * (4 + 1 + 2), total("barriers"))
    test("residuals take whole sectors, without bank conflicts", efficiency() == 1 and total("shared_bank_conflicts") == 0, (efficiency(), total("shared_bank_conflicts")))

# Bytes that are turned on their way to shared memory, for instructions that have no matrix loads of them.
model = Model({"turned": """
inputs: {a: "i8[256, 256]", b: "i8[256, 256]"}
outputs: {y: "i32[256, 256]"}
body: |
  y = matmul(a, b, transpose_a=true)
schedule: [{tile: [128, 64, 128], warps: 4}]
"""}, "turned", target="cuda:sm_75")
a, b = (rng.integers(-128, 128, (256, 256)).astype(np.int8) for _ in range(2))
got = model.run("turned", {"a": a, "b": b}, ["y"], counters=True, device="cuda-sim:sm_75")
test("i8, a transposed, on sm_75 is right", got and np.array_equal(got[0], a.T.astype(np.int32) @ b.astype(np.int32)), model.message)
test("i8, a transposed, on sm_75 has no bank conflicts", got and total("shared_bank_conflicts") == 0, got and total("shared_bank_conflicts"))
finish()
