"""Triton kernels as people write them."""
import triton
import triton.language as tl


@triton.jit
def triton_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def triton_softmax(x, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def triton_layernorm(x, w, b, out, columns, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    centred = tl.where(inside, v - mean, 0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    y = centred * scale * tl.load(w + at, mask=inside) + tl.load(b + at, mask=inside)
    tl.store(out + row * columns + at, y.to(tl.float16), mask=inside)


@triton.jit
def triton_matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    down, across = tl.cdiv(m, M), tl.cdiv(n, N)
    first = pid // (GROUP * across) * GROUP
    size = min(down - first, GROUP)
    pm, pn = first + pid % (GROUP * across) % size, pid % (GROUP * across) // size
    rows, columns, ks = (pm * M + tl.arange(0, M)) % m, (pn * N + tl.arange(0, N)) % n, tl.arange(0, K)
    pa, pb = a + rows[:, None] * k + ks[None, :], b + ks[:, None] * n + columns[None, :]
    sum = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, tl.cdiv(k, K)):
        va = tl.load(pa, mask=ks[None, :] < k - at * K, other=0.0)
        vb = tl.load(pb, mask=ks[:, None] < k - at * K, other=0.0)
        sum = tl.dot(va, vb, sum)
        pa += K
        pb += K * n
    rows, columns = pm * M + tl.arange(0, M), pn * N + tl.arange(0, N)
    tl.store(c + rows[:, None] * n + columns[None, :], sum.to(c.dtype.element_ty),
             mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def triton_matmul_tma(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    sum = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, tl.cdiv(k, K)):
        sum = tl.dot(a.load([pm * M, at * K]), b.load([at * K, pn * N]), sum)
    c.store([pm * M, pn * N], sum.to(tl.float16))


@triton.jit
def triton_attention(q, k, v, out, scale, length, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Flash attention, one head a program of the second axis; base 2 exponentials."""
    start, head = tl.program_id(0), tl.program_id(1)
    rows, columns, ds = start * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    base = head * length * D
    vq = tl.load(q + base + rows[:, None] * D + ds[None, :])
    best, total = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    sum = tl.zeros((M, D), tl.float32)
    last = (start + 1) * M if CAUSAL else length
    for at in range(0, last, N):
        vk = tl.load(k + base + (at + columns)[None, :] * D + ds[:, None])
        s = tl.dot(vq, vk) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(rows[:, None] >= (at + columns)[None, :], s, -float("inf"))
        higher = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        fade = tl.exp2(best - higher)
        total = total * fade + tl.sum(p, 1)
        vv = tl.load(v + base + (at + columns)[:, None] * D + ds[None, :])
        sum = tl.dot(p.to(tl.float16), vv, sum * fade[:, None])
        best = higher
    tl.store(out + base + rows[:, None] * D + ds[None, :], (sum / total[:, None]).to(tl.float16))


@triton.jit
def triton_scan_sort(x, sums, sorted, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(v, 0))
    tl.store(sorted + at, tl.sort(v))


@triton.jit
def triton_histogram(x, bins, argmax, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.atomic_add(bins + v, 1, mask=at < n)
    tl.atomic_max(argmax, tl.argmax(v, 0) + 1000 * tl.max(v, 0))


@triton.jit
def triton_fp8(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, v.to(tl.float8e5).to(tl.float32) + v.to(tl.bfloat16).to(tl.float32))


@triton.jit
def triton_matmul_s8(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    pm, pn = tl.program_id(0) % tl.cdiv(m, M), tl.program_id(0) // tl.cdiv(m, M)
    rows, columns, ks = pm * M + tl.arange(0, M), pn * N + tl.arange(0, N), tl.arange(0, K)
    sum = tl.zeros((M, N), dtype=tl.int32)
    for at in range(0, k, K):
        va = tl.load(a + rows[:, None] * k + at + ks[None, :])
        vb = tl.load(b + columns[None, :] * k + at + ks[:, None])  # B lies transposed
        sum += tl.dot(va, vb)
    tl.store(c + rows[:, None] * n + columns[None, :], sum)


@triton.jit
def triton_scaled(a, scale_a, b, scale_b, c, k, FORMAT_A: tl.constexpr, FORMAT_B: tl.constexpr, PACK: tl.constexpr, BLOCK: tl.constexpr,
                  M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Rows of A and of B (N rows) lie with k fastest, PACK elements a byte; BLOCK elements share a factor."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    at, blocks = tl.arange(0, K // PACK), tl.arange(0, K // BLOCK)
    sum = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        va = tl.load(a + rows[:, None] * (k // PACK) + first // PACK + at[None, :])
        vb = tl.load(b + columns[:, None] * (k // PACK) + first // PACK + at[None, :])
        fa = tl.load(scale_a + rows[:, None] * (k // BLOCK) + first // BLOCK + blocks[None, :])
        fb = tl.load(scale_b + columns[:, None] * (k // BLOCK) + first // BLOCK + blocks[None, :])
        sum = tl.dot_scaled(va, fa, FORMAT_A, vb.T, fb, FORMAT_B, sum)
    tl.store(c + rows[:, None] * (N * tl.num_programs(1)) + columns[None, :], sum)
