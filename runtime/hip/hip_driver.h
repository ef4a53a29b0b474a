// A loaded HIP runtime: the real one or a simulator, each with its own table of symbols.
#ifndef KCRT_HIP_DRIVER_H
#define KCRT_HIP_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hip/hip_api.h"
#include "runtime/kcrt_device.h"

typedef struct {
    const char *kind; // "hip", "hip-sim"
    bool simulated, ready;
    void *library;
#define X(needed, name, parameters) hipError_t(*name) parameters;
    KCRT_HIP_SYMBOLS(X)
#undef X
    const char *(*hipGetErrorName)(hipError_t);
    const char *(*hipGetErrorString)(hipError_t);
    hipError_t (*properties)(void *,
                             int); // hipGetDevicePropertiesR0600, else hipGetDeviceProperties
    size_t arch_offset;            // in what it writes
    // Simulators alone; NULL otherwise. runtime/sim/kcsim.h.
    char *(*report_json)(int device);
    char *(*fault_text)(int device);
    int (*set_seed)(uint64_t seed);
    int (*device_for_arch)(const char *arch);
} hip_driver;

typedef struct {
    hip_driver *driver;
    int ordinal;
    char arch[256]; // "gfx90a:sramecc+:xnack-"
} hip_device;

// Loads and initialises once. KCRT_NO_DEVICE where there is no driver, or it has no device.
kcrt_status hip_driver_load(hip_driver *);
kcrt_status hip_check(const hip_driver *, const hip_device *, hipError_t, const char *what);

// HIP has a current device per thread. *previous is what leave restores.
kcrt_status hip_enter(const hip_device *, int *previous);
void hip_leave(const hip_device *, int previous);

// hip_memory.c and hip_module.c: members of the table.
kcrt_status hip_alloc(void *, size_t, void **);
kcrt_status hip_free(void *, void *);
uint64_t hip_address(void *, uint64_t);
kcrt_status hip_copy(void *, kcrt_copy_kind, void *, uint64_t, const void *, uint64_t, size_t,
                     void *);
kcrt_status hip_copy_peer(void *, void *, uint64_t, void *, const void *, uint64_t, size_t);
kcrt_status hip_memset(void *, void *, uint64_t, int, size_t, void *);
kcrt_status hip_stream_create(void *, void **);
kcrt_status hip_stream_wrap(void *, void *, void **);
void hip_stream_free(void *, void *);
kcrt_status hip_stream_sync(void *, void *);
kcrt_status hip_stream_wait(void *, void *, void *);
kcrt_status hip_stream_capturing(void *, void *, int *);
kcrt_status hip_device_sync(void *);
int hip_rank(void *, const char *, const char *, const char *, const char **);
kcrt_status hip_module_load(void *, const char *, const void *, size_t, void **);
void hip_module_unload(void *, void *);
kcrt_status hip_kernel_get(void *, void *, const char *, uint64_t, void **);
kcrt_status hip_launch(void *, void *, const kcrt_launch_shape *, const kcrt_kernel_arg *, int,
                       void *);

#endif
