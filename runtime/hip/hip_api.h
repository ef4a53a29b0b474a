// Our own declarations of the HIP interface: exactly what the device uses, good for HIP 5, 6 and 7.
//
// A test includes the vendor's header first, where there is one; then the types below are the
// vendor's, and the signatures and constants of the lists are compared with it.
#ifndef KCRT_HIP_API_H
#define KCRT_HIP_API_H

#include <stddef.h>

#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H // the vendor's header was not included
typedef int hipDevice_t;
typedef void *hipDeviceptr_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef unsigned hipError_t, hipDeviceAttribute_t, hipStreamCaptureStatus, hipFuncAttribute;
enum {
#define X(name, value) name = value,
#define KCRT_HIP_DEFINE_CONSTANTS
#endif

#define KCRT_HIP_CONSTANTS(X)                                                                      \
    X(hipSuccess, 0)                                                                               \
    X(hipErrorOutOfMemory, 2)                                                                      \
    X(hipErrorNoDevice, 100)                                                                       \
    X(hipErrorInvalidDevice, 101)                                                                  \
    X(hipErrorInvalidImage, 200)                                                                   \
    X(hipErrorNoBinaryForGpu, 209)                                                                 \
    X(hipErrorInvalidKernelFile, 218)                                                              \
    X(hipErrorSharedObjectInitFailed, 303)                                                         \
    X(hipErrorNotFound, 500)                                                                       \
    X(hipDeviceAttributeClockRate, 5)                                                              \
    X(hipDeviceAttributeL2CacheSize, 19)                                                           \
    X(hipDeviceAttributeMaxBlockDimX, 26)                                                          \
    X(hipDeviceAttributeMaxBlockDimY, 27)                                                          \
    X(hipDeviceAttributeMaxBlockDimZ, 28)                                                          \
    X(hipDeviceAttributeMaxThreadsPerBlock, 56)                                                    \
    X(hipDeviceAttributeMultiprocessorCount, 63)                                                   \
    X(hipDeviceAttributeMaxRegistersPerBlock, 71)                                                  \
    X(hipDeviceAttributeMaxSharedMemoryPerBlock, 74)                                               \
    X(hipDeviceAttributeWarpSize, 87)                                                              \
    X(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 10002)                                   \
    X(hipStreamCaptureStatusNone, 0)

#ifdef KCRT_HIP_DEFINE_CONSTANTS
    KCRT_HIP_CONSTANTS(X)
#undef X
};
#define hipStreamNonBlocking 1
#define hipEventDisableTiming 2
#endif

// gcnArchName inside hipDeviceProp_t: its layout changed with HIP 6, whose function has the suffix
// R0600. The whole is at most 1472 bytes; we give it more.
#define KCRT_HIP_PROPERTIES_BYTES 4096
#define KCRT_HIP_ARCH_OFFSET 396        // HIP 5
#define KCRT_HIP_ARCH_OFFSET_R0600 1160 // HIP 6 and 7

// X(needed, name, parameters). All return hipError_t but the two that give text.
#define KCRT_HIP_SYMBOLS(X)                                                                        \
    X(1, hipInit, (unsigned))                                                                      \
    X(1, hipDriverGetVersion, (int *))                                                             \
    X(1, hipRuntimeGetVersion, (int *))                                                            \
    X(1, hipGetDeviceCount, (int *))                                                               \
    X(1, hipGetDevice, (int *))                                                                    \
    X(1, hipSetDevice, (int))                                                                      \
    X(1, hipDeviceGetName, (char *, int, hipDevice_t))                                             \
    X(1, hipDeviceGetAttribute, (int *, hipDeviceAttribute_t, int))                                \
    X(1, hipDeviceTotalMem, (size_t *, hipDevice_t))                                               \
    X(1, hipDeviceSynchronize, (void))                                                             \
    X(1, hipMemGetInfo, (size_t *, size_t *))                                                      \
    X(1, hipMalloc, (void **, size_t))                                                             \
    X(1, hipFree, (void *))                                                                        \
    X(1, hipMemcpyHtoDAsync, (hipDeviceptr_t, void *, size_t, hipStream_t))                        \
    X(1, hipMemcpyDtoHAsync, (void *, hipDeviceptr_t, size_t, hipStream_t))                        \
    X(1, hipMemcpyDtoDAsync, (hipDeviceptr_t, hipDeviceptr_t, size_t, hipStream_t))                \
    X(0, hipMemcpyPeer, (void *, int, const void *, int, size_t))                                  \
    X(1, hipMemsetD8Async, (hipDeviceptr_t, unsigned char, size_t, hipStream_t))                   \
    X(1, hipStreamCreateWithFlags, (hipStream_t *, unsigned))                                      \
    X(1, hipStreamDestroy, (hipStream_t))                                                          \
    X(1, hipStreamSynchronize, (hipStream_t))                                                      \
    X(1, hipStreamWaitEvent, (hipStream_t, hipEvent_t, unsigned))                                  \
    X(0, hipStreamIsCapturing, (hipStream_t, hipStreamCaptureStatus *))                            \
    X(1, hipEventCreateWithFlags, (hipEvent_t *, unsigned))                                        \
    X(1, hipEventRecord, (hipEvent_t, hipStream_t))                                                \
    X(1, hipEventDestroy, (hipEvent_t))                                                            \
    X(1, hipModuleLoadData, (hipModule_t *, const void *))                                         \
    X(1, hipModuleUnload, (hipModule_t))                                                           \
    X(1, hipModuleGetFunction, (hipFunction_t *, hipModule_t, const char *))                       \
    X(1, hipModuleLaunchKernel,                                                                    \
      (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
       hipStream_t, void **, void **))

#endif
