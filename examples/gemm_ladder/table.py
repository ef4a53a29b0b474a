"""The table of README.md, from the simulator's counters: table.py KC [--write]. Without --write: fails where README.md says
something else. Every step is compared with the reference on the way."""
import json, re, subprocess, sys, tempfile

KC, ARCH = sys.argv[1], "sm_80"
M, N, K, TOGETHER = 128, 128, 256, 4  # TOGETHER: blocks that run at a time, for the last column
HEAD = ("step", "schedule", "blocks", "instructions a product", "wavefronts", "conflicts", "sectors", "bytes loaded", "shared memory", "bytes in flight",
        f"bytes that {TOGETHER} blocks share")


def kc(*args):
    p = subprocess.run([KC, *args], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stdout + p.stderr)
    return p.stdout


def place(program, rows, columns, raster):
    """Where in the result the tile of a program is, as docs/MODEL.md says of `raster`."""
    if raster == "row":
        return program // columns, program % columns
    band = int(raster.split(":")[1])
    first = program // (band * columns) * band
    height = min(rows - first, band)
    inside = program - first * columns
    return first + inside % height, inside // height


def distinct(schedule):
    """Bytes of a and b that the first blocks read, each counted once: what a cache has to bring."""
    m, n, _ = schedule["tile"]
    rows, columns = M // m, N // n
    places = [place(p, rows, columns, schedule["raster"]) for p in range(min(TOGETHER, rows * columns))]
    return 2 * K * (m * len({r for r, _ in places}) + n * len({c for _, c in places}))


def row(function, folder, before):
    name = function["name"]
    variant = function["targets"][0]["variants"][0]
    step, schedule = variant["steps"][0], next(iter(variant["schedule"]["kernels"].values()))
    kc("run", f"{folder}/ladder.kcb", name, "--device", "cuda-sim:" + ARCH, "--input", f"a={M}x{K}:normal", "--input", f"b={N}x{K}:normal", "--check",
       "--counters", f"{folder}/counters.json")
    with open(f"{folder}/counters.json") as f:
        counters = json.load(f)["kernels"][0]
    schedule.setdefault("raster", "row")
    changed = [f"{k}: {json.dumps(v)}" for k, v in schedule.items() if before.get(k) != v] + [f"no {k}" for k in before if k not in schedule]
    tile = 2 * K * sum(schedule["tile"][:2]) // (K // schedule["tile"][2])
    instructions = 32 * sum(counters["instructions"].values()) / (M * N * K)
    cells = (name, ", ".join(f"`{c}`" for c in changed), step["grid"][0], f"{instructions:.2f}", counters["shared_wavefronts"], counters["shared_bank_conflicts"],
             counters["global_load_sectors"] + counters["global_store_sectors"], counters["global_load_bytes"], step["shared"],
             tile * (schedule.get("stages", 1) - 1), distinct(schedule))
    return cells, schedule


def table():
    with tempfile.TemporaryDirectory() as folder:
        kc("build", "gemm_ladder.yaml", "--target", "cuda:" + ARCH, "--images", "ptx", "-o", f"{folder}/ladder.kcb")
        rows, before = [HEAD, ["---"] * len(HEAD)], {}
        for function in json.loads(kc("inspect", f"{folder}/ladder.kcb", "--json"))["functions"]:
            cells, before = row(function, folder, before)
            rows.append(cells)
    return "".join("| " + " | ".join(map(str, cells)) + " |\n" for cells in rows)


found = table()
print(found, end="")
with open("README.md") as f:
    text = f.read()
written = re.sub(r"^\|.*\n(\|.*\n)*", lambda _: found, text, count=1, flags=re.M)
if "--write" in sys.argv:
    with open("README.md", "w") as f:
        f.write(written)
elif written != text:
    sys.exit("README.md has another table: table.py KC --write")
