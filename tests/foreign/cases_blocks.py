"""warp.cu, atomics.cu, blocks.cu, pipeline.cu: what threads do together."""
import numpy as np
from case import In, Launch, Out, case

i32, u32, u64, f32 = np.int32, np.uint32, np.uint64, np.float32
SM80 = ("sm_80", "sm_89", "sm_90a")


def small(r, n, low=-9, high=10):
    return r.integers(low, high, n).astype(i32)


# ---- warp.cu


@case("warp")
def block_sum(r):
    x = small(r, 3000).astype(f32)  # sums of small integers are exact
    steps = []
    for grid, block in ((1, 1024), (3, 96), (1, 64)):
        v = np.zeros(-(-3000 // (grid * block)) * grid * block, f32)
        v[:3000] = x
        want = v.reshape(-1, grid, block).sum(axis=(0, 2))
        steps.append(Launch("block_sum", grid, block, [In(x), Out(want), i32(3000)]))
    return steps


@case("warp")
def shuffles(r):
    x, i = r.integers(-1000, 1000, 32).astype(i32), np.arange(32)
    take = lambda index, ok: x[np.where(ok, index, i)]
    want = [x[(i * 7 + 3) % 32], take(i - 5, i >= 5), take(i + 9, i + 9 < 32), x[i ^ 21], x[i // 8 * 8 + (i + 1) % 8],
            take(i - 3, i % 16 >= 3), take(i + 1, i % 4 < 3), x[i ^ 1], take(i - 1, i >= 1)]
    return [Launch("shuffles", 1, 32, [In(x), Out(np.array(want, i32))])]


def ballot(flags):
    """One mask a warp, repeated for its lanes."""
    rows = np.asarray(flags, bool).reshape(-1, 32)
    return np.repeat((rows.astype(u64) << np.arange(32, dtype=u64)).sum(1).astype(u32), 32)


def popcount(x):
    return np.array([bin(int(v)).count("1") for v in x])


@case("warp")
def votes(r):
    x = small(r, 128)
    x[32:64], x[64:96] = 3, 7
    lane, all = np.arange(128) % 32, ballot(x > 0)
    rows = x.reshape(-1, 32)
    flags = np.repeat((rows == 7).any(1) | (rows < 100).all(1) << 1 | (rows >= 0).all(1) << 2, 32)
    want = [all, np.where(x > 0, ballot((x > 0) & (x & 1 == 1)), 0), flags,
            popcount(all & ((1 << lane.astype(u64)) - 1).astype(u32)), np.ones(128)]
    return [Launch("votes", 1, 128, [In(x), Out(np.array(want).T.astype(u32))])]


def same(x, where=None):
    rows = np.asarray(x).reshape(-1, 32)
    ok = np.ones(rows.shape, bool) if where is None else where.reshape(-1, 32)
    eq = (rows[:, :, None] == rows[:, None, :]) & ok[:, None, :] & ok[:, :, None]
    return (eq.astype(u64) << np.arange(32, dtype=u64)).sum(2).astype(u32).ravel()


@case("warp")
def matches(r):
    x, y = small(r, 96), r.integers(0, 3, 96) << 33
    x[32:64] = 5
    every = np.repeat((x.reshape(-1, 32) == x.reshape(-1, 32)[:, :1]).all(1), 32)
    want = [same(x), same(y), np.where(every, 0xffffffff, 0), np.full(96, 0xffffffff), same(x, x & 1 == 1)]
    return [Launch("matches", 1, 96, [In(x), In(y), Out(np.array(want).T.astype(u32))])]


@case("warp", SM80)
def reductions(r):
    x = r.integers(-2**31, 2**31, 64).astype(i32)
    rows, unsigned, i = x.reshape(-1, 32), x.view(u32).reshape(-1, 32), np.arange(32) % 3
    each = lambda f, v: np.repeat(f(v, axis=1).astype(u32), 32)
    group = np.stack([np.stack([row[i == k].sum(dtype=i32) for k in i]) for row in rows]).ravel().view(u32)
    want = [each(lambda v, axis: v.sum(axis, dtype=i32), rows), each(np.min, rows), each(np.max, rows), each(np.min, unsigned),
            each(np.bitwise_and.reduce, unsigned), each(np.bitwise_or.reduce, unsigned), each(np.bitwise_xor.reduce, unsigned), group]
    return [Launch("reductions", 1, 64, [In(x), Out(np.array(want).T.view(u32), i32)])]


@case("warp")
def groups(r):
    x, y = small(r, 128).astype(f32), small(r, 128)
    eights, rows = y.reshape(-1, 8), y.reshape(-1, 32)
    bits = ((eights > 0) << np.arange(8)).sum(1)
    ints = [np.repeat(rows.sum(1), 32), rows.cumsum(1).ravel(), np.repeat(eights.max(1), 8),
            np.repeat(bits << 8 | np.arange(len(bits)), 8)]
    count = [(y > 0).sum()] + [(y & 3 == k).sum() for k in range(4)]
    count += [sum(len(np.unique(row & 1)) for row in rows)]
    return [Launch("groups", 1, 128, [In(x), In(y), Out(np.repeat(x.reshape(-1, 8).sum(1), 8)), Out(np.array(ints).T.astype(i32)),
                                      Out(np.array(count, u32), start=np.zeros(6, u32))])]


@case("warp")
def compact(r):
    x = small(r, 1000)
    kept = np.sort(x[x > 0])
    check = lambda got: "" if (np.sort(got[:len(kept)]) == kept).all() and (got[len(kept):] == -1).all() else "another set"
    return [Launch("compact", 8, 128, [In(x), Out(start=np.full(1000, -1, i32), check=check),
                                       Out(np.array([len(kept)], u32), start=np.zeros(1, u32)), i32(1000)])]


# ---- atomics.cu


def after(start, x, unsigned=False):
    """add min max and or xor, one cell each."""
    dtype = start.dtype
    x, out = x.astype(dtype), start.copy()
    with np.errstate(all="ignore"):
        out[0] += x.sum(dtype=dtype)
    out[1], out[2] = min(out[1], x.min()), max(out[2], x.max())
    out[3] &= np.bitwise_and.reduce(x)
    out[4] |= np.bitwise_or.reduce(x)
    out[5] ^= np.bitwise_xor.reduce(x)
    return out


def wrapped(start, n, top, down):
    for _ in range(n):
        start = (top if start == 0 or start > top else start - 1) if down else (0 if start >= top else start + 1)
    return start


@case("atomics")
def atomic_integers(r):
    x = r.integers(-2**30, 2**30, 96).astype(i32)
    w = x.astype(np.int64) * 0x100000001
    a, b = r.integers(-99, 99, 7).astype(i32), r.integers(0, 2**32, 8).astype(u32)
    b[6:] = 3, 12
    c, d = np.array([5, -5], np.int64), r.integers(0, 2**63, 6).astype(u64)
    wa = np.append(after(a[:6], x), [(a[6:].astype(np.int64) - x.sum(dtype=np.int64)).astype(i32)[0]]).astype(i32)
    wb = np.append(after(b[:6], x.view(u32)), [wrapped(3, 96, 16, False), wrapped(12, 96, 10, True)]).astype(u32)
    wc = np.array([min(5, w.min()), max(-5, w.max())])
    return [Launch("atomic_integers", 3, 32, [In(x), Out(wa, start=a), Out(wb, start=b), Out(wc, start=c),
                                              Out(after(d, w.view(u64)), start=d)])]


@case("atomics")
def atomic_shared(r):
    x = r.integers(-2**30, 2**30, 128).astype(i32)
    w = (x.astype(np.int64) * 0x100000001).view(u64)
    a, b, c = r.integers(-99, 99, 6).astype(i32), r.integers(0, 2**32, 8).astype(u32), r.integers(0, 2**63, 6).astype(u64)
    b[6:] = 3, 12
    wb = np.append(after(b[:6], x.view(u32)), [wrapped(3, 128, 16, False), wrapped(12, 128, 10, True)]).astype(u32)
    return [Launch("atomic_shared", 1, 128, [In(x), Out(after(a, x), start=a), Out(wb, start=b), Out(after(c, w), start=c)])]


@case("atomics")
def atomic_floats(r):
    x = small(r, 64).astype(f32)
    s = float(x.sum())
    bf16 = np.array([s], f32).view(u32) >> 16
    return [Launch("atomic_floats", 1, 64, [In(x), Out(np.array([s + 2, s], f32), start=np.array([2, 0], f32)),
                                            Out(np.array([s - 1]), start=np.array([-1.0])),
                                            Out(np.array([s], np.float16), start=np.zeros(1, np.float16)),
                                            Out(np.array([s, -s], np.float16), start=np.zeros(2, np.float16)),
                                            Out(bf16.astype(np.uint16), start=np.zeros(1, np.uint16))])]


@case("atomics")
def atomic_results(r):
    n, product = 64, 1
    for me in range(n):
        product = product * (2 * me + 1) % 2**64

    def is_chain(got):
        order, at = [], int(got[0])
        while at and len(order) <= n:
            order.append(at)
            at = int(got[at])
        return "" if sorted(order) == list(range(1, n + 1)) else f"a chain of {len(order)}"

    return [Launch("atomic_results", 2, 32, [Out(np.array([n], u32), start=np.zeros(1, u32)), Out(np.ones(n, i32), start=np.zeros(n, i32)),
                                             Out(start=np.zeros(n + 1, i32), check=is_chain), Out(np.array([product], u64), start=np.ones(1, u64)),
                                             Out(np.array([3 * n + 7, 5], np.uint16), start=np.array([7, 5], np.uint16))])]


@case("atomics")
def atomic_scopes(r):
    return [Launch("atomic_scopes", 3, 32, [Out(np.array([192, 288, 32, 32, 32], u32), start=np.zeros(5, u32))])]


@case("atomics")
def last_block_sum(r):
    x = small(r, 12 * 64)
    return [Launch("last_block_sum", 12, 64, [In(x), Out(x.reshape(12, 64).sum(1).astype(i32)), Out(np.zeros(1, u32), start=np.zeros(1, u32)),
                                              Out(np.array([x.sum()], i32))])]


# ---- blocks.cu


@case("blocks")
def block_scan(r):
    x = small(r, 500)
    want = np.concatenate([x[:256].cumsum(), x[256:].cumsum()]).astype(i32)
    return [Launch("block_scan", 2, 256, [In(x), Out(want), i32(500)], shared=2048)]


@case("blocks")
def histogram(r):
    x = (r.normal(100, 30, 4000).clip(0, 255)).astype(np.uint8)
    return [Launch("histogram", 3, 128, [In(x), Out(np.bincount(x, minlength=256).astype(u32), start=np.zeros(256, u32)), i32(4000)])]


@case("blocks")
def transpose(r):
    x = r.normal(size=(70, 45)).astype(f32)
    return [Launch("transpose", (2, 3), (32, 8), [In(x), Out(x.T.copy()), i32(70), i32(45)])]


@case("blocks")
def sort(r):
    x = r.integers(0, 2**32, (2, 256)).astype(u32)
    return [Launch("sort", 2, 128, [Out(np.sort(x, axis=1), start=x)], shared=1024)]


@case("blocks")
def counting(r):
    steps = []
    for some in ({}, {5: -200}, {70: 150}):  # one thread is unlike all others, or none
        x = small(r, 128)
        for at, value in some.items():
            x[at] = value
        both = int((x > -100).all()) | int((x > 99).any()) << 1
        want = x.reshape(2, 64)[:, ::-1].ravel() + (x > 0).sum() * 1000 + both * 1000000
        steps.append(Launch("counting", 1, 128, [In(x), Out(want.astype(i32))]))
    return steps


@case("blocks")
def blur2(r):
    h, w = 19, 50
    x = small(r, (h, w)).astype(f32)
    p = np.pad(x, 2, mode="edge").astype(np.float64)
    want = sum(p[a:a + h, b:b + w] for a in range(5) for b in range(5)) / 25
    return [Launch("blur2", (2, 3), (32, 8), [In(x), Out(want.astype(f32)), i32(w), i32(h)])]


@case("blocks")
def matmul(r):
    a, b = small(r, (37, 50)).astype(f32), small(r, (50, 21)).astype(f32)
    return [Launch("matmul", (2, 3), (16, 16), [In(a), In(b), Out(a @ b), i32(37), i32(21), i32(50)])]


# ---- pipeline.cu


@case("pipeline")
def pipeline_sum(r):
    x = small(r, (2, 7, 64, 4)).astype(f32)
    return [Launch("pipeline_sum", 2, 64, [In(x), Out(x.sum((1, 3))[:, ::-1].copy()), i32(7)])]


@case("pipeline")
def pipeline_edge(r):
    x = small(r, 401).astype(f32)
    p = np.zeros(512, f32)
    p[:401] = x
    want = (p.reshape(2, 4, 64) * np.array([1, 2, 4, 8], f32)[:, None]).sum(1)
    room = np.append(x, np.zeros(3, f32))  # 16 bytes are aligned to 16
    return [Launch("pipeline_edge", 2, 64, [In(room), Out(want), i32(401)])]


@case("pipeline")
def group_copies(r):
    n, t = 40, np.arange(64)
    x = small(r, (2, 2, n))
    i = np.arange(n)
    want = [(x[b, 0] * (i % 5 + t[:, None])).sum(1) - (x[b, 1][(i + t[:, None]) % n] * (i % 3)).sum(1) for b in range(2)]
    return [Launch("group_copies", 2, 64, [In(x), Out(np.array(want, i32)), i32(n)], shared=2 * n * 4)]


# ---- libcuxx.cu


@case("libcuxx")
def barrier_split(r):
    steps, x = 5, small(r, (2, 5, 64))
    want = (x[:, :, ::-1] * np.arange(1, steps + 1)[:, None]).sum(1)
    return [Launch("barrier_split", 2, 128, [In(x), Out(want.astype(i32)), i32(steps)])]


@case("libcuxx")
def barrier_copies(r):
    x = small(r, (2, 64, 4))
    return [Launch("barrier_copies", 2, 64, [In(x), Out((x[:, ::-1] @ [1, 2, 3, 4]).astype(i32))])]


@case("libcuxx")
def pipeline_threads(r):
    x, want = small(r, (7, 32, 4)), np.zeros(32, np.int64)
    for step in x:
        want = want * 3 + step @ [1, -1, 1, -1]
    return [Launch("pipeline_threads", 1, 32, [In(x), Out(want.astype(i32)), i32(7)])]


@case("libcuxx")
def pipeline_block(r):
    x, t = small(r, (5, 64)), np.arange(64)
    want = sum(x[k][(t + k * 7) % 64] for k in range(5))
    return [Launch("pipeline_block", 1, 64, [In(x), Out(want.astype(i32)), i32(5)])]


@case("libcuxx")
def atomic_chain(r):
    want, v = [], 1
    for b in range(6):
        v = v * 3 + b
        want.append(v)
    one = np.ones(1, i32)
    return [Launch("atomic_chain", 6, 32, [Out(one * 6, start=one * 0), Out(one * v, start=one), Out(np.array(want, i32))])]


@case("libcuxx")
def atomic_orders(r):
    x = 0
    for _ in range(64):
        x = x * 2 + 1 if x * 2 + 1 < 1000 else x
    return [Launch("atomic_orders", 1, 64, [Out(np.array([64 * 63 // 2, 63, x], u32), start=np.zeros(3, u32)),
                                            Out(np.array([2**64 - 1], u64), start=np.zeros(1, u64)), Out(np.array([64], f32), start=np.zeros(1, f32))])]


# ---- cub.cu


@case("cub")
def cub_sort(r):
    keys, values = r.integers(0, 300, 512).astype(u32) << 7, np.arange(512, dtype=i32)
    order = np.argsort(keys, kind="stable")
    return [Launch("cub_sort", 1, 128, [In(keys), In(values), Out(keys[order]), Out(values[order])])]


@case("cub")
def cub_scan(r):
    x = small(r, 384, -1000, 1000)
    return [Launch("cub_scan", 1, 128, [In(x), Out(x.cumsum().astype(i32)), Out(np.array([x.sum()], i32)), Out(np.array([x.max()], f32))])]


@case("cub")
def cub_histogram(r):
    x = np.repeat(r.integers(0, 256, 256), 2).astype(np.uint8)
    heads = np.append(1, x[1:] != x[:-1]).astype(i32)
    return [Launch("cub_histogram", 1, 64, [In(x), Out(np.bincount(x, minlength=256).astype(u32)), Out(heads)])]


@case("cub")
def cub_warps(r):
    x = small(r, (4, 64), -1000, 1000)
    firsts = x.reshape(8, 8, 4)[:, :, 0]
    return [Launch("cub_warps", 1, 64, [In(x), Out(np.sort(x, 1)), Out((firsts.cumsum(1) - firsts).ravel().astype(i32))])]
