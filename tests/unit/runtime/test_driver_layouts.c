// Our own CUDA structures, without the vendor's header, have the layout that
// test_driver_headers_cuda.c checks with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cuda/cuda_api.h"

static void test_layouts(void **state) {
    (void)state;
    assert_int_equal(sizeof(CUlaunchAttribute), 72);
    assert_int_equal(offsetof(CUlaunchAttribute, value), 8);
    assert_int_equal(sizeof(CUlaunchConfig), 56);
    assert_int_equal(offsetof(CUlaunchConfig, hStream), 32);
    assert_int_equal(offsetof(CUlaunchConfig, numAttrs), 48);
    assert_int_equal(sizeof(CUdeviceptr), 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
