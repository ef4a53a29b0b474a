// Our declarations of HIP are the vendor's, where its headers are installed.
#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hip/hip_runtime_api.h>
#pragma GCC diagnostic pop
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
typedef hipError_t driver_result;
typedef hipDeviceAttribute_t driver_attribute;
typedef hipStreamCaptureStatus driver_capture;
typedef hipDeviceptr_t driver_memory;
#if HIP_VERSION_MAJOR >= 7
typedef const void *driver_host;
#else
typedef void *driver_host;
#endif
typedef hipStream_t driver_stream;
typedef hipEvent_t driver_event;
typedef hipModule_t driver_module;
typedef hipFunction_t driver_kernel;
#include "runtime/hip/hip_api.h"

#define X(name, value, cuda, hip) _Static_assert((int)hip == value, #hip);
KCRT_DRIVER_CONSTANTS(X)
#undef X
#define X(name, value) _Static_assert((int)name == value, #name);
KCRT_HIP_CONSTANTS(X)
#undef X

#define SAME(name, result, parameters)                                                             \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters), #name);
#define X(needed, call, parameters, cuda, hip) SAME(hip, hipError_t, parameters)
KCRT_DRIVER_CALLS(X)
#undef X
#define X(needed, result, name, parameters) SAME(name, result, parameters)
KCRT_HIP_CALLS(X)
#undef X

_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) ==
                   (HIP_VERSION_MAJOR >= 6 ? KCRT_HIP_ARCH_OFFSET_R0600 : KCRT_HIP_ARCH_OFFSET),
               "gcnArchName");
_Static_assert(sizeof(hipDeviceProp_t) <= KCRT_HIP_PROPERTIES_BYTES, "hipDeviceProp_t");
#endif

static void test_matches_vendor(void **state) {
    (void)state; // the comparison was made when this file was compiled
#ifndef HAVE_VENDOR
    fprintf(stderr, "skipped: no HIP headers are installed here\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matches_vendor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
