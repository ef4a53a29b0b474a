"""The simulator, or a GPU, through the CUDA driver interface, by ctypes: devices, modules, memory, launches, findings."""
import ctypes as c, json
import numpy as np

JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6
MAX_DYNAMIC_SHARED = 8
TENSOR_MAP_F16 = 6
CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76


class Refused(Exception):
    """The module was not loaded: the simulator's message."""


class Failed(Exception):
    """A call of the driver."""


class Value(c.Union):
    _fields_ = [("pad", c.c_char * 64), ("flag", c.c_int)]


class Attribute(c.Structure):
    _fields_ = [("id", c.c_int), ("pad", c.c_int), ("value", Value)]


class Config(c.Structure):
    _fields_ = [("sizes", c.c_uint * 7), ("stream", c.c_void_p), ("attributes", c.POINTER(Attribute)), ("count", c.c_uint)]


PROGRAMMATIC_STREAM_SERIALIZATION = 6


class Driver:
    def __init__(self, library, is_gpu=False):
        self.lib, self.is_gpu = c.CDLL(library), is_gpu
        if not is_gpu:
            self.lib.kcsim_report_json.restype = self.lib.kcsim_fault_text.restype = c.c_void_p
            self.lib.kcsim_set_seed.argtypes = [c.c_uint64]
        self.call("cuInit", 0)

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            text = c.c_char_p()
            self.lib.cuGetErrorName(status, c.byref(text))
            raise Failed(f"{name}: {text.value.decode() if text.value else status}")

    def set_seed(self, seed):
        if not self.is_gpu:
            self.lib.kcsim_set_seed(seed)

    def takes(self, arch):
        """A GPU runs what is made for it or, without suffix, for an older one. The simulator has them all."""
        if not self.is_gpu:
            return True
        have = [c.c_int(), c.c_int()]
        for value, attribute in zip(have, (CAPABILITY_MAJOR, CAPABILITY_MINOR)):
            self.call("cuDeviceGetAttribute", c.byref(value), attribute, 0)
        mine, wanted = have[0].value * 10 + have[1].value, int(arch[3:].rstrip("af"))
        return wanted <= mine if arch[-1].isdigit() else wanted == mine


class Device:
    """One simulated GPU with one module."""

    def __init__(self, driver, arch, ptx):
        self.driver, self.arch, self.held = driver, arch, []
        self.ordinal = 0 if driver.is_gpu else driver.lib.kcsim_device_for_arch(arch.encode())
        assert self.ordinal >= 0, arch
        self.context = c.c_void_p()
        driver.call("cuDevicePrimaryCtxRetain", c.byref(self.context), self.ordinal)
        driver.call("cuCtxSetCurrent", self.context)
        self.module = self.load(ptx)

    def load(self, ptx):
        module, log = c.c_void_p(), c.create_string_buffer(2000)
        options = (c.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (c.c_void_p * 2)(c.addressof(log), len(log))
        try:
            self.driver.call("cuModuleLoadDataEx", c.byref(module), ptx.encode() + b"\0", 2, options, values)
        except Failed as failure:
            raise Refused(log.value.decode() or str(failure)) from None
        return module

    def close(self):
        """Everything goes, whatever state a failed launch left."""
        self.driver.lib.cuCtxSetCurrent(self.context)
        self.free()
        self.driver.lib.cuModuleUnload(self.module)
        self.driver.lib.cuDevicePrimaryCtxReset_v2(self.ordinal)
        self.driver.lib.cuDevicePrimaryCtxRelease_v2(self.ordinal)

    def place(self, array):
        """A copy of the array in the device's memory, which has exactly its size; None: as many undefined bytes."""
        address = c.c_uint64()
        self.driver.call("cuMemAlloc_v2", c.byref(address), c.c_size_t(max(array.nbytes, 1)))
        self.held.append(address)
        return address

    def write(self, address, array):
        array = np.ascontiguousarray(array)
        self.driver.call("cuMemcpyHtoD_v2", address, c.c_void_p(array.ctypes.data), c.c_size_t(array.nbytes))

    def read(self, address, array):
        self.driver.call("cuMemcpyDtoH_v2", c.c_void_p(array.ctypes.data), address, c.c_size_t(array.nbytes))

    def free(self):
        for address in self.held:
            self.driver.lib.cuMemFree_v2(address)
        self.held = []

    def tensor_map(self, address, shape, box, swizzle):
        """128 bytes that describe a matrix of f16 for copies of `box`; shape and box have rows first. swizzle: 0 none, 1 32,
        2 64, 3 128 bytes."""
        room = c.create_string_buffer(192)
        start = -c.addressof(room) % 64
        words, halves = c.c_uint64 * 2, c.c_uint32 * 2
        self.driver.call("cuTensorMapEncodeTiled", c.c_void_p(c.addressof(room) + start), TENSOR_MAP_F16, 2, address, words(*shape[::-1]),
                         words(2 * shape[1]), halves(*box[::-1]), halves(1, 1), 0, swizzle, 2, 0)
        return c.create_string_buffer(room.raw[start:start + 128], 128)

    def symbol(self, name, array):
        address, size = c.c_uint64(), c.c_size_t()
        self.driver.call("cuModuleGetGlobal_v2", c.byref(address), c.byref(size), self.module, name.encode())
        assert size.value == array.nbytes, (name, size.value)
        return address

    def launch(self, kernel, grid, block, shared, params, cooperative=False, early=False, wait=True):
        """params: ctypes values or buffers, one a parameter. early: it need not wait for the launch in front."""
        function = c.c_void_p()
        self.driver.call("cuModuleGetFunction", c.byref(function), self.module, kernel.encode())
        if shared > 48 << 10:
            self.driver.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
        pointers = (c.c_void_p * max(len(params), 1))(*[c.addressof(p) for p in params])
        if cooperative:
            self.driver.call("cuLaunchCooperativeKernel", function, *grid, *block, shared, None, pointers)
        elif early:
            attribute = Attribute(PROGRAMMATIC_STREAM_SERIALIZATION, 0, Value(flag=1))
            config = Config((c.c_uint * 7)(*grid, *block, shared), None, c.pointer(attribute), 1)
            self.driver.call("cuLaunchKernelEx", c.byref(config), function, pointers, None)
        else:
            self.driver.call("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
        if wait:
            self.driver.call("cuCtxSynchronize")

    def text(self, name):
        if self.driver.is_gpu:
            return ""
        pointer = getattr(self.driver.lib, name)(self.ordinal)
        return c.string_at(pointer).decode() if pointer else ""

    def findings(self):
        return [] if self.driver.is_gpu else [f for k in json.loads(self.text("kcsim_report_json"))["kernels"] for f in k["findings"]]

    def forget(self):
        if not self.driver.is_gpu:
            self.driver.lib.kcsim_report_reset(self.ordinal)
