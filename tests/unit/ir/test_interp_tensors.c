// The reference interpreter on tensors: reductions, products, rows, movement, and what a call may
// get wrong.
#include "tests/unit/ir/interp_runner.h"
#include "tests/unit/ir/interp_tensors.h"

// ---- reductions ---------------------------------------------------------------------------------

static void test_reductions(void **state) {
    (void)state;
    for (int k = 0; k < LENGTH(reduce_rows); k++) {
        char text[400];
        const char *op = reduce_rows[k].op, *elem = strncmp(op, "arg", 3) ? "f32" : "i64";
        kc_dtype type = strncmp(op, "arg", 3) ? KC_f32 : KC_i64;
        snprintf(text, sizeof text,
                 "func @f(%%x: f32[4, 7]) -> (a: %s[7], b: %s[4, 1], c: %s[]) {\n  %%0 = %s %%x "
                 "{axes = [0]} : %s[7]\n"
                 "  %%1 = %s %%x {axes = [1], keepdims = 1} : %s[4, 1]\n  %%2 = %s %%x {axes = [0, "
                 "1]} : %s[]\n  return %%0, %%1, %%2\n}\n",
                 elem, elem, elem, op, elem, op, elem, op, elem);
        runner r = begin(text);
        add_input(&r, KC_f32, row_x, 2, 4, 7);
        add_output(&r, type, 1, 7);
        add_output(&r, type, 2, 4, 1);
        add_output(&r, type, 0);
        run(&r);
        expect_values(&r, 0, op, reduce_rows[k].along_0, 7);
        expect_values(&r, 1, op, reduce_rows[k].along_1, 4);
        expect_values(&r, 2, op, reduce_rows[k].all, 1);
        assert_true(r.bounds[2][0] < 1e-4);
        end(&r);
    }
}

static void test_empty_and_special_reductions(void **state) {
    (void)state;
    double x[6] = {1, NAN, 3, -INFINITY, INFINITY, 2};
    runner r = begin("func @f(%x: f32[2, 3], %e: f32[2, 0]) -> (a: f32[2], b: f32[2], c: f32[2], "
                     "d: f32[2], e1: f32[2], g: i64[2]) {\n"
                     "  %0 = sum %e {axes = [1]} : f32[2]\n  %1 = prod %e {axes = [1]} : f32[2]\n  "
                     "%2 = amax %x {axes = [1]} : f32[2]\n"
                     "  %3 = sum %x {axes = [1]} : f32[2]\n  %4 = amin %e {axes = [1]} : f32[2]\n  "
                     "%5 = argmax %x {axes = [1]} : i64[2]\n"
                     "  return %0, %1, %2, %3, %4, %5\n}\n");
    add_input(&r, KC_f32, x, 2, 2, 3);
    add_input(&r, KC_f32, x, 2, 2, 0);
    for (int i = 0; i < 5; i++)
        add_output(&r, KC_f32, 1, 2);
    add_output(&r, KC_i64, 1, 2);
    run(&r);
    expect_values(&r, 0, "empty sum", (double[]){0, 0}, 2);
    expect_values(&r, 1, "empty product", (double[]){1, 1}, 2);
    expect_values(&r, 2, "maximum", (double[]){NAN, INFINITY}, 2);
    expect_values(&r, 3, "sum", (double[]){NAN, NAN}, 2);
    expect_values(&r, 4, "empty minimum", (double[]){INFINITY, INFINITY}, 2);
    expect_values(&r, 5, "argmax", (double[]){1, 1}, 2);
    for (int i = 0; i < 6; i++)
        assert_true(r.bounds[i][0] == 0 && r.bounds[i][1] == 0);
    end(&r);
}

static void test_argmax_of_ties(void **state) {
    (void)state;
    double x[4] = {2, 5, 5, 5}, y[4] = {1, 1, 1, 1};
    runner r = begin("func @f(%x: f32[4], %y: f32[4]) -> (a: i64[], b: i64[], c: i64[]) {\n"
                     "  %0 = argmax %x {axes = [0]} : i64[]\n  %1 = exp %x : f32[4]\n  %2 = argmax "
                     "%1 {axes = [0]} : i64[]\n"
                     "  %3 = argmin %y {axes = [0]} : i64[]\n  return %0, %2, %3\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_input(&r, KC_f32, y, 1, 4);
    for (int i = 0; i < 3; i++)
        add_output(&r, KC_i64, 0);
    run(&r);
    assert_true(r.values[0][0] == 1 && r.bounds[0][0] == 0); // exact values: the first
    assert_true(r.values[1][0] == 1 &&
                r.bounds[1][0] == 2); // within their error any of 1, 2, 3 may be the largest
    assert_true(r.values[2][0] == 0 && r.bounds[2][0] == 0);
    end(&r);
}

// The region that decompose makes for argmax, with NaN; and a product of pairs in a tuple with a
// maximum.
static void test_regions(void **state) {
    (void)state;
    double x[10] = {1, 7, 7, NAN, NAN, 3, -1, 3, 2, 0};
    runner r =
        begin("func @f(%x: f32[2, 5]) -> (v: f32[2], i: i64[2], m: f32[2], p: f32[2]) {\n"
              "  %0 = iota {axis = 1} : i64[2, 5]\n"
              "  %1, %2 = reduce %x, %0 {axes = [1], init = [-inf, inf]} : f32[2], i64[2] {\n"
              "  ^(%a: f32[], %i: i64[], %b: f32[], %j: i64[]):\n"
              "    %g = gt %b, %a : bool[]\n    %t = eq %b, %a : bool[]\n    %na = ne %a, %a : "
              "bool[]\n    %nb = ne %b, %b : bool[]\n"
              "    %z = not %na : bool[]\n    %o = and %nb, %z : bool[]\n    %w = or %g, %o : "
              "bool[]\n    %q = and %na, %nb : bool[]\n"
              "    %s = or %t, %q : bool[]\n    %l = lt %j, %i : bool[]\n    %u = and %s, %l : "
              "bool[]\n    %k = or %w, %u : bool[]\n"
              "    %c = select %k, %b, %a : f32[]\n    %d = select %k, %j, %i : i64[]\n    yield "
              "%c, %d\n  }\n"
              "  %3, %4 = reduce %x, %x {axes = [1], init = [-inf, 1]} : f32[2], f32[2] {\n"
              "  ^(%a: f32[], %i: f32[], %b: f32[], %j: f32[]):\n    %c = max %a, %b : f32[]\n    "
              "%d = mul %j, %i : f32[]\n    yield %c, %d\n  }\n"
              "  return %1, %2, %3, %4\n}\n");
    add_input(&r, KC_f32, x, 2, 2, 5);
    add_output(&r, KC_f32, 1, 2);
    add_output(&r, KC_i64, 1, 2);
    add_output(&r, KC_f32, 1, 2);
    add_output(&r, KC_f32, 1, 2);
    run(&r);
    expect_values(&r, 0, "value", (double[]){NAN, 3}, 2);
    expect_values(&r, 1, "index", (double[]){3, 0}, 2);
    expect_values(&r, 2, "maximum", (double[]){NAN, 3}, 2);
    expect_values(&r, 3, "product", (double[]){NAN, 0}, 2);
    end(&r);
}

// ---- matrix products ----------------------------------------------------------------------------

static void test_products(void **state) {
    (void)state;
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++) {
            char text[300];
            snprintf(text, sizeof text,
                     "func @f(%%a: f32[2, %s], %%b: f32[2, %s]) -> (y: f32[2, 3, 4]) {\n"
                     "  %%0 = matmul %%a, %%b {transpose_a = %d, transpose_b = %d} : f32[2, 3, "
                     "4]\n  return %%0\n}\n",
                     ta ? "5, 3" : "3, 5", tb ? "4, 5" : "5, 4", ta, tb);
            runner r = begin(text);
            add_input(&r, KC_f32, ta ? product_a_t : product_a, 3, 2, ta ? 5 : 3, ta ? 3 : 5);
            add_input(&r, KC_f32, tb ? product_b_t : product_b, 3, 2, tb ? 4 : 5, tb ? 5 : 4);
            add_output(&r, KC_f32, 3, 2, 3, 4);
            run(&r);
            expect_values(&r, 0, "matmul", product_y, 24);
            for (int i = 0; i < 24; i++)
                assert_true(r.bounds[0][i] > 0 && r.bounds[0][i] < 6e-6);
            end(&r);
        }
}

// The second channel has the bound of a rounded quotient, 0.5 is exact; padding is 0.
static void test_convolution(void **state) {
    (void)state;
    double x[12] = {1, 2, 3, 4, 5, 6, 0.1, 1, 1, 1, 1, 1}, w[8] = {1, 10, 100, 1000, 1, 0, 0, 0};
    runner r = begin(
        "func @f(%x: f32[1, 2, 2, 3], %w: f32[1, 2, 2, 2], %v: f32[2, 1, 2, 2], %i: i8[1, 2, 2, "
        "3]) "
        "-> (y: f32[1, 1, 3, 2], z: i32[1, 2, 2, 1]) {\n"
        "  %0 = conv2d %x, %w {steps = [1, 2], low = [1, 1], high = [1, 0], dilation = [1, 1], "
        "groups = 1} : f32[1, 1, 3, 2]\n"
        "  %1 = cast %v {dtype = i8} : i8[2, 1, 2, 2]\n"
        "  %2 = conv2d %i, %1 {steps = [1, 1], low = [1, 0], high = [1, 0], dilation = [2, 2], "
        "groups = 2} : i32[1, 2, 2, 1]\n  return %0, %2\n}\n");
    double v[8] = {1, 2, 3, 4, 1, 1, 1, -1};
    add_input(&r, KC_f32, x, 4, 1, 2, 2, 3);
    add_input(&r, KC_f32, w, 4, 1, 2, 2, 2);
    add_input(&r, KC_f32, v, 4, 2, 1, 2, 2);
    add_input(&r, KC_i8, x, 4, 1, 2, 2, 3);
    add_output(&r, KC_f32, 4, 1, 1, 3, 2);
    add_output(&r, KC_i32, 4, 1, 2, 2, 1);
    run(&r);
    expect_values(&r, 0, "y", (double[]){1000, 3200, 4010, 6533, 40, 66}, 6);
    expect_values(&r, 1, "z", (double[]){36, 7, 0, 1}, 4);
    for (int i = 0; i < 4; i++)
        assert_true(r.bounds[1][i] == 0);
    end(&r);
}

static void test_products_by_hand(void **state) {
    (void)state;
    double a[4] = {1, INFINITY, 2e38, 3}, b[4] = {0, 1, 2, 1e38}, small[4] = {1, 2, 3, -128};
    runner r = begin("func @f(%a: f32[2, 2], %b: f32[2, 2], %i: i8[2, 2]) -> (y: f32[2, 2], z: "
                     "i32[2, 2], e: f32[2, 2]) {\n"
                     "  %0 = matmul %a, %b : f32[2, 2]\n  %1 = matmul %i, %i : i32[2, 2]\n  %2 = "
                     "cast %i {dtype = f32} : f32[2, 2]\n"
                     "  %3 = matmul %2, %2 : f32[2, 2]\n  return %0, %1, %3\n}\n");
    add_input(&r, KC_f32, a, 2, 2, 2);
    add_input(&r, KC_f32, b, 2, 2, 2);
    add_input(&r, KC_i8, small, 2, 2, 2);
    add_output(&r, KC_f32, 2, 2, 2);
    add_output(&r, KC_i32, 2, 2, 2);
    add_output(&r, KC_f32, 2, 2, 2);
    run(&r);
    expect_values(&r, 0, "products", (double[]){INFINITY, INFINITY, 6, INFINITY},
                  4); // 2e38 + 3e38 overflows in every order
    assert_true(r.bounds[0][0] == 0 && r.bounds[0][3] == 0);
    expect_values(&r, 1, "i8", (double[]){7, -254, -381, 16390}, 4);
    expect_values(&r, 2, "whole numbers", (double[]){7, -254, -381, 16390}, 4);
    for (int i = 0; i < 4; i++)
        assert_true(r.bounds[1][i] == 0 && r.bounds[2][i] == 0);
    end(&r);
}

// ---- rows ---------------------------------------------------------------------------------------

static void test_rows(void **state) {
    (void)state;
    static const struct {
        const char *op, *attrs;
        int operands;
        const double *y;
    } rows[] = {
        {"softmax", "axis = 1", 1, row_softmax},
        {"log_softmax", "axis = 1", 1, row_log_softmax},
        {"softmax", "axis = 0", 1, row_softmax_0},
        {"layernorm", "axis = 1, eps = 0.00001", 3, row_layernorm},
        {"rmsnorm", "axis = 1, eps = 0.000001", 2, row_rmsnorm},
    };
    for (int k = 0; k < LENGTH(rows); k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "func @f(%%x: f32[4, 7], %%s: f32[7], %%b: f32[7]) -> (y: f32[4, 7]) {\n  %%0 = "
                 "%s %%x%s%s {%s} : f32[4, 7]\n  return %%0\n}\n",
                 rows[k].op, rows[k].operands > 1 ? ", %s" : "", rows[k].operands > 2 ? ", %b" : "",
                 rows[k].attrs);
        runner r = begin(text);
        add_input(&r, KC_f32, row_x, 2, 4, 7);
        add_input(&r, KC_f32, row_scale, 1, 7);
        add_input(&r, KC_f32, row_bias, 1, 7);
        add_output(&r, KC_f32, 2, 4, 7);
        run(&r);
        for (int i = 0; i < 28; i++) {
            expect_number(rows[k].op, i, r.values[0][i], rows[k].y[i],
                          3e-7); // eps is a literal of f32
            assert_true(r.bounds[0][i] > 0 && r.bounds[0][i] < 2e-5);
        }
        end(&r);
    }
}

// ---- movement -----------------------------------------------------------------------------------

static void test_movement(void **state) {
    (void)state;
    double k[4] = {2, 0, 1, -1};
    runner r =
        begin("func @f(%x: f32[2, 3, 4], %k: i32[2, 2]) -> (a: f32[4, 2, 3], b: f32[2, 2, 2], c: "
              "f32[3, 5, 6], d: f32[2, 6, 4], e: f32[2, 2, 2, 4], g: f32[6]) {\n"
              "  %0 = transpose %x {perm = [2, 0, 1]} : f32[4, 2, 3]\n"
              "  %1 = slice %x {starts = [1, 2, 1], steps = [-1, -2, 1]} : f32[2, 2, 2]\n"
              "  %2 = pad %x {low = [1, 0, 1], high = [0, 2, 1], value = -1.5} : f32[3, 5, 6]\n"
              "  %t = const {value = 10} : f32[2, 3, 4]\n  %y = mul %x, %t : f32[2, 3, 4]\n"
              "  %3 = concat %x, %y {axis = 1} : f32[2, 6, 4]\n  %4 = gather %x, %k {axis = 1} : "
              "f32[2, 2, 2, 4]\n"
              "  %5 = reshape %x : f32[4, 6]\n  %6 = sum %5 {axes = [0]} : f32[6]\n  return %0, "
              "%1, %2, %3, %4, %6\n}\n");
    add_input(&r, KC_f32, move_x, 3, 2, 3, 4);
    add_input(&r, KC_i32, k, 2, 2, 2);
    add_output(&r, KC_f32, 3, 4, 2, 3);
    add_output(&r, KC_f32, 3, 2, 2, 2);
    add_output(&r, KC_f32, 3, 3, 5, 6);
    add_output(&r, KC_f32, 3, 2, 6, 4);
    add_output(&r, KC_f32, 4, 2, 2, 2, 4);
    add_output(&r, KC_f32, 1, 6);
    run(&r);
    expect_values(&r, 0, "transpose", move_transpose, 24);
    expect_values(&r, 1, "slice", move_slice, 8);
    expect_values(&r, 2, "pad", move_pad, 90);
    expect_values(&r, 3, "concat", move_concat, 48);
    expect_values(&r, 4, "gather", move_take, 32);
    expect_values(&r, 5, "reshape", move_reshape_sum, 6);
    assert_int_equal(r.clamped, 0);
    end(&r);
}

static void test_gather_clamps(void **state) {
    (void)state;
    double x[3] = {10, 20, 30}, k[6] = {-1, -3, -4, 2, 3, 1e6};
    runner r = begin("func @f(%x: f32[3], %k: i64[6]) -> (y: f32[6]) {\n  %0 = gather %x, %k {axis "
                     "= 0} : f32[6]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_input(&r, KC_i64, k, 1, 6);
    add_output(&r, KC_f32, 1, 6);
    run(&r);
    expect_values(&r, 0, "gather", (double[]){30, 10, 10, 30, 30, 30}, 6);
    assert_int_equal(r.clamped, 3);
    end(&r);
    r = begin("func @f(%x: f32[N], %k: i32[2]) -> (y: f32[2]) dims {N: 0..100} {\n  %0 = gather "
              "%x, %k {axis = 0} : f32[2]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 0); // nothing to take: 0
    add_input(&r, KC_i32, k, 1, 2);
    add_output(&r, KC_f32, 1, 2);
    run(&r);
    expect_values(&r, 0, "gather from nothing", (double[]){0, 0}, 2);
    assert_int_equal(r.clamped, 2);
    end(&r);
}

static void test_broadcast_iota_sym(void **state) {
    (void)state;
    double x[2] = {5, 6};
    runner r = begin("func @f(%x: f32[N, 1]) -> (y: f32[3, N, 2], i: i8[2, 300], s: f32[]) dims "
                     "{N: 0..100} {\n  %0 = broadcast %x : f32[3, N, 2]\n"
                     "  %1 = iota {axis = 1} : i8[2, 300]\n  %2 = sym {expr = N * 10 // 3} : "
                     "f32[]\n  return %0, %1, %2\n}\n");
    add_input(&r, KC_f32, x, 2, 2, 1);
    add_output(&r, KC_f32, 3, 3, 2, 2);
    add_output(&r, KC_i8, 2, 2, 300);
    add_output(&r, KC_f32, 0);
    run(&r);
    expect_values(&r, 0, "broadcast", (double[]){5, 5, 6, 6, 5, 5, 6, 6, 5, 5, 6, 6}, 12);
    assert_true(r.values[1][127] == 127 && r.values[1][128] == -128 &&
                r.values[1][300 + 299] == 43);
    expect_number("sym", 0, r.values[2][0], 6, 0);
    end(&r);
}

// ---- calls --------------------------------------------------------------------------------------

// Strides of inputs and outputs; an output over its input.
static void test_strides(void **state) {
    (void)state;
    double x[12] = {1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9, -1};
    runner r =
        begin("func @f(%x: f32[M, 3]@[ld, 1]) -> (y: f32[3, M]@[1, 3] alias x) dims {M: 0..10, ld} "
              "{\n  %0 = transpose %x {perm = [1, 0]} : f32[3, M]\n  return %0\n}\n");
    int64_t in_strides[2] = {4, 1}, out_strides[2] = {1, 3};
    add_input(&r, KC_f32, x, 1, 12);
    r.in[0].rank = 2;
    memcpy(r.in_shape[0], (int64_t[]){3, 3}, 2 * sizeof(int64_t));
    r.in[0].strides = in_strides;
    add_output(&r, KC_f32, 2, 3, 3);
    r.out[0].strides = out_strides;
    r.out[0].data = r.in[0].data;
    run(&r);
    for (int i = 0; i < 9; i++)
        assert_true(stored(&r, 0, i) == i + 1); // transposed, then written transposed
    expect_values(&r, 0, "row-major", (double[]){1, 4, 7, 2, 5, 8, 3, 6, 9}, 9);
    end(&r);
}

static void test_fusions(void **state) {
    (void)state;
    double x[3] = {1, 2, 3};
    runner r = begin(
        "func @f(%x: f32[3]) -> (y: f16[3], z: f32[3]) {\n  %0, %1 = fusion %x : f16[3], f32[3] "
        "{\n  ^(%a: f32[3]):\n    %2 = exp %a : f32[3]\n"
        "    %3 = cast %2 {dtype = f16} : f16[3]\n    yield %3, %2\n  }\n  return %0, %1\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_output(&r, KC_f16, 1, 3);
    add_output(&r, KC_f32, 1, 3);
    run(&r);
    for (int i = 0; i < 3; i++) {
        expect_number("unrounded", i, r.values[0][i], exp(x[i]), 1e-15);
        expect_number("rounded", i, stored(&r, 0, i), kc_dtype_round(KC_f16, exp(x[i])), 0);
    }
    end(&r);
}

static void test_errors(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 4};
    runner r = begin("func @f(%x: f32[4]) -> (y: f32[]) dims {P: 0..100} {\n  %0 = sym {expr = P} "
                     ": f32[]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 0);
    expect_error(&r, "no value is given for P");
    r = begin("func @f(%x: f32[N]) -> (y: f32[2]) dims {N: 1..100, S: 0..100} {\n  %0 = slice %x "
              "{starts = [S], steps = [1]} : f32[2]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 1, 2);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"S", 3};
    expect_error(&r, "slice takes 2 elements of dimension 0 from 3 in steps of 1; its extent is 4");
    r = begin("func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 1..100} {\n  %0 = exp %x : f32[N]\n  "
              "return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 1, 3);
    expect_error(&r, "argument 'y' has extent 3 in dimension 0, expected 4");
    r = begin("func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 1..100} {\n  %0 = exp %x : f32[N]\n  "
              "return %0\n}\n");
    add_input(&r, KC_f64, x, 1, 4);
    add_output(&r, KC_f32, 1, 4);
    expect_error(&r, "argument 'x' is f64 of rank 1, expected f32 of rank 1");
    r = begin("func @f(%x: f32[N]) -> (y: f32[M]) dims {N: 0..100, M: 0..100} {\n  %0 = reshape %x "
              ": f32[M]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 1, 3);
    expect_error(&r, "reshape of 4 elements to 3");
}

static void test_sizes(void **state) {
    (void)state;
    double x[1] = {1};
    runner r = begin("func @f(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = broadcast "
                     "%x : f32[N, N, N, N]\n"
                     "  %1 = sum %0 {axes = [0, 1, 2, 3]} : f32[]\n  return %1\n}\n");
    add_input(&r, KC_f32, x, 0);
    add_output(&r, KC_f32, 0);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"N", 2000000000};
    expect_error(&r, "more than 2^63 elements");
    r = begin("func @f(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = broadcast %x : "
              "f32[N]\n  %1 = sum %0 {axes = [0]} : f32[]\n  return %1\n}\n");
    add_input(&r, KC_f32, x, 0);
    add_output(&r, KC_f32, 0);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"N", 1000000};
    r.max_bytes = 1 << 20;
    expect_error(&r, "needs more memory than the interpreter may use (1 MiB)");
    r = begin("func @f(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = broadcast %x : "
              "f32[N]\n  %1 = sum %0 {axes = [0]} : f32[]\n  return %1\n}\n");
    add_input(&r, KC_f32, x, 0);
    add_output(&r, KC_f32, 0);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"N", 100000};
    run(&r);
    expect_number("sum", 0, r.values[0][0], 100000, 0);
    assert_true(r.bounds[0][0] == 0); // whole numbers below 2^24
    end(&r);
}

// Whichever allocation is the one too many, the run fails with its sentence and leaves nothing
// behind.
static void test_every_budget(void **state) {
    (void)state;
    int failures = 0;
    for (size_t budget = 64; budget < 1 << 16; budget += budget / 16) {
        runner r = begin("func @f(%x: f32[4, 7]) -> (y: f32[4, 7], k: i64[4], m: f32[4, 4]) {\n  "
                         "%0 = softmax %x {axis = 1} : f32[4, 7]\n"
                         "  %1 = argmax %0 {axes = [1]} : i64[4]\n  %2 = matmul %0, %x "
                         "{transpose_b = 1} : f32[4, 4]\n  return %0, %1, %2\n}\n");
        add_input(&r, KC_f32, row_x, 2, 4, 7);
        add_output(&r, KC_f32, 2, 4, 7);
        add_output(&r, KC_i64, 1, 4);
        add_output(&r, KC_f32, 2, 4, 4);
        r.max_bytes = budget;
        failures += !try_run(&r);
        end(&r);
    }
    assert_true(failures > 20 && failures < 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_empty_and_special_reductions),
        cmocka_unit_test(test_argmax_of_ties),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_convolution),
        cmocka_unit_test(test_products_by_hand),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_movement),
        cmocka_unit_test(test_gather_clamps),
        cmocka_unit_test(test_broadcast_iota_sym),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_fusions),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_every_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
