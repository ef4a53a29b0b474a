"""Products on tensor cores, with the schedules that kc chooses: tests/bench/gemm.py [BUILD] [--strict] [ARCH|TYPE...]

4096 x 4096 x 4096, compiled and not run: tile, registers and spills as the assembler reports them, and what the main loop
holds for each tensor-core instruction, beside the same product by nvcc (gemm.cu) and by Triton (gemm_triton.py), where they
are; `ratio` is ours over theirs. On the simulator at 512 x 512 x 256 and 512: bank conflicts, sectors used, bytes loaded
over those of the tiles, barriers a step. For f16 also with symbols for sizes: the rows, then all (whole vectors). What misses its bar is marked; with --strict that is a failure. KC_TRITON names a
Python that has Triton, if this one has none."""
import json, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from sass import kernels, main_loop, tool, triton_of

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = [w for w in sys.argv[1:] if not w.startswith("--")]
BUILD, ONLY = (WORDS or ["build"])[0], WORDS[1:]
PYTHON = os.environ.get("KC_TRITON", sys.executable)
BAR, BAR_LOADS = 1.1, 1.05
ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120a")
KINDS = {  # element type, its bytes, option, result, first architecture with tensor cores for it, forms
    "f16": ("f16", 2, "", "f32", 75, ("nn", "nt")), "bf16": ("bf16", 2, "", "f32", 80, ("nn", "nt")),
    "tf32": ("f32", 4, ', precision="fast"', "f32", 80, ("nt",)), "i8": ("i8", 1, "", "i32", 75, ("nt",)),
    "f8e4m3": ("f8e4m3", 1, "", "f32", 89, ("nt",)), "f64": ("f64", 8, "", "f64", 80, ("nt",))}
NVCC = {  # the instruction, its accumulator; sm_80 up
    "f16": ("m16n8k16.row.col.f32.f16.f16.f32", "float"), "bf16": ("m16n8k16.row.col.f32.bf16.bf16.f32", "float"),
    "tf32": ("m16n8k8.row.col.f32.tf32.tf32.f32", "float"), "i8": ("m16n8k32.row.col.s32.s8.s8.s32", "int"),
    "f8e4m3": ("m16n8k32.row.col.f32.e4m3.e4m3.f32", "float")}
bad = 0


def kc(*args):
    p = subprocess.run([f"{BUILD}/bin/kc", *args], capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(p.stdout + p.stderr)
    return p.stdout


def build(folder, kind, form, arch, m, n, k):
    """Path of the package and the kernel for whole vectors: its name, manifest's step, resources and schedule."""
    element, _, option, result, _, _ = KINDS[kind]
    a, b = f"{element}[{m}, {k}]", f"{element}[{n}, {k}]" if form == "nt" else f"{element}[{k}, {n}]"
    with open(f"{folder}/gemm.yaml", "w") as f:
        symbols = ", ".join(f"{s}: {{min: 65, max: 65536, multiple_of: {1 if s == 'M' else 8}}}" for s in (m, n, k) if isinstance(s, str))
        f.write(f'kc: 1\nmodule: gemm\nfunctions:\n  gemm:\n    dims: {{{symbols}}}\n    inputs: {{a: "{a}", b: "{b}"}}\n    outputs: {{y: "{result}[{m}, {n}]"}}\n'
                f"    body: |\n      y = matmul(a, b{', transpose_b=true' * (form == 'nt')}{option})\n")
    path = f"{folder}/gemm.kcb"
    kc("build", f"{folder}/gemm.yaml", "--target", "cuda:" + arch, "-o", path)
    variant = json.loads(kc("inspect", path, "--json"))["functions"][0]["targets"][0]["variants"][0]
    name = next(s["kernel"] for s in variant["steps"] if "kernel" in s)
    return path, name, variant["steps"][0], variant["resources"].get(name, {}), variant["schedule"]["kernels"][name]


def nvcc_loop(folder, cuobjdump, kind, arch):
    nvcc = tool("nvcc")
    if not nvcc or kind not in NVCC or arch == "sm_75":
        return None
    instruction, accumulator = NVCC[kind]
    p = subprocess.run([nvcc, "-arch=" + arch, "-O3", "-cubin", f'-DMMA="mma.sync.aligned.{instruction}"', "-DACCUMULATOR=" + accumulator,
                        f'-DLETTER="+{accumulator[0].replace("i", "r")}"', f"{HERE}/gemm.cu", "-o", f"{folder}/nvcc.cubin"], capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(p.stderr)
    return main_loop(kernels(cuobjdump, f"{folder}/nvcc.cubin")["gemm"])


def triton_loop(folder, cuobjdump, kind, form, arch, triton):
    """None where there is no Triton, or it uses other instructions (wgmma) or none."""
    if not triton or kind == "f64" or arch in ("sm_75", "sm_90"):
        return None
    p = subprocess.run([PYTHON, f"{HERE}/gemm_triton.py", arch, kind, form, f"{folder}/triton.cubin"], capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(p.stderr)
    return main_loop(next(iter(kernels(cuobjdump, f"{folder}/triton.cubin").values())))


def ratio(ours, theirs, missed, who):
    if theirs is None or not theirs.tensor:
        return f"{'-':>6} {'':>5}"
    if ours.each > BAR * theirs.each:
        missed.append(f"instructions against {who}")
    return f"{theirs.each:6.2f} {ours.each / theirs.each:5.2f}"


def compiled(folder, kind, form, arch, tools, sizes=(4096, 4096, 4096)):
    cuobjdump, triton = tools
    path, name, _, resources, schedule = build(folder, kind, form, arch, *sizes)
    missed = [f"{resources['spills']} bytes of spills"] * bool(resources.get("spills"))
    said = f"{'x'.join(map(str, schedule['tile'])):>11} {schedule['warps']:2} {schedule.get('stages', 1):2} {resources.get('registers', 0):4} {resources.get('spills', 0):3}"
    if not cuobjdump or not resources:
        return said + " (no cuobjdump or ptxas: no instructions)", missed
    kc("inspect", path, "--extract", f"{arch}:cubin={folder}/kc.cubin")
    ours = main_loop(kernels(cuobjdump, f"{folder}/kc.cubin")[name])
    if not ours.tensor:  # consumer cards have few units for products of doubles, and as many for additions
        return said + " no tensor cores", missed + ["tensor cores"] * (kind != "f64")
    ratios = [ratio(ours, nvcc_loop(folder, cuobjdump, kind, arch), missed, "nvcc"),
              ratio(ours, triton_loop(folder, cuobjdump, kind, form, arch, triton), missed, "Triton")]
    return f"{said} {ours.each:6.2f} {' '.join(ratios)}  ({ours.mix()})", missed


def simulated(folder, kind, form, arch):
    """Counters at two depths: what one more step costs is their difference."""
    found = []
    for k in (256, 512):
        path, name, step, _, schedule = build(folder, kind, form, arch, 512, 512, k)
        b = f"512x{k}" if form == "nt" else f"{k}x512"
        kc("run", path, "gemm", "--device", "cuda-sim:" + arch, "--input", f"a=512x{k}:ones", "--input", f"b={b}:ones", "--counters", f"{folder}/counters.json")
        with open(f"{folder}/counters.json") as f:
            counters = json.load(f)["kernels"]
        found.append((k, step["grid"][0], schedule["tile"], schedule.get("split", 1), counters))
    k, programs, tile, split, counters = found[1]
    total = lambda key, of=counters: sum(c[key] for c in of)
    if split > 1:  # the sum of the parts has loads of its own
        counters = [c for c in counters if c["instructions"]["tensor"]]
    size = KINDS[kind][1]
    tiles = 512 // tile[0] * (512 // tile[1]) * (tile[0] + tile[1]) * k * size
    loads = 32 * sum(c["global_load_sectors"] for c in counters) / tiles
    sectors = (total("global_load_sectors_ideal") + total("global_store_sectors_ideal")) / (total("global_load_sectors") + total("global_store_sectors"))
    conflicts = total("shared_bank_conflicts")
    missed = ["bank conflicts"] * (conflicts > 0) + ["sectors"] * (sectors < 0.9999) + ["bytes loaded"] * (loads > BAR_LOADS)
    barriers = "-"  # of one step more, where the schedule is the same at both depths
    if found[0][1:4] == found[1][1:4]:
        steps = (found[1][0] - found[0][0]) / tile[2] / split * programs
        each = (total("barriers") - total("barriers", found[0][4])) / steps
        barriers = f"{each:.2f}"
        missed += ["barriers"] * (each > 1)
    return f"{conflicts:9} {sectors:7.3f} {loads:6.3f} {barriers:>8}", missed


def main():
    global bad
    triton = triton_of(PYTHON)
    tools = tool("cuobjdump", triton), triton
    print(f"{'product':22} {'tile':>11} {'w':>2} {'st':>2} {'regs':>4} {'sp':>3} {'each':>6} {'nvcc':>6} {'ratio':>5} {'Triton':>6} {'ratio':>5}  (for each tensor instruction)"
          f"\n{'  on the simulator':22} conflicts sectors  loads barriers a step")
    with tempfile.TemporaryDirectory() as folder:
        for arch in ARCHS:
            for kind, (_, _, _, _, least, forms) in KINDS.items():
                for form in forms if least <= int(arch[3:].rstrip("a")) else ():
                    name = f"gemm {arch} {kind} {form}"
                    if ONLY and not all(o in name.split() for o in ONLY):
                        continue
                    found = [(name, compiled(folder, kind, form, arch, tools)), ("  simulated", simulated(folder, kind, form, arch))]
                    if kind == "f16":
                        found += [(f"  {' '.join(s for s in sizes if isinstance(s, str))} symbolic", compiled(folder, kind, form, arch, tools, sizes))
                                  for sizes in (("M", 4096, 4096), ("M", "N", "K"))]
                    for title, (text, missed) in found:
                        print(f"{title:22} {text}{'  MISSED: ' + ', '.join(missed) if missed else ''}", flush=True)
                        bad += bool(missed)
    return bad > 0 and "--strict" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
