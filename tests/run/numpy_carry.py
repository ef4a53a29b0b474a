"""Movement ops after reductions and products, which are stored where they carry the result, against NumPy."""
import numpy as np
from kctest import *


def function(inputs, outputs, *statements):
    text = ", ".join(f'{n}: "{t}"' for n, t in inputs.items())
    outs = ", ".join(f'{n}: "{t}"' for n, t in outputs.items())
    return f"inputs: {{{text}}}\noutputs: {{{outs}}}\nbody: |\n" + "".join(f"  {s}\n" for s in statements)


model = Model({
    "reshaped": function({"x": "f32[B, S, K]", "w": "f32[K, 96]"}, {"y": "f32[B, S, 6, 16]"}, "y = reshape(matmul(x, w), [B, S, 6, 16])"),
    "heads": function({"x": "f32[B, S, K]", "w": "f32[K, 96]", "c": "f32[16]"}, {"y": "f32[B, 6, S, 16]"},
                      "y = relu(transpose(reshape(matmul(x, w), [B, S, 6, 16]), [0, 2, 1, 3]) + c)"),
    "several": function({"x": "f32[M, 96]", "y": "f32[M, 6, 16]"}, {"z": "f32[M, 6, 16]", "s": "f32[M, 96]", "t": "f32[M]"},
                        "s = softmax(x)", "z = reshape(s, [M, 6, 16]) * y", "t = max(x, axis=1)"),
    "twice": function({"x": "f32[M, 6, 16]", "s": "f32[96]"}, {"z": "f32[M, 6, 16]"},
                      "z = softmax(reshape(rmsnorm(reshape(x, [M, 96]), s), [M, 6, 16]))"),
    "long": function({"x": "f32[M, N]"}, {"z": "f32[N, M]"}, "z = reshape(x - max(x, axis=1, keepdims=true), [N, M]) * 2"),
    "square": function({"x": "f32[4, 4, N]"}, {"z": "f32[4, 4, N]"}, "z = transpose(x - max(x, axis=2, keepdims=true), [1, 0, 2])"),
    "reduced": function({"x": "f32[A, B, N]"}, {"z": "f32[B, A]", "q": "f32[A*B]"},
                        "h = max(x, axis=2)", "z = reshape(h, [B, A]) + 1", "q = reshape(h, [A*B])"),
}, "carry")


def integers(*shape):
    return rng.integers(-4, 5, shape).astype(np.float32)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


for b, s, k in ((1, 1, 1), (2, 3, 7), (2, 64, 32), (1, 65, 16)):
    x, w, c = integers(b, s, k), integers(k, 96), integers(16)
    product = (x.astype(np.float64) @ w).reshape(b, s, 6, 16)
    compare(f"product reshaped {b, s, k}", model, "reshaped", {"x": x, "w": w}, {"y": product})
    compare(f"heads {b, s, k}", model, "heads", {"x": x, "w": w, "c": c}, {"y": np.maximum(product.transpose(0, 2, 1, 3) + c, 0)})
FEW = 200 * 2.0**-24  # roundings of values below 4: exp, sums of 96 and what follows
for m in (1, 5, 64, 1000):
    x, y, s = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, 96), (m, 6, 16), (96,)))
    p = softmax(x)
    compare(f"softmax reshaped and not, {m} rows", model, "several", {"x": x, "y": y},
            {"z": p.reshape(m, 6, 16) * y, "s": p, "t": x.max(1)}, {"z": FEW * np.abs(p.reshape(m, 6, 16) * y), "s": FEW * p, "t": 0})
    n = x / np.sqrt((x.astype(np.float64)**2).mean(1, keepdims=True) + 1e-6) * s
    compare(f"softmax of a norm reshaped, {m} rows", model, "twice", {"x": x.reshape(m, 6, 16), "s": s}, {"z": softmax(n.reshape(m, 6, 16))},
            4 * FEW)
for m, n in ((1, 1), (3, 5), (64, 32), (7, 1000), (2, 9000), (3, 20001)):
    x = integers(m, n)
    compare(f"rows of {n} reshaped", model, "long", {"x": x}, {"z": (x - x.max(1, keepdims=True)).reshape(n, m) * 2})
for n in (1, 5, 64, 10001):
    x = integers(4, 4, n)
    compare(f"transposition of equal extents, {n}", model, "square", {"x": x}, {"z": (x - x.max(2, keepdims=True)).transpose(1, 0, 2)})
    for a, b in ((1, 1), (3, 4), (64, 5)):
        x = integers(a, b, n)
        compare(f"largest reshaped twice {a, b, n}", model, "reduced", {"x": x}, {"z": x.max(2).reshape(b, a) + 1, "q": x.max(2).reshape(-1)})
finish()
