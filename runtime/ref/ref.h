// The device `ref`: functions run by the reference interpreter, in host memory, finished on return.
#ifndef KCRT_REF_H
#define KCRT_REF_H

#include "ir/interp.h"
#include "runtime/kcrt_device.h"

// Sets what last_error gives to this thread, and returns `status`.
kcrt_status ref_fail(kcrt_status, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *ref_last_error(void);

// Runs f(context). KCRT_OUT_OF_MEMORY where an arena ran out of memory meanwhile; f's arena is then
// to be destroyed by the caller.
kcrt_status ref_guard(kcrt_status (*f)(void *context), void *context);

// The first error of a sink, in a buffer.
void ref_first_error(const kc_diag *, char *text, size_t size);

// ---- modules (ref_module.c) ---------------------------------------------------------------------
kcrt_status ref_module_load(void *device, const char *role, const void *image, size_t size,
                            void **module);
void ref_module_unload(void *device, void *module);
kcrt_status ref_function_check(void *device, void *module, const char *function);
kc_op *ref_module_function(void *module, const char *function); // NULL: there is none

// ---- launches (ref_launch.c) --------------------------------------------------------------------
kcrt_status ref_launch(void *device, void *module, const char *function, const kcrt_function_call *,
                       void *stream);
kcrt_status ref_report(void *device, char **json); // launches, and indices that were out of range

#endif
