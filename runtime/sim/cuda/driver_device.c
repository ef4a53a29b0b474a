/* cuInit and what can be asked of a device without a context. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdio.h>
#include <string.h>

/* The device of an ordinal, after the checks every call here makes. */
static CUresult device_of(CUdevice ordinal, driver_device **device) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    *device = driver_device_at(ordinal);
    return *device != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver_start();
}

CUresult cuDriverGetVersion(int *version) {
    if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    *count = driver_device_count();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (driver_device_at(ordinal) == NULL) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (name == NULL || size <= 0) return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)size, "kc simulator (%s)", device->arch->name);
    return CUDA_SUCCESS;
}

/* Stable from run to run, different between devices, and readable in a hex dump. */
CUresult cuDeviceGetUuid(driver_uuid *uuid, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (uuid == NULL) return CUDA_ERROR_INVALID_VALUE;
    memset(uuid, 0, sizeof *uuid);
    char text[32];
    int length = snprintf(text, sizeof text, "kcsim %s", device->arch->name);
    memcpy(uuid->bytes, text, length < 15 ? (size_t)length : 15);
    uuid->bytes[15] = (char)ordinal;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuDeviceGetUuid_v2, cuDeviceGetUuid);

CUresult cuDeviceGetLuid(char *luid, unsigned *mask, CUdevice ordinal) {
    (void)luid, (void)mask, (void)ordinal;
    return driver_unsupported("cuDeviceGetLuid"); /* Windows alone has these */
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
    *bytes = (size_t)device->options.memory;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (major == NULL || minor == NULL) return CUDA_ERROR_INVALID_VALUE;
    *major = device->arch->major;
    *minor = device->arch->minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (text == NULL || size < 13) return CUDA_ERROR_INVALID_VALUE;
    snprintf(text, (size_t)size, "0000:%02X:00.0", ordinal + 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *text) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || text == NULL) return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0, bus = 0, slot = 0;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 &&
        (domain = 0, sscanf(text, "%x:%x", &bus, &slot) != 2))
        return CUDA_ERROR_INVALID_VALUE;
    if (domain != 0 || slot != 0 || driver_device_at((int)bus - 1) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    *out = (int)bus - 1;
    return CUDA_SUCCESS;
}

/* Machines do not see each other's memory; copies between them are made by the host. */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice ordinal, CUdevice peer) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result == CUDA_SUCCESS) result = device_of(peer, &device);
    if (result != CUDA_SUCCESS) return result;
    if (can == NULL) return CUDA_ERROR_INVALID_VALUE;
    *can = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to) {
    driver_device *device;
    CUresult result = device_of(from, &device);
    if (result == CUDA_SUCCESS) result = device_of(to, &device);
    if (result != CUDA_SUCCESS) return result;
    if (value == NULL || from == to || attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attribute > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    *value = 0;
    return CUDA_SUCCESS;
}

/* ---- attributes: the rows of DRIVER_DEVICE_ATTRIBUTES ---------------------------------------- */

/* Of compute capability 7.5 and later parts: the data-center ones have half-rate doubles. */
static int single_to_double_ratio(const kcsim_arch *a) {
    if (a->minor == 0 && a->major != 12) return 2;
    return a->major == 7 ? 32 : 64;
}

static int persisting_l2(const kcsim_arch *a) {
    return a->major >= 8 ? (int)(a->l2_bytes / 8 * 5) : 0;
}

static bool attribute_value(const driver_device *d, int attribute, int *value) {
    const kcsim_arch *a = d->arch;
    switch (attribute) {
#define ROW(name, number, answer)                                                                  \
    case name: *value = (answer); return true;
        DRIVER_DEVICE_ATTRIBUTES(ROW)
#undef ROW
    default: return false;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (value == NULL || !attribute_value(device, (int)attribute, value))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(driver_properties *properties, CUdevice ordinal) {
    driver_device *device;
    CUresult result = device_of(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (properties == NULL) return CUDA_ERROR_INVALID_VALUE;
    const kcsim_arch *arch = device->arch;
    *properties = (driver_properties){
        .maxThreadsPerBlock = arch->max_threads_per_block,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {2147483647, 65535, 65535},
        .sharedMemPerBlock = arch->shared_per_block,
        .totalConstantMemory = arch->constant_memory,
        .SIMDWidth = 32,
        .memPitch = 2147483647,
        .regsPerBlock = arch->registers_per_block,
        .clockRate = arch->clock_khz,
        .textureAlign = 512,
    };
    return CUDA_SUCCESS;
}
