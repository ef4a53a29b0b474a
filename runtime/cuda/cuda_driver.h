// What a CUDA driver and its devices have beside runtime/driver.h.
#ifndef KCRT_CUDA_DRIVER_H
#define KCRT_CUDA_DRIVER_H

#include "runtime/cuda/cuda_api.h"
#include "runtime/driver.h"

typedef struct {
    kcrt_driver base;
#define X(needed, name, parameters) CUresult(*name) parameters;
    KCRT_CUDA_CALLS(X)
#undef X
} cuda_driver;

typedef struct {
    kcrt_driver_device base;
    CUcontext context; // the primary one, retained
    int major, minor;
} cuda_device;

extern kcrt_driver_vendor kcrt_cuda_vendor;

// cuda_driver.c
CUresult kcrt_cuda_capability(const kcrt_driver *, CUdevice, int *major, int *minor);

// cuda_launch.c: members of the table.
kcrt_status kcrt_cuda_kernel_get(void *, void *, const char *, uint64_t, void **);
kcrt_status kcrt_cuda_launch(void *, void *, const kcrt_launch_shape *, const kcrt_kernel_arg *,
                             int, void *);

#endif
