"""What a test of a kernel is: steps on one module, the arguments of its launches, what must come back.

    @case("blocks", seeds=3)
    def block_scan(r):
        x = r.integers(-9, 9, 256).astype(np.int32)
        return [Launch("block_scan", 1, 256, [In(x), Out(np.cumsum(x)), np.int32(256)], shared=2048)]
"""
import ctypes as c
import numpy as np

cases = []  # (file, name, generator, architectures or None: all there is PTX for)


def case(file, archs=None):
    def keep(make):
        cases.append((file, make.__name__, make, archs))
        return make

    return keep


def launched(name):
    """The kernels of a case: bump__variables launches two."""
    return name.split("__")


def per_element(size):
    return (size, 1, 1) if isinstance(size, int) else tuple(size) + (1,) * (3 - len(size))


class Launch:
    def __init__(self, kernel, grid, block, args, shared=0, cooperative=False):
        self.kernel, self.grid, self.block, self.shared = kernel, per_element(grid), per_element(block), shared
        self.cooperative = cooperative
        self.args = args


class Chain:
    """Launches one behind the other, each of which need not wait for the end of the one in front. What several have is one array."""

    def __init__(self, *launches):
        self.launches = launches


class Set:
    """Writes a variable of the module."""

    def __init__(self, symbol, array):
        self.symbol, self.array = symbol, array


class In:
    def __init__(self, array):
        self.array, self.start = np.ascontiguousarray(array), array


class Out:
    """`want` in any precision; what comes back has `dtype` and may differ by rel * |want| + abs. With bf16=True it is
    uint16 and read as that. `check(got)` says '' or what is wrong, for answers that are not unique. `start`: what is
    there before; else it is undefined."""

    def __init__(self, want=None, dtype=None, rel=0.0, abs=0.0, start=None, check=None, read=None):
        self.want, self.rel, self.abs, self.start, self.check, self.read = want, rel, abs, start, check, read
        like = np.asarray(start if start is not None else want)
        self.array = np.zeros(like.shape, dtype or like.dtype)

    def wrong(self):
        got = self.array if self.read is None else self.read(self.array)
        if self.check:
            return self.check(got)
        want = np.asarray(self.want)
        if got.dtype.kind not in "fc":
            bad = got != want.astype(got.dtype)
        elif self.rel == self.abs == 0:  # bit for bit, but for the payloads of NaN
            both = want.astype(got.dtype)
            bad = (got != both) & ~(np.isnan(got) & np.isnan(both)) | (np.signbit(got) != np.signbit(both)) & (got == both)
        else:
            with np.errstate(all="ignore"):
                near = np.abs(got.astype(np.float64) - want) <= self.rel * np.abs(want) + self.abs
                bad = ~(near | (got == want) | (np.isnan(got) & np.isnan(want)))
        if not bad.any():
            return ""
        at = tuple(np.argwhere(bad)[0])
        return f"{bad.sum()} of {bad.size} wrong, first {[int(i) for i in at]}: {got[at]!r}, expected {np.asarray(want)[at]!r}"


class Map:
    """A tensor map of an In or Out of f16, as sim.tensor_map makes it."""

    def __init__(self, of, box, swizzle):
        self.of, self.box, self.swizzle = of, box, swizzle


def parameter(arg, device):
    """A ctypes value; arrays are placed in the device's memory."""
    if isinstance(arg, (In, Out)):
        address = device.place(arg.array)
        if arg.start is not None:
            device.write(address, np.asarray(arg.start).astype(arg.array.dtype))
        arg.address = address
        return address
    if isinstance(arg, Map):
        return device.tensor_map(parameter(arg.of, device), arg.of.array.shape, arg.box, arg.swizzle)
    raw = arg if isinstance(arg, bytes) else np.asarray(arg).tobytes()
    return c.create_string_buffer(raw, len(raw))


def run_chain(chain, device):
    placed = {}
    for arg in (a for step in chain.launches for a in step.args):
        if id(arg) not in placed:
            placed[id(arg)] = parameter(arg, device)
    for i, step in enumerate(chain.launches):
        device.launch(step.kernel, step.grid, step.block, step.shared, [placed[id(arg)] for arg in step.args], early=i > 0,
                      wait=i + 1 == len(chain.launches))
    return outputs([(step.kernel, i, arg) for step in chain.launches for i, arg in enumerate(step.args)], device)


def outputs(args, device):
    for kernel, i, arg in args:
        if isinstance(arg, Out):
            device.read(arg.address, arg.array)
            wrong = arg.wrong()
            if wrong:
                return f"{kernel}, argument {i}: {wrong}"
    device.free()
    return ""


def run(step, device):
    """'' or what is wrong."""
    if isinstance(step, Chain):
        return run_chain(step, device)
    if isinstance(step, Set):
        device.write(device.symbol(step.symbol, step.array), step.array)
        return ""
    device.launch(step.kernel, step.grid, step.block, step.shared, [parameter(a, device) for a in step.args], step.cooperative)
    return outputs([(step.kernel, i, a.of if isinstance(a, Map) else a) for i, a in enumerate(step.args)], device)
