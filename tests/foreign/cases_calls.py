"""calls.cu: calls through pointers, of virtual functions, recursion, alloca, the heap."""
import numpy as np
from case import In, Launch, Out, case

i32, f32 = np.int32, np.float32
T = np.arange(64)


@case("calls")
def pointers(r):
    which, x = r.integers(0, 3, 64).astype(i32), r.integers(-50, 50, 64).astype(i32)
    first = np.choose(which, [x + T, x - T, x * T])
    return [Launch("pointers", 1, 64, [In(which), In(x), Out((first * 100 + T - 3).astype(i32))])]


@case("calls")
def virtual_functions(r):
    which = r.integers(0, 3, 64).astype(i32)
    return [Launch("virtual_functions", 1, 64, [In(which), Out(np.choose(which, [2.0 * T * T, 6.0 * T * T, 4.0 * T + 1]))])]


def ackermann(m, n):
    return n + 1 if m == 0 else ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))


@case("calls")
def recursion(r):
    fibonacci = [0, 1]
    while len(fibonacci) < 11:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    want = [[fibonacci[i % 11], ackermann(i % 3, i % 4), (i % 13 % 2 == 0) * 2 + i % 7 % 2] for i in T.tolist()]
    return [Launch("recursion", 1, 64, [Out(np.array(want, i32))])]


def descend(up, depth, step):
    here = up + [(depth, step)]
    if depth == 0:
        return sum(value * weight for value, weight in here)
    return descend(here, depth - 1, step + 1) if depth % 2 else descend(here, depth - 1, step * 2) + depth


@case("calls")
def frames(r):
    x = r.normal(size=(64, 20)).astype(f32)
    want = np.array([descend([], i % 5, float(i)) for i in T.tolist()])
    return [Launch("frames", 1, 64, [Out(np.sort(x), start=x), Out(want), i32(20)])]


@case("calls")
def growing(r):
    sizes = r.integers(1, 40, 64).astype(i32)
    want = [i + sum(k * k for k in range(n)) for i, n in enumerate(sizes.tolist())]
    return [Launch("growing", 1, 64, [In(sizes), Out(np.array(want, i32))])]


@case("calls")
def heap(r):
    return [Launch("heap", 1, 64, [Out((T * (T + 1) // 2).astype(i32))])]
