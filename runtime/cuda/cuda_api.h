// Our own declarations of what the CUDA driver interface alone has; runtime/driver_calls.h has the
// rest, and says how both are compared with the vendor's header.
#ifndef KCRT_CUDA_API_H
#define KCRT_CUDA_API_H

#include "runtime/driver_calls.h"

#ifndef CUDA_VERSION // the vendor's header was not included
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef unsigned CUresult, CUdevice_attribute, CUfunction_attribute, CUjit_option,
    CUlaunchAttributeID;
typedef struct {
    CUlaunchAttributeID id;
    char pad[4];
    union {
        char pad[64];
        struct {
            unsigned x, y, z;
        } clusterDim;
    } value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    driver_stream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
enum {
#define X(name, value) name = value,
#define KCRT_CUDA_DEFINE_CONSTANTS
#endif

#define KCRT_CUDA_CONSTANTS(X)                                                                     \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                 \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                      \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                     \
    X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                                    \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                                      \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                                      \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                                      \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                           \
    X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                                             \
    X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                          \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                \
    X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                       \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                            \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                            \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                   \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                      \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                          \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                                                  \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                       \
    X(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)

#ifdef KCRT_CUDA_DEFINE_CONSTANTS
    KCRT_CUDA_CONSTANTS(X)
#undef X
};
#endif

// X(needed, name, parameters). All return CUresult. needed 0: may be absent from older drivers and
// simulators.
#define KCRT_CUDA_CALLS(X)                                                                         \
    X(1, cuGetErrorName, (CUresult, const char **))                                                \
    X(1, cuGetErrorString, (CUresult, const char **))                                              \
    X(1, cuDeviceGet, (CUdevice *, int))                                                           \
    X(1, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                        \
    X(1, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                 \
    X(1, cuCtxGetCurrent, (CUcontext *))                                                           \
    X(1, cuCtxPushCurrent_v2, (CUcontext))                                                         \
    X(1, cuCtxPopCurrent_v2, (CUcontext *))                                                        \
    X(0, cuMemcpyPeer, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t))                   \
    X(0, cuStreamGetCtx, (driver_stream, CUcontext *))                                             \
    X(0, cuModuleLoadDataEx, (driver_module *, const void *, unsigned, CUjit_option *, void **))   \
    X(0, cuFuncGetAttribute, (int *, CUfunction_attribute, driver_kernel))                         \
    X(0, cuFuncSetAttribute, (driver_kernel, CUfunction_attribute, int))                           \
    X(0, cuLaunchKernelEx, (const CUlaunchConfig *, driver_kernel, void **, void **))

#endif
