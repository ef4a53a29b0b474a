// Our declarations of the CUDA driver interface are the vendor's, where its header is installed.
#if __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define HAVE_VENDOR 1
#elif __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_VENDOR 1
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#ifdef HAVE_VENDOR
#define KCRT_DRIVER_VENDOR_TYPES
typedef CUresult driver_result;
typedef CUdevice_attribute driver_attribute;
typedef CUstreamCaptureStatus driver_capture;
typedef CUdeviceptr driver_memory;
typedef const void *driver_host;
typedef CUstream driver_stream;
typedef CUevent driver_event;
typedef CUmodule driver_module;
typedef CUfunction driver_kernel;
#include "runtime/cuda/cuda_api.h"

#define X(name, value, cuda, hip) _Static_assert((int)cuda == value, #cuda);
KCRT_DRIVER_CONSTANTS(X)
#undef X
#define X(name, value) _Static_assert((int)name == value, #name);
KCRT_CUDA_CONSTANTS(X)
#undef X

#define SAME(name, parameters)                                                                     \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), CUresult parameters), #name);
#define X(needed, call, parameters, cuda, hip) SAME(cuda, parameters)
KCRT_DRIVER_CALLS(X)
#undef X
#define X(needed, name, parameters) SAME(name, parameters)
KCRT_CUDA_CALLS(X)
#undef X

// The structures that cuda_api.h declares when it is alone.
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8,
               "CUlaunchAttribute");
_Static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32 &&
                   offsetof(CUlaunchConfig, numAttrs) == 48,
               "CUlaunchConfig");
#endif

static void test_matches_vendor(void **state) {
    (void)state; // the comparison was made when this file was compiled
#ifndef HAVE_VENDOR
    fprintf(stderr, "skipped: no cuda.h is installed here\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matches_vendor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
