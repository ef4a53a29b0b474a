// The reference interpreter, element by element: values against NumPy, edges by hand, and bounds
// from both sides: what is right to compute in f32 lies inside, what is wrong does not.
#include "tests/unit/ir/interp_runner.h"
#include "tests/unit/ir/interp_elements.h"

// ---- elementwise against NumPy ------------------------------------------------------------------

static double ulps_allowed(const char *op) {
    static const struct {
        const char *op;
        double ulps;
    } rows[] = {
        {"abs", 0},    {"neg", 0}, {"floor", 0}, {"ceil", 0}, {"round", 0}, {"relu", 0},
        {"sqrt", 0.5}, {"exp", 2}, {"exp2", 2},  {"log", 2},  {"log2", 2},  {"rsqrt", 2},
        {"sin", 4},    {"cos", 4}, {"tanh", 4},  {"erf", 4},
    };
    for (int i = 0; i < LENGTH(rows); i++)
        if (!strcmp(rows[i].op, op)) return rows[i].ulps;
    return 40; // a formula: a few roundings and functions, sometimes with cancellation
}

static void test_unary(void **state) {
    (void)state;
    enum { N = LENGTH(unary_x) };
    for (int k = 0; k < LENGTH(unary_rows); k++) {
        char text[200];
        const char *op = unary_rows[k].op;
        snprintf(
            text, sizeof text,
            "func @f(%%x: f32[%d]) -> (y: f32[%d]) {\n  %%0 = %s %%x : f32[%d]\n  return %%0\n}\n",
            N, N, op, N);
        runner r = begin(text);
        add_input(&r, KC_f32, unary_x, 1, N);
        add_output(&r, KC_f32, 1, N);
        run(&r);
        for (int i = 0; i < N; i++) {
            double expected = in_f32(unary_rows[k].y[i]), bound = r.bounds[0][i],
                   ulp = kc_dtype_ulp(KC_f32, expected);
            expect_number(op, i, r.values[0][i], expected, 1e-13);
            if (!isfinite(expected)) continue;
            if (!strncmp(op, "gelu", 4) && unary_x[i] < -1) continue; // 1 - erf cancels
            if (!strcmp(op, "silu") && unary_x[i] < -87) continue;    // exp is denormal
            if (bound > ulps_allowed(op) * ulp * 1.0001)
                fprintf(stderr, "%s, element %d: bound of %g ulp\n", op, i, bound / ulp);
            assert_true(bound <= ulps_allowed(op) * ulp * 1.0001);
            if (ulps_allowed(op) >= 2)
                assert_true(bound >= ulps_allowed(op) * ulp * 0.4 || ulps_allowed(op) == 40);
        }
        end(&r);
    }
}

static void test_binary(void **state) {
    (void)state;
    enum { N = LENGTH(binary_a) };
    for (int k = 0; k < LENGTH(binary_rows); k++) {
        char text[240];
        const char *op = binary_rows[k].op;
        snprintf(text, sizeof text,
                 "func @f(%%a: f32[%d], %%b: f32[%d]) -> (y: f32[%d]) {\n  %%0 = %s %%a, %%b : "
                 "f32[%d]\n  return %%0\n}\n",
                 N, N, N, op, N);
        runner r = begin(text);
        add_input(&r, KC_f32, binary_a, 1, N);
        add_input(&r, KC_f32, binary_b, 1, N);
        add_output(&r, KC_f32, 1, N);
        run(&r);
        for (int i = 0; i < N; i++) {
            double expected = in_f32(binary_rows[k].y[i]),
                   most = (!strcmp(op, "pow") ? 4 : 0.5) * kc_dtype_ulp(KC_f32, expected);
            if (!strcmp(op, "floordiv") && fabs(expected) > 1e6) most *= 8;
            expect_number(op, i, r.values[0][i], expected, 1e-13);
            if (isfinite(expected) && r.bounds[0][i] > most * 1.0001)
                fprintf(stderr, "%s, element %d: bound %g\n", op, i, r.bounds[0][i]);
            if (isfinite(expected)) assert_true(r.bounds[0][i] <= most * 1.0001);
            else assert_true(r.bounds[0][i] == 0);
        }
        end(&r);
    }
}

// ---- bounds -------------------------------------------------------------------------------------

static uint64_t seed = 88172645463325252u;

static float random_float(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (float)((double)(seed >> 11) * 0x1p-52 - 1);
}

// A sum of two is off by its own rounding at most: the neighbour of the right float fails unless
// the sum is halfway.
static void test_add_is_sharp(void **state) {
    (void)state;
    enum { N = 2000 };
    static double a[N], b[N];
    for (int i = 0; i < N; i++)
        a[i] = random_float(), b[i] = random_float() * 100;
    runner r = begin("func @f(%a: f32[2000], %b: f32[2000]) -> (y: f32[2000]) {\n  %0 = add %a, %b "
                     ": f32[2000]\n  return %0\n}\n");
    add_input(&r, KC_f32, a, 1, N);
    add_input(&r, KC_f32, b, 1, N);
    add_output(&r, KC_f32, 1, N);
    run(&r);
    for (int i = 0; i < N; i++) {
        float right = (float)a[i] + (float)b[i],
              wrong = nextafterf(nextafterf(right, INFINITY), INFINITY);
        assert_true(passes(right, r.values[0][i], r.bounds[0][i], KC_f32));
        assert_false(passes(wrong, r.values[0][i], r.bounds[0][i], KC_f32));
        assert_true(r.bounds[0][i] == fabs((double)right - r.values[0][i]));
    }
    end(&r);
}

// Whole numbers are exact all the way, so that comparisons of them are certain.
static void test_whole_numbers_are_exact(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 1000}, y[4] = {7, -2, 0.5, 1024};
    runner r = begin("func @f(%x: f32[4], %y: f32[4]) -> (z: bool[4], s: f32[], p: f32[4]) {\n"
                     "  %0 = mul %x, %y : f32[4]\n  %1 = add %0, %x : f32[4]\n  %2 = add %x, %0 : "
                     "f32[4]\n  %3 = eq %1, %2 : bool[4]\n"
                     "  %4 = sum %1 {axes = [0]} : f32[]\n  return %3, %4, %1\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_input(&r, KC_f32, y, 1, 4);
    add_output(&r, KC_bool, 1, 4);
    add_output(&r, KC_f32, 0);
    add_output(&r, KC_f32, 1, 4);
    run(&r);
    for (int i = 0; i < 4; i++)
        assert_true(r.values[0][i] == 1 && r.bounds[0][i] == 0 && r.bounds[2][i] == 0);
    expect_number("sum", 0, r.values[1][0], 8 - 2 + 4.5 + 1025000, 0);
    assert_true(r.bounds[1][0] == 0);
    end(&r);
}

// a*b + c, contracted or not, lies inside; half precision in between does not.
static void test_chain_of_floats(void **state) {
    (void)state;
    enum { N = 4000 };
    static double x[3][N];
    int outside = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            x[k][i] = random_float();
    runner r = begin(
        "func @f(%a: f32[4000], %b: f32[4000], %c: f32[4000]) -> (y: f32[4000], z: f32[4000]) {\n"
        "  %0 = mul %a, %b : f32[4000]\n  %1 = add %0, %c : f32[4000]\n  %2 = exp %1 : f32[4000]\n "
        " %3 = div %1, %2 : f32[4000]\n"
        "  %4 = tanh %3 : f32[4000]\n  %5 = sub %4, %3 : f32[4000]\n  return %1, %5\n}\n");
    for (int k = 0; k < 3; k++)
        add_input(&r, KC_f32, x[k], 1, N);
    add_output(&r, KC_f32, 1, N);
    add_output(&r, KC_f32, 1, N);
    run(&r);
    for (int i = 0; i < N; i++) {
        float a = (float)x[0][i], b = (float)x[1][i], c = (float)x[2][i];
        float product = a * b, y = product + c, contracted = fmaf(a, b, c), z = y / expf(y);
        assert_true(passes(y, r.values[0][i], r.bounds[0][i], KC_f32) &&
                    passes(contracted, r.values[0][i], r.bounds[0][i], KC_f32));
        assert_true(passes(tanhf(z) - z, r.values[1][i], r.bounds[1][i], KC_f32));
        outside +=
            !passes(kc_dtype_round(KC_f16, product) + c, r.values[0][i], r.bounds[0][i], KC_f32);
        assert_true(r.bounds[0][i] < 0x1p-22 && r.bounds[1][i] < 0x1p-16);
    }
    assert_true(outside > N * 9 / 10);
    end(&r);
}

static void test_sums_in_any_order(void **state) {
    (void)state;
    enum { N = 1000 };
    static double x[N];
    float forward = 0, backward = 0, strided = 0;
    for (int i = 0; i < N; i++)
        x[i] = random_float();
    runner r = begin("func @f(%x: f32[1000]) -> (y: f32[], m: f32[]) {\n  %0 = sum %x {axes = [0]} "
                     ": f32[]\n  %1 = mean %x {axes = [0]} : f32[]\n  return %0, %1\n}\n");
    add_input(&r, KC_f32, x, 1, N);
    add_output(&r, KC_f32, 0);
    add_output(&r, KC_f32, 0);
    run(&r);
    for (int i = 0; i < N; i++)
        forward += (float)x[i], backward += (float)x[N - 1 - i], strided += (float)x[i * 7 % N];
    float orders[] = {forward, backward, strided};
    for (int i = 0; i < 3; i++) {
        assert_true(passes(orders[i], r.values[0][0], r.bounds[0][0], KC_f32));
        assert_true(passes(orders[i] / N, r.values[1][0], r.bounds[1][0], KC_f32));
    }
    assert_true(r.bounds[0][0] > 0 && r.bounds[0][0] < 1e-4 * 1000);
    assert_false(passes(forward - (float)x[3], r.values[0][0], r.bounds[0][0],
                        KC_f32)); // an element is missing
    end(&r);
}

// ---- integers -----------------------------------------------------------------------------------

static void test_integers(void **state) {
    (void)state;
    double a[8] = {7, -7, 7, -7, 5, -2147483648.0, 2147483647, 3},
           b[8] = {3, 3, -3, -3, 0, -1, 2, -2};
    runner r = begin("func @f(%a: i32[8], %b: i32[8]) -> (q: i32[8], m: i32[8], p: i32[8], s: "
                     "i32[8], w: i8[8], n: i32[8]) {\n"
                     "  %0 = floordiv %a, %b : i32[8]\n  %1 = mod %a, %b : i32[8]\n  %2 = mul %a, "
                     "%b : i32[8]\n  %3 = add %a, %b : i32[8]\n"
                     "  %4 = cast %a {dtype = i8} : i8[8]\n  %5 = abs %a : i32[8]\n  return %0, "
                     "%1, %2, %3, %4, %5\n}\n");
    add_input(&r, KC_i32, a, 1, 8);
    add_input(&r, KC_i32, b, 1, 8);
    for (int i = 0; i < 6; i++)
        add_output(&r, i == 4 ? KC_i8 : KC_i32, 1, 8);
    run(&r);
    expect_values(&r, 0, "floordiv",
                  (double[]){2, -3, -3, 2, r.values[0][4], -2147483648.0, 1073741823, -2}, 8);
    expect_values(&r, 1, "mod", (double[]){1, 2, -2, -1, r.values[1][4], 0, 1, -1}, 8);
    expect_values(&r, 2, "mul", (double[]){21, -21, -21, 21, 0, -2147483648.0, -2, -6}, 8);
    expect_values(&r, 3, "add", (double[]){10, -4, 4, -10, 5, 2147483647, -2147483647, 1}, 8);
    expect_values(&r, 4, "cast", (double[]){7, -7, 7, -7, 5, 0, -1, 3}, 8);
    expect_values(&r, 5, "abs", (double[]){7, 7, 7, 7, 5, -2147483648.0, 2147483647, 3}, 8);
    for (int i = 0; i < 8; i++)
        assert_true(r.bounds[0][i] == (i == 4 ? INFINITY : 0) &&
                    r.bounds[2][i] == 0); // by zero: anything
    end(&r);
}

static void test_integer_powers_and_bools(void **state) {
    (void)state;
    double a[6] = {2, -3, 1, -1, 5, 0}, b[6] = {10, 3, -5, -3, -1, 0}, c[6] = {1, 0, 1, 0, 1, 0};
    runner r = begin(
        "func @f(%a: i64[6], %b: i64[6], %c: bool[6]) -> (p: i64[6], n: bool[6], x: bool[6], g: "
        "i64[6], k: i64[6]) {\n"
        "  %0 = pow %a, %b : i64[6]\n  %1 = not %c : bool[6]\n  %2 = gt %a, %b : bool[6]\n  %3 = "
        "or %1, %2 : bool[6]\n"
        "  %4 = and %a, %b : i64[6]\n  %5 = not %a : i64[6]\n  return %0, %1, %3, %4, %5\n}\n");
    add_input(&r, KC_i64, a, 1, 6);
    add_input(&r, KC_i64, b, 1, 6);
    add_input(&r, KC_bool, c, 1, 6);
    add_output(&r, KC_i64, 1, 6);
    add_output(&r, KC_bool, 1, 6);
    add_output(&r, KC_bool, 1, 6);
    add_output(&r, KC_i64, 1, 6);
    add_output(&r, KC_i64, 1, 6);
    run(&r);
    expect_values(&r, 0, "pow", (double[]){1024, -27, 1, -1, 0, 1}, 6);
    expect_values(&r, 1, "not", (double[]){0, 1, 0, 1, 0, 1}, 6);
    expect_values(&r, 2, "or", (double[]){0, 1, 1, 1, 1, 1}, 6);
    expect_values(&r, 3, "and", (double[]){2, 1, 1, -3, 5, 0}, 6);
    expect_values(&r, 4, "not", (double[]){-3, 2, -2, 0, -6, -1}, 6);
    end(&r);
}

static void test_wide_integers(void **state) {
    (void)state;
    int64_t x[2] = {INT64_MAX, (INT64_C(1) << 53) + 1}, y[2];
    runner r = begin("func @f(%x: i64[2]) -> (y: i64[2], s: i64[]) {\n  %0 = add %x, %x : i64[2]\n "
                     " %1 = sum %x {axes = [0]} : i64[]\n  return %0, %1\n}\n");
    add_input(&r, KC_i64, (double[]){0, 0}, 1, 2);
    memcpy(r.in[0].data, x, sizeof x);
    add_output(&r, KC_i64, 1, 2);
    add_output(&r, KC_i64, 0);
    run(&r);
    memcpy(y, r.out[0].data, sizeof y);
    assert_true(y[0] == -2 && y[1] == (INT64_C(1) << 54) + 2);
    memcpy(y, r.out[1].data, sizeof *y);
    assert_true(y[0] == INT64_MIN + (INT64_C(1) << 53));
    end(&r);
}

// ---- casts --------------------------------------------------------------------------------------

static void test_casts(void **state) {
    (void)state;
    double x[9] = {2.9, -2.9, 300, -300, NAN, INFINITY, -INFINITY, 1e30, -0.0};
    runner r =
        begin("func @f(%x: f32[9]) -> (a: i8[9], b: u8[9], c: i32[9], d: bool[9], e: f16[9]) {\n"
              "  %0 = cast %x {dtype = i8} : i8[9]\n  %1 = cast %x {dtype = u8} : u8[9]\n  %2 = "
              "cast %x {dtype = i32} : i32[9]\n"
              "  %3 = cast %x {dtype = bool} : bool[9]\n  %4 = cast %x {dtype = f16} : f16[9]\n  "
              "return %0, %1, %2, %3, %4\n}\n");
    add_input(&r, KC_f32, x, 1, 9);
    add_output(&r, KC_i8, 1, 9);
    add_output(&r, KC_u8, 1, 9);
    add_output(&r, KC_i32, 1, 9);
    add_output(&r, KC_bool, 1, 9);
    add_output(&r, KC_f16, 1, 9);
    run(&r);
    expect_values(&r, 0, "i8", (double[]){2, -2, 127, -128, 0, 127, -128, 127, 0}, 9);
    expect_values(&r, 1, "u8", (double[]){2, 0, 255, 0, 0, 255, 0, 255, 0}, 9);
    expect_values(&r, 2, "i32",
                  (double[]){2, -2, 300, -300, 0, 2147483647, -2147483648.0, 2147483647, 0}, 9);
    expect_values(&r, 3, "bool", (double[]){1, 1, 1, 1, 1, 1, 1, 1, 0}, 9);
    expect_number("f16", 0, stored(&r, 4, 0), 2.900390625, 0);
    expect_number("f16", 7, stored(&r, 4, 7), INFINITY, 0);
    end(&r);
}

// An output in f16 is compared with what was rounded, a value inside the function is rounded.
static void test_rounding_places(void **state) {
    (void)state;
    double x[4] = {1 + 0x1p-11, 65519, 65520, 0.1f};
    runner r = begin(
        "func @f(%x: f32[4]) -> (a: f16[4], b: f32[4]) {\n  %0 = cast %x {dtype = f16} : f16[4]\n"
        "  %1 = cast %0 {dtype = f32} : f32[4]\n  return %0, %1\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f16, 1, 4);
    add_output(&r, KC_f32, 1, 4);
    run(&r);
    expect_values(&r, 0, "before rounding", (double[]){1 + 0x1p-11, 65519, INFINITY, (double)0.1f},
                  4);
    expect_values(&r, 1, "after rounding", (double[]){1, 65504, INFINITY, 0.0999755859375}, 4);
    assert_true(stored(&r, 0, 0) == 1 && stored(&r, 0, 1) == 65504 && isinf(stored(&r, 0, 2)));
    assert_true(passes(1 + 0x1p-10, r.values[0][0], r.bounds[0][0],
                       KC_f16)); // halfway: the neighbour is as near
    assert_false(passes(1 + 0x1p-9, r.values[0][0], r.bounds[0][0], KC_f16));
    end(&r);
}

static void test_casts_of_uncertain_values(void **state) {
    (void)state;
    double x[3] = {0.7f, 0.1f, 2};
    runner r = begin("func @f(%x: f32[3]) -> (a: i32[3], b: f32[3], c: f16[3], d: bool[3]) {\n  %k "
                     "= const {value = 10} : f32[3]\n  %0 = exp %x : f32[3]\n"
                     "  %1 = log %0 : f32[3]\n  %2 = sub %1, %x : f32[3]\n  %3 = add %2, %k : "
                     "f32[3]\n  %4 = cast %3 {dtype = i32} : i32[3]\n"
                     "  %5 = floor %3 : f32[3]\n  %6 = cast %3 {dtype = f16} : f16[3]\n  %7 = cast "
                     "%6 {dtype = f32} : f32[3]\n"
                     "  %8 = cast %2 {dtype = bool} : bool[3]\n  %9 = neg %6 : f16[3]\n  return "
                     "%4, %5, %9, %8\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_output(&r, KC_i32, 1, 3);
    add_output(&r, KC_f32, 1, 3);
    add_output(&r, KC_f16, 1, 3);
    add_output(&r, KC_bool, 1, 3);
    run(&r);
    for (int i = 0; i < 3; i++) { // log(exp(x)) - x + 10 is 10 but for errors
        assert_true(r.bounds[0][i] == 1 && r.bounds[1][i] == 1);
        assert_true(passes(9, r.values[0][i], r.bounds[0][i], KC_i32) &&
                    passes(10, r.values[0][i], r.bounds[0][i], KC_i32));
        assert_false(passes(8, r.values[0][i], r.bounds[0][i], KC_i32));
        assert_true(r.values[2][i] == -10 &&
                    r.bounds[2][i] == 0); // far from where f16 rounds otherwise
        assert_true(r.bounds[3][i] == 1);
    }
    end(&r);
}

// ---- comparisons and overflow -------------------------------------------------------------------

static void test_uncertain_comparisons(void **state) {
    (void)state;
    double x[3] = {0.3f, 1, 5}, y[3] = {0.3f, 2, NAN};
    runner r =
        begin("func @f(%x: f32[3], %y: f32[3]) -> (c: bool[3], s: f32[3], n: bool[3]) {\n  %0 = "
              "exp %x : f32[3]\n  %1 = exp %y : f32[3]\n"
              "  %2 = lt %0, %1 : bool[3]\n  %k = const {value = 100} : f32[3]\n  %3 = select %2, "
              "%x, %k : f32[3]\n  %4 = ne %1, %1 : bool[3]\n  return %2, %3, %4\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_input(&r, KC_f32, y, 1, 3);
    add_output(&r, KC_bool, 1, 3);
    add_output(&r, KC_f32, 1, 3);
    add_output(&r, KC_bool, 1, 3);
    run(&r);
    assert_true(r.bounds[0][0] == 1 && r.bounds[0][1] == 0 &&
                r.bounds[0][2] == 0); // a tie within errors; certain; NaN
    assert_true(r.values[0][1] == 1 && r.values[0][2] == 0);
    assert_true(passes(x[0], r.values[1][0], r.bounds[1][0], KC_f32) &&
                passes(100, r.values[1][0], r.bounds[1][0], KC_f32));
    assert_true(r.bounds[1][1] == 0 && r.bounds[1][2] == 0);
    expect_values(&r, 2, "is NaN", (double[]){0, 0, 1}, 3);
    for (int i = 0; i < 3; i++)
        assert_true(r.bounds[2][i] == 0); // x != x needs no certainty
    end(&r);
}

static void test_overflow(void **state) {
    (void)state;
    double x[5] = {3e38, -3e38, 1e38, 88.7, 88},
           y[5] = {3e38, -3e38, 1e38, 0, 0x1.fffffep127 / exp(88)};
    runner r = begin("func @f(%x: f32[5], %y: f32[5]) -> (a: f32[5], b: f32[5], c: f32[5], d: "
                     "f32[5]) {\n  %0 = add %x, %y : f32[5]\n"
                     "  %1 = exp %x : f32[5]\n  %2 = sub %0, %0 : f32[5]\n  %3 = mul %1, %y : "
                     "f32[5]\n  return %0, %1, %2, %3\n}\n");
    add_input(&r, KC_f32, x, 1, 5);
    add_input(&r, KC_f32, y, 1, 5);
    for (int i = 0; i < 4; i++)
        add_output(&r, KC_f32, 1, 5);
    run(&r);
    expect_number("sum", 0, r.values[0][0], INFINITY, 0);
    expect_number("sum", 1, r.values[0][1], -INFINITY, 0);
    assert_true(r.bounds[0][0] == 0 && isnan(r.values[2][0]) && r.bounds[2][0] == 0);
    assert_true(isinf(r.values[1][0]) && r.bounds[1][0] == 0 && r.values[1][1] == 0);
    assert_true(isfinite(r.values[1][3]) && isfinite(r.bounds[1][3]));
    assert_true(isinf(r.bounds[3][4])); // the largest float within errors: it may overflow
    end(&r);
}

// A product that overflows may survive inside a fused multiply-add.
static void test_overflow_in_contraction(void **state) {
    (void)state;
    double x[1] = {2e20f}, y[1] = {-3.9e38};
    runner r = begin("func @f(%x: f32[1], %y: f32[1]) -> (a: f32[1], b: f32[1]) {\n  %0 = mul %x, "
                     "%x : f32[1]\n  %1 = add %0, %y : f32[1]\n"
                     "  %2 = mul %x, %x : f32[1]\n  %3 = neg %2 : f32[1]\n  return %1, %3\n}\n");
    add_input(&r, KC_f32, x, 1, 1);
    add_input(&r, KC_f32, y, 1, 1);
    add_output(&r, KC_f32, 1, 1);
    add_output(&r, KC_f32, 1, 1);
    run(&r);
    assert_true(isinf(r.bounds[0][0]));
    assert_true(r.values[1][0] == -INFINITY && r.bounds[1][0] == 0);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_add_is_sharp),
        cmocka_unit_test(test_whole_numbers_are_exact),
        cmocka_unit_test(test_chain_of_floats),
        cmocka_unit_test(test_sums_in_any_order),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_integer_powers_and_bools),
        cmocka_unit_test(test_wide_integers),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_rounding_places),
        cmocka_unit_test(test_casts_of_uncertain_values),
        cmocka_unit_test(test_uncertain_comparisons),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_overflow_in_contraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
