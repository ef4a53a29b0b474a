// Loading the driver, its errors, and its current context.
//
// A simulator's soname is the vendor's file name, so that any program runs on it. Once it is
// loaded, dlopen of that name would find it; therefore the real driver is looked for first, and its
// absence remembered.
#include "runtime/cuda/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/builtin.h"

#define VENDOR_NAME "libcuda.so.1"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *vendor_library;
static bool vendor_absent;

static void *vendor_open(void) {
    if (!vendor_library && !vendor_absent)
        vendor_library = dlopen(VENDOR_NAME, RTLD_NOW | RTLD_LOCAL);
    return vendor_library;
}

static kcrt_status open_library(cuda_driver *d) {
    if (!d->simulated) {
        d->library = vendor_open();
        if (d->library) return KCRT_OK;
        return kcrt_fail(KCRT_NO_DEVICE,
                         "There is no NVIDIA driver here: " VENDOR_NAME " cannot be loaded.");
    }
    if (!vendor_open()) vendor_absent = true;
    d->library = kcrt_library_open("KCRT_CUDA_SIM", "libkcsim_cuda.so");
    return d->library ? KCRT_OK : KCRT_NO_DEVICE; // the sentence is there
}

static kcrt_status find_symbols(cuda_driver *d) {
    const char *missing = NULL;
#define X(needed, name, parameters)                                                                \
    *(void **)&d->name = dlsym(d->library, #name);                                                 \
    if (needed && !d->name) missing = #name;
    KCRT_CUDA_SYMBOLS(X)
#undef X
    *(void **)&d->report_json = dlsym(d->library, "kcsim_report_json");
    *(void **)&d->fault_text = dlsym(d->library, "kcsim_fault_text");
    *(void **)&d->set_seed = dlsym(d->library, "kcsim_set_seed");
    *(void **)&d->device_for_arch = dlsym(d->library, "kcsim_device_for_arch");
    if (!missing) return KCRT_OK;
    return kcrt_fail(KCRT_NO_DEVICE,
                     "The driver of `%s` lacks %s: it is too old, or not a CUDA driver.", d->kind,
                     missing);
}

kcrt_status cuda_driver_load(cuda_driver *d) {
    pthread_mutex_lock(&lock);
    kcrt_status status = KCRT_OK;
    if (!d->ready) {
        status = open_library(d);
        if (!status) status = find_symbols(d);
        if (!status) {
            CUresult r = d->cuInit(0);
            status = r == CUDA_ERROR_NO_DEVICE
                         ? kcrt_fail(KCRT_NO_DEVICE, "The driver of `%s` has no device.", d->kind)
                         : cuda_check(d, NULL, r, "The driver cannot be started");
        }
        d->ready = !status;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

kcrt_status cuda_check(const cuda_driver *d, const cuda_device *device, CUresult r,
                       const char *what) {
    if (r == CUDA_SUCCESS) return KCRT_OK;
    const char *name = NULL, *text = NULL;
    d->cuGetErrorName(r, &name);
    d->cuGetErrorString(r, &text);
    char *fault = device && d->fault_text ? d->fault_text(device->ordinal) : NULL;
    kcrt_status status = r == CUDA_ERROR_OUT_OF_MEMORY ? KCRT_OUT_OF_MEMORY : KCRT_DRIVER;
    kcrt_fail(status, "%s: the driver of `%s` says %s (%s).%s%s", what, d->kind,
              name ? name : "an unknown error", text ? text : "no text", fault ? " " : "",
              fault ? fault : "");
    free(fault);
    return status;
}

kcrt_status cuda_enter(const cuda_device *device, bool *pushed) {
    CUcontext current = NULL;
    *pushed = false;
    CUresult r = device->driver->cuCtxGetCurrent(&current);
    if (r == CUDA_SUCCESS && current == device->context) return KCRT_OK;
    if (r == CUDA_SUCCESS) r = device->driver->cuCtxPushCurrent_v2(device->context);
    *pushed = r == CUDA_SUCCESS;
    return cuda_check(device->driver, device, r, "The device's context cannot be made current");
}

void cuda_leave(const cuda_device *device, bool pushed) {
    CUcontext popped;
    if (pushed) device->driver->cuCtxPopCurrent_v2(&popped);
}
