// Our own declarations of the CUDA driver interface: exactly what the device uses, so that no
// vendor header is needed.
//
// A test includes the vendor's cuda.h first, where there is one; then the types below are the
// vendor's, and the signatures and constants of the lists are compared with it.
#ifndef KCRT_CUDA_API_H
#define KCRT_CUDA_API_H

#include <stddef.h>

#ifndef CUDA_VERSION // the vendor's header was not included
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef unsigned CUresult, CUdevice_attribute, CUfunction_attribute, CUjit_option,
    CUstreamCaptureStatus, CUlaunchAttributeID;
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
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
enum {
#define X(name, value) name = value,
#define KCRT_CUDA_DEFINE_CONSTANTS
#endif

#define KCRT_CUDA_CONSTANTS(X)                                                                     \
    X(CUDA_SUCCESS, 0)                                                                             \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                 \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                   \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                                               \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                           \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                 \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                      \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                     \
    X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                                    \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                   \
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
    X(CU_STREAM_NON_BLOCKING, 1)                                                                   \
    X(CU_EVENT_DISABLE_TIMING, 2)                                                                  \
    X(CU_STREAM_CAPTURE_STATUS_NONE, 0)                                                            \
    X(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)

#ifdef KCRT_CUDA_DEFINE_CONSTANTS
    KCRT_CUDA_CONSTANTS(X)
#undef X
};
#endif

// X(needed, name, parameters). All return CUresult. needed 0: may be absent from older drivers and
// simulators.
#define KCRT_CUDA_SYMBOLS(X)                                                                       \
    X(1, cuInit, (unsigned))                                                                       \
    X(1, cuDriverGetVersion, (int *))                                                              \
    X(1, cuGetErrorName, (CUresult, const char **))                                                \
    X(1, cuGetErrorString, (CUresult, const char **))                                              \
    X(1, cuDeviceGetCount, (int *))                                                                \
    X(1, cuDeviceGet, (CUdevice *, int))                                                           \
    X(1, cuDeviceGetName, (char *, int, CUdevice))                                                 \
    X(1, cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice))                              \
    X(1, cuDeviceTotalMem_v2, (size_t *, CUdevice))                                                \
    X(1, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                        \
    X(1, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                 \
    X(1, cuCtxGetCurrent, (CUcontext *))                                                           \
    X(1, cuCtxPushCurrent_v2, (CUcontext))                                                         \
    X(1, cuCtxPopCurrent_v2, (CUcontext *))                                                        \
    X(1, cuCtxSynchronize, (void))                                                                 \
    X(1, cuMemGetInfo_v2, (size_t *, size_t *))                                                    \
    X(1, cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                   \
    X(1, cuMemFree_v2, (CUdeviceptr))                                                              \
    X(1, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))                      \
    X(1, cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                            \
    X(1, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                       \
    X(0, cuMemcpyPeer, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t))                   \
    X(1, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                          \
    X(1, cuStreamCreate, (CUstream *, unsigned))                                                   \
    X(1, cuStreamDestroy_v2, (CUstream))                                                           \
    X(1, cuStreamSynchronize, (CUstream))                                                          \
    X(1, cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                         \
    X(0, cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *))                                 \
    X(0, cuStreamGetCtx, (CUstream, CUcontext *))                                                  \
    X(1, cuEventCreate, (CUevent *, unsigned))                                                     \
    X(1, cuEventRecord, (CUevent, CUstream))                                                       \
    X(1, cuEventDestroy_v2, (CUevent))                                                             \
    X(1, cuModuleLoadData, (CUmodule *, const void *))                                             \
    X(0, cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **))        \
    X(1, cuModuleUnload, (CUmodule))                                                               \
    X(1, cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                              \
    X(0, cuFuncGetAttribute, (int *, CUfunction_attribute, CUfunction))                            \
    X(0, cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int))                              \
    X(1, cuLaunchKernel,                                                                           \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **, void **))                                                                          \
    X(0, cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **))

#endif
