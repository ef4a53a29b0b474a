// Sentences for arguments that a launch refuses: each names the function and the argument, and says
// what it should be. All return KCRT_INVALID_ARGUMENT. Cold: nothing here runs in a launch that
// succeeds.
#ifndef KCRT_BIND_ERROR_H
#define KCRT_BIND_ERROR_H

#include "runtime/manifest.h"

kcrt_status kcrt_bind_fail(const kcrt_signature *, int arg, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
kcrt_status kcrt_bind_count(const kcrt_signature *, int given) __attribute__((cold));
kcrt_status kcrt_bind_type(const kcrt_signature *, int arg, DLDataType is) __attribute__((cold));
kcrt_status kcrt_bind_where(const kcrt_signature *, int arg, DLDevice is, DLDevice wanted)
    __attribute__((cold));
kcrt_status kcrt_bind_extent(const kcrt_signature *, int arg, int axis, int64_t extent)
    __attribute__((cold));
kcrt_status kcrt_bind_facts(const kcrt_signature *, int symbol, int64_t value)
    __attribute__((cold));
kcrt_status kcrt_bind_passed(const kcrt_signature *, int symbol) __attribute__((cold));
kcrt_status kcrt_bind_disagree(const kcrt_signature *, int arg, int axis, const char *thing,
                               int64_t is, int64_t wanted, const int64_t *values)
    __attribute__((cold));
kcrt_status kcrt_bind_overlap(const kcrt_signature *, int output, int other) __attribute__((cold));
kcrt_status kcrt_bind_unknown(const kcrt_signature *, int arg, int symbol) __attribute__((cold));

#endif
