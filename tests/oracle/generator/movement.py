"""What moves data: bit for bit, NaN payloads and all. Types matter by their size alone, so each form has one type and the types
take turns; transposes have all sizes."""

import itertools
import numpy as np
from cases import Writer, argument, exact
from elements import NEW, bits, encode, is_float, storage
from generator.values import pattern

D = "ABCD"
TYPES = ["f32", "i8", "f16", "f64", "i32", "bf16", "bool", "u8", "i64", "i16"]
turn = itertools.cycle(TYPES)


def dims(names):
    return "[" + ", ".join(str(n) for n in names) + "]"


def tag(shape):
    return "x".join(map(str, shape)) or "scalar"


def form(w, name, t, inputs, output, body, shapes, f, extra=None):
    """inputs: {name: "[A, B]"}; shapes: a list of lists of shapes, one an input; f: arrays to an array."""
    w.function(name, {n: t + s for n, s in inputs.items()}, {"y": t + output}, body, dims=extra)
    for case in shapes:
        x = [pattern(t, s, 17 * i) for i, s in enumerate(case)]
        w.case(
            name,
            " ".join(tag(s) for s in case),
            {n: argument(t, v) for n, v in zip(inputs, x)},
            {"y": exact(t, np.array(f(*x), order="C"))},
        )


def transposes(w):
    for rank, shapes in (
        (2, [(3, 5), (33, 70), (64, 128), (1, 9), (0, 4), (130, 2), (31, 33), (128, 64)]),
        (3, [(3, 5, 7), (2, 33, 65), (1, 64, 32), (4, 1, 9), (2, 0, 3), (17, 2, 16)]),
        (4, [(2, 3, 4, 5), (1, 2, 17, 33), (3, 1, 1, 8)]),
    ):
        for perm in itertools.permutations(range(rank)):
            negative = [p - rank for p in perm] if perm[0] == 1 else list(perm)
            types = ["i8", "f16", "f32", "f64", "bool"] if rank == 2 else [next(turn)]
            for t in types:
                form(
                    w,
                    f"transpose_{''.join(map(str, perm))}_{t}",
                    t,
                    {"x": dims(D[:rank])},
                    dims(D[p] for p in perm),
                    f"y = transpose(x, {negative})",
                    [[s] for s in shapes],
                    lambda x: x.transpose(perm),
                )


def broadcasts(w):
    """Each operand of an addition stretched in each position; then explicit ones."""
    for pattern_ in itertools.product(("both", "left", "right"), repeat=3):
        a = dims("1" if p == "left" else d for p, d in zip(pattern_, D))
        b = dims("1" if p == "right" else d for p, d in zip(pattern_, D))
        if pattern_.count("both") == 3:
            continue
        name = "stretch_" + "".join(p[0] for p in pattern_)
        w.function(name, {"a": "i32" + a, "b": "i32" + b}, {"y": "i32[A, B, C]"}, "y = a * 1000 + b")
        for shape in [(3, 5, 7), (2, 33, 4), (4, 1, 129)]:
            x = pattern("i32", [1 if p == "left" else n for p, n in zip(pattern_, shape)])
            z = pattern("i32", [1 if p == "right" else n for p, n in zip(pattern_, shape)], 5)
            w.case(
                name,
                tag(shape),
                {"a": argument("i32", x), "b": argument("i32", z)},
                {"y": exact("i32", np.broadcast_to(x * 1000 + z, shape))},
            )
    for k, (a, b, y, shapes) in enumerate(
        [
            ("[A, B, C]", "[C]", "[A, B, C]", [(2, 3, 5), (1, 4, 130)]),
            ("[C]", "[A, B, C]", "[A, B, C]", [(2, 3, 5)]),
            ("[A, B, C]", "[B, 1]", "[A, B, C]", [(2, 3, 5), (3, 33, 2)]),
            ("[A, 1, C]", "[B, 1]", "[A, B, C]", [(2, 3, 5), (5, 2, 66)]),
            ("[A, B, C]", "", "[A, B, C]", [(2, 3, 5), (0, 2, 2)]),
            ("[1]", "[A, B, C]", "[A, B, C]", [(3, 2, 4)]),
            ("[1, 1, 1, D]", "[A, B, 1, 1]", "[A, B, 1, D]", [(2, 3, 1, 4)]),
        ]
    ):
        w.function(f"ranks_{k}", {"a": "i32" + a, "b": "i32" + b}, {"y": "i32" + y}, "y = a * 1000 + b")
        for shape in shapes:
            known = dict(zip(D, shape))

            def make(s, seed):
                names = [n.strip() for n in s.strip("[]").split(",") if n.strip()]
                return pattern("i32", [known.get(n, 1) for n in names], seed)

            p, q = make(a, 1), make(b, 9)
            w.case(f"ranks_{k}", tag(shape), {"a": argument("i32", p), "b": argument("i32", q)}, {"y": exact("i32", p * 1000 + q)})
    form(
        w,
        "broadcast_middle",
        "i16",
        {"x": "[A, 1, C]"},
        "[A, 4, C]",
        "y = broadcast(x, [A, 4, C])",
        [[(3, 1, 9)], [(1, 1, 1)], [(2, 1, 64)]],
        lambda x: np.broadcast_to(x, (x.shape[0], 4, x.shape[2])),
    )
    form(
        w,
        "broadcast_rank",
        "f16",
        {"x": "[C]"},
        "[3, 2, C]",
        "y = broadcast(x, [3, 2, C])",
        [[(1,)], [(5,)], [(33,)]],
        lambda x: np.broadcast_to(x, (3, 2, x.shape[0])),
    )
    form(w, "broadcast_scalar", "f64", {"x": ""}, "[3, 5]", "y = broadcast(x, [3, 5])", [[()]], lambda x: np.broadcast_to(x, (3, 5)))


def reshapes(w):
    f = lambda *shape: lambda x: x.reshape(shape)
    rows = [[(5, 6)], [(1, 6)], [(33, 6)], [(0, 6)]]
    form(w, "reshape_minus", next(turn), {"x": "[A, 6]"}, "[A * 2, 3]", "y = reshape(x, [-1, 3])", rows, f(-1, 3))
    form(w, "reshape_flat", next(turn), {"x": "[A, 6]"}, "[A * 6]", "y = reshape(x, [-1])", rows, f(-1))
    form(
        w,
        "reshape_split",
        next(turn),
        {"x": "[A, 6]"},
        "[A, 2, 3]",
        "y = reshape(x, [A, 2, -1])",
        rows[:3],
        lambda x: x.reshape(x.shape[0], 2, 3),
        extra="{A: {min: 1}}",
    )
    form(
        w,
        "reshape_ones",
        next(turn),
        {"x": "[A, 6]"},
        "[1, A, 1, 6]",
        "y = reshape(x, [1, A, 1, 6])",
        rows,
        lambda x: x.reshape(1, -1, 1, 6) if x.size else x.reshape(1, 0, 1, 6),
    )
    form(
        w,
        "reshape_merge",
        next(turn),
        {"x": "[A, B, C, D]"},
        "[A * B, C * D]",
        "y = reshape(x, [A * B, C * D])",
        [[(2, 3, 4, 5)], [(3, 1, 7, 1)], [(1, 17, 2, 9)]],
        lambda x: x.reshape(x.shape[0] * x.shape[1], -1),
    )
    form(w, "reshape_scalar", "i32", {"x": "[1, 1]"}, "", "y = reshape(x, [])", [[(1, 1)]], f())
    form(
        w,
        "reshape_across",
        next(turn),
        {"x": "[4, 6, A]"},
        "[A * 3, 8]",
        "y = reshape(x, [A * 3, 8])",
        [[(4, 6, 1)], [(4, 6, 5)]],
        lambda x: x.reshape(-1, 8),
    )
    form(
        w,
        "reshape_transposed",
        next(turn),
        {"x": "[A, B]"},
        "[A * B]",
        "y = reshape(transpose(x, [1, 0]), [A * B])",
        [[(3, 5)], [(33, 4)], [(1, 7)]],
        lambda x: x.T.reshape(-1),
    )


def slices(w):
    """starts, ends, axes, steps over [20, 30]: Python's rules."""
    forms = [
        ([3, -1], [17, -31], None, [2, -3]),
        ([0, 0], [20, 30], None, None),
        ([5], [6], [1], None),
        ([-3], [20], [0], None),
        ([-100, 100], [100, -100], None, [1, -1]),
        ([19], [-21], [0], [-1]),
        ([2], [-2], [-1], [5]),
        ([10], [10], [0], None),
        ([15], [5], [1], None),
        ([29, 0], [0, 20], [1, 0], [-4, 7]),
        ([0], [30], [1], [30]),
        ([0], [30], [1], [31]),
        ([-1], [-2], [1], [-1]),
        ([7, 8], [8, 9], [0, 1], None),
    ]
    for k, (starts, ends, axes, steps) in enumerate(forms):
        cut = [slice(None), slice(None)]
        for i, axis in enumerate(axes or range(len(starts))):
            step = steps[i] if steps else 1
            size, end = (20, 30)[axis], ends[i]
            low = -size - 1  # numpy takes the end of a backward walk before the first element as None alone
            cut[axis] = slice(starts[i], None if step < 0 and end <= low else end, step)
        result = np.zeros((20, 30))[tuple(cut)].shape
        text = f"y = slice(x, {starts}, {ends}" + (f", axes={axes}" if axes else "") + (f", steps={steps}" if steps else "") + ")"
        form(w, f"slice_{k}", next(turn), {"x": "[20, 30]"}, dims(result), text, [[(20, 30)]], lambda x: x[tuple(cut)])
    form(
        w,
        "slice_tail",
        "f32",
        {"x": "[A, B]"},
        "[A - 4, B]",
        "y = slice(x, [4], [A], axes=[0])",
        [[(4, 3)], [(5, 6)], [(40, 33)]],
        lambda x: x[4:],
        extra="{A: {min: 4}}",
    )
    form(
        w,
        "slice_head",
        "i8",
        {"x": "[A, B]"},
        "[A, B - 1]",
        "y = slice(x, [0], [-1], axes=[-1])",
        [[(3, 1)], [(5, 6)], [(4, 65)]],
        lambda x: x[:, :-1],
        extra="{B: {min: 1}}",
    )
    form(
        w,
        "slice_odd",
        "f16",
        {"x": "[A, 2 * B]"},
        "[A, B]",
        "y = slice(x, [1], [2 * B], axes=[1], steps=[2])",
        [[(3, 2)], [(5, 34)], [(2, 130)]],
        lambda x: x[:, 1::2],
        extra="{B: {min: 1}}",
    )


def joins(w):
    join = lambda axis: lambda *x: np.concatenate(x, axis)
    shapes = [
        [(3, 7), (5, 7), (3, 7)],
        [(1, 1), (1, 1), (1, 1)],
        [(4, 65), (0, 65), (4, 65)],
        [(0, 2), (3, 2), (0, 2)],
        [(30, 33), (2, 33), (30, 33)],
    ]
    form(
        w,
        "concat_rows",
        "f32",
        {"a": "[A, B]", "b": "[C, B]", "c": "[A, B]"},
        "[A + C + A, B]",
        "y = concat([a, b, c], axis=0)",
        shapes,
        join(0),
    )
    columns = [[(7, 3), (7, 5)], [(1, 1), (1, 1)], [(65, 4), (65, 0)], [(2, 0), (2, 3)], [(33, 31), (33, 2)], [(3, 128), (3, 64)]]
    for t in ("f16", "u8", "f64"):
        form(w, f"concat_columns_{t}", t, {"a": "[A, B]", "b": "[A, C]"}, "[A, B + C]", "y = concat([a, b], axis=-1)", columns, join(1))
    form(
        w,
        "concat_middle",
        "i16",
        {"a": "[A, B, 3]", "b": "[A, 2, 3]"},
        "[A, B + 2, 3]",
        "y = concat([a, b], axis=1)",
        [[(2, 3, 3), (2, 2, 3)], [(1, 0, 3), (1, 2, 3)], [(17, 5, 3), (17, 2, 3)]],
        join(1),
    )
    form(w, "concat_one", "bool", {"a": "[A]"}, "[A]", "y = concat([a], axis=0)", [[(5,)], [(0,)]], join(0))
    form(
        w,
        "concat_same",
        "i64",
        {"a": "[A, B]"},
        "[3 * A, B]",
        "y = concat([a, a, a], axis=0)",
        [[(2, 5)], [(1, 33)]],
        lambda a: np.concatenate([a, a, a]),
    )
    for k, (t, low, high, value, text) in enumerate(
        [
            ("f32", (1, 5), (2, 0), -1.5, "-1.5"),
            ("i8", (0, 1), (0, 2), 7, "7"),
            ("f16", (3, 0), (0, 0), np.inf, "inf"),
            ("i64", (0, 0), (0, 0), 5, "5"),
            ("u8", (0, 64), (1, 63), 255, "255"),
            ("f64", (2, 2), (2, 2), np.nan, "nan"),
            ("bool", (1, 1), (1, 1), 1, "1"),
            ("bf16", (0, 3), (2, 4), None, None),
        ]
    ):

        def padded(x):
            v = 0 if value is None else value
            return np.pad(x, list(zip(low, high)), constant_values=np.asarray(v).astype(x.dtype))

        form(
            w,
            f"pad_{k}_{t}",
            t,
            {"x": "[A, B]"},
            f"[A + {low[0] + high[0]}, B + {low[1] + high[1]}]",
            f"y = pad(x, [[{low[0]}, {high[0]}], [{low[1]}, {high[1]}]]" + (f", value={text}" if text else "") + ")",
            [[(3, 4)], [(33, 65)], [(1, 0)], [(0, 3)], [(1, 1)], [(2, 64)]],
            padded,
        )


def gathers(w):
    def form_(name, t, it, x, i, y, axis, cases):
        w.function(name, {"x": t + x, "i": it + i}, {"y": t + y}, "y = gather(x, i" + (f", axis={axis}" if axis else "") + ")")
        for shape, indices in cases:
            v, index = pattern(t, shape), np.asarray(indices, storage(it))
            n = shape[axis]
            # ONNX's: negative ones count from the end; what is still outside is clamped, which ONNX leaves open.
            at = np.clip(np.where(index < 0, index.astype(np.int64) + n, index), 0, n - 1)
            w.case(
                name,
                f"{tag(shape)} at {tag(index.shape)}",
                {"x": argument(t, v), "i": argument(it, index)},
                {"y": exact(t, np.take(v, at, axis=axis))},
            )

    walk = np.arange(35).reshape(5, 7) * 11 % 29 - 14
    form_(
        "gather_rows",
        "f32",
        "i64",
        "[A, B]",
        "[C]",
        "[C, B]",
        0,
        [((9, 20), [0, 8, 3, 3, -1, -9, 5]), ((1, 1), [0]), ((4, 33), []), ((15, 130), walk[0]), ((3, 0), [1, 2])],
    )
    form_(
        "gather_columns",
        "u8",
        "i32",
        "[A, B]",
        "[C, 3]",
        "[A, C, 3]",
        1,
        [((5, 40), walk.reshape(-1)[:33].reshape(11, 3)), ((2, 1), [[0, 0, -1]])],
    )
    form_("gather_middle", "f16", "i64", "[A, B, C]", "[D]", "[A, D, C]", -2, [((2, 5, 7), [4, 0, -5, 2]), ((3, 1, 33), [0, 0])])
    form_("gather_last", "f64", "i16", "[A, B]", "[C]", "[A, C]", -1, [((3, 29), walk[1]), ((2, 300), [299, -300, 150])])
    form_("gather_scalar", "i32", "i64", "[A, B]", "", "[B]", 0, [((7, 5), 3), ((7, 33), -1)])
    form_("gather_bytes", "bool", "u8", "[A]", "[B, C]", "[B, C]", 0, [((256,), [[0, 255], [128, 7]]), ((3,), [[2], [0]])])
    form_("gather_clamped", "i16", "i64", "[A, B]", "[C]", "[C, B]", 0, [((4, 3), [4, 100, -5, -100, 2**62, -(2**63), 2**63 - 1, 3, -4])])


def iotas(w):
    for t in ("i64", "i32", "f32", "f16", "i8", "bf16", "u8"):
        w.function(
            f"iota_{t}",
            {"x": "bool[A, B, C]"},
            {"p": f"{t}[A, B, C]", "q": f"{t}[A, B, C]", "r": f"{t}[A, B, C]"},
            "\n".join(
                f'{n} = iota([A, B, C], axis={a}{"" if t == "i64" else f", dtype={chr(34)}{t}{chr(34)}"})'
                for n, a in (("p", 0), ("q", 1), ("r", -1))
            ),
        )
        for shape in [(2, 3, 5), (1, 1, 1), (3, 0, 2), (1, 65, 2), (2, 1, 100)]:
            index = np.indices(shape)

            def put(v):
                return exact(t, encode(t, v.astype(np.float64)) if is_float(t) else v.astype(storage(t)))

            w.case(
                f"iota_{t}",
                tag(shape),
                {"x": argument("bool", np.zeros(shape, bool))},
                {"p": put(index[0]), "q": put(index[1]), "r": put(index[2])},
            )


def chains(w):
    form(
        w,
        "chain_0",
        "i32",
        {"x": "[A, 4, B]"},
        "[B, A * 4]",
        "y = transpose(reshape(x, [A * 4, B]), [1, 0]) + 1",
        [[(3, 4, 17)], [(1, 4, 1)], [(9, 4, 33)]],
        lambda x: (x.reshape(-1, x.shape[2]).T + 1).astype(x.dtype),
    )
    form(
        w,
        "chain_1",
        "f16",
        {"x": "[A, B]"},
        "[B + 2, A]",
        "y = slice(pad(transpose(x, [1, 0]), [[2, 2], [0, 0]], value=3), [1], [B + 3], axes=[0])",
        [[(3, 5)], [(33, 2)]],
        lambda x: np.pad(x.T, [(2, 2), (0, 0)], constant_values=3)[1:-1],
    )
    form(
        w,
        "chain_2",
        "u8",
        {"x": "[A, B]", "z": "[A, B]"},
        "[2 * B, A]",
        "y = transpose(concat([x, z], axis=1), [1, 0])",
        [[(3, 5), (3, 5)], [(34, 33), (34, 33)]],
        lambda x, z: np.concatenate([x, z], 1).T,
    )
    form(
        w,
        "chain_3",
        "f64",
        {"x": "[A, B]"},
        "[A, 1, B]",
        "y = reshape(transpose(transpose(x, [1, 0]), [1, 0]), [A, 1, B])",
        [[(3, 5)], [(1, 33)]],
        lambda x: x.reshape(x.shape[0], 1, -1),
    )


def strided(w):
    """Movement with strides on both sides, padded, permuted and repeated (0)."""
    w.function("strided_transpose", {"x": ("f32[A, B]", "[s, t]")}, {"y": ("f32[B, A]", "[u, v]")}, "y = transpose(x, [1, 0])")
    for a, b, s, t, u, v in [
        (5, 7, 9, 1, 6, 1),
        (33, 65, 1, 33, 1, 65),
        (64, 64, 64, 1, 64, 1),
        (4, 6, 2, 9, 8, 2),
        (3, 5, 0, 1, 3, 1),
        (3, 1, 1, 7, 3, 1),
    ]:
        x = pattern("f32", (a if s else 1, b))
        x = np.broadcast_to(x, (a, b))
        w.case(
            "strided_transpose",
            f"{a}x{b} {s},{t} to {u},{v}",
            {"x": argument("f32", x, strides=[s, t])},
            {"y": exact("f32", np.ascontiguousarray(x.T), strides=[u, v])},
        )
    w.function("strided_permuted", {"x": ("i8[A, B, C]", "[1, A, A * B]")}, {"y": ("i8[A, B, C]", "[C * B, 1, B]")}, "y = x + 1")
    for shape in [(3, 5, 7), (16, 4, 8), (1, 33, 2)]:
        a, b, c = shape
        x = pattern("i8", shape)
        w.case(
            "strided_permuted",
            tag(shape),
            {"x": argument("i8", x, strides=[1, a, a * b])},
            {"y": exact("i8", x + np.int8(1), strides=[c * b, 1, b])},
        )
    w.function(
        "strided_concat",
        {"a": ("f16[A, B]", "[p, 1]"), "b": ("f16[A, C]", "[q, 1]")},
        {"y": ("f16[A, B + C]", "[r, 1]")},
        "y = concat([a, b], axis=1)",
    )
    for a, b, c, p, q, r in [(3, 5, 4, 8, 4, 16), (7, 33, 31, 40, 31, 64), (2, 8, 8, 8, 16, 24)]:
        x, z = pattern("f16", (a, b)), pattern("f16", (a, c), 40)
        w.case(
            "strided_concat",
            f"{a}x{b}+{c}",
            {"a": argument("f16", x, strides=[p, 1]), "b": argument("f16", z, strides=[q, 1])},
            {"y": exact("f16", np.concatenate([x, z], 1), strides=[r, 1])},
        )
    w.function("strided_offset", {"x": "f32[A, B]"}, {"y": "f32[A, B]"}, "y = -x")
    for o in (0, 1, 2, 3, 4):
        x = pattern("f32", (3, 8))
        w.case("strided_offset", f"{o}", {"x": argument("f32", x, offset=o)}, {"y": exact("f32", -x, offset=4 - o)})


def new_types(w):
    """Types that are the newest in the product, each by itself: copied, transposed, joined, padded, gathered."""
    for t in NEW:
        even = bits(t) == 4
        n = "2 * B" if even else "B"
        x = pattern(t, (6, 10)) if even else pattern(t, (5, 9))
        w.function(
            f"move_{t}",
            {"x": f"{t}[A, {n}]", "i": "i64[C]"},
            {"g": f"{t}[C, {n}]", "c": f"{t}[A + A, {n}]", "s": f"{t}[A - 1, {n}]"},
            "g = gather(x, i)\nc = concat([x, x], axis=0)\ns = slice(x, [1], [A], axes=[0])",
            dims="{A: {min: 1}}",
        )
        i = np.array([2, 0, -1, 4])
        w.case(
            f"move_{t}",
            tag(x.shape),
            {"x": argument(t, x), "i": argument("i64", i)},
            {"g": exact(t, x[i]), "c": exact(t, np.concatenate([x, x])), "s": exact(t, x[1:])},
        )
        w.function(
            f"transpose_{t}",
            {"x": f"{t}[{'2 * A' if even else 'A'}, {n}]"},
            {"y": f"{t}[{n}, {'2 * A' if even else 'A'}]"},
            "y = transpose(x, [1, 0])",
        )
        w.case(f"transpose_{t}", tag(x.shape), {"x": argument(t, x)}, {"y": exact(t, np.ascontiguousarray(x.T))})


def write():
    w = Writer("movement")
    for part in (transposes, broadcasts, reshapes, slices, joins, gathers, iotas, chains, strided, new_types):
        part(w)
    w.save()
