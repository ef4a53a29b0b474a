// A loaded CUDA driver: the real one or a simulator, each with its own table of symbols.
#ifndef KCRT_CUDA_DRIVER_H
#define KCRT_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/cuda/cuda_api.h"
#include "runtime/kcrt_device.h"

typedef struct {
    const char *kind; // "cuda", "cuda-sim"
    bool simulated;   // loaded from our own library, not by the vendor's name
    bool ready;
    void *library;
#define X(needed, name, parameters) CUresult(*name) parameters;
    KCRT_CUDA_SYMBOLS(X)
#undef X
    // Simulators alone; NULL otherwise. runtime/sim/kcsim.h.
    char *(*report_json)(int device);
    char *(*fault_text)(int device);
    int (*set_seed)(uint64_t seed);
    int (*device_for_arch)(const char *arch);
} cuda_driver;

typedef struct {
    cuda_driver *driver;
    CUdevice device;
    CUcontext context; // the primary one, retained
    int ordinal, major, minor;
} cuda_device;

// Loads and initialises once. KCRT_NO_DEVICE where there is no driver, or it has no device.
kcrt_status cuda_driver_load(cuda_driver *);

// KCRT_OK for CUDA_SUCCESS; else a sentence "What: the driver says NAME (text)." device may be
// NULL.
kcrt_status cuda_check(const cuda_driver *, const cuda_device *, CUresult, const char *what);

// Makes the device's context current; leave restores the caller's. Costs one thread-local read when
// it is current already.
kcrt_status cuda_enter(const cuda_device *, bool *pushed);
void cuda_leave(const cuda_device *, bool pushed);

// cuda_memory.c and cuda_module.c: members of the table.
kcrt_status cuda_alloc(void *, size_t, void **);
kcrt_status cuda_free(void *, void *);
uint64_t cuda_address(void *, uint64_t);
kcrt_status cuda_copy(void *, kcrt_copy_kind, void *, uint64_t, const void *, uint64_t, size_t,
                      void *);
kcrt_status cuda_copy_peer(void *, void *, uint64_t, void *, const void *, uint64_t, size_t);
kcrt_status cuda_memset(void *, void *, uint64_t, int, size_t, void *);
kcrt_status cuda_stream_create(void *, void **);
kcrt_status cuda_stream_wrap(void *, void *, void **);
void cuda_stream_free(void *, void *);
kcrt_status cuda_stream_sync(void *, void *);
kcrt_status cuda_stream_wait(void *, void *, void *);
kcrt_status cuda_stream_capturing(void *, void *, int *);
kcrt_status cuda_device_sync(void *);
int cuda_rank(void *, const char *, const char *, const char *, const char **);
kcrt_status cuda_module_load(void *, const char *, const void *, size_t, void **);
void cuda_module_unload(void *, void *);
kcrt_status cuda_kernel_get(void *, void *, const char *, uint64_t, void **);
kcrt_status cuda_launch(void *, void *, const kcrt_launch_shape *, const kcrt_kernel_arg *, int,
                        void *);

#endif
