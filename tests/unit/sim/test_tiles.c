/* Tiles: the two sets of host instructions give the same bits, and those are the definition's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/sim/cuda/tensor.h"

static uint64_t seed = 1;

static uint64_t next(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void fill(void *out, size_t size) {
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(next() >> 24);
}

static bool have_vectors(void) {
    return kcsim_lanes() == &kcsim_lanes_avx2;
}

static bool same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static const ptx_type types[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_E4M3, PTX_E5M2, PTX_E3M2, PTX_E2M3, PTX_E2M1, PTX_S8, PTX_U8,
                                 PTX_S4,  PTX_U4,   PTX_S32,  PTX_F64,  PTX_B1};
#define TYPES (sizeof types / sizeof *types)

static void test_elements(void **state) {
    (void)state;
    if (!have_vectors()) skip();
    for (size_t t = 0; t < TYPES; t++) {
        uint8_t from[512];
        double base[64], vector[64];
        for (int round = 0; round < 300; round++) {
            fill(from, sizeof from);
            kcsim_tensor_base.elements(types[t], from, 64, base);
            kcsim_tensor_avx2.elements(types[t], from, 64, vector);
            for (int i = 0; i < 64; i++) assert_true(same(base[i], vector[i]));
        }
    }
}

/* Every half, against C. */
static void test_halves(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits += 16) {
        uint16_t from[16];
        double out[16];
        for (uint32_t i = 0; i < 16; i++) from[i] = (uint16_t)(bits + i);
        kcsim_elements(PTX_F16, from, 16, out);
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t half = bits + i, exponent = half >> 10 & 31, fraction = half & 1023;
            double value = exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
            if (exponent == 31) value = fraction ? (double)NAN : (double)INFINITY;
            assert_true(same(out[i], half & 0x8000 ? -value : value));
        }
    }
}

static void random_tile(kcsim_tile *tile, ptx_type type) {
    uint8_t bytes[4096];
    memset(tile, 0, sizeof *tile);
    fill(bytes, sizeof bytes);
    kcsim_elements(type, bytes, 64 * 16, &tile->a[0][0]);
    fill(bytes, sizeof bytes);
    kcsim_elements(type, bytes, 64 * 8, &tile->b[0][0]);
    fill(bytes, sizeof bytes);
    kcsim_elements(PTX_S8, bytes, 16 * 8, &tile->sum[0][0]);
}

static void test_products(void **state) {
    (void)state;
    for (size_t t = 0; t < TYPES; t++)
        for (int round = 0; round < 30; round++) {
            kcsim_tile tile, base, vector;
            bool is_double = types[t] == PTX_F64;
            uint32_t rows = round % 2 ? 8 : 16, k = 4u << round % 5;
            if (types[t] == PTX_S32 || types[t] == PTX_B1 || is_double) continue;
            random_tile(&tile, types[t]);
            base = vector = tile;
            kcsim_tensor_base.multiply(&base, rows, k, is_double);
            if (have_vectors()) kcsim_tensor_avx2.multiply(&vector, rows, k, is_double);
            for (uint32_t row = 0; row < rows; row++)
                for (uint32_t column = 0; column < 8; column++) {
                    double sum = tile.sum[row][column];
                    for (uint32_t i = 0; i < k; i++) sum += tile.a[row][i] * tile.b[i][column];
                    assert_true(same(sum, base.sum[row][column]));
                    if (have_vectors()) assert_true(same(sum, vector.sum[row][column]));
                }
        }
}

static void test_doubles(void **state) {
    (void)state;
    for (int round = 0; round < 30; round++) {
        kcsim_tile tile, base, vector;
        memset(&tile, 0, sizeof tile);
        for (uint32_t i = 0; i < 16 * 64; i++) tile.a[i / 64][i % 64] = (double)(int64_t)next() * 0x1p-60;
        for (uint32_t i = 0; i < 64 * 8; i++) tile.b[i / 8][i % 8] = (double)(int64_t)next() * 0x1p-61;
        base = vector = tile;
        kcsim_tensor_base.multiply(&base, 16, 16, true);
        if (have_vectors()) kcsim_tensor_avx2.multiply(&vector, 16, 16, true);
        for (uint32_t i = 0; i < 16 * 8; i++) {
            double sum = 0;
            for (uint32_t k = 0; k < 16; k++) sum = fma(tile.a[i / 8][k], tile.b[k][i % 8], sum);
            assert_true(same(sum, base.sum[i / 8][i % 8]));
            if (have_vectors()) assert_true(same(sum, vector.sum[i / 8][i % 8]));
        }
    }
}

/* Column c of B is row c of memory. */
static void test_columns(void **state) {
    static const ptx_type narrow[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_E4M3, PTX_S8, PTX_B1};
    (void)state;
    for (size_t t = 0; t < sizeof narrow / sizeof *narrow; t++) {
        uint8_t memory[8][32];
        const uint8_t *rows[2][8];
        kcsim_tile base, vector;
        uint32_t each = ptx_types[narrow[t]].bits == 1 ? 8 : 256 / ptx_types[narrow[t]].bits;
        fill(memory, sizeof memory);
        for (uint32_t i = 0; i < 16; i++) rows[i / 8][i % 8] = memory[i % 8] + 16 * (i / 8);
        kcsim_tensor_base.take_columns(&base, narrow[t], rows);
        if (have_vectors()) kcsim_tensor_avx2.take_columns(&vector, narrow[t], rows);
        for (uint32_t column = 0; column < 8; column++) {
            double wanted[32];
            kcsim_elements(narrow[t], memory[column], each, wanted);
            for (uint32_t i = 0; i < each; i++) {
                assert_true(same(wanted[i], base.b[i][column]));
                if (have_vectors()) assert_true(same(wanted[i], vector.b[i][column]));
            }
        }
    }
}

/* Row r of A is row r of memory. */
static void test_rows(void **state) {
    static const ptx_type narrow[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_E4M3, PTX_S8, PTX_B1};
    (void)state;
    for (size_t t = 0; t < sizeof narrow / sizeof *narrow; t++) {
        uint8_t memory[16][32];
        const uint8_t *pieces[16][2];
        kcsim_tile base, vector;
        uint32_t each = ptx_types[narrow[t]].bits == 1 ? 8 : 256 / ptx_types[narrow[t]].bits;
        fill(memory, sizeof memory);
        for (uint32_t i = 0; i < 32; i++) pieces[i / 2][i % 2] = memory[i / 2] + 16 * (i % 2);
        kcsim_tensor_base.take_rows(&base, narrow[t], pieces);
        if (have_vectors()) kcsim_tensor_avx2.take_rows(&vector, narrow[t], pieces);
        for (uint32_t row = 0; row < 16; row++) {
            double wanted[32];
            kcsim_elements(narrow[t], memory[row], each, wanted);
            for (uint32_t i = 0; i < each; i++) {
                assert_true(same(wanted[i], base.a[row][i]));
                if (have_vectors()) assert_true(same(wanted[i], vector.a[row][i]));
            }
        }
    }
}

/* A warp of `registers` 4-byte registers, or 8-byte ones. */
typedef struct fake {
    kcsim_grid grid;
    kcsim_block block;
    kcsim_warp warp;
    kcsim_ref list[4];
    uint32_t full[8];
    _Alignas(64) uint8_t registers[4 * 256];
} fake;

static void make_fake(fake *made, uint32_t bytes) {
    memset(made, 0, sizeof *made);
    made->block.launch = &made->grid;
    made->warp.block = &made->block;
    made->warp.registers = made->registers;
    made->warp.full = made->full;
    made->warp.live = made->warp.present = UINT32_MAX;
    for (uint32_t i = 0; i < 8; i++) made->full[i] = UINT32_MAX;
    for (uint32_t i = 0; i < 4; i++) made->list[i] = (kcsim_ref){.at = i * 32 * bytes, .slot = i + 1};
}

static double awkward(int round) {
    static const double some[] = {0, -0.0, 65504, 65519.99, 65520, 1e-8, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-14, 1e300, -2147483648.0, 0};
    if (round % 3 == 0) return some[next() % 13];
    if (round % 3 == 1) return (double)((int64_t)next() >> 40) * 0x1p-13;
    return (double)((int64_t)next() >> (next() % 30 + 20)) * ldexp(1, (int)(next() % 40) - 40);
}

static void test_results(void **state) {
    static const ptx_type results[] = {PTX_F32, PTX_F16, PTX_F64, PTX_S32};
    (void)state;
    if (!have_vectors()) skip();
    for (size_t t = 0; t < 4; t++)
        for (int round = 0; round < 200; round++) {
            static fake base, vector;
            kcsim_tile tile;
            uint32_t bytes = results[t] == PTX_F64 ? 8 : 4, count = results[t] == PTX_F16 ? 2 : 4;
            memset(&tile, 0, sizeof tile);
            make_fake(&base, bytes);
            make_fake(&vector, bytes);
            for (uint32_t i = 0; i < 128; i++) {
                double value = awkward(round);
                if (results[t] == PTX_S32) value = trunc(fmod(value, 0x1p45));
                tile.sum[i / 8][i % 8] = round == 7 && i == 9 ? (double)NAN : round == 8 && i == 5 ? (double)INFINITY : value;
                if (results[t] == PTX_S32 && (round == 7 || round == 8)) tile.sum[i / 8][i % 8] = 1;
            }
            kcsim_tensor_base.give(&tile, &base.warp, results[t], round % 2, base.list, count, UINT32_MAX);
            kcsim_tensor_avx2.give(&tile, &vector.warp, results[t], round % 2, vector.list, count, UINT32_MAX);
            assert_memory_equal(base.registers, vector.registers, sizeof base.registers);
            for (uint32_t i = 0; i < 128; i++) {
                double sum = tile.sum[i / 8][i % 8];
                uint32_t lane = i % 64 / 2, at = i / 64 * 2 + i % 2;
                if (results[t] == PTX_F16) {
                    uint16_t half;
                    memcpy(&half, base.registers + i / 64 * 128 + lane * 4 + i % 2 * 2, 2);
                    assert_int_equal(half, kcsim_encode(PTX_F16, sum, PTX_M_RN));
                } else if (results[t] != PTX_S32) {
                    uint64_t bits = 0;
                    memcpy(&bits, base.registers + at * 32 * bytes + lane * bytes, bytes);
                    assert_true(bits == kcsim_encode(results[t], sum, PTX_M_RN));
                } else {
                    int32_t integer;
                    memcpy(&integer, base.registers + at * 128 + lane * 4, 4);
                    if (round % 2) sum = fmin(fmax(sum, INT32_MIN), INT32_MAX);
                    assert_int_equal(integer, (int32_t)(uint32_t)(int64_t)sum);
                }
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements), cmocka_unit_test(test_halves),  cmocka_unit_test(test_products),
        cmocka_unit_test(test_doubles),  cmocka_unit_test(test_columns),
        cmocka_unit_test(test_rows), cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
