// What single element operations compute: the emitted LLVM IR is compiled for the host and run,
// over values where the rules of the language matter, against plain statements of those rules.
// Needs clang; without it the test says so and is skipped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include "tests/unit/targets/run_block.h"

// ---- values ---------------------------------------------------------------------------------

static const double float_values[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3,
    -3,
    7,
    -7,
    0.1,
    -0.1,
    1e-3,
    127,
    128,
    -128,
    -129,
    255,
    256,
    32767,
    32768,
    -32769,
    65504,
    65519.999,
    65520,
    1e5,
    -1e5,
    2147483647,
    2147483648.0,
    -2147483648.0,
    -2147483649.0,
    4294967296.0,
    9223372036854775807.0,
    -9223372036854775808.0,
    1e20,
    -1e20,
    1e30,
    3.4e38,
    1e300,
    -1e300,
    5e-324,
    1e-310,
    1e-40,
    -1e-40,
    6e-8,
    2.98e-8,
    1.0009765625,
    1.00048828125,
    1.000488281250001,
    0.99951171875,
    1.00390625,
    1.001953125,
    1.0019531250000002,
    0.333333333333333,
    1e10,
    INFINITY,
    -INFINITY,
    NAN,
    16777217,
    0.25,
};
static const int64_t int_values[] = {
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    5,
    -5,
    7,
    -7,
    8,
    -8,
    10,
    -10,
    12,
    13,
    -13,
    31,
    63,
    64,
    100,
    -100,
    126,
    127,
    -127,
    -128,
    128,
    200,
    255,
    256,
    257,
    1000,
    -1000,
    32766,
    32767,
    -32767,
    -32768,
    32768,
    65535,
    65536,
    16777215,
    16777216,
    16777217,
    -16777217,
    33554435,
    2147483646,
    2147483647,
    -2147483647,
    -2147483647 - 1,
    2147483648,
    4294967295,
    4294967296,
    1099511627777,
    -1099511627777,
    9007199254740993,
    72057594037927937,
    4611686018427387905,
    9223372036854775806,
    INT64_MAX,
    -INT64_MAX,
    INT64_MIN,
    1LL << 40,
    (1LL << 55) + (1LL << 47) + 1,
};
enum { N = 64 };
_Static_assert(sizeof float_values / sizeof *float_values == N &&
                   sizeof int_values / sizeof *int_values == N,
               "64 of each");

typedef struct {
    _Alignas(16) unsigned char at[N * 8];
} array;

static void put_int(kc_dtype t, array *a, int i, int64_t v) {
    kc_dtype_put_i64(t, a->at, i, v);
}

static void fill(kc_dtype t, array *a, int step) {
    for (int i = 0; i < N; i++) {
        int j = (i * step) % N;
        if (kc_dtype_is_float(t)) kc_dtype_put(t, a->at, i, float_values[j]);
        else put_int(t, a, i, int_values[j]);
    }
}

static double get(kc_dtype t, const array *a, int i) {
    return kc_dtype_get(t, a->at, i);
}

static int64_t get_int(kc_dtype t, const array *a, int i) {
    return kc_dtype_get_i64(t, a->at, i);
}

static bool same_bits(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

// ---- casts ----------------------------------------------------------------------------------

static int64_t wrap(kc_dtype t, int64_t v) {
    array a;
    put_int(t, &a, 0, v);
    return get_int(t, &a, 0);
}

static double largest(kc_dtype t) {
    return kc_dtype_load(t, &(uint8_t){t == KC_f8e4m3   ? 0x7e
                                       : t == KC_f8e5m2 ? 0x7b
                                       : t == KC_f8e8m0 ? 0xfe
                                       : t == KC_f4e2m1 ? 0x07
                                                        : 0x7f});
}

// Correct rounding of an integer to a float type, by exact comparison of neighbours in 128 bits.
static double round_int(kc_dtype t, int64_t v) {
    if (t == KC_f8e8m0 && v <= 0) return v < 0 ? NAN : 0x1p-127;
    if (t == KC_f64) return (double)v;
    if (t == KC_f32) return (double)(float)v;
    int keep = kc_dtype_table[t].mantissa_bits + 1;
    unsigned __int128 size = v < 0 ? -(__int128)v : v;
    int bits = 0;
    while (bits < 127 && size >> bits)
        bits++;
    if (bits > keep) {
        int cut = bits - keep;
        unsigned __int128 rest = size & (((unsigned __int128)1 << cut) - 1),
                          half = (unsigned __int128)1 << (cut - 1);
        size >>= cut;
        if (rest > half || (rest == half && (size & 1 || t == KC_f8e8m0))) size++;
        size <<= cut;
    }
    double result = (double)size;
    if (t == KC_f16 && result > 65504) result = INFINITY;
    if (kc_dtype_bits(t) <= 8) result = fmin(result, largest(t));
    return v < 0 ? -result : result;
}

static void check_cast(kc_dtype from, kc_dtype to, const array *x, const array *o) {
    for (int i = 0; i < N; i++) {
        bool ok;
        bool from_float = kc_dtype_is_float(from), to_float = kc_dtype_is_float(to);
        if (from == to) ok = same_bits(get(to, o, i), get(from, x, i));
        else if (to == KC_bool)
            ok = get_int(to, o, i) ==
                 (from_float ? !(get(from, x, i) == 0) : get_int(from, x, i) != 0);
        else if (from_float && to_float)
            ok = same_bits(get(to, o, i), kc_dtype_round(to, get(from, x, i)));
        else if (from_float) ok = get_int(to, o, i) == kc_dtype_saturate(to, get(from, x, i));
        else if (to_float) ok = same_bits(get(to, o, i), round_int(to, get_int(from, x, i)));
        else ok = get_int(to, o, i) == wrap(to, get_int(from, x, i));
        if (!ok)
            fail_msg("cast %s to %s of value %d (%.17g): got %.17g", kc_dtype_name(from),
                     kc_dtype_name(to), i, get(from, x, i), get(to, o, i));
    }
}

// Many kernels in one library; the k-th is called kernel_k.
typedef struct {
    kc_arena *arena;
    char *text;
    size_t size;
    FILE *out;
    int count;
    void *library;
} batch;

static void batch_begin(batch *b) {
    *b = (batch){.arena = kc_arena_create()};
    b->out = open_memstream(&b->text, &b->size);
    fputs(module_head(b->arena, 32), b->out);
}

static void batch_add(batch *b, const char *expression, kc_dtype from, kc_dtype to) {
    const char *name = kc_arena_printf(b->arena, "kernel_%d", b->count++);
    fputs(element_kernel(b->arena, name, expression, from, to), b->out);
}

static void batch_compile(batch *b) {
    fclose(b->out);
    b->library = run_compile(b->arena, b->text, "cuda:sm_80");
    b->count = 0;
}

static void batch_run(batch *b, int k, array *c, array *x, array *y, array *o) {
    run_argument arguments[] = {
        {c, sizeof *c, 0}, {x, sizeof *x, 0}, {y, sizeof *y, 0}, {o, sizeof *o, 0}};
    memset(o, 0x5a, sizeof *o);
    run_kernel(b->library, kc_arena_printf(b->arena, "kernel_%d", k), 32, 32, 1, 0, arguments, 4);
}

static void batch_end(batch *b) {
    run_release(b->library);
    free(b->text);
    kc_arena_destroy(b->arena);
}

static void one_cast(batch *b, kc_dtype from, kc_dtype to, bool execute) {
    if (!execute) {
        batch_add(b, kc_arena_printf(b->arena, "cast %%vx {dtype = %s}", kc_dtype_name(to)), from,
                  to);
        return;
    }
    array c, x, o;
    fill(KC_bool, &c, 1);
    fill(from, &x, 1);
    batch_run(b, b->count++, &c, &x, &x, &o);
    check_cast(from, to, &x, &o);
}

// ---- casts of small floats, exhaustively ----------------------------------------------------

enum { CODES = 65536 };

static int small_bits(kc_dtype t) {
    return kc_dtype_is_float(t) && kc_dtype_bits(t) < 16 ? kc_dtype_bits(t) : 0;
}

// The numbers at and beside the middle between neighbours of the format, more finely than f32.
static int halfway(kc_dtype to, double *values) {
    int n = 0;
    for (int code = 0; code < 1 << kc_dtype_bits(to); code++) {
        double a = kc_dtype_load(to, &(uint8_t){(uint8_t)code});
        double b = kc_dtype_load(to, &(uint8_t){(uint8_t)(code + 1)}), middle = a / 2 + b / 2;
        values[n++] = middle;
        values[n++] = nextafter(middle, INFINITY);
        values[n++] = nextafter(middle, -INFINITY);
    }
    return n;
}

static int halfway_integers(int64_t *values) {
    int n = 0;
    for (int k = 0; k < 62; k++)
        for (int odd = 1; odd < 32; odd += 2)
            for (int d = -1; d <= 1; d++)
                values[n++] = (int64_t)((uint64_t)odd << k) + d;
    return n;
}

// All sources that cast to `to`: each code of a short float, or values around the halfway points.
static int sources(kc_dtype from, kc_dtype to, unsigned char *at) {
    static double doubles[CODES];
    static int64_t integers[CODES];
    int n = kc_dtype_bits(from) <= 16 ? 1 << kc_dtype_bits(from) : 0;
    for (int code = 0; code < n; code++) {
        if (kc_dtype_bits(from) == 16) ((uint16_t *)at)[code] = (uint16_t)code;
        else if (from == KC_bool) at[code] = code & 1;
        else if (!kc_dtype_is_packed(from)) at[code] = (uint8_t)code;
        else at[code / 2] = (uint8_t)(code & 1 ? at[code / 2] | code << 4 : code);
    }
    if (n) return n;
    n = kc_dtype_is_float(from) ? halfway(to, doubles) : halfway_integers(integers);
    for (int i = 0; i < n; i++) {
        if (kc_dtype_is_float(from)) kc_dtype_put(from, at, i, doubles[i]);
        else kc_dtype_put_i64(from, at, i, integers[i]);
    }
    return n;
}

static void run_sources(batch *b, int k, kc_dtype from, kc_dtype to) {
    static unsigned char at[CODES * 8 + N * 8];
    int n = sources(from, to, at);
    for (int i = 0; i < n; i += N) {
        array c, x = {{0}}, o;
        memset(&c, 1, sizeof c);
        memcpy(x.at, at + (size_t)i * (size_t)kc_dtype_bits(from) / 8,
               (size_t)N * (size_t)kc_dtype_bits(from) / 8);
        batch_run(b, k, &c, &x, &x, &o);
        check_cast(from, to, &x, &o);
    }
}

static void small_casts(void **state) {
    run_place place = *(const run_place *)*state;
    if (!run_available(place)) skip();
    batch b;
    batch_begin(&b);
    for (int execute = 0; execute < 2; execute++) {
        for (int from = 0; from < KC_DTYPE_COUNT; from++)
            for (int to = 0; to < KC_DTYPE_COUNT; to++) {
                if (!small_bits((kc_dtype)from) && !small_bits((kc_dtype)to)) continue;
                bool many = kc_dtype_bits((kc_dtype)from) == 16 && place == RUN_ON_SIMULATOR;
                if (from == to || many) continue;
                if (execute) run_sources(&b, b.count++, (kc_dtype)from, (kc_dtype)to);
                else one_cast(&b, (kc_dtype)from, (kc_dtype)to, false);
            }
        if (!execute) batch_compile(&b);
    }
    batch_end(&b);
}

// ---- casts, run -----------------------------------------------------------------------------

static void casts(void **state) {
    if (!run_available(*(const run_place *)*state)) skip();
    batch b;
    batch_begin(&b);
    for (int execute = 0; execute < 2; execute++) {
        for (int from = 0; from < KC_DTYPE_COUNT; from++)
            for (int to = 0; to < KC_DTYPE_COUNT; to++)
                one_cast(&b, (kc_dtype)from, (kc_dtype)to, execute);
        if (!execute) batch_compile(&b);
    }
    batch_end(&b);
}

// ---- arithmetic -----------------------------------------------------------------------------

static int64_t expected_int(kc_opcode code, kc_dtype t, int64_t a, int64_t b, bool *any) {
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (code) {
    case KC_OP_ABS: return wrap(t, a < 0 ? (int64_t)(0 - ua) : a);
    case KC_OP_NEG: return t == KC_bool ? a : wrap(t, (int64_t)(0 - ua));
    case KC_OP_NOT: return t == KC_bool ? !a : wrap(t, ~a);
    case KC_OP_ADD: return wrap(t, (int64_t)(ua + ub));
    case KC_OP_SUB: return wrap(t, (int64_t)(ua - ub));
    case KC_OP_MUL: return wrap(t, (int64_t)(ua * ub));
    case KC_OP_AND: return a & b;
    case KC_OP_OR: return a | b;
    case KC_OP_MIN: return a < b ? a : b;
    case KC_OP_MAX: return a > b ? a : b;
    case KC_OP_EQ: return a == b;
    case KC_OP_NE: return a != b;
    case KC_OP_LT: return a < b;
    case KC_OP_LE: return a <= b;
    case KC_OP_GT: return a > b;
    case KC_OP_GE: return a >= b;
    case KC_OP_FLOORDIV:
    case KC_OP_MOD: {
        if (b == 0) return *any = true, 0;
        if (b == -1) return code == KC_OP_MOD ? 0 : wrap(t, (int64_t)(0 - ua));
        int64_t q = a / b, r = a % b;
        if (r && (r < 0) != (b < 0)) q--, r += b;
        return code == KC_OP_MOD ? r : q;
    }
    case KC_OP_POW: {
        if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
        uint64_t result = 1, base = ua;
        for (uint64_t n = ub; n; n >>= 1, base *= base)
            if (n & 1) result *= base;
        return wrap(t, (int64_t)result);
    }
    default: fail_msg("no expectation for %s", kc_op_table[code].name);
    }
    return 0;
}

// NumPy's definitions, in the type's own precision.
static double floor_divide(kc_dtype t, double a, double b, double *remainder) {
#define R(x) kc_dtype_round(t, (x))
    double mod = fmod(a, b);
    if (b == 0) return *remainder = NAN, R(a / b);
    double div = R(R(a - mod) / b);
    if (mod != 0) {
        if ((b < 0) != (mod < 0)) mod = R(mod + b), div = R(div - 1);
    } else {
        mod = copysign(0, b);
    }
    *remainder = mod;
    if (isnan(div)) return div;
    if (div == 0) return copysign(0, R(a / b));
    double whole = floor(div);
    return div - whole > 0.5 ? R(whole + 1) : whole;
}

static double expected_float(kc_opcode code, kc_dtype t, double a, double b, double *bound) {
    double remainder;
    *bound = 0;
    switch (code) {
    case KC_OP_ABS: return fabs(a);
    case KC_OP_NEG: return -a;
    case KC_OP_SQRT: return R(sqrt(a));
    case KC_OP_FLOOR: return floor(a);
    case KC_OP_CEIL: return ceil(a);
    case KC_OP_ROUND: return nearbyint(a);
    case KC_OP_ADD: return R(a + b);
    case KC_OP_SUB: return R(a - b);
    case KC_OP_MUL: return R(a * b);
    case KC_OP_DIV: return R(a / b);
    case KC_OP_FLOORDIV: return floor_divide(t, a, b, &remainder);
    case KC_OP_MOD: return floor_divide(t, a, b, &remainder), remainder;
    case KC_OP_MIN:
        return isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
    case KC_OP_MAX:
        return isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
    case KC_OP_EQ: return a == b;
    case KC_OP_NE: return a != b;
    case KC_OP_LT: return a < b;
    case KC_OP_LE: return a <= b;
    case KC_OP_GT: return a > b;
    case KC_OP_GE: return a >= b;
#undef R
    case KC_OP_RSQRT: return *bound = 2, 1 / sqrt(a);
    case KC_OP_EXP: return *bound = 2, exp(a);
    case KC_OP_EXP2: return *bound = 2, exp2(a);
    case KC_OP_LOG: return *bound = 2, log(a);
    case KC_OP_LOG2: return *bound = 2, log2(a);
    case KC_OP_SIN: return *bound = 4, sin(a);
    case KC_OP_COS: return *bound = 4, cos(a);
    case KC_OP_TANH: return *bound = 4, tanh(a);
    case KC_OP_ERF: return *bound = 4, erf(a);
    case KC_OP_POW: return *bound = 4, pow(a, b);
    default: fail_msg("no expectation for %s", kc_op_table[code].name);
    }
    return 0;
}

static bool close_enough(kc_dtype t, double got, double want, double bound) {
    double rounded = kc_dtype_represent(t, want);
    if (bound == 0 || isnan(rounded) || isinf(rounded) || rounded == 0) {
        if (same_bits(got, rounded)) return true;
        return bound > 0 && fabs(got - rounded) <=
                                bound * kc_dtype_ulp(t, rounded); // near overflow and underflow
    }
    return fabs(got - want) <= (bound + 0.5) * kc_dtype_ulp(t, rounded);
}

static void check_op(kc_opcode code, kc_dtype t, kc_dtype result, const array *c, const array *x,
                     const array *y, const array *o) {
    for (int i = 0; i < N; i++) {
        bool any = false, ok;
        if (code == KC_OP_SELECT) {
            const array *from = get_int(KC_bool, c, i) ? x : y;
            int size = kc_dtype_bytes(t);
            ok = kc_dtype_is_packed(t) ? same_bits(get(t, from, i), get(t, o, i))
                                       : !memcmp(from->at + i * size, o->at + i * size, (size_t)size);
        } else if (kc_dtype_is_float(t)) {
            double bound, want = expected_float(code, t, get(t, x, i), get(t, y, i), &bound);
            ok = result == KC_bool ? get_int(result, o, i) == (want != 0)
                                   : close_enough(t, get(t, o, i), want, bound);
        } else {
            ok = get_int(result, o, i) ==
                     expected_int(code, t, get_int(t, x, i), get_int(t, y, i), &any) ||
                 any;
        }
        if (!ok)
            fail_msg("%s of %s at %d: %.17g, %.17g gave %.17g", kc_op_table[code].name,
                     kc_dtype_name(t), i, get(t, x, i), get(t, y, i), get(result, o, i));
    }
}

static const char *expression_of(kc_arena *arena, kc_opcode code) {
    const kc_op_info *row = &kc_op_table[code];
    if (code == KC_OP_SELECT) return "select %vc, %vx, %vy";
    return kc_arena_printf(arena, strchr(row->operands, ' ') ? "%s %%vx, %%vy" : "%s %%vx",
                           row->name);
}

static void one_op(batch *b, kc_opcode code, kc_dtype t, bool execute) {
    kc_dtype result = kc_op_table[code].rule == KC_RULE_COMPARE ? KC_bool : t;
    if (!execute) {
        batch_add(b, expression_of(b->arena, code), t, result);
        return;
    }
    int k = b->count++;
    for (int step = 1; step < N; step += 2) { // every step pairs the values anew
        array c, x, y, o;
        fill(KC_bool, &c, 1);
        fill(t, &x, 1);
        fill(t, &y, step);
        batch_run(b, k, &c, &x, &y, &o);
        check_op(code, t, result, &c, &x, &y, &o);
    }
}

static void arithmetic(void **state) {
    if (!run_available(*(const run_place *)*state)) skip();
    batch b;
    batch_begin(&b);
    for (int execute = 0; execute < 2; execute++) {
        for (int op = 0; op < KC_OP_COUNT; op++)
            for (int t = 0; t < KC_DTYPE_COUNT; t++) {
                const kc_op_info *row = &kc_op_table[op];
                bool wanted = is_tile_elementwise(row) && accepts(row, (kc_dtype)t);
                if (wanted && op != KC_OP_CAST) one_op(&b, (kc_opcode)op, (kc_dtype)t, execute);
            }
        if (!execute) batch_compile(&b);
    }
    batch_end(&b);
}

static run_place places[] = {RUN_ON_HOST, RUN_ON_SIMULATOR};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(casts, &places[0]),
        cmocka_unit_test_prestate(small_casts, &places[0]),
        cmocka_unit_test_prestate(arithmetic, &places[0]),
        cmocka_unit_test_prestate(casts, &places[1]),
        cmocka_unit_test_prestate(small_casts, &places[1]),
        cmocka_unit_test_prestate(arithmetic, &places[1]),
    };
    return cmocka_run_group_tests(tests, run_setup, host_teardown);
}
