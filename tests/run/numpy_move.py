"""What moves data against NumPy: exact, whatever the type."""
import itertools
import numpy as np
from kctest import *


def function(inputs, outputs, body):
    def table(args):
        return "{" + ", ".join(f'{n}: "{t}"' for n, t in args.items()) + "}"
    return f"inputs: {table(inputs)}\noutputs: {table(outputs)}\nbody: |\n" + "".join(f"  {line}\n" for line in body.split("\n"))


D = ["A", "B", "C"]
functions = {}
for perm in itertools.permutations(range(3)):
    functions["transpose_%d%d%d" % perm] = function({"x": "f32[A, B, C]"}, {"y": "f32[%s]" % ", ".join(D[p] for p in perm)}, f"y = transpose(x, {list(perm)})")
for kind in ("i8", "f16", "f64", "bool"):
    functions["matrix_" + kind] = function({"x": f"{kind}[A, B]"}, {"y": f"{kind}[B, A]"}, "y = transpose(x, [1, 0])")
functions["reshape"] = function({"x": "i32[A, 6]"}, {"y": "i32[A * 2, 3]"}, "y = reshape(x, [-1, 3])")
functions["broadcast"] = function({"x": "i16[A, 1, C]"}, {"y": "i16[A, 4, C]"}, "y = broadcast(x, [A, 4, C])")
functions["slice"] = function({"x": "f32[20, 30]"}, {"y": "f32[7, 10]"}, "y = slice(x, [3, -1], [17, -31], steps=[2, -3])")
functions["slice_symbolic"] = f"dims: {{A: {{min: 4}}}}\n" + function({"x": "f32[A, B]"}, {"y": "f32[A - 4, B]"}, "y = slice(x, [4], [A], axes=[0])")
functions["concat"] = function({"a": "f32[A, B]", "b": "f32[C, B]", "c": "f32[A, B]"}, {"y": "f32[A + C + A, B]"}, "y = concat([a, b, c], axis=0)")
functions["concat_columns"] = function({"a": "f16[A, B]", "b": "f16[A, C]"}, {"y": "f16[A, B + C]"}, "y = concat([a, b], axis=1)")
functions["concat_computed"] = function({"a": "f32[A, B]", "b": "f32[A, C]"}, {"y": "f32[A, B + C]"}, "y = concat([a * 2, -b], axis=1) + 1")
functions["pad"] = function({"x": "f32[A, B]"}, {"y": "f32[A + 3, B + 5]"}, "y = pad(x, [[1, 2], [5, 0]], value=-1.5)")
functions["pad_i8"] = function({"x": "i8[A, B]"}, {"y": "i8[A, B + 3]"}, "y = pad(x, [[0, 0], [1, 2]], value=7)")
functions["gather"] = function({"x": "f32[A, B]", "i": "i64[C]"}, {"y": "f32[C, B]"}, "y = gather(x, i)")
functions["gather_columns"] = function({"x": "u8[A, B]", "i": "i32[C, 3]"}, {"y": "u8[A, C, 3]"}, "y = gather(x, i, axis=1)")
functions["iota"] = function({"x": "f32[A, B]"}, {"y": "i64[A, B]", "z": "f32[A, B]"}, 'y = iota([A, B], axis=1)\nz = x + cast(iota([A, B], axis=0, dtype="i32"), "f32")')
functions["chain"] = function({"x": "f32[A, 4, B]"}, {"y": "f32[B, A * 4]"}, "y = transpose(reshape(x, [A * 4, B]), [1, 0]) * 2")
functions["strided"] = """
inputs:
  x: {type: "f32[A, B]", strides: [ldx, 1]}
outputs: {y: "f32[A, B]"}
body: |
  y = x + 1
"""
model = Model(functions, "move")


def random(shape, dtype):
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


for shape in [(3, 5, 7), (2, 70, 33), (1, 64, 128), (4, 1, 9), (2, 0, 3)]:
    x = random(shape, np.float32)
    for perm in itertools.permutations(range(3)):
        compare("transpose %d%d%d of %dx%dx%d" % (*perm, *shape), model, "transpose_%d%d%d" % perm, {"x": x}, {"y": x.transpose(perm)})
for kind, dtype in [("i8", np.int8), ("f16", np.float16), ("f64", np.float64), ("bool", np.bool_)]:
    for shape in [(33, 70), (128, 64), (1, 5)]:
        x = random(shape, dtype)
        compare(f"transpose {kind} {shape[0]}x{shape[1]}", model, "matrix_" + kind, {"x": x}, {"y": x.T})
x = random((5, 6), np.int32)
compare("reshape", model, "reshape", {"x": x}, {"y": x.reshape(-1, 3)})
x = random((3, 1, 9), np.int16)
compare("broadcast", model, "broadcast", {"x": x}, {"y": np.broadcast_to(x, (3, 4, 9))})
x = random((20, 30), np.float32)
compare("slice with steps", model, "slice", {"x": x}, {"y": x[3:17:2, -1:-31:-3]})
for n in (4, 5, 40):
    x = random((n, 6), np.float32)
    compare(f"slice of {n} rows", model, "slice_symbolic", {"x": x}, {"y": x[4:]})
for a, c, b in [(3, 5, 7), (1, 1, 1), (4, 0, 3), (30, 2, 65)]:
    p, q, r = random((a, b), np.float32), random((c, b), np.float32), random((a, b), np.float32)
    compare(f"concat {a}+{c}+{a}", model, "concat", {"a": p, "b": q, "c": r}, {"y": np.concatenate([p, q, r])})
    p, q = random((b, a), np.float16), random((b, c), np.float16)
    compare(f"concat columns {a}+{c}", model, "concat_columns", {"a": p, "b": q}, {"y": np.concatenate([p, q], axis=1)})
    p, q = random((b, a), np.float32), random((b, c), np.float32)
    want = np.concatenate([p * np.float32(2), -q], axis=1) + np.float32(1)
    compare(f"concat of expressions {a}+{c}", model, "concat_computed", {"a": p, "b": q}, {"y": want}, 2.0**-24 * (2 * np.abs(np.concatenate([p, q], axis=1)) + 1))
for shape in [(3, 4), (33, 65), (1, 0)]:
    x = random(shape, np.float32)
    compare(f"pad {shape}", model, "pad", {"x": x}, {"y": np.pad(x, [(1, 2), (5, 0)], constant_values=-1.5)})
    x = random(shape, np.int8)
    compare(f"pad i8 {shape}", model, "pad_i8", {"x": x}, {"y": np.pad(x, [(0, 0), (1, 2)], constant_values=7)})
x, i = random((9, 20), np.float32), np.array([0, 8, 3, 3, -1, -9, 5])
compare("gather", model, "gather", {"x": x, "i": i}, {"y": x[i]})
x, i = random((5, 40), np.uint8), rng.integers(-40, 40, (6, 3)).astype(np.int32)
compare("gather along axis 1", model, "gather_columns", {"x": x, "i": i}, {"y": x[:, i]})
x = random((7, 33), np.float32)
rows, columns = np.indices(x.shape)
compare("iota", model, "iota", {"x": x}, {"y": columns, "z": x.astype(np.float64) + rows}, {"y": 0, "z": 0})
x = random((3, 4, 17), np.float32)
compare("reshape, transpose, multiply", model, "chain", {"x": x}, {"y": x.reshape(12, 17).T * 2})
compare("strides of an input", model, "strided", {"x": x[0]}, {"y": x[0] + np.float32(1)})
finish()
