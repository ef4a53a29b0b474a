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
#include "runtime/hip/hip_api.h"

#define X(name, value) _Static_assert((int)name == value, #name);
KCRT_HIP_CONSTANTS(X)
#undef X

#define X(needed, name, parameters)                                                                \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), hipError_t parameters), #name);
KCRT_HIP_SYMBOLS(X)
#undef X

_Static_assert(hipStreamNonBlocking == 1 && hipEventDisableTiming == 2, "flags");
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
