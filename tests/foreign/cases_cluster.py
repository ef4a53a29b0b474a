"""cluster.cu, barrier.cu, grid.cu, early.cu: clusters, barriers in memory, cooperative grids, launches that overlap."""
import numpy as np
from case import Chain, In, Launch, Out, case

i32 = np.int32


def small(r, n, low=-9, high=10):
    return r.integers(low, high, n).astype(i32)


@case("cluster")
def cluster_sum(r):
    x = small(r, 12 * 128)
    return [Launch("cluster_sum", 12, 128, [In(x), Out(x.reshape(3, 512).sum(1).astype(i32))])]


@case("cluster")
def cluster_histogram(r):
    x = small(r, 500, 0, 64)
    return [Launch("cluster_histogram", 2, 96, [In(x), Out(np.bincount(x, minlength=64).astype(i32)), i32(500)])]


@case("cluster")
def cluster_numbers(r):
    want = np.zeros((4, 6, 8), i32)
    for y in range(4):
        for x in range(6):
            rank = y % 2 * 2 + x % 2
            want[y, x] = rank, 4, x % 2, y % 2, 2, 2, rank * 32, 128
    return [Launch("cluster_numbers", (6, 4), 32, [Out(want)])]


@case("cluster")
def cluster_ring(r):
    x = small(r, 8 * 64, -1000, 1000)
    steps = []
    for rounds in (0, 1, 6):
        value = x.reshape(2, 4, 64)
        for i in range(rounds):
            value = np.roll(value, 1, axis=1)[:, :, np.arange(64) ^ 33] + i
        steps.append(Launch("cluster_ring", 8, 64, [In(x), Out(value.astype(i32)), i32(rounds)]))
    return steps


@case("barrier")
def barrier_reverse(r):
    x = small(r, 3 * 128)
    value = x.reshape(3, 128)
    for i in range(5):
        value = value[:, ::-1] * 3 + i + (value & 1)
    return [Launch("barrier_reverse", 3, 128, [In(x), Out(value.astype(i32)), i32(5)])]


@case("barrier")
def barrier_roles(r):
    x = small(r, 2 * 7 * 64)
    total = np.zeros((2, 64), i32)
    for i in range(7):
        total = total * 2 + x.reshape(2, 7, 64)[:, i, ::-1]
    return [Launch("barrier_roles", 2, 128, [In(x), Out(total), i32(7)])]


@case("barrier")
def barrier_drop(r):
    x = small(r, 96)
    start = np.full(96, 7, i32)
    want = np.where(x < 0, start, x.sum() * 100 + (x >= 0).sum())
    return [Launch("barrier_drop", 1, 96, [In(x), Out(want.astype(i32), start=start)])]


# ---- grid.cu


@case("grid")
def grid_steps(r):
    steps = []
    for grid, block, n, rounds in ((4, 64, 300, 3), (7, 96, 500, 4), (1, 32, 40, 1)):
        x = small(r, n)
        a, b = x, np.zeros(n, i32)
        for _ in range(rounds):
            a, b = np.roll(a, 1) - 2 * a + 3 * np.roll(a, -1), a
        first, second = (a, b) if rounds % 2 == 0 else (b, a)
        steps.append(Launch("grid_steps", grid, block, [Out(first.astype(i32), start=x), Out(second.astype(i32), start=np.zeros(n, i32)),
                                                        i32(n), i32(rounds)], cooperative=True))
    return steps


@case("grid")
def grid_center(r):
    x = small(r, 777)
    return [Launch("grid_center", g, b, [In(x), Out(np.array([x[np.arange(777) // b % g == k].sum() for k in range(g)], i32)),
                                         Out((x * 777 - x.sum()).astype(i32)), i32(777)], cooperative=True)
            for g, b in ((5, 64), (2, 128))]


@case("grid")
def grid_split(r):
    steps = []
    for grid, block, rounds in ((6, 64, 3), (3, 32, 1)):
        n, own = grid * block, 0
        i = np.arange(n)
        x = np.array([i + k for k in range(rounds)])
        for k in range(rounds):
            own = own * 3 + k + x[k][::-1]
        steps.append(Launch("grid_split", grid, block, [Out(x.astype(i32)), Out(own.astype(i32)), i32(rounds)], cooperative=True))
    return steps


# ---- early.cu


@case("early")
def early_make__early_weigh__early_write(r):
    steps = []
    for grid, n in ((4, 500), (1, 96)):
        x, w, i = small(r, n), small(r, 64), np.arange(n)
        made = 3 * x + i
        weighed = made * w[i % 64] + made[::-1]
        a, b = Out((made - weighed).astype(i32)), Out(weighed.astype(i32))
        steps.append(Chain(Launch("early_make", grid, 64, [In(x), a, i32(n)]), Launch("early_weigh", grid, 96, [In(w), a, b, i32(n)]),
                           Launch("early_write", grid, 64, [a, b, i32(n)])))
    return steps
