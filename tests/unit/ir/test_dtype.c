// Element types: every narrow float by exhaustion against a definition written here, the rest by
// hand-checked vectors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dtype.h"

static const kc_dtype narrow[] = {KC_f16,        KC_bf16,       KC_f8e4m3, KC_f8e5m2,
                                  KC_f8e4m3fnuz, KC_f8e5m2fnuz, KC_f4e2m1};
enum { NARROW = sizeof narrow / sizeof *narrow };

static double load_code(kc_dtype t, unsigned code) {
    uint16_t two = (uint16_t)code;
    uint8_t one = (uint8_t)code;
    return kc_dtype_bytes(t) == 2 ? kc_dtype_load(t, &two) : kc_dtype_load(t, &one);
}

static unsigned store_code(kc_dtype t, double v) {
    uint16_t two = 0;
    uint8_t one = 0;
    if (kc_dtype_bytes(t) == 2) kc_dtype_store(t, &two, v);
    else kc_dtype_store(t, &one, v);
    return kc_dtype_bytes(t) == 2 ? two : one;
}

static void test_table(void **state) {
    (void)state;
    assert_int_equal(kc_dtype_find("f8e4m3fnuz", 10), KC_f8e4m3fnuz);
    assert_int_equal(kc_dtype_find("f8e4m3fnuz", 6), KC_f8e4m3);
    assert_int_equal(kc_dtype_find("bool", 4), KC_bool);
    assert_int_equal(kc_dtype_find("f3", 2), KC_DTYPE_NONE);
    assert_int_equal(kc_dtype_find("", 0), KC_DTYPE_NONE);
    for (int t = 0; t < KC_DTYPE_COUNT; t++) {
        const kc_dtype_info *info = &kc_dtype_table[t];
        assert_int_equal(kc_dtype_find(info->name, strlen(info->name)), t);
        if (info->class == KC_CLASS_FLOAT && t != KC_f8e8m0)
            assert_int_equal(1 + info->exponent_bits + info->mantissa_bits, info->bits);
    }
}

// Values straight from the format specifications.
static void test_vectors(void **state) {
    (void)state;
    static const struct {
        kc_dtype t;
        unsigned code;
        double value;
    } rows[] = {
        {KC_f16, 0x0001, 0x1p-24},
        {KC_f16, 0x03ff, 0x1.ff8p-15},
        {KC_f16, 0x0400, 0x1p-14},
        {KC_f16, 0x3c00, 1},
        {KC_f16, 0x3555, 0.333251953125},
        {KC_f16, 0x7bff, 65504},
        {KC_f16, 0x7c00, INFINITY},
        {KC_f16, 0xfc00, -INFINITY},
        {KC_f16, 0xc000, -2},
        {KC_bf16, 0x3f80, 1},
        {KC_bf16, 0x0001, 0x1p-133},
        {KC_bf16, 0x4049, 3.140625},
        {KC_bf16, 0x7f7f, 0x1.fep127},
        {KC_bf16, 0xff80, -INFINITY},
        {KC_f8e4m3, 0x01, 0x1p-9},
        {KC_f8e4m3, 0x08, 0x1p-6},
        {KC_f8e4m3, 0x38, 1},
        {KC_f8e4m3, 0x7e, 448},
        {KC_f8e4m3, 0x78, 256},
        {KC_f8e5m2, 0x01, 0x1p-16},
        {KC_f8e5m2, 0x3c, 1},
        {KC_f8e5m2, 0x7b, 57344},
        {KC_f8e5m2, 0x7c, INFINITY},
        {KC_f8e4m3fnuz, 0x01, 0x1p-10},
        {KC_f8e4m3fnuz, 0x40, 1},
        {KC_f8e4m3fnuz, 0x7f, 240},
        {KC_f8e4m3fnuz, 0xff, -240},
        {KC_f8e5m2fnuz, 0x01, 0x1p-17},
        {KC_f8e5m2fnuz, 0x40, 1},
        {KC_f8e5m2fnuz, 0x7f, 57344},
        {KC_f8e8m0, 0x00, 0x1p-127},
        {KC_f8e8m0, 0x7f, 1},
        {KC_f8e8m0, 0xfe, 0x1p127},
        {KC_f4e2m1, 0x1, 0.5},
        {KC_f4e2m1, 0x2, 1},
        {KC_f4e2m1, 0x3, 1.5},
        {KC_f4e2m1, 0x7, 6},
        {KC_f4e2m1, 0xf, -6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(load_code(rows[i].t, rows[i].code) == rows[i].value);
    static const struct {
        kc_dtype t;
        unsigned code;
    } nans[] = {{KC_f16, 0x7e00},      {KC_f16, 0xfc01},      {KC_bf16, 0x7fc0},
                {KC_f8e4m3, 0x7f},     {KC_f8e4m3, 0xff},     {KC_f8e5m2, 0x7e},
                {KC_f8e4m3fnuz, 0x80}, {KC_f8e5m2fnuz, 0x80}, {KC_f8e8m0, 0xff}};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        assert_true(isnan(load_code(nans[i].t, nans[i].code)));
        assert_true(isnan(load_code(nans[i].t, store_code(nans[i].t, NAN))));
    }
}

static void test_round_trip(void **state) {
    (void)state;
    for (int i = 0; i < NARROW; i++)
        for (unsigned code = 0; code < 1u << kc_dtype_table[narrow[i]].bits; code++) {
            double v = load_code(narrow[i], code);
            bool infinite = narrow[i] == KC_f8e5m2 && isinf(v); // a cast saturates it
            if (!isnan(v) && !infinite) assert_int_equal(store_code(narrow[i], v), code);
        }
    for (unsigned code = 0; code < 255; code++)
        assert_int_equal(store_code(KC_f8e8m0, load_code(KC_f8e8m0, code)), code);
}

// Between each two neighbours: below the middle, the middle (to the even code), above it.
static void test_rounding(void **state) {
    (void)state;
    for (int i = 0; i < NARROW; i++) {
        kc_dtype t = narrow[i];
        double next;
        for (unsigned code = 0; isfinite(next = load_code(t, code + 1)) && next > 0; code++) {
            double v = load_code(t, code), middle = (v + next) / 2;
            unsigned even = code % 2 ? code + 1 : code;
            unsigned minus = 1u << (kc_dtype_table[t].bits - 1);
            assert_int_equal(store_code(t, nextafter(middle, 0)), code);
            assert_int_equal(store_code(t, nextafter(middle, INFINITY)), code + 1);
            assert_int_equal(store_code(t, middle), even);
            if (code > 1) assert_int_equal(store_code(t, -middle), even | minus);
            assert_true(kc_dtype_round(t, middle) == load_code(t, even));
            assert_true(kc_dtype_ulp(t, v) == next - v);
        }
    }
    assert_true(kc_dtype_round(KC_f32, 1 + 0x1p-24) == 1);
    assert_true(kc_dtype_round(KC_f32, 1 + 0x1.8p-23) == 1 + 0x1p-22);
    assert_true(kc_dtype_round(KC_f32, 0x1p-150) == 0);
    assert_true(isinf(kc_dtype_round(KC_f32, 1e39)));
    assert_int_equal(store_code(KC_f8e8m0, 1.25), 0x7f);
    assert_int_equal(store_code(KC_f8e8m0, 1.5), 0x80);
    assert_int_equal(store_code(KC_f8e8m0, 0), 0);
    assert_int_equal(store_code(KC_f8e8m0, -1), 0xff);
}

static void test_overflow(void **state) {
    (void)state;
    static const struct {
        kc_dtype t;
        double largest, last; // the largest finite value; the first that rounds above it
        bool saturates;
    } rows[] = {
        {KC_f16, 65504, 65520, false},   {KC_bf16, 0x1.fep127, 0x1.ffp127, false},
        {KC_f8e4m3, 448, 464, true},     {KC_f8e5m2, 57344, 61440, true},
        {KC_f8e4m3fnuz, 240, 248, true}, {KC_f8e5m2fnuz, 57344, 61440, true},
        {KC_f4e2m1, 6, 7, true},         {KC_f8e8m0, 0x1p127, 0x1.8p127, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kc_dtype t = rows[i].t;
        double above = rows[i].saturates ? rows[i].largest : INFINITY;
        assert_true(kc_dtype_round(t, nextafter(rows[i].last, 0)) == rows[i].largest);
        assert_true(kc_dtype_round(t, rows[i].last) == above);
        assert_true(kc_dtype_round(t, 1e300) == above);
        assert_true(kc_dtype_round(t, INFINITY) == above);
        if (t != KC_f8e8m0) assert_true(kc_dtype_round(t, -INFINITY) == -above);
        assert_true(kc_dtype_ulp(t, INFINITY) == kc_dtype_ulp(t, rows[i].largest));
    }
    assert_true(kc_dtype_round(KC_f4e2m1, NAN) == 6);
    assert_true(signbit(kc_dtype_round(KC_f16, -1e-30)));
    assert_false(signbit(kc_dtype_round(KC_f8e4m3fnuz, -1e-30)));
}

static void test_ulp(void **state) {
    (void)state;
    assert_true(kc_dtype_ulp(KC_f32, 1) == 0x1p-23);
    assert_true(kc_dtype_ulp(KC_f32, 1.999) == 0x1p-23);
    assert_true(kc_dtype_ulp(KC_f32, 0) == 0x1p-149);
    assert_true(kc_dtype_ulp(KC_f32, -0x1p-126) == 0x1p-149);
    assert_true(kc_dtype_ulp(KC_f64, 0) == 0x1p-1074);
    assert_true(kc_dtype_ulp(KC_f64, 0x1p-1060) == 0x1p-1074);
    assert_true(kc_dtype_ulp(KC_f64, 1) == 0x1p-52);
    assert_true(kc_dtype_ulp(KC_f64, INFINITY) == 0x1p971);
    assert_true(isnan(kc_dtype_ulp(KC_f16, NAN)));
    assert_true(kc_dtype_ulp(KC_i32, 1e9) == 1);
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        kc_dtype t;
        double v;
        int64_t cast;
    } rows[] = {
        {KC_i8, 127.9, 127},
        {KC_i8, 128, 127},
        {KC_i8, -128.9, -128},
        {KC_i8, -1e9, -128},
        {KC_u8, -0.5, 0},
        {KC_u8, -7, 0},
        {KC_u8, 255.5, 255},
        {KC_u8, 1e9, 255},
        {KC_i16, 32768, 32767},
        {KC_i32, 3e9, INT32_MAX},
        {KC_i32, -3e9, INT32_MIN},
        {KC_i32, -2.9, -2},
        {KC_i64, 1e19, INT64_MAX},
        {KC_i64, -1e19, INT64_MIN},
        {KC_i64, 0x1p62, INT64_C(1) << 62},
        {KC_i32, NAN, 0},
        {KC_i32, INFINITY, INT32_MAX},
        {KC_i4, 9, 7},
        {KC_i4, -9, -8},
        {KC_bool, 0.25, 1},
        {KC_bool, 0, 0},
        {KC_i64, -INFINITY, INT64_MIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t at = 0;
        assert_int_equal(kc_dtype_saturate(rows[i].t, rows[i].v), rows[i].cast);
        kc_dtype_store(rows[i].t, &at, rows[i].v);
        assert_int_equal(kc_dtype_load_i64(rows[i].t, &at), rows[i].cast);
        assert_true(kc_dtype_load(rows[i].t, &at) == (double)rows[i].cast);
    }
    static const struct {
        kc_dtype t;
        int64_t v, wrapped;
    } wraps[] = {{KC_i8, 200, -56}, {KC_u8, -1, 255},  {KC_i16, 65537, 1},
                 {KC_i4, 9, -7},    {KC_bool, 256, 1}, {KC_i32, INT64_C(1) << 31, INT32_MIN},
                 {KC_i64, -5, -5}};
    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++) {
        uint64_t at = 0;
        kc_dtype_store_i64(wraps[i].t, &at, wraps[i].v);
        assert_int_equal(kc_dtype_load_i64(wraps[i].t, &at), wraps[i].wrapped);
    }
    uint8_t nibbles = 0xa5;
    kc_dtype_store_i64(KC_i4, &nibbles, -1);
    assert_int_equal(nibbles, 0xaf);
    kc_dtype_store(KC_f4e2m1, &nibbles, 1.5);
    assert_int_equal(nibbles, 0xa3);
}

// An integer goes to a float in one rounding, not first to double.
static void test_integer_to_float(void **state) {
    (void)state;
    uint32_t bits;
    float f;
    int64_t v =
        (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1; // a middle and less than a double's ulp
    kc_dtype_store_i64(KC_f32, &f, v);
    memcpy(&bits, &f, sizeof bits);
    assert_int_equal(bits, 0x5d800001);
    kc_dtype_store_i64(KC_f32, &f, -v);
    assert_true(f == -0x1.000002p60f);
    kc_dtype_store_i64(KC_f32, &f, INT64_MIN);
    assert_true(f == -0x1p63f);
    srand(7);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits64 = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand();
        v = (int64_t)bits64 >> (i % 50);
        kc_dtype_store_i64(KC_f32, &f, v);
        assert_true(f == (float)v);
    }
}

// numpy.promote_types over the types that NumPy has (NumPy 2.0).
static void test_numpy_promotion(void **state) {
    (void)state;
    static const char *const names[] = {"f64", "f32", "f16", "i64", "i32",
                                        "i16", "i8",  "u8",  "bool"};
    static const char *const table[9][9] = {
        {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64"},
        {"f64", "f32", "f32", "f64", "f64", "f32", "f32", "f32", "f32"},
        {"f64", "f32", "f16", "f64", "f64", "f32", "f16", "f16", "f16"},
        {"f64", "f64", "f64", "i64", "i64", "i64", "i64", "i64", "i64"},
        {"f64", "f64", "f64", "i64", "i32", "i32", "i32", "i32", "i32"},
        {"f64", "f32", "f32", "i64", "i32", "i16", "i16", "i16", "i16"},
        {"f64", "f32", "f16", "i64", "i32", "i16", "i8", "i16", "i8"},
        {"f64", "f32", "f16", "i64", "i32", "i16", "i16", "u8", "u8"},
        {"f64", "f32", "f16", "i64", "i32", "i16", "i8", "u8", "bool"},
    };
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            kc_dtype a = kc_dtype_find(names[i], strlen(names[i]));
            kc_dtype b = kc_dtype_find(names[j], strlen(names[j]));
            assert_string_equal(kc_dtype_name(kc_dtype_promote(a, b)), table[i][j]);
        }
}

static void test_promotion(void **state) {
    (void)state;
    static const struct {
        kc_dtype a, b, result;
    } rows[] = {
        {KC_i64, KC_f32, KC_f64},      {KC_i32, KC_f32, KC_f64},
        {KC_i16, KC_f32, KC_f32},      {KC_i8, KC_f16, KC_f16},
        {KC_u8, KC_f16, KC_f16},       {KC_i16, KC_f16, KC_f32},
        {KC_i32, KC_f16, KC_f64},      {KC_i64, KC_f16, KC_f64},
        {KC_u8, KC_i8, KC_i16},        {KC_u8, KC_i16, KC_i16},
        {KC_u8, KC_i32, KC_i32},       {KC_i8, KC_i64, KC_i64},
        {KC_f16, KC_bf16, KC_f32},     {KC_f16, KC_f32, KC_f32},
        {KC_bf16, KC_f64, KC_f64},     {KC_bf16, KC_i8, KC_bf16},
        {KC_bf16, KC_i16, KC_f32},     {KC_bool, KC_f16, KC_f16},
        {KC_bool, KC_u8, KC_u8},       {KC_bool, KC_i8, KC_i8},
        {KC_bool, KC_bool, KC_bool},   {KC_f64, KC_i8, KC_f64},
        {KC_f8e4m3, KC_f16, KC_f16},   {KC_f8e4m3, KC_f8e5m2, KC_f32},
        {KC_i4, KC_i8, KC_i8},         {KC_bool, KC_f4e2m1, KC_f4e2m1},
        {KC_i4, KC_u8, KC_i16},        {KC_f8e8m0, KC_f16, KC_f32},
        {KC_f8e8m0, KC_bf16, KC_bf16}, {KC_f8e8m0, KC_i8, KC_bf16},
        {KC_f4e2m1, KC_i4, KC_f16},    {KC_f4e2m1, KC_f8e4m3, KC_f32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(kc_dtype_promote(rows[i].a, rows[i].b), rows[i].result);
        assert_int_equal(kc_dtype_promote(rows[i].b, rows[i].a), rows[i].result);
    }
    for (kc_dtype t = 0; t < KC_DTYPE_COUNT; t++)
        assert_int_equal(kc_dtype_promote(t, t), t);
    assert_int_equal(kc_dtype_compute(KC_bf16), KC_f32);
    assert_int_equal(kc_dtype_compute(KC_f64), KC_f64);
    assert_int_equal(kc_dtype_compute(KC_i8), KC_i8);
    assert_int_equal(kc_dtype_accumulate(KC_f16), KC_f32);
    assert_int_equal(kc_dtype_accumulate(KC_u8), KC_i32);
    assert_int_equal(kc_dtype_accumulate(KC_i64), KC_i64);
    assert_int_equal(kc_dtype_accumulate(KC_bool), KC_i32);
}

// What two types meet in holds every value of both.
static void test_promotion_is_exact(void **state) {
    (void)state;
    for (int a = 0; a < KC_DTYPE_COUNT; a++)
        for (int b = 0; b < KC_DTYPE_COUNT; b++) {
            kc_dtype t = kc_dtype_promote((kc_dtype)a, (kc_dtype)b);
            if (kc_dtype_bits((kc_dtype)a) > 16 || !kc_dtype_is_float((kc_dtype)a)) continue;
            for (unsigned code = 0; code < 1u << kc_dtype_bits((kc_dtype)a); code++) {
                double v = load_code((kc_dtype)a, code);
                assert_true(isnan(v) || kc_dtype_represent(t, v) == v);
            }
        }
}

// Two a byte, the low nibble first; the neighbour stays.
static void test_packed(void **state) {
    (void)state;
    unsigned char bytes[3] = {0x00, 0xff, 0x00};
    assert_true(kc_dtype_is_packed(KC_i4) && kc_dtype_is_packed(KC_f4e2m1));
    assert_false(kc_dtype_is_packed(KC_i8));
    assert_int_equal(kc_dtype_size(KC_i4, 6), 3);
    assert_int_equal(kc_dtype_size(KC_i4, 5), 3);
    assert_int_equal(kc_dtype_size(KC_i32, 5), 20);
    assert_int_equal(kc_dtype_unit(KC_f4e2m1), 1);
    assert_int_equal(kc_dtype_unit(KC_f64), 8);
    kc_dtype_put_i64(KC_i4, bytes, 0, 5);
    kc_dtype_put_i64(KC_i4, bytes, 1, -8);
    kc_dtype_put_i64(KC_i4, bytes, 3, 17); // wraps
    assert_int_equal(bytes[0], 0x85);
    assert_int_equal(bytes[1], 0x1f);
    assert_int_equal(kc_dtype_get_i64(KC_i4, bytes, 0), 5);
    assert_int_equal(kc_dtype_get_i64(KC_i4, bytes, 1), -8);
    assert_int_equal(kc_dtype_get_i64(KC_i4, bytes, 2), -1);
    kc_dtype_put(KC_f4e2m1, bytes, 4, -1.5);
    kc_dtype_put(KC_f4e2m1, bytes, 5, 100);
    assert_int_equal(bytes[2], 0x7b);
    assert_true(kc_dtype_get(KC_f4e2m1, bytes, 4) == -1.5);
    assert_true(kc_dtype_get(KC_f4e2m1, bytes, 5) == 6);
    kc_dtype_put(KC_i4, bytes, 5, -100); // a cast: saturates
    assert_int_equal(bytes[2], 0x8b);
}

// Arrays of every type: what is put is got, infinities too where the type has them.
static void test_arrays(void **state) {
    (void)state;
    for (int t = 0; t < KC_DTYPE_COUNT; t++) {
        unsigned char bytes[64] = {0};
        for (int i = 0; i < 8; i++)
            kc_dtype_put((kc_dtype)t, bytes, i, i % 2);
        for (int i = 0; i < 8; i++) {
            double want = t == KC_f8e8m0 && i % 2 == 0 ? 0x1p-127 : i % 2;
            assert_true(kc_dtype_get((kc_dtype)t, bytes, i) == want);
            if (t != KC_f8e8m0) assert_int_equal(kc_dtype_get_i64((kc_dtype)t, bytes, i), i % 2);
        }
    }
    static const struct {
        kc_dtype t;
        double moved, cast;
    } rows[] = {{KC_f16, INFINITY, INFINITY},  {KC_f8e5m2, INFINITY, 57344},  {KC_f8e4m3, 448, 448},
                {KC_f8e5m2fnuz, 57344, 57344}, {KC_f8e8m0, 0x1p127, 0x1p127}, {KC_f4e2m1, 6, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char bytes[8] = {0};
        kc_dtype_put(rows[i].t, bytes, 1, INFINITY);
        assert_true(kc_dtype_get(rows[i].t, bytes, 1) == rows[i].moved);
        assert_true(kc_dtype_represent(rows[i].t, INFINITY) == rows[i].moved);
        assert_true(kc_dtype_round(rows[i].t, INFINITY) == rows[i].cast);
        if (rows[i].t == KC_f8e8m0) continue;
        kc_dtype_put(rows[i].t, bytes, 0, -INFINITY);
        assert_true(kc_dtype_get(rows[i].t, bytes, 0) == -rows[i].moved);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_ulp),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_integer_to_float),
        cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_numpy_promotion),
        cmocka_unit_test(test_promotion_is_exact),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
