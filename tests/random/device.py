"""libkcrt in this process: functions of a package run on a device, with hostile memory around every argument.

Every argument lies in a buffer of its own whose bytes are a NaN of every float type: before it, behind it, in the gaps of
its strides, and, of outputs, in the elements too. After a run whatever is not an element of an output must be as it was.
Layouts are `tight`, so that the simulator sees a step outside as one outside of the allocation, or `banded`; both may start
some elements off the alignment that allocations have.
"""
import ctypes as c, os
import numpy as np

PATTERN, BAND, MOST_RANK = 0xFF, 256, 8
STORAGE = {"f64": "<u8", "f32": "<u4", "f16": "<u2", "bf16": "<u2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "i1", "u8": "u1", "bool": "u1"}
PACKED = ("f4e2m1", "i4")  # two a byte, low nibble first; the other types that are missing above have a byte


class Failure(Exception):
    """A call that failed or bytes that changed: kind and message."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind, self.message = kind, message


class DLDevice(c.Structure):
    _fields_ = [("type", c.c_int), ("id", c.c_int32)]


class DLDataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", DLDevice), ("ndim", c.c_int32), ("dtype", DLDataType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Place(c.Structure):
    _fields_ = [("device", c.c_void_p), ("base", c.c_void_p), ("offset", c.c_size_t)]


class ArgInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_char_p), ("dtype", DLDataType), ("is_scalar", c.c_int), ("is_output", c.c_int),
                ("rank", c.c_int), ("has_strides", c.c_int), ("alias", c.c_char_p), ("is_inout", c.c_int)]


class SymbolInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("is_stride", c.c_int), ("is_passed", c.c_int), ("min", c.c_int64), ("max", c.c_int64), ("multiple_of", c.c_int64)]


class Runtime:
    """The libraries of a build folder."""

    def __init__(self, build):
        os.environ["KCRT_CUDA_SIM"] = f"{build}/lib/libkcsim_cuda.so"
        os.environ["KCRT_REF"] = f"{build}/lib/libkcrt_ref.so"
        self.lib, self.sim = c.CDLL(f"{build}/lib/libkcrt.so"), c.CDLL(f"{build}/lib/libkcsim_cuda.so")
        self.lib.kcrt_last_error.restype = c.c_char_p
        self.lib.kcrt_function_device.restype = DLDevice
        self.lib.kcrt_copy.argtypes = [Place, Place, c.c_size_t, c.c_void_p]
        self.devices = {}

    def seed(self, seed): self.sim.kcsim_set_seed(c.c_uint64(seed))

    def call(self, name, *args):
        if getattr(self.lib, name)(*args):
            raise Failure("run", f"{name}: {self.lib.kcrt_last_error().decode(errors='replace')}")

    def device(self, name):
        if name not in self.devices:
            handle = c.c_void_p()
            self.call("kcrt_device_open", name.encode(), c.byref(handle))
            self.devices[name] = handle
        return self.devices[name]

    def load(self, device, path):
        module = c.c_void_p()
        self.call("kcrt_module_load_file", self.device(device), os.fsencode(path), None, c.byref(module))
        return Module(self, self.device(device), module)


class Module:
    def __init__(self, runtime, device, handle):
        self.runtime, self.device, self.handle = runtime, device, handle

    def function(self, name): return Function(self, name)
    def unload(self): self.runtime.lib.kcrt_module_unload(self.handle)


class Layout:
    """How arguments lie: drawn from a random.Random, or the plainest."""

    def __init__(self, r=None):
        self.r = r
        self.band = BAND if r and r.random() < 0.5 else 0
        self.shares = bool(r) and r.random() < 0.5  # an output lies on the input that it may overlap

    def offset(self):
        return self.r.choice([0, 0, 1, 2, 3, 5]) if self.r and self.r.random() < 0.4 else 0


class Argument:
    """One tensor argument in a buffer: `image` is what the buffer should be, `index` where in it each element is."""

    def __init__(self, info, shape, strides, layout):
        self.info, self.shape, self.strides = info, shape, strides
        self.type = info.type.decode()
        self.storage, self.packed = np.dtype(STORAGE.get(self.type, "u1")), self.type in PACKED
        self.index = np.zeros(shape, np.int64)
        for axis, (extent, stride) in enumerate(zip(shape, strides)):
            self.index += (np.arange(extent, dtype=np.int64) * stride).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        span = int(self.index.max()) + 1 if self.index.size else 0
        self.bytes = (span + 1) // 2 if self.packed else span * self.storage.itemsize
        self.start = layout.band + (layout.offset() if span else 0) * self.storage.itemsize
        self.size = self.start + self.bytes + layout.band
        self.image = np.full(self.size, PATTERN, np.uint8)
        self.memory = None

    def get(self, image):
        """The elements, dense, of an image of the buffer."""
        inside = image[self.start:self.start + self.bytes]
        if not self.packed:
            return np.asarray(inside.view(self.storage)[self.index])
        codes = np.stack([inside & 15, inside >> 4], -1).reshape(-1)[self.index]
        return np.asarray(((codes ^ 8).astype(np.int8) - 8).astype(np.int8) if self.type == "i4" else codes)

    def put(self, dense):
        inside = self.image[self.start:self.start + self.bytes]
        if not self.packed:
            inside.view(self.storage)[self.index] = dense.view(self.storage)
            return
        codes = np.stack([inside & 15, inside >> 4], -1).reshape(-1)
        codes[self.index] = dense.astype(np.uint8) & 15
        inside[:] = codes[0::2] | codes[1::2] << 4


class Function:
    def __init__(self, module, name):
        self.module, self.runtime, self.handle = module, module.runtime, c.c_void_p()
        call, lib = self.runtime.call, self.runtime.lib
        call("kcrt_function_get", module.handle, name.encode(), c.byref(self.handle))
        self.infos = [ArgInfo() for _ in range(lib.kcrt_function_arg_count(self.handle))]
        self.symbols = [SymbolInfo() for _ in range(lib.kcrt_function_symbol_count(self.handle))]
        for i, info in enumerate(self.infos):
            call("kcrt_function_arg", self.handle, i, c.byref(info))
        for i, info in enumerate(self.symbols):
            call("kcrt_function_symbol", self.handle, i, c.byref(info))

    def tensor(self, info, shape, strides):
        rank = len(shape)
        return DLTensor(None, self.runtime.lib.kcrt_function_device(self.handle), rank, info.dtype,
                        (c.c_int64 * max(rank, 1))(*shape), (c.c_int64 * max(rank, 1))(*strides), 0)

    def solve(self, shapes, dims):
        """Shapes of all tensors, by the shapes of inputs and what is given by name."""
        n = max(len(self.symbols), 1)
        values, known = (c.c_int64 * n)(), (c.c_ubyte * n)()
        for i, s in enumerate(self.symbols):
            if s.name.decode() in dims:
                values[i], known[i] = dims[s.name.decode()], 1
        args = (c.c_void_p * len(self.infos))()
        kept = []
        for _ in range(2):  # the second time for stride names of outputs
            for i, info in enumerate(self.infos):
                name = info.name.decode()
                if info.is_scalar or name not in shapes:
                    continue
                dense = [1]
                for extent in shapes[name][:0:-1]:
                    dense.insert(0, dense[0] * max(extent, 1))
                kept.append(self.tensor(info, shapes[name], dense[:len(shapes[name])]))
                args[i] = c.addressof(kept[-1])
            self.runtime.call("kcrt_function_solve", self.handle, args, len(self.infos), values, known)
            shapes = {info.name.decode(): self.shape_of(i, values, known)[0] for i, info in enumerate(self.infos) if not info.is_scalar}
        return values, known

    def shape_of(self, i, values, known, with_strides=False):
        shape, strides = (c.c_int64 * MOST_RANK)(), (c.c_int64 * MOST_RANK)()
        self.runtime.call("kcrt_function_shape", self.handle, i, values, known, shape, strides if with_strides else None)
        rank = self.infos[i].rank
        return list(shape[:rank]), list(strides[:rank])

    def run(self, inputs, dims, layout, bounded=False):
        """inputs: {name: dense array, as stored}; the outputs alike. bounded, on `ref`: and {name: (values, bounds)}."""
        values, known = self.solve({n: a.shape for n, a in inputs.items()}, dims)
        places, pointers, kept = {}, [], []
        try:
            for i, info in enumerate(self.infos):
                name = info.name.decode()
                if info.is_scalar:
                    kept.append(np.ascontiguousarray(inputs[name]))
                    pointers.append(kept[-1].ctypes.data)
                    continue
                shape, strides = self.shape_of(i, values, known, True)
                if name in inputs and list(inputs[name].shape) != shape:
                    raise Failure("run", f"{name} has the shape {list(inputs[name].shape)}, the dimensions make it {shape}")
                place = places[name] = self.place(info, shape, strides, layout, places, inputs.get(name))
                kept.append(self.tensor(info, shape, strides))
                kept[-1].data, kept[-1].byte_offset = place.memory, place.start
                pointers.append(c.addressof(kept[-1]))
            for i, s in enumerate(self.symbols):
                if s.is_passed:
                    kept.append(c.c_int64(values[i]))
                    pointers.append(c.addressof(kept[-1]))
            found = self.launch(pointers, places, bounded)
            self.runtime.call("kcrt_device_sync", self.module.device)
            outputs = self.fetch(places)
            return (outputs, found) if bounded else outputs
        finally:
            for place in set(places.values()):
                self.runtime.lib.kcrt_free(self.module.device, c.c_void_p(place.memory))

    def place(self, info, shape, strides, layout, places, dense):
        if info.alias and layout.shares:
            return places[info.alias.decode()]
        place = Argument(info, shape, strides, layout)
        memory = c.c_void_p()
        self.runtime.call("kcrt_alloc", self.module.device, c.c_size_t(place.size), c.byref(memory))
        place.memory = memory.value
        if dense is not None:
            place.put(dense)
        if place.size:
            self.copy(place, to_device=True)
        return place

    def copy(self, place, to_device):
        host = place.image if to_device else np.empty(place.size, np.uint8)
        there, here = Place(self.module.device, place.memory, 0), Place(None, host.ctypes.data, 0)
        self.runtime.call("kcrt_copy", *((there, here) if to_device else (here, there)), place.size, None)
        return host

    def launch(self, pointers, places, bounded):
        args = (c.c_void_p * max(len(pointers), 1))(*pointers)
        if not bounded:
            self.runtime.call("kcrt_launch", self.handle, None, args, len(pointers), None, c.c_size_t(0))
            return None
        found, lists = {}, [(c.c_void_p * len(self.infos))() for _ in range(2)]
        for i, info in enumerate(self.infos):
            if info.is_output:
                place = places[info.name.decode()]
                found[info.name.decode()] = pair = [np.zeros(place.shape, np.float64) for _ in range(2)]
                lists[0][i], lists[1][i] = pair[0].ctypes.data, pair[1].ctypes.data
        self.runtime.call("kcrt_launch_bounded", self.handle, None, args, len(pointers), *lists)
        return found

    def fetch(self, places):
        outputs, seen = {}, {}
        for info in self.infos:
            if info.is_scalar:
                continue
            name = info.name.decode()
            place = places[name]
            if id(place) not in seen:
                seen[id(place)] = self.copy(place, to_device=False) if place.size else place.image
            if info.is_output:
                outputs[name] = place.get(seen[id(place)])
                place.put(outputs[name])
        for name, place in places.items():
            changed = np.flatnonzero(place.image != seen[id(place)])
            if len(changed):
                raise Failure("memory", f"byte {changed[0] - place.start} of {name}, which is no element of an output, changed "
                              f"({len(changed)} bytes did; the argument has {place.bytes}, its buffer {place.size})")
        return outputs
