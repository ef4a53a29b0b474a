// Devices behind a vendor's driver: what `cuda`, `cuda-sim`, `hip` and `hip-sim` have in common.
//
// A kcrt_driver is one loaded library, the real driver or a simulator, with its table of calls. A
// vendor is a table of names and of the few things that the vendors do differently. The functions
// kcrt_driver_* are members of kcrt_device_api, over both.
#ifndef KCRT_DRIVER_H
#define KCRT_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/driver_calls.h"
#include "runtime/kcrt_device.h"

typedef struct kcrt_driver_vendor kcrt_driver_vendor;

typedef struct {
    kcrt_driver_vendor *vendor;
    const char *kind; // "cuda", "cuda-sim"
    bool simulated;   // loaded from our own library, not by the vendor's name
    bool ready;
    void *library;
#define X(needed, call, parameters, cuda, hip) driver_result(*call) parameters;
    KCRT_DRIVER_CALLS(X)
#undef X
    // Simulators alone; NULL otherwise. runtime/sim/kcsim.h.
    char *(*report_json)(int device);
    char *(*fault_text)(int device);
    int (*set_seed)(uint64_t seed);
    int (*device_for_arch)(const char *arch);
} kcrt_driver;

// The first member of a vendor's device.
typedef struct {
    kcrt_driver *driver;
    int ordinal;
    int number;     // the driver's, for calls that take one
    char arch[256]; // "sm_90", "gfx90a:sramecc+:xnack-"
} kcrt_driver_device;

typedef struct {
    const char *name;
    size_t member; // of the vendor's driver, which starts with a kcrt_driver: where it goes
    bool needed;
} kcrt_driver_symbol;

typedef struct {
    kcrt_attr attr;
    int driver; // the vendor's number of it
} kcrt_driver_attribute;

struct kcrt_driver_vendor {
    const char *const *libraries; // file names, tried in this order; NULL ends them
    const char *absent;           // the sentence when none of them loads
    const char *interface;        // what the library should be: "a CUDA driver"
    const char *simulator_variable, *simulator_file;
    const kcrt_driver_symbol *symbols;
    int symbol_count;
    driver_result no_device[2]; // results of init and device_count that mean that there is none
    void (*explain)(const kcrt_driver *, driver_result, const char **name, const char **text);

    driver_result (*api_version)(const kcrt_driver *, int *); // NULL: driver_version
    const char *arch_prefix, *arch_example;                   // "sm_", "sm_90a"
    kcrt_status (*read_arch)(const kcrt_driver *, int ordinal, char arch[256]);
    bool (*same_arch)(const char *arch, const char *wanted);
    const kcrt_driver_attribute *attributes;
    int attribute_count;

    // Makes the device current for this thread, and back. *before is for `restore`. Costs one
    // thread-local read when it is current already.
    driver_result (*enter)(const kcrt_driver_device *, int *before);
    void (*restore)(const kcrt_driver_device *, int before);

    // NULL: module_load. The log may be left empty.
    driver_result (*load_image)(const kcrt_driver *, const char *role, const void *image,
                                driver_module *, char *log, size_t log_size);
    const driver_result
        *refusals; // results with which the walk through images goes on; 0 ends them

    // Of the vendor's own library, under the lock of loading.
    void *library;
    bool library_absent;
};

// Loads and initialises once. KCRT_NO_DEVICE where there is no driver, or it has no device.
kcrt_status kcrt_driver_load(kcrt_driver *);

// KCRT_OK for DRIVER_SUCCESS; else a sentence "What: the driver says NAME (text)." device may be
// NULL.
kcrt_status kcrt_driver_check(const kcrt_driver *, const kcrt_driver_device *, driver_result,
                              const char *what);

// A call that needs the device to be current stands between these. leave checks its result and
// gives the thread back what was current before.
kcrt_status kcrt_driver_enter(const kcrt_driver_device *, int *before);
kcrt_status kcrt_driver_leave(const kcrt_driver_device *, int before, driver_result,
                              const char *what);

// Loads the driver, finds the device that `which` names, and makes `bytes` of zeroes, the vendor's
// device, that start with a kcrt_driver_device.
kcrt_status kcrt_driver_open(kcrt_driver *, const char *which, int *ordinal, size_t bytes,
                             void **device);

// A launch's arguments as the drivers take them.
enum { KCRT_DRIVER_MOST_ARGS = 128 };
typedef struct {
    uint64_t values[KCRT_DRIVER_MOST_ARGS];
    void *parameters[KCRT_DRIVER_MOST_ARGS];
} kcrt_driver_arguments;
void kcrt_driver_pack(kcrt_driver_arguments *, const kcrt_kernel_arg *, int n);

// ---- Members of kcrt_device_api -----------------------------------------------------------------

kcrt_status kcrt_driver_count(void *, int *);
kcrt_status kcrt_driver_attr(void *, kcrt_attr, int64_t *);
kcrt_status kcrt_driver_string(void *, kcrt_attr, char *, size_t);
kcrt_status kcrt_driver_set_seed(void *, uint64_t);
kcrt_status kcrt_driver_report(void *, char **);
kcrt_status kcrt_driver_alloc(void *, size_t, void **);
kcrt_status kcrt_driver_free(void *, void *);
uint64_t kcrt_driver_address(void *, uint64_t);
kcrt_status kcrt_driver_copy(void *, kcrt_copy_kind, void *, uint64_t, const void *, uint64_t,
                             size_t, void *);
kcrt_status kcrt_driver_memset(void *, void *, uint64_t, int, size_t, void *);
kcrt_status kcrt_driver_stream_create(void *, void **);
void kcrt_driver_stream_free(void *, void *);
kcrt_status kcrt_driver_stream_sync(void *, void *);
kcrt_status kcrt_driver_stream_wait(void *, void *, void *);
kcrt_status kcrt_driver_stream_capturing(void *, void *, int *);
kcrt_status kcrt_driver_device_sync(void *);
kcrt_status kcrt_driver_module_load(void *, const char *, const void *, size_t, void **);
void kcrt_driver_module_unload(void *, void *);
kcrt_status kcrt_driver_kernel_get(void *, void *, const char *, uint64_t, void **);
// The shape has no clusters.
kcrt_status kcrt_driver_launch(void *, void *, const kcrt_launch_shape *, const kcrt_kernel_arg *,
                               int, void *);

// Those that no vendor does otherwise, for its table.
#define KCRT_DRIVER_MEMBERS                                                                        \
    .size = sizeof(kcrt_device_api), .version = KCRT_DEVICE_API_VERSION,                           \
    .count = kcrt_driver_count, .attr = kcrt_driver_attr, .string = kcrt_driver_string,            \
    .alloc = kcrt_driver_alloc, .free = kcrt_driver_free, .address = kcrt_driver_address,          \
    .copy = kcrt_driver_copy, .memset = kcrt_driver_memset,                                        \
    .stream_create = kcrt_driver_stream_create, .stream_free = kcrt_driver_stream_free,            \
    .stream_sync = kcrt_driver_stream_sync, .stream_wait = kcrt_driver_stream_wait,                \
    .device_sync = kcrt_driver_device_sync, .module_load = kcrt_driver_module_load,                \
    .module_unload = kcrt_driver_module_unload, .set_seed = kcrt_driver_set_seed,                  \
    .report = kcrt_driver_report

#endif
