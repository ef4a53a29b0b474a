// The conversions of 8- and 4-bit floats, compiled for the host, against ir/dtype.c: every code,
// every f16 and bf16 value, the neighbourhood of every value and of every halfway point, and every
// STRIDE-th f32 (all of them with KC_MATH_EXHAUSTIVE=1).

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/dtype.h"
#include "targets/common/math/kcmath.h"

#define STRIDE 251

static const struct {
    kc_dtype dtype;
    uint32_t (*encode)(float);
    float (*decode)(uint32_t);
} formats[] = {
    {KC_f8e4m3, kc_math_f8e4m3_of_f32, kc_math_f32_of_f8e4m3},
    {KC_f8e5m2, kc_math_f8e5m2_of_f32, kc_math_f32_of_f8e5m2},
    {KC_f8e4m3fnuz, kc_math_f8e4m3fnuz_of_f32, kc_math_f32_of_f8e4m3fnuz},
    {KC_f8e5m2fnuz, kc_math_f8e5m2fnuz_of_f32, kc_math_f32_of_f8e5m2fnuz},
    {KC_f8e8m0, kc_math_f8e8m0_of_f32, kc_math_f32_of_f8e8m0},
    {KC_f4e2m1, kc_math_f4e2m1_of_f32, kc_math_f32_of_f4e2m1},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static void check_encode(int i, float x) {
    uint8_t want = 0;
    kc_dtype_store(formats[i].dtype, &want, (double)x);
    uint32_t got = formats[i].encode(x);
    if (got != want)
        fail_msg("%s of %a: code %02x, expected %02x", kc_dtype_name(formats[i].dtype), (double)x,
                 got, want);
}

// x and the three f32 on either side of it.
static void check_around(int i, float x) {
    for (int step = -3; step <= 3; step++)
        check_encode(i, from_bits_f32(bits_f32(x) + (uint32_t)step));
}

static void test_decode(void **state) {
    (void)state;
    for (int i = 0; i < FORMATS; i++)
        for (uint32_t code = 0; code < 1u << kc_dtype_table[formats[i].dtype].bits; code++) {
            double want = kc_dtype_load(formats[i].dtype, &(uint8_t){(uint8_t)code});
            double got = (double)formats[i].decode(code);
            if (isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want))
                fail_msg("%s code %02x: %a, expected %a", kc_dtype_name(formats[i].dtype), code,
                         got, want);
        }
}

static void test_around_values(void **state) {
    (void)state;
    for (int i = 0; i < FORMATS; i++)
        for (uint32_t code = 0; code < 1u << kc_dtype_table[formats[i].dtype].bits; code++) {
            float x = formats[i].decode(code), next = formats[i].decode((code + 1) & 0xff);
            check_around(i, x);
            check_around(i, 0.5f * x + 0.5f * next);
            check_around(i, -x);
        }
}

static void test_sixteen_bits(void **state) {
    (void)state;
    for (int i = 0; i < FORMATS; i++)
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            uint16_t half = (uint16_t)bits;
            check_encode(i, (float)kc_dtype_load(KC_f16, &half));
            check_encode(i, from_bits_f32(bits << 16));
        }
}

static void test_all_arguments(void **state) {
    (void)state;
    uint64_t stride = getenv("KC_MATH_EXHAUSTIVE") ? 1 : STRIDE;
    for (int i = 0; i < FORMATS; i++)
        for (uint64_t bits = 0; bits <= 0xffffffffu; bits += stride)
            check_encode(i, from_bits_f32((uint32_t)bits));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_around_values),
        cmocka_unit_test(test_sixteen_bits),
        cmocka_unit_test(test_all_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
