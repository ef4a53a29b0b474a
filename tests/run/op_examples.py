"""Every example of compiler/frontend/op_examples.txt gives the values that stand there, on the reference and on a simulated GPU.

The types of outputs are those that the statements have: an output would round silently. The comparison is itself tested: each
printed value, changed in its last digit, must be refused.
"""
import re, subprocess
from decimal import Decimal

import numpy as np
from kctest import BUILD, DEVICE, SEEDS, TARGET, WORK, Model, finish, test

PATH = "compiler/frontend/op_examples.txt"
DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1", "bool": "?"}
CONVERTED = {"i4": "i1"}  # types that .npy lacks: what they travel in, f32 for all others
ROUNDED = 6  # significant digits from which a printed value is rounded


class Tensor:
    def __init__(self, line):
        name, dtype, shape, values = re.fullmatch(r"(\w+): (\w+)(\[.*\])? = (.*)", line).groups()
        self.name, self.dtype, self.type = name, dtype, dtype + (shape or "")
        self.scalar = not shape
        self.tokens = re.findall(r"[^\[\], ]+", values)
        extents = (shape or "[]")[1:-1].replace(" ", "").split(",")
        self.shape = tuple(map(int, extents)) if shape and all(e.isdigit() for e in extents) else shape_of(values)


def shape_of(values):
    """Extents of nested lists, from their text."""
    nested = eval(re.sub(r"[^\[\], ]+", "0", values), {})
    return np.array(nested, dtype="f8").shape


def number(token):
    return {"true": 1.0, "false": 0.0}[token] if token in ("true", "false") else float(token)


def array(tensor):
    values = [int(t) if tensor.dtype[0] in "iu" else number(t) for t in tensor.tokens]
    dtype = DTYPES.get(tensor.dtype) or CONVERTED.get(tensor.dtype, "f4")
    return np.array(values, dtype=dtype).reshape(tensor.shape)


def digits(token):
    return len(re.sub(r"e.*|[-.]", "", token).lstrip("0"))


def wrong(token, got):
    """'' or what is wrong with one value."""
    want, value = number(token), float(got)
    if np.isfinite(want) and np.isfinite(value) and want and digits(token) >= ROUNDED and got.dtype.kind == "f":
        printed = Decimal(token)
        half = Decimal((0, (1,), printed.as_tuple().exponent)) / 2
        same = abs(Decimal(value) - printed) <= half
    elif got.dtype.kind == "f":
        same = np.isnan(value) and np.isnan(want) or value == want and np.signbit(value) == np.signbit(want)
    else:
        same = int(got) == (int(token) if got.dtype.kind in "iu" else want)
    return "" if same else f"{got!r}, expected {token}"


def differences(tensor, got):
    if got.shape != tensor.shape:
        return [f"{tensor.name}: shape {got.shape}, expected {tensor.shape}"]
    found = [wrong(token, value) for token, value in zip(tensor.tokens, got.reshape(-1))]
    return [f"{tensor.name}[{i}]: {text}" for i, text in enumerate(found) if text]


def changed(token):
    """Another value that looks almost like this one."""
    if token in ("nan", "inf", "-inf", "true", "false"):
        return {"nan": "0", "inf": "-inf", "-inf": "inf", "true": "false", "false": "true"}[token]
    at = max(i for i, c in enumerate(re.sub(r"e.*", "", token)) if c.isdigit())
    return token[:at] + str((int(token[at]) + 1) % 10) + token[at + 1 :]


def notices(tensor, got):
    """Whether each value of an output that is right would be missed if it were printed otherwise."""
    values = got.reshape(-1)
    return all(wrong(changed(token), value) for token, value in zip(tensor.tokens, values))


class Example:
    def __init__(self, heading, lines):
        self.heading = heading
        is_statement = [re.match(r"\w+ = ", line) is not None for line in lines]
        first, last = is_statement.index(True), len(lines) - is_statement[::-1].index(True)
        self.inputs = [Tensor(line) for line in lines[:first]]
        self.body = lines[first:last]
        self.outputs = [Tensor(line) for line in lines[last:]]

    def function(self):
        text = "inputs:\n" + "".join(f"  {t.name}: {t.type}\n" for t in self.inputs) if self.inputs else ""
        text += "outputs:\n" + "".join(f"  {t.name}: {t.type}\n" for t in self.outputs)
        return text + "body: |\n" + "".join(f"  {line}\n" for line in self.body)

    def run(self, model, name, device):
        inputs = {t.name: str(array(t).item()) if t.scalar else array(t) for t in self.inputs}
        outputs = {t.name: "" if t.dtype in DTYPES else ":f32" for t in self.outputs}
        got = model.run(name, inputs, outputs, device=device)
        if got is None:
            return [model.message.strip()[:300]], None
        return [d for t, g in zip(self.outputs, got) for d in differences(t, g)], got


def read():
    examples, heading, lines = [], None, []
    for line in open(PATH).read().split("\n") + ["end"]:
        if line.startswith("#") or not line:
            continue
        if line.startswith(" "):
            lines.append(line.strip())
            continue
        if heading:
            examples.append(Example(heading, lines))
        heading, lines = line, []
    return examples


def returned():
    """{function: the names of what it returns}: a conversion at an output has a number for a name."""
    path = f"{WORK}/op_examples.ir"
    subprocess.run([f"{BUILD}/bin/kc", "build", f"{WORK}/op_examples.yaml", "--target", TARGET, "--emit", "tensor", "-o", path], check=True)
    functions = re.findall(r"^func @(\w+).*?^  return (.*?) @", open(path).read(), re.M | re.S)
    return {name: values.replace("%", "").split(", ") for name, values in functions}


examples = read()
model = Model({f"e{i}": example.function() for i, example in enumerate(examples)}, module="op_examples")
names = returned()
for i, example in enumerate(examples):
    want = [t.name for t in example.outputs]
    test(f"example {i} {example.heading} types", names[f"e{i}"] == want, f"outputs are converted: {names[f'e{i}']}")
    for device in ("ref", DEVICE) if SEEDS == 1 else (DEVICE,):
        bad, got = example.run(model, f"e{i}", device)
        test(f"example {i} {example.heading} on {device}", not bad, "; ".join(bad))
    if not bad:
        test(f"example {i} {example.heading} can fail", all(notices(t, g) for t, g in zip(example.outputs, got)))
finish()
