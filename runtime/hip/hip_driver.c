// What AMD's HIP does in its own way: its names, its errors, a current device a thread, and where
// the architecture is found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/hip/hip_driver.h"

static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        NULL};

static const kcrt_driver_symbol symbols[] = {
    {"hipGetDevicePropertiesR0600", offsetof(hip_driver, hipGetDevicePropertiesR0600), 0},
    {"hipGetDeviceProperties", offsetof(hip_driver, hipGetDeviceProperties), 1},
#define X(needed, call, parameters, cuda, hip) {#hip, offsetof(hip_driver, base.call), needed},
    KCRT_DRIVER_CALLS(X)
#undef X
#define X(needed, result, name, parameters) {#name, offsetof(hip_driver, name), needed},
        KCRT_HIP_CALLS(X)
#undef X
};

static void explain(const kcrt_driver *base, driver_result r, const char **name,
                    const char **text) {
    const hip_driver *d = (const hip_driver *)base;
    *name = d->hipGetErrorName(r);
    *text = d->hipGetErrorString(r);
}

static driver_result api_version(const kcrt_driver *base, int *version) {
    return ((const hip_driver *)base)->hipRuntimeGetVersion(version);
}

// ---- Architectures and attributes ---------------------------------------------------------------

static kcrt_status read_arch(const kcrt_driver *base, int ordinal, char arch[256]) {
    const hip_driver *d = (const hip_driver *)base;
    bool recent = d->hipGetDevicePropertiesR0600;
    char *properties = calloc(1, KCRT_HIP_PROPERTIES_BYTES);
    if (!properties)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to open a device.");
    hipError_t r =
        (recent ? d->hipGetDevicePropertiesR0600 : d->hipGetDeviceProperties)(properties, ordinal);
    kcrt_status status = kcrt_driver_check(base, NULL, r, "The device's properties cannot be read");
    if (!status)
        snprintf(arch, 256, "%.255s",
                 properties + (recent ? KCRT_HIP_ARCH_OFFSET_R0600 : KCRT_HIP_ARCH_OFFSET));
    free(properties);
    if (!status && strncmp(arch, "gfx", 3))
        status = kcrt_fail(
            KCRT_UNSUPPORTED,
            "The AMD runtime of `%s` describes devices in a way that this runtime does not know.",
            base->kind);
    return status;
}

// With or without the features that follow the processor.
static bool same_arch(const char *arch, const char *wanted) {
    size_t n = strcspn(arch, ":");
    return !strcmp(arch, wanted) || (strlen(wanted) == n && !strncmp(arch, wanted, n));
}

static const kcrt_driver_attribute attributes[] = {
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

// ---- The current device -------------------------------------------------------------------------

static driver_result enter(const kcrt_driver_device *device, int *previous) {
    const hip_driver *d = (const hip_driver *)device->driver;
    *previous = device->ordinal;
    hipError_t r = d->hipGetDevice(previous);
    if (r == DRIVER_SUCCESS && *previous != device->ordinal) r = d->hipSetDevice(device->ordinal);
    return r;
}

static void restore(const kcrt_driver_device *device, int previous) {
    if (previous != device->ordinal) ((const hip_driver *)device->driver)->hipSetDevice(previous);
}

static const driver_result refusals[] = {DRIVER_NO_BINARY_FOR_GPU, DRIVER_INVALID_IMAGE,
                                         hipErrorInvalidKernelFile, hipErrorSharedObjectInitFailed,
                                         DRIVER_SUCCESS};

kcrt_driver_vendor kcrt_hip_vendor = {
    .libraries = libraries,
    .absent = "There is no AMD runtime here: libamdhip64.so.7, .6 and .5 cannot be loaded.",
    .interface = "HIP",
    .simulator_variable = "KCRT_HIP_SIM",
    .simulator_file = "libkcsim_hip.so",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    // Without a GPU some versions say the one, others the other.
    .no_device = {DRIVER_NO_DEVICE, hipErrorInvalidDevice},
    .explain = explain,
    .api_version = api_version,
    .arch_prefix = "gfx",
    .arch_example = "gfx942",
    .read_arch = read_arch,
    .same_arch = same_arch,
    .attributes = attributes,
    .attribute_count = sizeof attributes / sizeof *attributes,
    .enter = enter,
    .restore = restore,
    .refusals = refusals,
};
