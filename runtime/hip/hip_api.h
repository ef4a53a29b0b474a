// Our own declarations of what HIP alone has, good for HIP 5, 6 and 7; runtime/driver_calls.h has
// the rest, and says how both are compared with the vendor's header.
#ifndef KCRT_HIP_API_H
#define KCRT_HIP_API_H

#include "runtime/driver_calls.h"

#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H // the vendor's header was not included
typedef unsigned hipError_t;
enum {
#define X(name, value) name = value,
#define KCRT_HIP_DEFINE_CONSTANTS
#endif

#define KCRT_HIP_CONSTANTS(X)                                                                      \
    X(hipErrorInvalidDevice, 101)                                                                  \
    X(hipErrorInvalidKernelFile, 218)                                                              \
    X(hipErrorSharedObjectInitFailed, 303)                                                         \
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
    X(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 10002)

#ifdef KCRT_HIP_DEFINE_CONSTANTS
    KCRT_HIP_CONSTANTS(X)
#undef X
};
#endif

// gcnArchName inside hipDeviceProp_t: its layout changed with HIP 6, whose function has the suffix
// R0600. The whole is at most 1472 bytes; we give it more.
#define KCRT_HIP_PROPERTIES_BYTES 4096
#define KCRT_HIP_ARCH_OFFSET 396        // HIP 5
#define KCRT_HIP_ARCH_OFFSET_R0600 1160 // HIP 6 and 7

// X(needed, result, name, parameters). needed 0: may be absent.
#define KCRT_HIP_CALLS(X)                                                                          \
    X(1, const char *, hipGetErrorName, (hipError_t))                                              \
    X(1, const char *, hipGetErrorString, (hipError_t))                                            \
    X(1, hipError_t, hipRuntimeGetVersion, (int *))                                                \
    X(1, hipError_t, hipGetDevice, (int *))                                                        \
    X(1, hipError_t, hipSetDevice, (int))                                                          \
    X(0, hipError_t, hipMemcpyPeer, (void *, int, const void *, int, size_t))

#endif
