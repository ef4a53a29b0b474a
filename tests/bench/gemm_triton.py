"""The product of Triton's tutorial, compiled for an architecture: gemm_triton.py ARCH TYPE nn|nt OUT.cubin. No GPU is asked for."""
import sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def gemm(a, b, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, NT: tl.constexpr, OUT: tl.constexpr):
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = program // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    m = (first + program % (GROUP * columns) % size) * BM + tl.arange(0, BM)
    n = program % (GROUP * columns) // size * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + (m % M)[:, None] * K + k[None, :]
    pb = b + (n % N)[None, :] * K + k[:, None] if NT else b + k[:, None] * N + (n % N)[None, :]
    c = tl.zeros((BM, BN), dtype=OUT)
    for step in range(0, tl.cdiv(K, BK)):
        ta = tl.load(pa, mask=k[None, :] < K - step * BK, other=0.0)
        tb = tl.load(pb, mask=k[:, None] < K - step * BK, other=0.0)
        c = tl.dot(ta, tb, c, out_dtype=OUT)
        pa += BK
        pb += BK if NT else BK * N
    tl.store(y + m[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


arch, kind, form, out = sys.argv[1:]
element = {"f16": "fp16", "bf16": "bf16", "tf32": "fp32", "i8": "i8", "f8e4m3": "fp8e4nv"}[kind]
accumulator = "i32" if kind == "i8" else "fp32"
step = 64 // {"f16": 2, "bf16": 2, "tf32": 4, "i8": 1, "f8e4m3": 1}[kind]
source = ASTSource(gemm, {"a": "*" + element, "b": "*" + element, "y": "*" + accumulator, "M": "i32", "N": "i32", "K": "i32"} |
                   {name: "constexpr" for name in ("BM", "BN", "BK", "GROUP", "NT", "OUT")},
                   {"BM": 128, "BN": 128, "BK": step, "GROUP": 8, "NT": form == "nt", "OUT": tl.int32 if kind == "i8" else tl.float32},
                   {(i,): [["tt.divisibility", 16]] for i in range(6)})
number = int("".join(c for c in arch if c.isdigit()))
compiled = triton.compile(source, target=GPUTarget("cuda", number, 32), options={"num_warps": 4, "num_stages": 4})
with open(out, "wb") as f:
    f.write(compiled.asm["cubin"])
