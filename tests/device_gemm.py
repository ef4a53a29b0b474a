"""Products on a real GPU beside cuBLAS, which PyTorch calls: device_gemm.py BUILD [DEVICE]. Prints `ok`, `not ok` and `skip` lines.

Time: several launches and one wait, the median of several such rounds, of both alike. The ceiling of a product is what
cuBLAS reached at best here, in this type, and what copying within the GPU's memory reached: the longer of both times."""
import json, statistics, subprocess, sys, tempfile, time

BUILD, DEVICE = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cuda:0"
SIZES = [(n, n, n) for n in (1024, 2048, 4096, 8192)] + [(m, 4096, 4096) for m in (64, 16, 1)]  # M, N, K
KINDS = ("f16", "bf16")
ROUNDS, COPIED = 10, 1 << 30


def launches(m, n, k):
    """Enough for a clock on the host: some 20 ms on a large GPU."""
    return max(10, min(1000, int(4e12 / (2 * m * n * k))))


def seconds(torch, launch, count):
    def one_round():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            launch()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count
    one_round()
    return statistics.median(one_round() for _ in range(ROUNDS))


def kc(*args):
    p = subprocess.run([f"{BUILD}/bin/kc", *args], capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError((p.stdout + p.stderr).strip())
    return p.stdout


def package(torch, folder):
    number = "".join(map(str, torch.cuda.get_device_capability()))
    target = f"cuda:sm_{number}" if f"cuda:sm_{number} " in kc("targets") else "cuda"
    functions = ""
    for kind in KINDS:
        for m, n, k in SIZES:
            functions += (f'  {kind}_{m}_{n}_{k}:\n    inputs: {{a: "{kind}[{m}, {k}]", b: "{kind}[{k}, {n}]"}}\n    outputs: {{y: "{kind}[{m}, {n}]"}}\n'
                          f'    body: |\n      y = cast(matmul(a, b), "{kind}")\n')
    with open(f"{folder}/gemm.yaml", "w") as f:
        f.write("kc: 1\nmodule: gemm\nfunctions:\n" + functions)
    kc("build", f"{folder}/gemm.yaml", "--target", target, "-o", f"{folder}/gemm.kcb")
    return f"{folder}/gemm.kcb"


def is_right(np, path, folder):
    """Small integers: products and sums are exact, and so is the f16 that comes out."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-1, 2, (1024, 1024)).astype(np.float16) for _ in "ab")
    for name, array in (("a", a), ("b", b)):
        np.save(f"{folder}/{name}.npy", array)
    kc("run", path, "f16_1024_1024_1024", "--device", DEVICE, "--input", f"a={folder}/a.npy", "--input", f"b={folder}/b.npy", "--output", f"y={folder}/y.npy")
    return np.array_equal(np.load(f"{folder}/y.npy").astype(np.float32), a.astype(np.float32) @ b.astype(np.float32))


def measure(torch, path, kind, m, n, k):
    """Seconds of cuBLAS and of kc."""
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[kind]
    a, b = torch.rand(m, k, device="cuda", dtype=dtype), torch.rand(k, n, device="cuda", dtype=dtype)
    y = torch.empty(m, n, device="cuda", dtype=dtype)
    count = launches(m, n, k)
    theirs = seconds(torch, lambda: torch.matmul(a, b, out=y), count)
    del a, b, y
    torch.cuda.empty_cache()
    ours = json.loads(kc("bench", path, f"{kind}_{m}_{n}_{k}", "--device", DEVICE, "--input", "a=uniform", "--input", "b=uniform", "--rounds", str(ROUNDS),
                         "--launches", str(count), "--json"))["median_seconds"]
    return theirs, ours


def main():
    try:
        import numpy as np, torch
    except ImportError as missing:
        print(f"skip device gemm: {missing}; KC_PYTHON names a Python with PyTorch")
        return 0
    if not torch.cuda.is_available():
        print("skip device gemm: PyTorch sees no CUDA device")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = package(torch, folder)
        good = is_right(np, path, folder)
        print("ok device gemm is exact" if good else "not ok device gemm: wrong numbers at 1024 x 1024 x 1024", flush=True)
        source = torch.empty(COPIED, device="cuda", dtype=torch.uint8)
        target = torch.empty_like(source)
        bandwidth = 2 * COPIED / seconds(torch, lambda: target.copy_(source), 10)
        del source, target
        print(f"{torch.cuda.get_device_name()}: {bandwidth * 1e-9:.0f} GB/s of copies")
        print(f"{'product':22} {'cuBLAS':>9} {'kc':>9} TFLOP/s {'kc/cuBLAS':>9} {'of ceiling':>10}")
        for kind in KINDS:
            times = {size: measure(torch, path, kind, *size) for size in SIZES}
            peak = max(2 * m * n * k / theirs for (m, n, k), (theirs, _) in times.items())
            for (m, n, k), (theirs, ours) in times.items():
                flops, least = 2 * m * n * k, max(2 * m * n * k / peak, 2 * (m * k + k * n + m * n) / bandwidth)
                print(f"{f'{kind} {m}x{n}x{k}':22} {flops / theirs * 1e-12:9.2f} {flops / ours * 1e-12:9.2f} {'':7} {theirs / ours:9.2f} {least / ours:10.2f}", flush=True)
        print("ok device gemm timed")
    return not good


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print("not ok device gemm: " + str(error).replace("\n", " "))
        sys.exit(1)
