// What a HIP runtime has beside runtime/driver.h.
#ifndef KCRT_HIP_DRIVER_H
#define KCRT_HIP_DRIVER_H

#include "runtime/driver.h"
#include "runtime/hip/hip_api.h"

typedef struct {
    kcrt_driver base;
#define X(needed, result, name, parameters) result(*name) parameters;
    KCRT_HIP_CALLS(X)
#undef X
    // They write a hipDeviceProp_t. HIP 6 and 7 have the first, HIP 5 the second alone.
    hipError_t (*hipGetDevicePropertiesR0600)(void *, int);
    hipError_t (*hipGetDeviceProperties)(void *, int);
} hip_driver;

extern kcrt_driver_vendor kcrt_hip_vendor;

#endif
