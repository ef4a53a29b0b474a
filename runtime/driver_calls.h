// The calls that both vendors' interfaces have. HIP follows the CUDA driver interface call by call
// and number by number; where it does, one declaration serves both, and devices are written once
// over it (driver_*.c). What only one of them has is in cuda/cuda_api.h and hip/hip_api.h.
//
// These are our own declarations, so that no vendor header is needed: exactly what is used. A test
// includes a vendor's header, where there is one, gives the vendor's types for the names below, and
// compares signatures and constants.
#ifndef KCRT_DRIVER_CALLS_H
#define KCRT_DRIVER_CALLS_H

#include <stddef.h>

#ifndef KCRT_DRIVER_VENDOR_TYPES
typedef unsigned driver_result, driver_attribute, driver_capture;
typedef void *driver_memory; // an address of 64 bits
typedef const void *driver_host;
typedef void *driver_stream, *driver_event, *driver_module, *driver_kernel;
#endif

// X(name, value, CUDA's name, HIP's name)
#define KCRT_DRIVER_CONSTANTS(X)                                                                   \
    X(DRIVER_SUCCESS, 0, CUDA_SUCCESS, hipSuccess)                                                 \
    X(DRIVER_OUT_OF_MEMORY, 2, CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory)                      \
    X(DRIVER_NO_DEVICE, 100, CUDA_ERROR_NO_DEVICE, hipErrorNoDevice)                               \
    X(DRIVER_INVALID_IMAGE, 200, CUDA_ERROR_INVALID_IMAGE, hipErrorInvalidImage)                   \
    X(DRIVER_NO_BINARY_FOR_GPU, 209, CUDA_ERROR_NO_BINARY_FOR_GPU, hipErrorNoBinaryForGpu)         \
    X(DRIVER_NOT_FOUND, 500, CUDA_ERROR_NOT_FOUND, hipErrorNotFound)                               \
    X(DRIVER_STREAM_NON_BLOCKING, 1, CU_STREAM_NON_BLOCKING, hipStreamNonBlocking)                 \
    X(DRIVER_EVENT_DISABLE_TIMING, 2, CU_EVENT_DISABLE_TIMING, hipEventDisableTiming)              \
    X(DRIVER_CAPTURE_NONE, 0, CU_STREAM_CAPTURE_STATUS_NONE, hipStreamCaptureStatusNone)

enum {
#define X(name, value, cuda, hip) name = value,
    KCRT_DRIVER_CONSTANTS(X)
#undef X
};

// X(needed, call, parameters, CUDA's name, HIP's name). All return driver_result; the int after a
// name's buffer, and of an attribute, is the driver's number of the device. needed 0: may be absent
// from older drivers and simulators.
#define KCRT_DRIVER_CALLS(X)                                                                       \
    X(1, init, (unsigned), cuInit, hipInit)                                                        \
    X(1, driver_version, (int *), cuDriverGetVersion, hipDriverGetVersion)                         \
    X(1, device_count, (int *), cuDeviceGetCount, hipGetDeviceCount)                               \
    X(1, device_name, (char *, int, int), cuDeviceGetName, hipDeviceGetName)                       \
    X(1, device_attribute, (int *, driver_attribute, int), cuDeviceGetAttribute,                   \
      hipDeviceGetAttribute)                                                                       \
    X(1, device_memory, (size_t *, int), cuDeviceTotalMem_v2, hipDeviceTotalMem)                   \
    X(1, device_sync, (void), cuCtxSynchronize, hipDeviceSynchronize)                              \
    X(1, memory_info, (size_t *, size_t *), cuMemGetInfo_v2, hipMemGetInfo)                        \
    X(1, memory_alloc, (driver_memory *, size_t), cuMemAlloc_v2, hipMalloc)                        \
    X(1, memory_free, (driver_memory), cuMemFree_v2, hipFree)                                      \
    X(1, copy_in, (driver_memory, driver_host, size_t, driver_stream), cuMemcpyHtoDAsync_v2,       \
      hipMemcpyHtoDAsync)                                                                          \
    X(1, copy_out, (void *, driver_memory, size_t, driver_stream), cuMemcpyDtoHAsync_v2,           \
      hipMemcpyDtoHAsync)                                                                          \
    X(1, copy_within, (driver_memory, driver_memory, size_t, driver_stream), cuMemcpyDtoDAsync_v2, \
      hipMemcpyDtoDAsync)                                                                          \
    X(1, fill, (driver_memory, unsigned char, size_t, driver_stream), cuMemsetD8Async,             \
      hipMemsetD8Async)                                                                            \
    X(1, stream_create, (driver_stream *, unsigned), cuStreamCreate, hipStreamCreateWithFlags)     \
    X(1, stream_destroy, (driver_stream), cuStreamDestroy_v2, hipStreamDestroy)                    \
    X(1, stream_sync, (driver_stream), cuStreamSynchronize, hipStreamSynchronize)                  \
    X(1, stream_wait, (driver_stream, driver_event, unsigned), cuStreamWaitEvent,                  \
      hipStreamWaitEvent)                                                                          \
    X(0, stream_capturing, (driver_stream, driver_capture *), cuStreamIsCapturing,                 \
      hipStreamIsCapturing)                                                                        \
    X(1, event_create, (driver_event *, unsigned), cuEventCreate, hipEventCreateWithFlags)         \
    X(1, event_record, (driver_event, driver_stream), cuEventRecord, hipEventRecord)               \
    X(1, event_destroy, (driver_event), cuEventDestroy_v2, hipEventDestroy)                        \
    X(1, module_load, (driver_module *, const void *), cuModuleLoadData, hipModuleLoadData)        \
    X(1, module_unload, (driver_module), cuModuleUnload, hipModuleUnload)                          \
    X(1, module_kernel, (driver_kernel *, driver_module, const char *), cuModuleGetFunction,       \
      hipModuleGetFunction)                                                                        \
    X(1, launch,                                                                                   \
      (driver_kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
       driver_stream, void **, void **),                                                           \
      cuLaunchKernel, hipModuleLaunchKernel)

#endif
