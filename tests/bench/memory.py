"""The memory-bound half of the ops on the simulator's counters: tests/bench/memory.py [BUILD] [--strict] [NAME...]

A line a kernel: bytes moved against the bytes that must move (each input element that is needed once, each output element
once), bytes an access (16 is the widest; less where lanes are masked off), sectors against those bytes, shared-memory bank
conflicts, kernels. A bar that is missed is marked; with --strict that is a failure. Shapes are aligned: rows are multiples
of 16 bytes. The device has 16 multiprocessors, so that these sizes keep it as busy as larger ones keep a larger GPU.
"""
import os, sys
os.environ.setdefault("KCSIM_MULTIPROCESSORS", "16")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
words = [a for a in sys.argv[1:] if a != "--strict"]
STRICT = "--strict" in sys.argv
ONLY = words[1:]
sys.argv[1:] = words[:1]
import numpy as np
from kctest import Model, finish, test, rng

NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i8": np.int8, "u8": np.uint8,
         "bool": np.bool_, "f8e4m3": np.uint8, "f8e5m2": np.uint8}
BITS = {"i4": 4, "f4e2m1": 4}


def size(t, elements):
    return elements * BITS[t] // 8 if t in BITS else elements * NUMPY[t]().itemsize


class Case:
    """inputs: {name: (type, shape)}; output: its type and shape; needed: elements of an input that are wanted, where not all are."""

    def __init__(self, name, inputs, output, expression, needed=None, data=None, kernels=1, first=None, also=None):
        self.name, self.inputs, self.output, self.expression = name, inputs, output, expression
        self.needed, self.data, self.kernels = needed or {}, data or {}, kernels
        self.first, self.also = first, also or {}  # statements before, and more outputs

    def function(self):
        inputs = ", ".join(f'{n}: "{t}{list(s)}"' for n, (t, s) in self.inputs.items())
        outputs = ", ".join(f'{n}: "{t}{list(s)}"' for n, (t, s) in ({"out": self.output} | self.also).items())
        body = (f"  {self.first}\n" if self.first else "") + f"  out = {self.expression}\n"
        return f"inputs: {{{inputs}}}\noutputs: {{{outputs}}}\nbody: |\n{body}"

    def arrays(self):
        def fill(n, t, s):
            if t in BITS:
                return rng.integers(0, 256, s[:-1] + (s[-1] // 2,)).astype(np.uint8)  # packed
            if n in self.data:
                return self.data[n].astype(NUMPY[t])
            if NUMPY[t] in (np.float64, np.float32, np.float16):
                return rng.standard_normal(s).astype(NUMPY[t])
            return rng.integers(0, 2 if t == "bool" else 100, s).astype(NUMPY[t])
        return {n: fill(n, t, s) for n, (t, s) in self.inputs.items()}

    def must_move(self):
        loads = sum(size(t, self.needed.get(n, int(np.prod(s)))) for n, (t, s) in self.inputs.items())
        return loads + sum(size(t, int(np.prod(s))) for t, s in [self.output, *self.also.values()])


def cases():
    m, n = 512, 1024
    full = (m, n)
    for t in ("f32", "f16", "i8", "f64"):
        yield Case(f"add_{t}", {"x": (t, full), "y": (t, full)}, ("f32" if t == "f16" else t, full), "x + y")
    for op in ("relu", "gelu", "exp", "silu"):
        yield Case(f"{op}_f16", {"x": ("f16", full)}, ("f16", full), f"{op}(x)" if op == "relu" else f'cast({op}(x), "f16")')
    yield Case("where", {"c": ("bool", full), "x": ("f32", full), "y": ("f32", full)}, ("f32", full), "where(c, x, y)")
    yield Case("less", {"x": ("f32", full), "y": ("f32", full)}, ("bool", full), "x < y")
    for a, b in (("f32", "f16"), ("f16", "f32"), ("f32", "i8"), ("i8", "f32"), ("f64", "i64"), ("i32", "i64")):
        yield Case(f"cast_{a}_{b}", {"x": (a, full)}, (b, full), f'cast(x, "{b}")')
    yield Case("bias_row", {"x": ("f32", full), "b": ("f32", (n,))}, ("f32", full), "x + b")
    yield Case("bias_column", {"x": ("f32", full), "b": ("f32", (m, 1))}, ("f32", full), "x + b")
    yield Case("outer", {"x": ("f32", (m, 1)), "b": ("f32", (1, n))}, ("f32", full), "x * b")
    for op in ("sum", "max", "argmax", "mean"):
        out = {"argmax": "i64", "max": "f16"}.get(op, "f32")
        yield Case(f"{op}_rows_f16", {"x": ("f16", (m, 2048))}, (out, (m,)), f"{op}(x, axis=1)")
        yield Case(f"{op}_columns_f16", {"x": ("f16", (m, 2048))}, (out, (2048,)), f"{op}(x, axis=0)")
    yield Case("sum_long_rows", {"x": ("f32", (8, 65536))}, ("f32", (8,)), "sum(x, axis=1)")
    yield Case("sum_all", {"x": ("f32", full)}, ("f32", ()), "sum(x)", kernels=2)  # in parts, to use all multiprocessors
    yield Case("mean_deep_columns", {"x": ("f32", (4096, 512))}, ("f32", (512,)), "mean(x, axis=0)", kernels=2)
    yield Case("sum_middle", {"x": ("f32", (16, 64, 512))}, ("f32", (16, 512)), "sum(x, axis=1)")
    yield Case("sum_short_rows", {"x": ("f32", (8192, 32))}, ("f32", (8192,)), "sum(x, axis=1)")
    for rows, row in ((4096, 256), (2048, 1024), (2048, 4096), (1024, 8192)):
        for t in ("f32", "f16"):
            if t == "f32" and row == 4096 or t == "f16" and row == 8192:
                continue
            x, cast = {"x": (t, (rows, row))}, "{}" if t == "f32" else 'cast({}, "f16")'
            s, b = {"s": (t, (row,))}, {"b": (t, (row,))}
            out = (t, (rows, row))
            yield Case(f"softmax_{t}_{row}", x, out, cast.format("softmax(x)"))
            yield Case(f"rmsnorm_{t}_{row}", x | s, out, cast.format("rmsnorm(x, s)"))
            yield Case(f"layernorm_{t}_{row}", x | s | b, out, cast.format("layernorm(x, s, b)"))
    yield Case("softmax_columns", {"x": ("f32", (64, 2048))}, ("f32", (64, 2048)), "softmax(x, axis=0)")
    for t in ("f64", "f32", "f16", "i8"):
        yield Case(f"transpose_{t}", {"x": (t, full)}, (t, (n, m)), "transpose(x, [1, 0])")
    yield Case("transpose_heads", {"x": ("f16", (4, 128, 16, 64))}, ("f16", (4, 16, 128, 64)), "transpose(x, [0, 2, 1, 3])")
    yield Case("transpose_batch", {"x": ("f32", (8, 64, 256))}, ("f32", (8, 256, 64)), "transpose(x, [0, 2, 1])")
    yield Case("transpose_reverse", {"x": ("f32", (16, 32, 64))}, ("f32", (64, 32, 16)), "transpose(x, [2, 1, 0])")
    yield Case("reshape", {"x": ("f32", full)}, ("f32", (m * 8, n // 8)), f"reshape(x, [{m * 8}, {n // 8}])")
    yield Case("broadcast", {"x": ("f32", (n,))}, ("f32", full), f"broadcast(x, [{m}, {n}])")
    yield Case("slice", {"x": ("f32", full)}, ("f32", (m, n // 2)), f"slice(x, [0, {n // 4}], [{m}, {n // 4 * 3}])", {"x": m * n // 2})
    yield Case("slice_rows", {"x": ("f16", full)}, ("f16", (m // 2, n)), f"slice(x, [0, 0], [{m}, {n}], steps=[2, 1])", {"x": m * n // 2})
    yield Case("concat_rows", {"x": ("f32", full), "y": ("f32", (m // 2, n))}, ("f32", (m + m // 2, n)), "concat([x, y], 0)")
    yield Case("concat_columns", {"x": ("f32", full), "y": ("f32", (m, n // 2))}, ("f32", (m, n + n // 2)), "concat([x, y], 1)")
    yield Case("pad", {"x": ("f32", full)}, ("f32", (m + 2, n + 16)), "pad(x, [[1, 1], [8, 8]])")
    taken = rng.integers(0, 4096, 512)
    yield Case("gather_rows", {"x": ("f16", (4096, n)), "i": ("i64", (512,))}, ("f16", (512, n)), "gather(x, i)", {"x": 512 * n}, {"i": taken})
    yield Case("gather_rows_scaled", {"x": ("f32", (4096, n)), "i": ("i32", (512,)), "s": ("f32", (n,))}, ("f32", (512, n)),
               "gather(x, i) * s", {"x": 512 * n}, {"i": taken})
    yield Case("transpose_add", {"x": ("f32", full), "y": ("f32", (n, m))}, ("f32", (n, m)), "transpose(x, [1, 0]) + y")
    yield Case("concat_relu", {"x": ("f32", full), "y": ("f32", full)}, ("f32", (m, 2 * n)), "relu(concat([x, y], 1))")
    yield Case("slice_mul", {"x": ("f32", (m, 2 * n))}, ("f32", full), f"slice(x, [0, 0], [{m}, {n}]) * silu(slice(x, [0, {n}], [{m}, {2 * n}]))")
    yield Case("pad_sum", {"x": ("f32", full)}, ("f32", (m,)), "sum(pad(x, [[0, 0], [4, 4]], value=1), axis=1)")
    yield Case("slice_sum", {"x": ("f32", (m, 2 * n))}, ("f32", (m,)), f"sum(slice(x, [0, {n}], [{m}, {2 * n}]), axis=1)", {"x": m * n})
    yield Case("gather_softmax", {"x": ("f32", (4096, n)), "i": ("i64", (512,))}, ("f32", (512, n)), "softmax(gather(x, i))", {"x": 512 * n}, {"i": taken})
    yield Case("transpose_softmax", {"x": ("f32", (n, m))}, ("f32", full), "softmax(transpose(x, [1, 0]))")
    for rows, row in ((2048, 1024), (256, 8192), (16, 65536)):
        yield Case(f"cumsum_{row}", {"x": ("f32", (rows, row))}, ("f32", (rows, row)), "cumsum(x, axis=1)")
    yield Case("cumsum_f16", {"x": ("f16", (2048, 2048))}, ("f32", (2048, 2048)), "cumsum(x, axis=1)")
    yield Case("cumsum_columns", {"x": ("f32", (64, 2048))}, ("f32", (64, 2048)), "cumsum(x, axis=0)")
    yield Case("cumsum_deep_columns", {"x": ("f32", (2048, 512))}, ("f32", (2048, 512)), "cumsum(x, axis=0)")
    yield Case("cumsum_scaled", {"x": ("f32", (2048, 1024))}, ("f32", (2048, 1024)), "cumsum(x, axis=1) / sum(x, axis=1, keepdims=true)")
    yield Case("rope_f16", {"x": ("f16", (8, 2048, 128)), "c": ("f16", (2048, 64)), "s": ("f16", (2048, 64))}, ("f16", (8, 2048, 128)),
               'cast(rope(x, c, s), "f16")')
    yield Case("quantize_i8", {"x": ("f32", full), "s": ("f32", (m, n // 32))}, ("i8", full), 'quantize(x, s, block=32, dtype="i8")')
    yield Case("quantize_f8", {"x": ("f16", full), "s": ("f32", (m, n // 32))}, ("f8e4m3", full), 'quantize(x, s, block=32, dtype="f8e4m3")')
    yield Case("quantize_f4", {"x": ("f16", full), "s": ("f32", (m, n // 32))}, ("f4e2m1", full), 'quantize(x, s, block=32, dtype="f4e2m1")')
    yield Case("dequantize_i8", {"x": ("i8", full), "s": ("f32", (m, n // 32))}, ("f32", full), "dequantize(x, s, block=32)")
    yield Case("dequantize_i4", {"x": ("i4", full), "s": ("f16", (m, n // 32))}, ("f16", full), 'cast(dequantize(x, s, block=32), "f16")')
    yield Case("cast_f32_f8", {"x": ("f32", full)}, ("f8e4m3", full), 'cast(x, "f8e4m3")')
    yield Case("cast_f8_f16", {"x": ("f8e5m2", full)}, ("f16", full), 'cast(x, "f16")')
    yield Case("transpose_i4", {"x": ("i4", full)}, ("i4", (n, m)), "transpose(x, [1, 0])")
    yield Case("softmax_heads", {"x": ("f32", (1024, 1024))}, ("f32", (16, 1024, 64)),
               "transpose(reshape(softmax(x), [1024, 16, 64]), [1, 0, 2])")
    yield Case("residual_rmsnorm", {"x": ("f16", (1024, 1024)), "r": ("f16", (1024, 1024)), "s": ("f16", (1024,))}, ("f16", (1024, 1024)),
               "rmsnorm(t, s)", first='t = x + r\n  h = t', also={"h": ("f16", (1024, 1024))})
    yield Case("concat_rmsnorm", {"x": ("f32", (1024, 512)), "y": ("f32", (1024, 512)), "s": ("f32", (1024,))}, ("f32", (1024, 1024)),
               "rmsnorm(concat([x, y], 1), s)")
    a, w = (2048, 1024), (1024, 2048)
    for t in ("f32", "f16", "f64", "i8", "f8e4m3"):
        out = {"f64": "f64", "i8": "i32"}.get(t, "f32")
        yield Case(f"matvec_{t}", {"x": (t, a), "v": (t, (1024, 1))}, (out, (2048, 1)), "matmul(x, v)")
        yield Case(f"vecmat_{t}", {"v": (t, (1, 1024)), "w": (t, w)}, (out, (1, 2048)), "matmul(v, w)", kernels=2)
    yield Case("matvec_transposed", {"x": ("f16", w), "v": ("f16", (1024,))}, ("f32", (2048,)), "matmul(transpose(x, [1, 0]), v)", kernels=2)
    yield Case("vecmat_transposed", {"v": ("f16", (1, 1024)), "w": ("f16", a)}, ("f16", (1, 2048)),
               'cast(gelu(matmul(v, w, transpose_b=true)), "f16")')


def main():
    chosen = [c for c in cases() if not ONLY or any(c.name.startswith(o) for o in ONLY)]
    model = Model({c.name: c.function() for c in chosen}, "memory")
    print(f"{'kernel':24} {'bytes':>10} {'moved/must':>10} {'load':>6} {'store':>6} {'sectors':>7} {'conflicts':>9} {'kernels':>7}   (load, store: bytes an access)")
    for c in chosen:
        if model.run(c.name, c.arrays(), ["out"], counters=True) is None:
            test(c.name, False, model.message.strip()[:300])
            continue
        total = lambda key: sum(k[key] for k in model.counters)
        count = lambda key: sum(k["instructions"].get(key, 0) for k in model.counters)
        loads, stores = total("global_load_bytes"), total("global_store_bytes")
        ratio = (loads + stores) / c.must_move()
        width = [b / (32 * max(i, 1)) for b, i in ((loads, count("load_global")), (stores, count("store_global")))]
        kernels, conflicts = total("launches"), total("shared_bank_conflicts")
        sectors = (total("global_load_sectors") + total("global_store_sectors")) * 32 / c.must_move()
        missed = [what for what, bad in (("bytes", ratio > 1.05), ("conflicts", conflicts > 0), ("kernels", kernels > c.kernels)) if bad]
        print(f"{c.name:24} {c.must_move():10} {ratio:10.3f} {width[0]:6.1f} {width[1]:6.1f} {sectors:7.3f} {conflicts:9} {kernels:7}   {'MISSED: ' + ', '.join(missed) if missed else ''}", flush=True)
        if STRICT:
            test(c.name, not missed, ", ".join(missed))


main()
finish()
