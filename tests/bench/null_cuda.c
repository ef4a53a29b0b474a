// A CUDA driver that does nothing: what kcrt itself costs is what is left. Also the bare minimum
// that a driver must export for the `cuda` device. Built as a shared library and named by
// $KCRT_CUDA_SIM.
#include "runtime/cuda/cuda_api.h"
#include "tests/unit/runtime/scripted_driver.h"

#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static int one_context;
static _Thread_local CUcontext current;

static driver_result must_be_current(void) {
    return DRIVER_SUCCESS;
}
static driver_result device_count(int *n) {
    *n = 1;
    return DRIVER_SUCCESS;
}
static driver_result device_attribute(int *value, driver_attribute a, int d) {
    (void)d;
    *value = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 8
             : a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
                                                                 : 1024;
    return DRIVER_SUCCESS;
}
static driver_result module_load(driver_module *m, const void *image) {
    (void)image;
    *m = &scripted;
    return DRIVER_SUCCESS;
}
static driver_result launch(driver_kernel k, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, driver_stream s,
                            void **parameters, void **extra) {
    (void)k, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s,
        (void)parameters, (void)extra;
    return DRIVER_SUCCESS;
}

// Each under the driver's own name.
#define X(needed, call, parameters, cuda, hip)                                                     \
    EXPORT driver_result cuda parameters __attribute__((alias(#call)));
KCRT_DRIVER_CALLS(X)
#undef X

EXPORT CUresult cuGetErrorName(CUresult r, const char **name) {
    (void)r;
    *name = "CUDA_ERROR";
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult r, const char **text) {
    (void)r;
    *text = "an error";
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *d, int ordinal) {
    *d = ordinal;
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
    (void)d;
    *c = (CUcontext)(void *)&one_context;
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
    (void)d;
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuCtxGetCurrent(CUcontext *c) {
    *c = current;
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext c) {
    current = c;
    return DRIVER_SUCCESS;
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *c) {
    *c = current;
    current = NULL;
    return DRIVER_SUCCESS;
}
