// From the caller's arguments to symbol values, with every check that a launch makes before
// anything starts.
#ifndef KCRT_BIND_H
#define KCRT_BIND_H

#include "runtime/manifest.h"

// On the stack of a launch and not cleared: only entries of the signature are set.
typedef struct {
    int64_t values[KCRT_MAX_SYMBOLS];
    uint64_t start[KCRT_MAX_ARGS],
        end[KCRT_MAX_ARGS]; // byte ranges of tensors as device numbers; equal when empty
} kcrt_bound;

// What tensors must belong to.
typedef struct {
    DLDevice device;
    uint64_t (*address)(void *base, uint64_t offset);
    const int64_t *attributes; // of kcrt_device_symbols
} kcrt_bind_device;

// KCRT_INVALID_ARGUMENT naming the argument or the dim. with_scalars: scalars must be there.
kcrt_status kcrt_bind(const kcrt_signature *, const kcrt_bind_device *, void *const *args, int n,
                      bool with_scalars, kcrt_bound *out);

// kcrt_function_solve and kcrt_function_shape.
kcrt_status kcrt_bind_solve(const kcrt_signature *, void *const *args, int n, int64_t *values,
                            unsigned char *known);
kcrt_status kcrt_bind_shape(const kcrt_signature *, int index, const int64_t *values,
                            const unsigned char *known, int64_t *shape, int64_t *strides);

#endif
