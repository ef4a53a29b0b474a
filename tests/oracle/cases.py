"""The data files: data/NAME.yaml, a model that `kc build` takes as it is (but for the functions of refused.txt), and
data/NAME.npz, its cases.

A case gives values to the inputs of one function and says what its outputs must be:
    {"f": function, "t": tag, "i": {input: argument}, "o": {output: argument}, "d": {dimension: value}, "n": [sizes]}
With "n" it stands for a case a size, each of the first n elements (rows) of everything.
An argument is {"type": T, "a": array}, for tensors with "strides" (elements) and "offset" (elements before the first one) where they
are not contiguous. An output has its rule in addition; compare.py says what they mean:
    {"rule": "exact", "open": mask?, "unsigned_zero": bool?}   {"rule": "ulp", "ulps": K, "low": array?}   {"rule": "bound", "bound": array or number}
An array is [storage, start, shape] into the one array of that storage in the file; equal arrays are stored once.
"""

import json, os, zipfile
import numpy as np
import elements

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


class Writer:
    def __init__(self, name):
        self.name, self.functions, self.texts, self.cases = name, {}, [], []
        self.chunks, self.lengths, self.known = {}, {}, {}

    def array(self, a):
        a = np.ascontiguousarray(a).reshape(np.shape(a))
        kind = a.dtype.str.lstrip("<|=")
        key = (kind, a.shape, a.tobytes())
        if key not in self.known:
            start = self.lengths.get(kind, 0)
            self.chunks.setdefault(kind, []).append(a.reshape(-1))
            self.lengths[kind] = start + a.size
            self.known[key] = [kind, start, list(a.shape)]
        return self.known[key]

    def function(self, name, inputs, outputs, body, dims=None, free=()):
        """inputs, outputs: {name: "f32[N]" or ("f32[M, N]", "[ld, 1]")}; free: dimensions that the caller passes, in order."""
        assert name not in self.functions, name
        lines = [f"  {name}:"] + ([f"    dims: {dims}"] if dims else [])
        for key, arguments in (("inputs", inputs), ("outputs", outputs)):
            lines.append(f"    {key}:" if arguments else f"    {key}: {{}}")
            for n, t in arguments.items():
                lines.append(f"      {n}: {t}" if isinstance(t, str) else f'      {n}: {{type: "{t[0]}", strides: {t[1]}}}')
        lines += ["    body: |"] + ["      " + line for line in body.strip("\n").split("\n")]
        self.texts.append("\n".join(lines))
        self.functions[name] = {"inputs": list(inputs), "outputs": list(outputs), "free": list(free)}

    def case(self, function, tag, inputs, outputs, dims=None, sizes=None):
        """inputs: {name: argument()}; outputs: {name: want()}."""
        f = self.functions[function]
        assert list(inputs) == f["inputs"] and list(outputs) == f["outputs"], (function, list(inputs), list(outputs))
        c = {
            "f": function,
            "t": tag,
            "i": {n: self.stored(x) for n, x in inputs.items()},
            "o": {n: self.stored(x) for n, x in outputs.items()},
        }
        self.cases.append(c | ({"d": dims} if dims else {}) | ({"n": list(sizes)} if sizes else {}))

    def stored(self, argument):
        return {k: self.array(v) if isinstance(v, (np.ndarray, np.generic)) else v for k, v in argument.items()}

    def save(self):
        head = f"# Made by tests/oracle/generate.py.\nkc: 1\nmodule: {self.name}\nfunctions:\n"
        with open(f"{DATA}/{self.name}.yaml", "w") as f:
            f.write(head + "\n".join(self.texts) + "\n")
        meta = json.dumps({"functions": self.functions, "cases": self.cases}, separators=(",", ":"))
        arrays = {k: np.concatenate(v) for k, v in sorted(self.chunks.items())}
        arrays["meta"] = np.frombuffer(meta.encode(), np.uint8)
        with zipfile.ZipFile(f"{DATA}/{self.name}.npz", "w", zipfile.ZIP_LZMA) as z:
            for n, a in arrays.items():
                member = zipfile.ZipInfo(n + ".npy")  # of a fixed date: the same cases give the same bytes
                member.compress_type = zipfile.ZIP_LZMA
                with z.open(member, "w") as f:
                    np.lib.format.write_array(f, a, version=(1, 0), allow_pickle=False)


class Reader:
    def __init__(self, name):
        with np.load(f"{DATA}/{name}.npz") as z:
            self.arrays = {k: z[k] for k in z.files}
        meta = json.loads(self.arrays.pop("meta").tobytes())
        self.name, self.functions, self.cases = name, meta["functions"], meta["cases"]
        with open(f"{DATA}/{name}.yaml") as f:
            self.texts = split_functions(f.read())

    def array(self, reference):
        kind, start, shape = reference
        count = int(np.prod(shape, dtype=np.int64))
        return self.arrays[kind][start : start + count].reshape(shape)

    def argument(self, stored, n=None):
        """With arrays in place of references, cut to the first n."""
        a = {k: self.array(v) if isinstance(v, list) and k not in ("strides",) else v for k, v in stored.items()}
        if n is not None:
            a = {k: v[:n] if isinstance(v, np.ndarray) and v.ndim else v for k, v in a.items()}
        return a

    def expanded(self):
        """(function, tag, inputs, outputs, dims) of every case."""
        for c in self.cases:
            for n in c.get("n", [None]):
                tag = c["t"] + (f" n={n}" if n is not None else "")
                yield (
                    c["f"],
                    tag,
                    {k: self.argument(v, n) for k, v in c["i"].items()},
                    {k: self.argument(v, n) for k, v in c["o"].items()},
                    c.get("d", {}),
                )


def split_functions(text):
    """{name: its lines}, of a model as Writer makes it."""
    found, name = {}, None
    for line in text.split("functions:\n", 1)[1].splitlines():
        if line[:2] == "  " and line[2] != " ":
            name = line.strip().rstrip(":")
            found[name] = []
        found[name].append(line)
    return found


# ---- arguments


def argument(t, stored, strides=None, offset=0):
    """A tensor, or for rank 0 a scalar; `stored` in the type's storage."""
    stored = np.asarray(stored, elements.storage(t))
    a = {"type": t, "a": stored}
    if strides is not None:
        a["strides"] = [int(s) for s in strides]
    if offset:
        a["offset"] = offset
    return a


def exact(t, stored, open_=None, unsigned_zero=False, **layout):
    """Bit for bit; where `open_` is true anything is right."""
    a = argument(t, stored, **layout) | {"rule": "exact"}
    if open_ is not None and np.any(open_):
        a["open"] = np.broadcast_to(open_, a["a"].shape).astype(bool)
    return a | ({"unsigned_zero": True} if unsigned_zero else {})


def ulps(t, want, k, low=None, compute=None):
    """Within k ulp of the exact value, want + low ulps of f64."""
    a = {"type": t, "a": trimmed(want, t), "rule": "ulp", "ulps": k, "compute": compute or elements.compute_type(t)}
    if low is not None and np.any(low):
        a["low"] = np.asarray(low, np.float16)
    return a


def bound(t, want, allowed, **layout):
    """Within `allowed` of want, and half an ulp of t more where the computation is in a wider type."""
    want, kept = np.asarray(want), trimmed(want, t)
    with np.errstate(all="ignore"):
        cut = np.abs(want - kept).astype(np.float64)  # what the stored value lacks
        allowed = np.asarray(allowed, np.float64) + np.where(np.isfinite(cut), cut, 0)
    rounded = allowed.astype(np.float32)
    rounded = np.where(rounded < allowed, np.nextafter(rounded, np.float32(np.inf)), rounded).astype(np.float32)
    a = {"type": t, "a": kept, "rule": "bound", "bound": np.ascontiguousarray(np.broadcast_to(rounded, want.shape))}
    for k, v in layout.items():
        a[k] = [int(s) for s in v] if k == "strides" else v
    return a


def trimmed(want, t):
    """Values for f32 and less with 42 significant bits: enough, and they pack better. Cut off, so that they keep their binade."""
    want = np.asarray(want)
    if t == "f64":
        return want.astype(np.float64)
    want = want.astype(np.float64)
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(want)
        short = np.ldexp(np.trunc(np.ldexp(fraction, 42)), exponent - 42)
    return np.where(np.isfinite(want), short, want).reshape(want.shape)
