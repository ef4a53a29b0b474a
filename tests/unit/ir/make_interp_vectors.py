#!/usr/bin/python3
"""Writes interp_elements.h and interp_tensors.h: what NumPy says of the functions that test_interp.c and test_interp_tensors.c
check. Run by hand; the results are committed."""
import math
import os
import numpy as np

np.seterr(all="ignore")
f8 = np.float64
HEAD = ["// Made by make_interp_vectors.py with NumPy: arguments and results in double precision.", "// clang-format off"]
out = list(HEAD)


def number(x):
    x = float(x)
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return x.hex()


def array(name, values):
    out.append("static const double %s[] = {%s};" % (name, ", ".join(number(v) for v in np.ravel(values))))


def f32(values):
    return np.asarray(values, np.float32).astype(f8)


inf, nan = math.inf, math.nan
X = f32([0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 1.5, -1.5, 2.5, -2.5, 0.1, -0.1, 3.14159, -7.25, 100.25, -100.25, 1e-3, 1e-20,
         -1e-20, 1e-42, 1e10, 12345.678, 20.0, -20.0, 0.9999999, inf, -inf, nan])
array("unary_x", X)
erf = np.vectorize(math.erf)
unary = {
    "abs": np.abs, "neg": np.negative, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "exp2": np.exp2,
    "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "erf": erf, "floor": np.floor,
    "ceil": np.ceil, "round": np.rint, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0), "gelu": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
}
for name, f in unary.items():
    array("unary_" + name, f(X))
out.append("static const struct { const char *op; const double *y; } unary_rows[] = {%s};"
           % ", ".join('{"%s", unary_%s}' % (n, n) for n in unary))

A = f32([0, 1, -1, 7, -7, 7, -7, 7.5, -7.5, 0.3, 1e10, 5, -5, 3, 0, -0.0, inf, -inf, inf, 1, nan, 2, -8, 2, 10, 0.5, 1e-30])
B = f32([1, 0, 0, 3, 3, -3, -3, 2.5, 2.5, 0.1, 3, inf, inf, -inf, 0, 1, 1, 2, inf, nan, 1, 0.5, 3, -3, 0.1, -2, 2])
array("binary_a", A)
array("binary_b", B)
binary = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floordiv": np.floor_divide, "mod": np.mod,
    "pow": np.power, "min": np.minimum, "max": np.maximum,
}
for name, f in binary.items():
    array("binary_" + name, f(A, B))
out.append("static const struct { const char *op; const double *y; } binary_rows[] = {%s};"
           % ", ".join('{"%s", binary_%s}' % (n, n) for n in binary))



def write(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n")


write("interp_elements.h")
out = list(HEAD)
random = np.random.default_rng(1)
M, N = 4, 7
R = f32(random.normal(size=(M, N)))
S = f32(random.normal(size=N))
T = f32(random.normal(size=N))
array("row_x", R)
array("row_scale", S)
array("row_bias", T)
e = np.exp(R - R.max(1, keepdims=True))
array("row_softmax", e / e.sum(1, keepdims=True))
array("row_log_softmax", R - R.max(1, keepdims=True) - np.log(e.sum(1, keepdims=True)))
c = R - R.mean(1, keepdims=True)
array("row_layernorm", c / np.sqrt((c * c).mean(1, keepdims=True) + 1e-5) * S + T)
array("row_rmsnorm", R / np.sqrt((R * R).mean(1, keepdims=True) + 1e-6) * S)
e = np.exp(R - R.max(0))
array("row_softmax_0", e / e.sum(0))
for name, f in {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min, "argmax": np.argmax,
                "argmin": np.argmin}.items():
    array("reduce_%s_0" % name, f(R, 0))
    array("reduce_%s_1" % name, f(R, 1))
    array("reduce_%s_all" % name, f(R))
out.append("static const struct { const char *op; const double *along_0, *along_1, *all; } reduce_rows[] = {%s};"
           % ", ".join('{"%s", reduce_%s_0, reduce_%s_1, reduce_%s_all}' % (n, n, n, n)
                       for n in ["sum", "prod", "mean", "amax", "amin", "argmax", "argmin"]))
P, Q = f32(random.normal(size=(2, 3, 5))), f32(random.normal(size=(2, 5, 4)))
array("product_a", P)
array("product_b", Q)
array("product_a_t", P.transpose(0, 2, 1))
array("product_b_t", Q.transpose(0, 2, 1))
array("product_y", P @ Q)
G = np.arange(24.0).reshape(2, 3, 4)
array("move_x", G)
array("move_transpose", G.transpose(2, 0, 1))
array("move_slice", G[1::-1, 2::-2, 1:3])
array("move_pad", np.pad(G, ((1, 0), (0, 2), (1, 1)), constant_values=-1.5))
array("move_concat", np.concatenate([G, G * 10], 1))
array("move_take", np.take(G, [[2, 0], [1, 2]], 1))
array("move_reshape_sum", G.reshape(4, 6).sum(0))
write("interp_tensors.h")
