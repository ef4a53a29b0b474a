// kcrt: load a package that `kc build` made and launch its functions by name.
//
// Rules that hold everywhere:
// - Every call may be made from any thread. Nothing exits, prints, runs a program or connects.
// - A call that can fail returns a kcrt_status; on failure kcrt_last_error() is a full sentence
//   about it, kept for this thread until its next failure. Out parameters are cleared first, so on
//   failure they are NULL or 0.
// - The caller's current driver context is the same after a call as before it.
// - Handles belong to the caller until the matching close, unload or free, which accept NULL. Close
//   in reverse order: functions live as long as their module; modules, streams and memory are
//   released before their device is closed.
// - Bases of memory are opaque handles: do no arithmetic on them, use byte offsets
//   (DLTensor.byte_offset, kcrt_place). On `cuda`, `hip` and `ref` they are addresses.
#ifndef KCRT_H
#define KCRT_H

#include <stddef.h>
#include <stdint.h>

#if defined(KCRT_STATIC)
#define KCRT_API
#else
#define KCRT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- DLPack: the few declarations of dlpack.h (version 1) that are used here --------------------
// A program that uses dlpack.h itself includes it before this file.
#ifndef DLPACK_DLPACK_H_
typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13
} DLDeviceType;
typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;
typedef struct {
    uint8_t code; // 0 int, 1 unsigned, 2 float, 4 bfloat, 6 bool; more in dlpack.h
    uint8_t bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; // in elements; NULL: contiguous, row-major
    uint64_t byte_offset;
} DLTensor;
#endif

// ---- Status -------------------------------------------------------------------------------------
typedef enum {
    KCRT_OK = 0,
    KCRT_INVALID_ARGUMENT, // the caller's fault: a wrong tensor, a NULL handle, a place out of
                           // range
    KCRT_NOT_FOUND,        // no such function, device kind or file
    KCRT_UNSUPPORTED,      // the device, the image or the moment (capture) does not allow it
    KCRT_NO_DEVICE,        // no driver, or no device of that number
    KCRT_OUT_OF_MEMORY,    // of the host or of the device
    KCRT_BAD_PACKAGE,      // the file is not a package, or is damaged
    KCRT_NO_IMAGE,         // the package has nothing that this device accepts
    KCRT_IO,               // the operating system could not read the file
    KCRT_DRIVER,           // the driver reported a failure, or a simulator a finding
} kcrt_status;

KCRT_API const char *kcrt_status_name(kcrt_status);
KCRT_API const char *kcrt_last_error(void); // never NULL; "" when this thread has had no failure
KCRT_API const char *kcrt_version(void);

// ---- Devices ------------------------------------------------------------------------------------
typedef struct kcrt_device kcrt_device;
typedef struct kcrt_stream kcrt_stream;
typedef struct kcrt_module kcrt_module;
typedef struct kcrt_function kcrt_function;
typedef struct kcrt_device_api kcrt_device_api; // kcrt_device.h

typedef enum {
    KCRT_ATTR_EXIST = 0, // 1 for an open device
    KCRT_ATTR_NAME,      // string
    KCRT_ATTR_ARCH,      // string: "sm_90", "gfx90a:sramecc+:xnack-"
    KCRT_ATTR_API_VERSION,
    KCRT_ATTR_DRIVER_VERSION,
    KCRT_ATTR_WARP_SIZE,
    KCRT_ATTR_MAX_THREADS_PER_BLOCK,
    KCRT_ATTR_MAX_BLOCK_X,
    KCRT_ATTR_MAX_BLOCK_Y,
    KCRT_ATTR_MAX_BLOCK_Z,
    KCRT_ATTR_SHARED_MEMORY_PER_BLOCK, // the most that a block can opt in to, bytes
    KCRT_ATTR_SHARED_MEMORY_PER_MULTIPROCESSOR,
    KCRT_ATTR_REGISTERS_PER_BLOCK,
    KCRT_ATTR_MULTIPROCESSORS,
    KCRT_ATTR_CLOCK_KHZ,
    KCRT_ATTR_L2_BYTES,
    KCRT_ATTR_TOTAL_MEMORY,     // bytes
    KCRT_ATTR_AVAILABLE_MEMORY, // bytes, now
    KCRT_ATTR_COUNT
} kcrt_attr;

// Name: KIND or KIND:WHAT. cuda:0, hip:1, cuda-sim, cuda-sim:sm_90a, hip-sim:gfx942, ref, or a
// registered kind.
KCRT_API kcrt_status kcrt_device_open(const char *name, kcrt_device **out);
KCRT_API void kcrt_device_close(kcrt_device *);
// How many devices of a kind there are: 0, with KCRT_OK, where its driver is not installed.
KCRT_API kcrt_status kcrt_device_count(const char *kind, int *out);
// The kinds, by index: KCRT_NOT_FOUND past the end. The string lives as long as the process.
KCRT_API kcrt_status kcrt_device_kind(int index, const char **kind);
// An attribute that the device does not have: KCRT_UNSUPPORTED.
KCRT_API kcrt_status kcrt_device_attr(kcrt_device *, kcrt_attr, int64_t *out);
// Cut to fit, and always ended.
KCRT_API kcrt_status kcrt_device_string(kcrt_device *, kcrt_attr, char *buf, size_t size);
KCRT_API DLDevice kcrt_device_dl(kcrt_device *); // what DLTensor.device of its tensors must be
KCRT_API kcrt_status kcrt_device_register(const char *kind, int dl_device_type,
                                          const kcrt_device_api *);

// ---- Memory -------------------------------------------------------------------------------------
// At least 256-byte aligned. 0 bytes give a NULL base, which is a valid one for an empty tensor.
KCRT_API kcrt_status kcrt_alloc(kcrt_device *, size_t bytes, void **out);
KCRT_API kcrt_status kcrt_free(kcrt_device *, void *);
// Pooled: free keeps the block for the next alloc that it suits, which may come at once. Free a
// block when its work has finished, or use it again on the same stream only. The pool is emptied
// when memory runs out and at close.
KCRT_API kcrt_status kcrt_workspace_alloc(kcrt_device *, size_t bytes, void **out);
KCRT_API kcrt_status kcrt_workspace_free(kcrt_device *, void *);

typedef struct {
    kcrt_device *device; // NULL: host memory
    void *base;
    size_t byte_offset;
} kcrt_place;

// In stream order. A copy to or from host memory has finished with it on return, and is refused
// during capture. Between two devices the copy is finished on return. Ranges must not overlap. The
// stream may be NULL.
KCRT_API kcrt_status kcrt_copy(kcrt_place dst, kcrt_place src, size_t bytes, kcrt_stream *);

// ---- Streams ------------------------------------------------------------------------------------
// A device with one queue gives NULL streams, with KCRT_OK. NULL means the device's default queue
// in every call; kcrt_stream_sync(NULL) waits for the default queue of every open device.
KCRT_API kcrt_status kcrt_stream_create(kcrt_device *, kcrt_stream **);
// native: a CUstream or hipStream_t of the device's primary context, which the caller keeps and
// destroys itself.
KCRT_API kcrt_status kcrt_stream_wrap(kcrt_device *, void *native, kcrt_stream **);
KCRT_API kcrt_status kcrt_stream_sync(kcrt_stream *);
KCRT_API kcrt_status kcrt_device_sync(kcrt_device *); // waits for everything on the device
// Work given to `waiter` from now on starts after what was given to `on` up to now.
KCRT_API kcrt_status kcrt_stream_wait(kcrt_stream *waiter, kcrt_stream *on);
KCRT_API void kcrt_stream_free(kcrt_stream *); // waits for its work when it has a workspace pool

// ---- Modules ------------------------------------------------------------------------------------
typedef struct {
    size_t size; // sizeof(kcrt_load_options)
    int lazy;    // load a function's image at kcrt_function_get, not now
    int no_jit;  // refuse images that the driver would have to compile (PTX)
} kcrt_load_options;

// Everything is loaded here (unless lazy): a function that has no image for this device fails the
// load, and the sentence says what the package has, what the device is, and why each image was
// refused. Options may be NULL. load_memory is without a copy: the bytes must stay as they are
// until the module is unloaded.
KCRT_API kcrt_status kcrt_module_load_file(kcrt_device *, const char *path,
                                           const kcrt_load_options *, kcrt_module **);
KCRT_API kcrt_status kcrt_module_load_memory(kcrt_device *, const void *, size_t,
                                             const kcrt_load_options *, kcrt_module **);
KCRT_API void kcrt_module_unload(kcrt_module *);
KCRT_API const char *kcrt_module_name(kcrt_module *);
KCRT_API int kcrt_module_function_count(kcrt_module *);
KCRT_API kcrt_status kcrt_module_function(kcrt_module *, int index, kcrt_function **);
KCRT_API kcrt_status kcrt_function_get(kcrt_module *, const char *name, kcrt_function **);

// ---- Functions ----------------------------------------------------------------------------------
typedef struct {
    const char *name;
    const char *type; // "f16"
    DLDataType dtype;
    int is_scalar; // passed as a pointer to its value
    int is_output; // written
    int rank;
    int has_strides;   // 0: must be contiguous, row-major
    const char *alias; // the input that this output may occupy, or NULL
    int is_inout; // updated in place: it is read, and is_output is set too
} kcrt_arg_info;

typedef struct {
    const char *name;
    int is_stride; // else a dimension
    int is_passed; // a dimension that no shape determines: the caller passes it
    int64_t min, max, multiple_of;
} kcrt_symbol_info;

// Of NULL: an empty name, no device, no arguments and symbols. kcrt_launch then gives the status.
KCRT_API const char *kcrt_function_name(kcrt_function *);
// What DLTensor.device of its arguments must be.
KCRT_API DLDevice kcrt_function_device(kcrt_function *);
KCRT_API int kcrt_function_arg_count(kcrt_function *); // inputs, then inouts, then outputs
KCRT_API kcrt_status kcrt_function_arg(kcrt_function *, int index, kcrt_arg_info *);
KCRT_API int kcrt_function_symbol_count(kcrt_function *); // dimensions, then stride names
KCRT_API kcrt_status kcrt_function_symbol(kcrt_function *, int index, kcrt_symbol_info *);
// Derives symbols from tensors. args as for kcrt_launch, but any may be NULL (not known yet), data
// pointers are not looked at, and n may stop early. values[i] and known[i] belong to symbol i;
// those known on entry are taken as given.
KCRT_API kcrt_status kcrt_function_solve(kcrt_function *, void *const *args, int n, int64_t *values,
                                         unsigned char *known);
// Shape, and strides in elements, of tensor argument `index` under those values (rank entries each;
// strides may be NULL).
KCRT_API kcrt_status kcrt_function_shape(kcrt_function *, int index, const int64_t *values,
                                         const unsigned char *known, int64_t *shape,
                                         int64_t *strides);

// Bytes of workspace that a launch with these arguments would use. args as for kcrt_launch; scalars
// may be NULL.
KCRT_API kcrt_status kcrt_function_workspace(kcrt_function *, const DLTensor *const *args, int n,
                                             size_t *bytes);

// args: DLTensor pointers for tensors and pointers to values for scalars, in argument order (inputs,
// inouts, outputs; an inout is one argument, which holds the new contents afterwards); then
// an int64_t pointer for each dimension with is_passed, in symbol order. All are read before the
// call returns. Before anything starts, rank, shape, stride, type, alignment, device and overlap
// are checked, and the message names the argument. workspace: at least kcrt_function_workspace
// bytes, 256-byte aligned; NULL takes it from the stream's pool, which is refused while the stream
// is captured. Asynchronous on the stream.
KCRT_API kcrt_status kcrt_launch(kcrt_function *, kcrt_stream *, void *const *args, int n,
                                 void *workspace, size_t workspace_bytes);

// On devices that define functions rather than kernels (`ref`): kcrt_launch, and for each argument
// i that is an output, in row-major order, each element's value before it is rounded to the
// output's type (values[i]) and an upper bound of the error that a right implementation may have
// (bounds[i]). Either list, and entries of it, may be NULL. Else KCRT_UNSUPPORTED.
KCRT_API kcrt_status kcrt_launch_bounded(kcrt_function *, kcrt_stream *, void *const *args, int n,
                                         double *const *values, double *const *bounds);

// ---- For callers, such as generated headers, that have pointers rather than tensors -------------
static inline DLDataType kcrt_dtype(int code, int bits) {
    DLDataType t;
    t.code = (uint8_t)code;
    t.bits = (uint8_t)bits;
    t.lanes = 1;
    return t;
}

// shape and strides are borrowed; strides may be NULL.
static inline DLTensor kcrt_tensor(DLDevice device, const void *data, DLDataType type, int rank,
                                   int64_t *shape, int64_t *strides) {
    DLTensor t;
    t.data = (void *)(uintptr_t)data;
    t.device = device;
    t.ndim = rank;
    t.dtype = type;
    t.shape = shape;
    t.strides = strides;
    t.byte_offset = 0;
    return t;
}

#ifdef __cplusplus
}
#endif
#endif
