// The tables of `hip` and `hip-sim`: the same device on two drivers. Opening it, and what it says
// about itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/builtin.h"
#include "runtime/hip/hip_driver.h"

static hip_driver real_driver = {.kind = "hip"};
static hip_driver sim_driver = {.kind = "hip-sim", .simulated = true};

static kcrt_status count(void *user, int *out) {
    hip_driver *d = user;
    kcrt_status status = hip_driver_load(d);
    if (status == KCRT_NO_DEVICE) return KCRT_OK;
    if (status) return status;
    hipError_t r = d->hipGetDeviceCount(out);
    if (r == hipErrorNoDevice || r == hipErrorInvalidDevice) *out = 0;
    else status = hip_check(d, NULL, r, "Devices cannot be counted");
    return status;
}

static kcrt_status read_arch(const hip_driver *d, int ordinal, char arch[256]) {
    char *properties = calloc(1, KCRT_HIP_PROPERTIES_BYTES);
    if (!properties)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to open a device.");
    kcrt_status status = hip_check(d, NULL, d->properties(properties, ordinal),
                                   "The device's properties cannot be read");
    if (!status) snprintf(arch, 256, "%.255s", properties + d->arch_offset);
    free(properties);
    if (!status && strncmp(arch, "gfx", 3))
        status = kcrt_fail(
            KCRT_UNSUPPORTED,
            "The AMD runtime of `%s` describes devices in a way that this runtime does not know.",
            d->kind);
    return status;
}

static bool is_number(const char *text, int *out) {
    char *end;
    long value = strtol(text, &end, 10);
    *out = value >= 0 && value < 4096 ? (int)value : -1;
    return *text >= '0' && *text <= '9' && !*end;
}

static kcrt_status find_arch(hip_driver *d, const char *wanted, int devices, int *ordinal) {
    char arch[256];
    if (d->device_for_arch) {
        *ordinal = d->device_for_arch(wanted);
        return *ordinal >= 0
                   ? KCRT_OK
                   : kcrt_fail(KCRT_NOT_FOUND, "The simulator of `%s` knows no architecture `%s`.",
                               d->kind, wanted);
    }
    for (*ordinal = 0; *ordinal < devices; ++*ordinal) {
        kcrt_status status = read_arch(d, *ordinal, arch);
        if (status) return status;
        size_t n = strcspn(arch, ":");
        if (!strcmp(arch, wanted) || (strlen(wanted) == n && !strncmp(arch, wanted, n)))
            return KCRT_OK;
    }
    return kcrt_fail(
        KCRT_NO_DEVICE,
        "There is no `%s` device `%s`: give a number or an architecture such as gfx942.", d->kind,
        wanted);
}

static kcrt_status find_ordinal(hip_driver *d, const char *which, int *ordinal) {
    int devices = 0;
    kcrt_status status =
        hip_check(d, NULL, d->hipGetDeviceCount(&devices), "Devices cannot be counted");
    *ordinal = 0;
    if (status) return status;
    if (which && *which && !is_number(which, ordinal)) return find_arch(d, which, devices, ordinal);
    if (*ordinal >= 0 && *ordinal < devices) return KCRT_OK;
    return kcrt_fail(KCRT_NO_DEVICE, "There is no device %s:%s; the driver has %d.", d->kind,
                     which && *which ? which : "0", devices);
}

static kcrt_status open_device(void *user, const char *which, int *ordinal, void **out) {
    hip_driver *d = user;
    kcrt_status status = hip_driver_load(d);
    if (!status) status = find_ordinal(d, which, ordinal);
    if (status) return status;
    hip_device *device = calloc(1, sizeof *device);
    if (!device) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to open a device.");
    device->driver = d;
    device->ordinal = *ordinal;
    status = read_arch(d, *ordinal, device->arch);
    if (!status) *out = device;
    else free(device);
    return status;
}

static const struct {
    kcrt_attr attr;
    int driver;
} numbers[] = {
    {KCRT_ATTR_WARP_SIZE, hipDeviceAttributeWarpSize},
    {KCRT_ATTR_MAX_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock},
    {KCRT_ATTR_MAX_BLOCK_X, hipDeviceAttributeMaxBlockDimX},
    {KCRT_ATTR_MAX_BLOCK_Y, hipDeviceAttributeMaxBlockDimY},
    {KCRT_ATTR_MAX_BLOCK_Z, hipDeviceAttributeMaxBlockDimZ},
    {KCRT_ATTR_SHARED_MEMORY_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock},
    {KCRT_ATTR_SHARED_MEMORY_PER_MULTIPROCESSOR,
     hipDeviceAttributeMaxSharedMemoryPerMultiprocessor},
    {KCRT_ATTR_REGISTERS_PER_BLOCK, hipDeviceAttributeMaxRegistersPerBlock},
    {KCRT_ATTR_MULTIPROCESSORS, hipDeviceAttributeMultiprocessorCount},
    {KCRT_ATTR_CLOCK_KHZ, hipDeviceAttributeClockRate},
    {KCRT_ATTR_L2_BYTES, hipDeviceAttributeL2CacheSize},
};

static kcrt_status available_memory(hip_device *device, int64_t *out) {
    size_t available = 0, total = 0;
    int previous;
    kcrt_status status = hip_enter(device, &previous);
    if (status) return status;
    status = hip_check(device->driver, device, device->driver->hipMemGetInfo(&available, &total),
                       "The available memory cannot be read");
    hip_leave(device, previous);
    *out = (int64_t)available;
    return status;
}

static kcrt_status attr(void *handle, kcrt_attr which, int64_t *out) {
    hip_device *device = handle;
    const hip_driver *d = device->driver;
    int value = 0;
    size_t bytes = 0;
    if (which == KCRT_ATTR_AVAILABLE_MEMORY) return available_memory(device, out);
    if (which == KCRT_ATTR_API_VERSION || which == KCRT_ATTR_DRIVER_VERSION) {
        hipError_t r = which == KCRT_ATTR_API_VERSION ? d->hipRuntimeGetVersion(&value)
                                                      : d->hipDriverGetVersion(&value);
        *out = value;
        return hip_check(d, device, r, "The driver's version cannot be read");
    }
    if (which == KCRT_ATTR_TOTAL_MEMORY) {
        hipError_t r = d->hipDeviceTotalMem(&bytes, device->ordinal);
        *out = (int64_t)bytes;
        return hip_check(d, device, r, "The memory size cannot be read");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].attr != which) continue;
        if (d->hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)numbers[i].driver,
                                     device->ordinal) != hipSuccess)
            break;
        *out = value;
        return KCRT_OK;
    }
    return kcrt_fail(KCRT_UNSUPPORTED, "A `%s` device does not report attribute %d.", d->kind,
                     (int)which);
}

static kcrt_status string(void *handle, kcrt_attr which, char *buf, size_t size) {
    hip_device *device = handle;
    char name[256] = "";
    if (which == KCRT_ATTR_ARCH) {
        snprintf(buf, size, "%s", device->arch);
        return KCRT_OK;
    }
    hipError_t r = device->driver->hipDeviceGetName(name, sizeof name, device->ordinal);
    name[sizeof name - 1] = 0;
    snprintf(buf, size, "%s", name);
    return hip_check(device->driver, device, r, "The device's name cannot be read");
}

static kcrt_status set_seed(void *handle, uint64_t seed) {
    hip_device *device = handle;
    const hip_driver *d = device->driver;
    if (!d->set_seed)
        return kcrt_fail(KCRT_UNSUPPORTED, "`%s` is not a simulator with a seed.", d->kind);
    return d->set_seed(seed) == 0
               ? KCRT_OK
               : kcrt_fail(KCRT_UNSUPPORTED, "The simulator of `%s` does not take a seed now.",
                           d->kind);
}

static kcrt_status report(void *handle, char **json) {
    hip_device *device = handle;
    const hip_driver *d = device->driver;
    if (!d->report_json)
        return kcrt_fail(KCRT_UNSUPPORTED, "`%s` is not a simulator: it counts nothing.", d->kind);
    *json = d->report_json(device->ordinal);
    return *json ? KCRT_OK
                 : kcrt_fail(KCRT_DRIVER, "The simulator of `%s` gave no report.", d->kind);
}

#define HIP_TABLE(driver)                                                                          \
    {                                                                                              \
        .size = sizeof(kcrt_device_api), .version = KCRT_DEVICE_API_VERSION, .user = &(driver),    \
        .count = count, .open = open_device, .close = free, .attr = attr, .string = string,        \
        .alloc = hip_alloc, .free = hip_free, .address = hip_address, .copy = hip_copy,            \
        .copy_peer = hip_copy_peer, .memset = hip_memset, .stream_create = hip_stream_create,      \
        .stream_wrap = hip_stream_wrap, .stream_free = hip_stream_free,                            \
        .stream_sync = hip_stream_sync, .stream_wait = hip_stream_wait,                            \
        .stream_capturing = hip_stream_capturing, .device_sync = hip_device_sync,                  \
        .rank = hip_rank, .module_load = hip_module_load, .module_unload = hip_module_unload,      \
        .kernel_get = hip_kernel_get, .launch = hip_launch, .set_seed = set_seed,                  \
        .report = report,                                                                          \
    }

const kcrt_device_api kcrt_hip_api = HIP_TABLE(real_driver);
const kcrt_device_api kcrt_hip_sim_api = HIP_TABLE(sim_driver);
