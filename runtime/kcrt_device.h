// kcrt_device.h: what a device is to the runtime. For authors of plug-in devices and for the
// devices in this folder.
//
// A kind of device is one constant table of functions, registered under a name. Members marked
// [required] must be there; the others may be NULL, and each says what happens then.
//
// Calls come from any thread, several at a time. Out parameters are already cleared. A member that
// fails returns a status and leaves a sentence: devices inside libkcrt by kcrt_fail, others through
// `last_error`. All memory is (base, byte offset); only the device adds the two.
#ifndef KCRT_DEVICE_H
#define KCRT_DEVICE_H

#include "kcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KCRT_DEVICE_API_VERSION 1

typedef enum { KCRT_HOST_TO_DEVICE, KCRT_DEVICE_TO_HOST, KCRT_DEVICE_TO_DEVICE } kcrt_copy_kind;

typedef struct {
    uint32_t grid[3], block[3];
    uint32_t cluster[3];     // 1, 1, 1: no clusters
    uint32_t dynamic_shared; // bytes
} kcrt_launch_shape;

typedef struct {
    int is_memory; // 1: the address of (base, offset); 0: `size` bytes of `value`
    uint32_t size; // of a value: 1, 2, 4 or 8
    void *base;
    uint64_t value; // of memory: the byte offset; else the value's bytes, first byte first
} kcrt_kernel_arg;

// One call of a function, for devices that execute functions from their IR.
typedef struct {
    int arg_count;
    // By argument: one of the two is NULL. Tensors agree with the function's signature.
    const DLTensor *const *tensors;
    const void *const *scalars;
    // By argument, for outputs; NULL, or entries NULL: not wanted. Row-major, one per element,
    // whatever the strides.
    double *const *values; // the value before it is rounded to the output's type
    double *const *bounds; // how far any right implementation may be from it, before rounding
    int symbol_count;      // every dimension and stride name, with its value
    const char *const *symbol_names;
    const int64_t *symbol_values;
    int constant_count; // tensors of the package, in the order of the function's IR
    const DLTensor *constants;
} kcrt_function_call;

struct kcrt_device_api {
    uint32_t size;    // sizeof(kcrt_device_api)
    uint32_t version; // KCRT_DEVICE_API_VERSION
    void *user;       // given to the members that have no device yet

    // [required] How many there are; 0 and KCRT_OK where the driver is not installed.
    kcrt_status (*count)(void *user, int *out);
    // [required] `which` is what follows the colon in the name, or NULL. *ordinal becomes
    // DLTensor.device.device_id.
    kcrt_status (*open)(void *user, const char *which, int *ordinal, void **device);
    void (*close)(void *device); // [required]
    // [required] An attribute that the device does not have: KCRT_UNSUPPORTED.
    kcrt_status (*attr)(void *device, kcrt_attr, int64_t *out);
    kcrt_status (*string)(void *device, kcrt_attr, char *buf, size_t size); // [required]

    // [required] bytes > 0; the base is aligned to 256.
    kcrt_status (*alloc)(void *device, size_t bytes, void **base);
    kcrt_status (*free)(void *device, void *base); // [required]
    // NULL: alloc and free.
    kcrt_status (*workspace_alloc)(void *device, size_t bytes, void **base);
    kcrt_status (*workspace_free)(void *device, void *base);
    // [required] A number for a place: alignments are read off it, and two ranges overlap when
    // their numbers do.
    uint64_t (*address)(void *base, uint64_t offset);
    // [required] With host memory on one side: finished with it on return. The host side's offset
    // is already added.
    kcrt_status (*copy)(void *device, kcrt_copy_kind, void *dst, uint64_t dst_offset,
                        const void *src, uint64_t src_offset, size_t bytes, void *stream);
    // To another device of this kind; finished on return. NULL: through host memory.
    kcrt_status (*copy_peer)(void *dst_device, void *dst, uint64_t dst_offset, void *src_device,
                             const void *src, uint64_t src_offset, size_t bytes);
    // NULL: a package with memset steps is refused.
    kcrt_status (*memset)(void *device, void *base, uint64_t offset, int value, size_t bytes,
                          void *stream);

    // Streams. stream_create NULL: the device has one queue and all streams are NULL.
    kcrt_status (*stream_create)(void *device, void **stream);
    // NULL: KCRT_UNSUPPORTED. What it gives is never freed.
    kcrt_status (*stream_wrap)(void *device, void *native, void **stream);
    // Required with stream_create; for what that made.
    void (*stream_free)(void *device, void *stream);
    kcrt_status (*stream_sync)(void *device, void *stream); // NULL: work is finished on return
    kcrt_status (*stream_wait)(void *device, void *waiter, void *on); // NULL: nothing to wait for
    kcrt_status (*stream_capturing)(void *device, void *stream, int *out); // NULL: never captured
    kcrt_status (*device_sync)(void *device); // NULL: work is finished on return

    // [required] How well an image suits: higher is tried first, 0 is never tried. role: cubin ptx
    // hsaco ir. *reason, for 0, may be set to a static phrase that completes "`sm_80 cubin`: ...".
    int (*rank)(void *device, const char *triple, const char *arch, const char *role,
                const char **reason);
    // [required] KCRT_NO_IMAGE: not for this device after all, the next one is tried and the
    // sentence kept. The bytes stay valid until module_unload.
    kcrt_status (*module_load)(void *device, const char *role, const void *image, size_t size,
                               void **module);
    void (*module_unload)(void *device, void *module); // [required]
    // Kernels: required unless all images that suit are `ir`. max_dynamic_shared: the most that a
    // launch may ask for.
    kcrt_status (*kernel_get)(void *device, void *module, const char *symbol,
                              uint64_t max_dynamic_shared, void **kernel);
    kcrt_status (*launch)(void *device, void *kernel, const kcrt_launch_shape *,
                          const kcrt_kernel_arg *args, int n, void *stream);
    // Functions: required where `ir` images suit. function_check says, at load, whether the module
    // defines it.
    kcrt_status (*function_check)(void *device, void *module, const char *function);
    kcrt_status (*launch_function)(void *device, void *module, const char *function,
                                   const kcrt_function_call *, void *stream);

    // The sentence about this thread's last failure. NULL: kcrt_fail was used.
    const char *(*last_error)(void);

    // Simulators only. report: JSON as runtime/sim/README.md has it, malloc'ed, the caller frees it.
    kcrt_status (*set_seed)(void *device, uint64_t seed);
    kcrt_status (*report)(void *device, char **json);
};

// Sets kcrt_last_error() for this thread to the formatted sentence, and returns `status`.
KCRT_API kcrt_status kcrt_fail(kcrt_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Simulator access for tools: KCRT_UNSUPPORTED on other devices.
KCRT_API kcrt_status kcrt_device_set_seed(kcrt_device *, uint64_t seed);
KCRT_API kcrt_status kcrt_device_report(kcrt_device *, char **json);

// libkcrt_ref.so, found beside libkcrt or the program, exports this one symbol.
typedef const kcrt_device_api *kcrt_ref_device_api_fn(void);
#define KCRT_REF_SYMBOL "kcrt_ref_device_api"

#ifdef __cplusplus
}
#endif
#endif
