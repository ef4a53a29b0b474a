"""Tests of kcrun. The package's functions only copy, so a driver that does nothing but memory (null_cuda.c) runs them."""
import hashlib, json, os, stat, struct, subprocess, sys, tempfile
import numpy as np

BUILD = sys.argv[1]
KCRUN = os.path.join(BUILD, "bin", "kcrun")
WORK = tempfile.mkdtemp(prefix="kcrun-")
failures = 0


def entry(kind, offload, strings, image):
    items = [s for pair in strings.items() for s in pair]
    table, text, offsets = 32 + 40 + 16 * len(strings), b"\0", []
    for s in items:
        offsets.append(table + len(text))
        text += s.encode() + b"\0"
    at = (table + len(text) + 7) & ~7
    total = (at + len(image) + 7) & ~7
    out = b"\x10\xff\x10\xad" + struct.pack("<IQQQ", 1, total, 32, 40)
    out += struct.pack("<HHIQQQQ", kind, offload, 0, 72, len(strings), at, len(image))
    out += struct.pack("<%dQ" % len(offsets), *offsets) + text
    return out.ljust(at, b"\0") + image + b"\0" * (total - at - len(image))


def package(path, functions, images):
    listed = [{"triple": t, "arch": a, "role": r, "sha256": hashlib.sha256(b).hexdigest(), "size": len(b)} for t, a, r, b in images]
    manifest = {"format": 1, "module": "m", "tools": {}, "images": listed, "functions": functions}
    data = entry(0, 0, {"triple": "kc", "arch": "manifest", "kc.role": "manifest"}, json.dumps(manifest).encode())
    for t, a, r, b in images:
        data += entry(5 if r == "ptx" else 1, 2, {"triple": t, "arch": a, "kc.role": r}, b)
    with open(path, "wb") as f:
        f.write(data)


def copier(kind, bytes_, strides=None):
    """y = x, for a matrix of one type."""
    shape = ["M", "N"]
    x = {"name": "x", "direction": "input", "kind": "tensor", "type": kind, "shape": shape}
    y = {"name": "y", "direction": "output", "kind": "tensor", "type": kind, "shape": shape}
    size = "M * N * %d" % (2 * bytes_) + " // 2"
    f = {"name": "copy_" + kind, "ir": 1, "dims": [{"name": "M"}, {"name": "N"}], "args": [x, y]}
    if strides:
        f["name"], f["strides"] = "strided_" + kind, [{"name": "ldx"}]
        x["strides"] = y["strides"] = ["ldx", 1]
        size = "M * ldx * %d" % (2 * bytes_) + " // 2"
    step = {"copy": {"to": {"pointer": "y"}, "from": {"pointer": "x"}, "bytes": size}}
    f["targets"] = [{"triple": "cuda", "arch": "sm_80", "images": [0], "variants": [{"steps": [step]}]}]
    return f


def test(name, good, detail=""):
    global failures
    print(("ok " if good else "not ok ") + name + ("" if good else ": " + str(detail)))
    failures += not good


def run(*args, env=None):
    p = subprocess.run([KCRUN, *args], capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=120)
    return p.returncode, p.stdout, p.stderr


def at(name):
    return os.path.join(WORK, name)


def checks(P, sim, X):
    """--check against a stand-in for the reference, whose values are off by MOCK_SHIFT and whose bounds are MOCK_BOUND."""
    mock = at("libmock_ref.so")
    subprocess.run(["cc", "-O1", "-std=c11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-I.", "tests/run/mock_ref.c", "ir/dtype.c", "-lm", "-o", mock], check=True)

    def checked(f, spec, shift=0, bound=0, *more):
        return run(P, f, *sim, "--input", spec, "--check", *more, env={"KCRT_REF": mock, "MOCK_SHIFT": repr(shift), "MOCK_BOUND": repr(bound)})

    def passes(name, *args):
        c, out, err = checked(*args)
        test("check: " + name, c == 0 and "check passed" in out, (c, out, err))

    def fails(name, words, *args):
        c, out, err = checked(*args)
        test("check: " + name, c == 1 and "check FAILED" in out and all(w in out for w in words), (c, out, err))

    passes("equal", "copy_f32", X)
    passes("within the bound", "copy_f32", "x=3x4:ones", 1e-3, 1.0001e-3)
    fails("beyond the bound", ["12 elements", "worst at [0, 0]", "got 1", "reference 1.001"], "copy_f32", "x=3x4:ones", 1e-3, 0.9e-3)
    passes("half an ulp is rounding", "copy_f32", "x=4x4:ones", 5.9e-8, 0.0)
    fails("more than half an ulp is not", [], "copy_f32", "x=4x4:ones", 1.3e-7, 0.0)
    passes("half an ulp of f16", "copy_f16", "x=4x4:ones", 4.8e-4, 0.0)
    fails("more than half an ulp of f16", [], "copy_f16", "x=4x4:ones", 1.1e-3, 0.0)
    passes("integers equal", "copy_i64", "x=3x3:arange")
    fails("integers differ", ["got 0, reference 1"], "copy_i64", "x=3x3:arange", 1)
    passes("integers within a bound", "copy_i32", "x=3x3:arange", 1, 1.0)
    np.save(at("odd.npy"), np.array([[np.nan, np.inf, -np.inf, 0.0, -0.0]], np.float32))
    passes("NaN equals NaN, an infinity itself", "copy_f32", "x=" + at("odd.npy"))
    fails("an infinity is not the other", ["inf"], "copy_f32", "x=2x2:-inf", float("inf"), 0.0)
    passes("the largest finite value beside infinity", "copy_f16", "x=2x2:65504", 17.0, 2.0)
    fails("too far from infinity", [], "copy_f16", "x=2x2:65504", 100.0, 2.0)
    np.save(at("odd8.npy"), np.array([[0x7c, 0xfc, 0x7f, 0x00, 0x80, 0x7b]], np.uint8))
    passes("infinities of f8e5m2", "copy_f8e5m2", "x=" + at("odd8.npy"))
    passes("a 4-bit type", "copy_i4", "x=6x4:uniform")
    passes("half an ulp of f4e2m1", "copy_f4e2m1", "x=2x2:2", 0.4, 0.0)
    fails("beyond an ulp of f4e2m1", ["got 2, reference 3.5"], "copy_f4e2m1", "x=2x2:2", 1.5, 0.0)
    passes("f8e4m3 saturates", "copy_f8e4m3", "x=2x2:448", 1000.0, 0.0)
    passes("nothing to compare", "copy_f32", "x=0x4:ones")
    c, out, err = checked("copy_f32", "x=2x2:ones", 1, 0, "--json")
    r = json.loads(out)["outputs"][0]["check"]
    test("check: json", c == 1 and r["passed"] is False and r["wrong"] == 4 and r["worst"]["reference"] == 2, (c, out, err))
    c, out, err = checked("copy_u8", "x=2x2:ones")
    test("check: the reference's own sentence", c == 1 and "does not know copy_u8" in err, (c, out, err))
    c, out, err = run(P, "copy_f32", *sim, "--input", X, "--check", env={"KCRT_REF": at("none.so")})
    test("check: no reference", c == 1 and "none.so" in err, (c, out, err))


def main():
    null = at("libnull_cuda.so")
    subprocess.run(["cc", "-O1", "-std=c11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-I.", "tests/bench/null_cuda.c", "-o", null], check=True)
    os.environ["KCRT_CUDA_SIM"] = null
    P = at("p.kcb")
    functions = [copier(k, b) for k, b in [("f32", 4), ("f64", 8), ("f16", 2), ("bf16", 2), ("i64", 8), ("i32", 4), ("u8", 1), ("bool", 1),
                                             ("f8e4m3", 1), ("f8e5m2", 1), ("f8e8m0", 1), ("f4e2m1", 0.5), ("i4", 0.5)]]
    functions += [copier("f32", 4, strides=True), copier("i4", 0.5, strides=True)]
    functions.append({"name": "scalars", "dims": [{"name": "N"}], "args": [
        {"name": "a", "direction": "input", "kind": "scalar", "type": "f32", "shape": []},
        {"name": "y", "direction": "output", "kind": "tensor", "type": "f32", "shape": ["N"]}],
        "targets": [{"triple": "cuda", "arch": "sm_80", "images": [0], "variants": [
            {"steps": [{"memset": {"to": {"pointer": "y"}, "value": 0, "bytes": "N * 4"}}]}]}]})
    functions.append({"name": "columns", "dims": [{"name": "M"}, {"name": "N"}], "strides": [{"name": "sy"}], "args": [
        {"name": "x", "direction": "input", "kind": "tensor", "type": "u8", "shape": ["M", "N"]},
        {"name": "y", "direction": "output", "kind": "tensor", "type": "u8", "shape": ["M", "N"], "strides": [1, "sy"]}],
        "targets": [{"triple": "cuda", "arch": "sm_80", "images": [0], "variants": [
            {"steps": [{"memset": {"to": {"pointer": "y"}, "value": 0, "bytes": "sy * N"}}]}]}]})
    functions.append({"name": "split", "dims": [{"name": "N"}, {"name": "K"}], "args": [
        {"name": "x", "direction": "input", "kind": "tensor", "type": "f32", "shape": ["5 - 2 * (1 - N * K)"]},
        {"name": "y", "direction": "output", "kind": "tensor", "type": "f32", "shape": ["N", "K"]}],
        "targets": [{"triple": "cuda", "arch": "sm_80", "images": [0], "variants": [
            {"steps": [{"memset": {"to": {"pointer": "y"}, "value": 0, "bytes": "N * K * 4"}}]}]}]})
    functions.append({"name": "broken", "dims": [{"name": "N"}], "args": [
        {"name": "x", "direction": "input", "kind": "tensor", "type": "u8", "shape": ["N"]},
        {"name": "y", "direction": "output", "kind": "tensor", "type": "u8", "shape": ["N"]}],
        "targets": [{"triple": "cuda", "arch": "sm_80", "images": [0], "variants": [
            {"steps": [{"memset": {"to": {"pointer": "y"}, "value": 1, "bytes": "N + 1"}}]}]}]})
    package(P, functions, [("cuda", "sm_80", "ptx", b".version 7.0\n.target sm_80\n.address_size 64\n\0"), ("kc", "ir", "ir", b"module")])
    sim = ["--device", "cuda-sim"]

    def round_trip(name, f, array, kind=None, want=None, note=None):
        np.save(at("in.npy"), array)
        out = at("out.npy") + (":" + kind if kind else "")
        code, _, err = run(P, f, *sim, "--input", "x=" + at("in.npy"), "--output", "y=" + out)
        got = np.load(at("out.npy")) if code == 0 else None
        want = array if want is None else want
        same = code == 0 and got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
        test(name, same and (note is None or note in err), (code, err, got))

    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, 5)).astype(np.float32)
    round_trip("f32", "copy_f32", x)
    round_trip("fortran order", "copy_f32", np.asfortranarray(x), want=x)
    round_trip("big endian", "copy_f32", x.astype(">f4"), want=x)
    round_trip("big endian fortran i64", "copy_i64", np.asfortranarray(np.arange(12).reshape(3, 4).astype(">i8") - 5),
               want=np.arange(12).reshape(3, 4) - 5)
    round_trip("f64 rounds to f32 with a note", "copy_f32", x.astype(np.float64) + 1e-12, want=(x.astype(np.float64) + 1e-12).astype(np.float32), note="rounded to f32")
    round_trip("f32 widens to f64", "copy_f64", x, want=x.astype(np.float64))
    half = np.array([[1.0, 65504, 1e-7, np.inf, np.nan, -0.0, 2049, 2051]], dtype=np.float32)
    round_trip("f32 rounds to f16", "copy_f16", half, want=half.astype(np.float16), note="rounded")
    bits = rng.integers(0, 65536, (2, 9)).astype(np.uint16)
    round_trip("bf16 from u2 bits", "copy_bf16", bits, want=bits.view("V2"))
    round_trip("bf16 from V2 bits", "copy_bf16", bits.view("V2"))
    finite = (bits & 0xbfff)
    as32 = (finite.astype(np.uint32) << 16).view(np.float32)
    round_trip("bf16 out as f32", "copy_bf16", finite, kind="f32", want=as32)
    round_trip("f32 rounds to bf16", "copy_bf16", as32, want=finite.view("V2"), note="rounded to bf16")
    round_trip("i64 beyond 2^53", "copy_i64", np.array([[2**62 + 1, -2**63, 9007199254740993]]))
    round_trip("i64 narrows to i32 where it fits", "copy_i32", np.array([[-7, 2**31 - 1]]), want=np.array([[-7, 2**31 - 1]], dtype=np.int32))
    round_trip("bool", "copy_bool", np.array([[True, False, True]]))
    round_trip("u8", "copy_u8", np.arange(256, dtype=np.uint8).reshape(16, 16))
    round_trip("size 0", "copy_f32", np.zeros((0, 4), np.float32))
    round_trip("f16 out as f64", "copy_f16", half.astype(np.float16), kind="f64", want=half.astype(np.float16).astype(np.float64))
    eight = np.arange(256, dtype=np.uint8).reshape(2, 128)
    round_trip("f8e4m3 from u1 bits", "copy_f8e4m3", eight, want=eight.view("V1"))
    round_trip("f8e5m2 from V1 bits", "copy_f8e5m2", eight.view("V1"), want=eight.view("V1"))
    odd = np.array([[0.3, 448, 1e6, -np.inf, np.nan, -0.0, 2.0**-10]], np.float32)
    round_trip("f32 rounds to f8e4m3", "copy_f8e4m3", odd, kind="f32", want=np.array([[0.3125, 448, 448, -448, np.nan, -0.0, 0]], np.float32), note="rounded")
    round_trip("an infinity that f8e5m2 has", "copy_f8e5m2", odd, kind="f32", want=np.array([[0.3125, 448, 57344, -np.inf, np.nan, -0.0, 2.0**-10]], np.float32))
    round_trip("f32 rounds to f8e8m0", "copy_f8e8m0", odd, kind="f32", want=np.array([[0.25, 512, 2.0**20, np.nan, np.nan, 2.0**-127, 2.0**-10]], np.float32))
    round_trip("i4, two a byte", "copy_i4", eight, want=eight)
    round_trip("f4e2m1, two a byte", "copy_f4e2m1", eight.view("V1"), want=eight)
    nibbles = np.array([[-8, 7, 3, -1, 0, 1], [2, 4, -5, 5, -2, 6]])
    packed = ((nibbles[:, ::2] & 15) | (nibbles[:, 1::2] & 15) << 4).astype(np.uint8)
    round_trip("i4 from integers", "copy_i4", nibbles, want=packed)
    round_trip("i4 out as i8", "copy_i4", packed, kind="i8", want=nibbles.astype(np.int8))
    round_trip("f4e2m1 from f32", "copy_f4e2m1", np.array([[0.26, -7, 5, 2.5, 1.25, -0.25]], np.float32), kind="f32",
               want=np.array([[0.5, -6, 4, 2, 1, -0.0]], np.float32), note="rounded")
    round_trip("i4 of size 0", "copy_i4", np.zeros((3, 0), np.uint8))
    for version in [(2, 0), (3, 0)]:
        with open(at("v.npy"), "wb") as f:
            np.lib.format.write_array(f, x, version=version)
        code, _, err = run(P, "copy_f32", *sim, "--input", "x=" + at("v.npy"), "--output", "y=" + at("out.npy"))
        test("npy version %d" % version[0], code == 0 and np.array_equal(np.load(at("out.npy")), x), err)

    def fails(name, words, *args, code=1):
        c, out, err = run(*args)
        test(name, c == code and all(w in err for w in words) and err.startswith("kcrun: error: "), (c, out, err))

    np.save(at("x.npy"), x)
    X = "x=" + at("x.npy")
    np.save(at("big.npy"), np.array([[2**31]]))
    np.save(at("one.npy"), np.zeros(3, np.float32))
    fails("integer that does not fit", ["big.npy", "cannot"], P, "copy_i32", *sim, "--input", "x=" + at("big.npy"))
    fails("float file for an integer", ["f4", "i32"], P, "copy_i32", *sim, "--input", X)
    np.save(at("nine.npy"), np.full((2, 4), 9))
    fails("an integer that i4 cannot hold", ["nine.npy", "cannot"], P, "copy_i4", *sim, "--input", "x=" + at("nine.npy"))
    fails("4-bit elements along an odd axis", ["`x`", "i4[M, N]", "extent 3 on axis 1", "even"], P, "copy_i4", *sim, "--input", "x=4x3:ones")
    fails("4-bit elements with an odd stride", ["`x`", "stride 5 on axis 0", "even"], P, "strided_i4", *sim, "--input", "x=4x4:ones", "--dim", "ldx=5")
    fails("wrong rank", ["rank 1", "rank 2"], P, "copy_f32", *sim, "--input", "x=" + at("one.npy"))
    fails("missing input", ["`x`", "missing", "--input x=SPEC"], P, "copy_f32", *sim)
    fails("unknown input", ["--input z", "no input"], P, "copy_f32", *sim, "--input", "z=1", "--input", X)
    fails("unknown output", ["--output x", "no output"], P, "copy_f32", *sim, "--input", X, "--output", "x=" + at("o.npy"))
    fails("unknown function", ["nope", "copy_f32"], P, "nope", *sim)
    fails("unknown output type", ["f99"], P, "copy_f32", *sim, "--input", X, "--output", "y=" + at("o.npy") + ":f99")
    fails("missing file", ["none.npy", "No such file"], P, "copy_f32", *sim, "--input", "x=" + at("none.npy"))
    fails("missing package", ["none.kcb", "No such file"], at("none.kcb"), "f", *sim)
    fails("bad spec", ["4y5:normal"], P, "copy_f32", *sim, "--input", "x=4y5:normal")
    fails("bad device", ["quda", "cuda-sim"], P, "copy_f32", "--device", "quda", "--input", X)
    fails("dim that nothing gives", ["Give --dim M=VALUE --dim N=VALUE, or", "depends on"], P, "copy_f32", *sim, "--input", "x=normal")
    fails("unknown dim", ["--dim Q"], P, "copy_f32", *sim, "--input", X, "--dim", "Q=3")
    fails("dim that disagrees", ["--input x", "extent 3", "make it 4"], P, "copy_f32", *sim, "--input", X, "--dim", "M=4")
    fails("write outside", ["wrote outside `y`"], P, "broken", *sim, "--input", "x=5:zeros")
    fails("no usage", ["usage:"], code=2)
    fails("unknown option", ["--frob", "usage:"], P, "copy_f32", "--frob", code=2)
    fails("option without value", ["missing", "--device"], P, "copy_f32", "--device", code=2)
    fails("seed that is none", ["--seed"], P, "copy_f32", "--seed", "x", code=2)
    fails("counters of no simulator", ["counts nothing"], P, "copy_f32", *sim, "--input", X, "--counters", at("c.json"))
    fails("output into no directory", ["no/such"], P, "copy_f32", *sim, "--input", X, "--output", "y=" + at("no/such/o.npy"))
    for n in range(0, os.path.getsize(at("x.npy")), 7):
        with open(at("x.npy"), "rb") as f, open(at("cut.npy"), "wb") as g:
            g.write(f.read()[:n])
        c, _, err = run(P, "copy_f32", *sim, "--input", "x=" + at("cut.npy"))
        if c != 1 or "cut.npy" not in err:
            test("file cut at %d" % n, False, (c, err))
            break
    else:
        test("files cut anywhere", True)
    test("nothing is left behind", not [f for f in os.listdir(WORK) if "XXXX" in f or f.count(".npy.")], os.listdir(WORK))

    def checksum(*args):
        c, out, err = run(P, "copy_f32", *sim, *args)
        return out.split("checksum ")[1].split()[0] if c == 0 else err

    a = checksum("--input", "x=64x64:normal", "--seed", "1")
    test("fills repeat with their seed", a == checksum("--input", "x=64x64:normal", "--seed", "1") != checksum("--input", "x=64x64:normal", "--seed", "2"))
    test("fill with the shape from dims", a == checksum("--input", "x=normal", "--seed", "1", "--dim", "M=64", "--dim", "N=64"))
    run(P, "copy_f32", *sim, "--input", "x=1000x100:normal", "--output", "y=" + at("n.npy"))
    n = np.load(at("n.npy"))
    test("normal has mean 0 and deviation 1", abs(n.mean()) < 0.02 and abs(n.std() - 1) < 0.02, (n.mean(), n.std()))
    c, out, err = run(P, "copy_i32", *sim, "--input", "x=2x3:arange", "--json")
    test("json", c == 0 and json.loads(out)["outputs"][0]["shape"] == [2, 3] and json.loads(out)["outputs"][0]["max"] == 5, (out, err))
    c, out, err = run(P, "scalars", *sim, "--input", "a=2.5", "--dim", "N=4")
    test("scalar, and a dim of an output alone", c == 0 and "y: f32[4]" in out and "min 0 max 0" in out, (out, err))
    c, out, err = run(P, "strided_f32", *sim, "--input", X, "--dim", "ldx=9", "--output", "y=" + at("s.npy"))
    test("strides", c == 0 and np.array_equal(np.load(at("s.npy")), x), (out, err))
    np.save(at("packed.npy"), packed)
    c, out, err = run(P, "strided_i4", *sim, "--input", "x=" + at("packed.npy"), "--dim", "ldx=8", "--output", "y=" + at("s.npy"))
    test("strides of 4-bit elements", c == 0 and np.array_equal(np.load(at("s.npy")), packed), (out, err))
    c, out, err = run(P, "copy_i4", *sim, "--input", "x=1000x100:uniform", "--output", "y=" + at("u.npy") + ":i8")
    counts = np.bincount(np.load(at("u.npy")).ravel().astype(int) + 8, minlength=16)
    test("uniform i4", c == 0 and "min -8 max 7" in out and len(counts) == 16 and counts.min() > 5000, (out, err, counts))
    c, out, err = run(P, "copy_f8e8m0", *sim, "--input", "x=100x100:normal")
    test("f8e8m0 takes absolute values", c == 0 and "nan" not in out, (out, err))
    c, out, err = run(P, "copy_f32", "--input", X, env={"KCRT_CUDA_SIM": null})
    test("the simulator of the first image is the default", c == 0, err)
    for arguments, shape in ((["N=3"], "3, 4"), (["K=6"], "2, 6")):
        c, out, err = run(P, "split", *sim, "--input", "x=27:ones", "--dim", *arguments)
        test("a dim solved from the other, %s" % arguments[0], c == 0 and "y: f32[%s]" % shape in out, (c, out, err))
    fails("a stride that makes elements overlap", ["overlap", "note", "sy was taken as 1", "--dim sy=VALUE"], P, "columns", *sim, "--input", "x=3x4:ones")
    c, out, err = run(P, "columns", *sim, "--input", "x=3x4:ones", "--dim", "sy=3")
    test("a stride that is given", c == 0 and "max 0" in out, (c, out, err))
    fails("a dim that no integer solves", ["--dim K=VALUE"], P, "split", *sim, "--input", "x=28:ones", "--dim", "N=3")
    for kind, text in (("i32", "3000000000"), ("i32", "2147483648"), ("u8", "256"), ("u8", "-1"), ("bool", "2"), ("i64", "9223372036854775808"), ("i32", "1.5"), ("i32", "nan")):
        fails("%s does not fit %s" % (text, kind), ["--input x", kind], P, "copy_" + kind, *sim, "--input", "x=1x1:" + text)
    for kind, text, value in (("i32", "-2147483648", "-2.14748365e+09"), ("u8", "255", "255"), ("i32", "1e3", "1000"), ("f32", "inf", "inf")):
        c, out, err = run(P, "copy_" + kind, *sim, "--input", "x=1x1:" + text)
        test("%s fits %s" % (text, kind), c == 0 and "min %s " % value in out, (c, out, err))
    fails("a number beyond f64", ["1e400", "f64"], P, "copy_f32", *sim, "--input", "x=1x1:1e400")
    c, out, err = run(P, "copy_f32", *sim, "--input", "x=1x1:-nan")
    test("a nan has no sign", c == 0 and "mean nan" in out, (c, out, err))
    c, out, err = run("--help")
    test("help", c == 0 and out.startswith("usage: kcrun OUT.kcb FUNCTION") and not err, (c, out, err))
    os.symlink("/dev/zero", at("endless.npy"))
    fails("an endless file", ["endless.npy", "not a .npy file"], P, "copy_f32", *sim, "--input", "x=" + at("endless.npy"))
    fails("an endless package", ["/dev/zero is too large"], "/dev/zero", "copy_f32", *sim)
    os.mkfifo(at("pipe.npy"))
    reader = subprocess.Popen(["cat", at("pipe.npy")], stdout=subprocess.PIPE)
    c, out, err = run(P, "copy_f32", *sim, "--input", "x=1x1:ones", "--output", "y=" + at("pipe.npy"))
    seen = reader.communicate(timeout=20)[0] if c == 0 else reader.kill()
    test("an output into a pipe", c == 0 and seen[:6] == b"\x93NUMPY" and stat.S_ISFIFO(os.stat(at("pipe.npy")).st_mode), (c, err, seen))
    os.symlink("/dev/null", at("report"))
    c, out, err = run(P, "copy_f32", *sim, "--input", "x=1x1:ones", env={"KCSIM_REPORT": at("report")})
    test("a simulator's report into a device", c == 0 and os.path.islink(at("report")), (c, err))
    os.mkfifo(at("unread"))
    c, out, err = run(P, "copy_f32", *sim, "--input", "x=1x1:ones", env={"KCSIM_REPORT": at("unread")})
    test("a simulator's report into a pipe that nobody reads", c == 0 and stat.S_ISFIFO(os.stat(at("unread")).st_mode), (c, err))
    checks(P, sim, X)
    before = os.stat(at("s.npy")).st_mtime_ns
    c, _, _ = run(P, "broken", *sim, "--input", "x=5:zeros", "--output", "y=" + at("s.npy"))
    test("a failed run leaves the old output", c == 1 and os.stat(at("s.npy")).st_mtime_ns == before)
    sys.exit(failures > 0)


main()
