// Loading HIP, its errors, and its current device. The real library is looked for before a
// simulator is loaded, whose soname would answer to its name (see cuda_driver.c).
#include "runtime/hip/hip_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/builtin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *vendor_library;
static bool vendor_absent;

static void *vendor_open(void) {
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    for (int i = 0; i < 3 && !vendor_library && !vendor_absent; i++)
        vendor_library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return vendor_library;
}

static kcrt_status open_library(hip_driver *d) {
    if (!d->simulated) {
        d->library = vendor_open();
        if (d->library) return KCRT_OK;
        return kcrt_fail(
            KCRT_NO_DEVICE,
            "There is no AMD runtime here: libamdhip64.so.7, .6 and .5 cannot be loaded.");
    }
    if (!vendor_open()) vendor_absent = true;
    d->library = kcrt_library_open("KCRT_HIP_SIM", "libkcsim_hip.so");
    return d->library ? KCRT_OK : KCRT_NO_DEVICE; // the sentence is there
}

static kcrt_status find_symbols(hip_driver *d) {
    const char *missing = NULL;
#define X(needed, name, parameters)                                                                \
    *(void **)&d->name = dlsym(d->library, #name);                                                 \
    if (needed && !d->name) missing = #name;
    KCRT_HIP_SYMBOLS(X)
#undef X
    *(void **)&d->hipGetErrorName = dlsym(d->library, "hipGetErrorName");
    *(void **)&d->hipGetErrorString = dlsym(d->library, "hipGetErrorString");
    *(void **)&d->properties = dlsym(d->library, "hipGetDevicePropertiesR0600");
    d->arch_offset = d->properties ? KCRT_HIP_ARCH_OFFSET_R0600 : KCRT_HIP_ARCH_OFFSET;
    if (!d->properties) *(void **)&d->properties = dlsym(d->library, "hipGetDeviceProperties");
    if (!d->hipGetErrorName || !d->hipGetErrorString || !d->properties)
        missing = "hipGetErrorName, hipGetErrorString or hipGetDeviceProperties";
    *(void **)&d->report_json = dlsym(d->library, "kcsim_report_json");
    *(void **)&d->fault_text = dlsym(d->library, "kcsim_fault_text");
    *(void **)&d->set_seed = dlsym(d->library, "kcsim_set_seed");
    *(void **)&d->device_for_arch = dlsym(d->library, "kcsim_device_for_arch");
    if (!missing) return KCRT_OK;
    return kcrt_fail(KCRT_NO_DEVICE, "The library of `%s` lacks %s: it is too old, or not HIP.",
                     d->kind, missing);
}

kcrt_status hip_driver_load(hip_driver *d) {
    pthread_mutex_lock(&lock);
    kcrt_status status = KCRT_OK;
    if (!d->ready) {
        status = open_library(d);
        if (!status) status = find_symbols(d);
        if (!status) {
            hipError_t r = d->hipInit(0);
            // Without a GPU some versions say so here, others that the device is invalid.
            status =
                r == hipErrorNoDevice || r == hipErrorInvalidDevice
                    ? kcrt_fail(KCRT_NO_DEVICE, "The AMD runtime of `%s` has no device.", d->kind)
                    : hip_check(d, NULL, r, "The AMD runtime cannot be started");
        }
        d->ready = !status;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

kcrt_status hip_check(const hip_driver *d, const hip_device *device, hipError_t r,
                      const char *what) {
    if (r == hipSuccess) return KCRT_OK;
    const char *name = d->hipGetErrorName(r), *text = d->hipGetErrorString(r);
    char *fault = device && d->fault_text ? d->fault_text(device->ordinal) : NULL;
    kcrt_status status = r == hipErrorOutOfMemory ? KCRT_OUT_OF_MEMORY : KCRT_DRIVER;
    kcrt_fail(status, "%s: the driver of `%s` says %s (%s).%s%s", what, d->kind,
              name ? name : "an unknown error", text ? text : "no text", fault ? " " : "",
              fault ? fault : "");
    free(fault);
    return status;
}

kcrt_status hip_enter(const hip_device *device, int *previous) {
    const hip_driver *d = device->driver;
    *previous = device->ordinal;
    hipError_t r = d->hipGetDevice(previous);
    if (r == hipSuccess && *previous != device->ordinal) r = d->hipSetDevice(device->ordinal);
    return hip_check(d, device, r, "The device cannot be made current");
}

void hip_leave(const hip_device *device, int previous) {
    if (previous != device->ordinal) device->driver->hipSetDevice(previous);
}
