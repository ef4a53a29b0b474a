// The tables of `cuda` and `cuda-sim`: the same device on two drivers. Opening it, and what it says
// about itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/builtin.h"
#include "runtime/cuda/cuda_driver.h"
#include "runtime/rank.h"

static cuda_driver real_driver = {.kind = "cuda"};
static cuda_driver sim_driver = {.kind = "cuda-sim", .simulated = true};

static kcrt_status count(void *user, int *out) {
    cuda_driver *d = user;
    kcrt_status status = cuda_driver_load(d);
    if (status == KCRT_NO_DEVICE) return KCRT_OK;
    return status ? status
                  : cuda_check(d, NULL, d->cuDeviceGetCount(out), "Devices cannot be counted");
}

static kcrt_status capability(const cuda_driver *d, CUdevice device, int *major, int *minor) {
    CUresult r =
        d->cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (r == CUDA_SUCCESS)
        r = d->cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    return cuda_check(d, NULL, r, "The compute capability cannot be read");
}

// ---- Which one ----------------------------------------------------------------------------------

static bool is_number(const char *text, int *out) {
    char *end;
    long value = strtol(text, &end, 10);
    *out = value >= 0 && value < 4096 ? (int)value : -1;
    return *text >= '0' && *text <= '9' && !*end;
}

// A simulator makes a device of any architecture it knows; on another driver the first of that
// capability is taken.
static kcrt_status find_arch(cuda_driver *d, const char *arch, int devices, int *ordinal) {
    int number, major, minor;
    char suffix;
    if (!kcrt_parse_sm(arch, &number, &suffix))
        return kcrt_fail(
            KCRT_NOT_FOUND,
            "`%s:%s` is not a device: give a number or an architecture such as sm_90a.", d->kind,
            arch);
    if (d->device_for_arch) {
        *ordinal = d->device_for_arch(arch);
        return *ordinal >= 0
                   ? KCRT_OK
                   : kcrt_fail(KCRT_NOT_FOUND, "The simulator of `%s` knows no architecture `%s`.",
                               d->kind, arch);
    }
    for (*ordinal = 0; *ordinal < devices; ++*ordinal) {
        CUdevice device;
        kcrt_status status =
            cuda_check(d, NULL, d->cuDeviceGet(&device, *ordinal), "A device cannot be found");
        if (!status) status = capability(d, device, &major, &minor);
        if (status) return status;
        if (major * 10 + minor == number) return KCRT_OK;
    }
    return kcrt_fail(KCRT_NO_DEVICE, "There is no `%s` device of architecture %s.", d->kind, arch);
}

static kcrt_status find_ordinal(cuda_driver *d, const char *which, int *ordinal) {
    int devices = 0;
    kcrt_status status =
        cuda_check(d, NULL, d->cuDeviceGetCount(&devices), "Devices cannot be counted");
    *ordinal = 0;
    if (status) return status;
    if (which && *which && !is_number(which, ordinal)) return find_arch(d, which, devices, ordinal);
    if (*ordinal >= 0 && *ordinal < devices) return KCRT_OK;
    return kcrt_fail(KCRT_NO_DEVICE, "There is no device %s:%s; the driver has %d.", d->kind,
                     which && *which ? which : "0", devices);
}

static kcrt_status open_device(void *user, const char *which, int *ordinal, void **out) {
    cuda_driver *d = user;
    kcrt_status status = cuda_driver_load(d);
    if (!status) status = find_ordinal(d, which, ordinal);
    if (status) return status;
    cuda_device *device = calloc(1, sizeof *device);
    if (!device) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to open a device.");
    device->driver = d;
    device->ordinal = *ordinal;
    status = cuda_check(d, NULL, d->cuDeviceGet(&device->device, *ordinal),
                        "The device cannot be opened");
    if (!status) status = capability(d, device->device, &device->major, &device->minor);
    if (!status)
        status = cuda_check(d, NULL, d->cuDevicePrimaryCtxRetain(&device->context, device->device),
                            "The primary context cannot be made");
    if (!status) *out = device;
    else free(device);
    return status;
}

static void close_device(void *handle) {
    cuda_device *device = handle;
    device->driver->cuDevicePrimaryCtxRelease_v2(device->device);
    free(device);
}

// ---- Attributes ---------------------------------------------------------------------------------

static const struct {
    kcrt_attr attr;
    int driver;
} numbers[] = {
    {KCRT_ATTR_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {KCRT_ATTR_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {KCRT_ATTR_MAX_BLOCK_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {KCRT_ATTR_MAX_BLOCK_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {KCRT_ATTR_MAX_BLOCK_Z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {KCRT_ATTR_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {KCRT_ATTR_SHARED_MEMORY_PER_MULTIPROCESSOR,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {KCRT_ATTR_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {KCRT_ATTR_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {KCRT_ATTR_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {KCRT_ATTR_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
};

static kcrt_status available_memory(cuda_device *device, int64_t *out) {
    size_t available = 0, total = 0;
    bool pushed;
    kcrt_status status = cuda_enter(device, &pushed);
    if (status) return status;
    status = cuda_check(device->driver, device, device->driver->cuMemGetInfo_v2(&available, &total),
                        "The available memory cannot be read");
    cuda_leave(device, pushed);
    *out = (int64_t)available;
    return status;
}

static kcrt_status attr(void *handle, kcrt_attr which, int64_t *out) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    int value = 0;
    size_t bytes = 0;
    CUresult r = CUDA_SUCCESS;
    if (which == KCRT_ATTR_AVAILABLE_MEMORY) return available_memory(device, out);
    if (which == KCRT_ATTR_API_VERSION || which == KCRT_ATTR_DRIVER_VERSION) {
        r = d->cuDriverGetVersion(&value);
        *out = value;
        return cuda_check(d, device, r, "The driver's version cannot be read");
    }
    if (which == KCRT_ATTR_TOTAL_MEMORY) {
        r = d->cuDeviceTotalMem_v2(&bytes, device->device);
        *out = (int64_t)bytes;
        return cuda_check(d, device, r, "The memory size cannot be read");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].attr != which) continue;
        if (d->cuDeviceGetAttribute(&value, (CUdevice_attribute)numbers[i].driver,
                                    device->device) != CUDA_SUCCESS)
            break;
        *out = value;
        return KCRT_OK;
    }
    return kcrt_fail(KCRT_UNSUPPORTED, "A `%s` device does not report attribute %d.", d->kind,
                     (int)which);
}

static kcrt_status string(void *handle, kcrt_attr which, char *buf, size_t size) {
    cuda_device *device = handle;
    char name[256] = "";
    if (which == KCRT_ATTR_ARCH) {
        snprintf(buf, size, "sm_%d%d", device->major, device->minor);
        return KCRT_OK;
    }
    CUresult r = device->driver->cuDeviceGetName(name, sizeof name, device->device);
    name[sizeof name - 1] = 0;
    snprintf(buf, size, "%s", name);
    return cuda_check(device->driver, device, r, "The device's name cannot be read");
}

// ---- Simulators ---------------------------------------------------------------------------------

static kcrt_status set_seed(void *handle, uint64_t seed) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    if (!d->set_seed)
        return kcrt_fail(KCRT_UNSUPPORTED, "`%s` is not a simulator with a seed.", d->kind);
    return d->set_seed(seed) == 0
               ? KCRT_OK
               : kcrt_fail(KCRT_UNSUPPORTED, "The simulator of `%s` does not take a seed now.",
                           d->kind);
}

static kcrt_status report(void *handle, char **json) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    if (!d->report_json)
        return kcrt_fail(KCRT_UNSUPPORTED, "`%s` is not a simulator: it counts nothing.", d->kind);
    *json = d->report_json(device->ordinal);
    return *json ? KCRT_OK
                 : kcrt_fail(KCRT_DRIVER, "The simulator of `%s` gave no report.", d->kind);
}

#define CUDA_TABLE(driver)                                                                         \
    {                                                                                              \
        .size = sizeof(kcrt_device_api), .version = KCRT_DEVICE_API_VERSION, .user = &(driver),    \
        .count = count, .open = open_device, .close = close_device, .attr = attr,                  \
        .string = string, .alloc = cuda_alloc, .free = cuda_free, .address = cuda_address,         \
        .copy = cuda_copy, .copy_peer = cuda_copy_peer, .memset = cuda_memset,                     \
        .stream_create = cuda_stream_create, .stream_wrap = cuda_stream_wrap,                      \
        .stream_free = cuda_stream_free, .stream_sync = cuda_stream_sync,                          \
        .stream_wait = cuda_stream_wait, .stream_capturing = cuda_stream_capturing,                \
        .device_sync = cuda_device_sync, .rank = cuda_rank, .module_load = cuda_module_load,       \
        .module_unload = cuda_module_unload, .kernel_get = cuda_kernel_get, .launch = cuda_launch, \
        .set_seed = set_seed, .report = report,                                                    \
    }

const kcrt_device_api kcrt_cuda_api = CUDA_TABLE(real_driver);
const kcrt_device_api kcrt_cuda_sim_api = CUDA_TABLE(sim_driver);
