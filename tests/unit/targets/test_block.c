// Whole blocks run on the host and on the CUDA simulator: loads, stores, masks, conversions, shared
// memory, reductions, scans, dot and loops, over random layouts of 32 and 64 lanes. A failure prints the
// seed and the layouts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include "tests/unit/targets/run_block.h"

// ---- random layouts of two dimensions -------------------------------------------------------

static uint64_t seed;

static int roll(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (unsigned)n);
}

typedef struct {
    int at[2];
} vector;

typedef struct {
    int log_tile[2], reps[2], n_reg, n_lane, n_warp;
    vector reg[16], lane[6], warp[4];
} shape;

static void shuffle_vectors(vector *v, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = roll(i + 1);
        vector t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}

static void mix(vector *v, int n) {
    for (int i = 1; i < n; i++) {
        int j = roll(2 * n);
        if (j < i) v[i].at[0] ^= v[j].at[0], v[i].at[1] ^= v[j].at[1];
    }
}

// All coordinate bits in some order, zeros for threads there are too many of; `vector_bits` of the
// first registers run along the last dimension. `mixed`: vectors are sums of others too, as in
// swizzles.
static shape random_shape(const int *log_tile, const int *reps, int lane_bits, int warp_bits,
                          int vector_bits, bool mixed) {
    shape s = {.log_tile = {log_tile[0], log_tile[1]},
               .reps = {reps[0], reps[1]},
               .n_lane = lane_bits,
               .n_warp = warp_bits};
    vector v[32] = {0};
    int n = 0, threads = lane_bits + warp_bits;
    for (int b = 0; b < log_tile[0]; b++)
        v[n++] = (vector){{1 << b, 0}};
    for (int b = vector_bits; b < log_tile[1]; b++)
        v[n++] = (vector){{0, 1 << b}};
    while (n < threads)
        n++; // copies
    shuffle_vectors(v, n);
    if (mixed) mix(v, n);
    for (int b = 0; b < vector_bits; b++)
        s.reg[s.n_reg++] = (vector){{0, 1 << b}};
    for (int b = 0; b < lane_bits; b++)
        s.lane[b] = v[b];
    for (int b = 0; b < warp_bits; b++)
        s.warp[b] = v[lane_bits + b];
    for (int b = threads; b < n; b++)
        s.reg[s.n_reg++] = v[b];
    return s;
}

static void print_vectors(FILE *out, const char *name, const vector *v, int n) {
    if (!n) return;
    fprintf(out, ", %s:", name);
    for (int i = 0; i < n; i++)
        fprintf(out, " [%d,%d]", v[i].at[0], v[i].at[1]);
}

static const char *shape_text(kc_arena *arena, const shape *s) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "#layout<tile: %dx%d", 1 << s->log_tile[0], 1 << s->log_tile[1]);
    print_vectors(out, "reg", s->reg, s->n_reg);
    print_vectors(out, "lane", s->lane, s->n_lane);
    print_vectors(out, "warp", s->warp, s->n_warp);
    if (s->reps[0] * s->reps[1] > 1) fprintf(out, ", rep: %dx%d", s->reps[0], s->reps[1]);
    fputs(">", out);
    fclose(out);
    const char *copy = kc_arena_strdup(arena, text);
    free(text);
    return copy;
}

// A memory layout: offset bits to coordinate bits, mixed upwards.
static const char *memory_text(kc_arena *arena, const int *log_tile, const int *reps) {
    vector v[32];
    int n = 0;
    for (int b = 0; b < log_tile[1]; b++)
        v[n++] = (vector){{0, 1 << b}};
    for (int b = 0; b < log_tile[0]; b++)
        v[n++] = (vector){{1 << b, 0}};
    if (roll(2)) shuffle_vectors(v, n);
    if (roll(2)) mix(v, n);
    const char *text =
        kc_arena_printf(arena, "#layout<tile: %dx%d, offset:", 1 << log_tile[0], 1 << log_tile[1]);
    for (int i = 0; i < n; i++)
        text = kc_arena_printf(arena, "%s [%d,%d]", text, v[i].at[0], v[i].at[1]);
    return reps[0] * reps[1] > 1 ? kc_arena_printf(arena, "%s, rep: %dx%d>", text, reps[0], reps[1])
                                 : kc_arena_printf(arena, "%s>", text);
}

// ---- running --------------------------------------------------------------------------------

static const char *target_of(int lanes) {
    return lanes == 64 ? "hip:gfx942" : "cuda:sm_80";
}

// ---- layouts --------------------------------------------------------------------------------

enum { BATCH = 24 };

typedef struct {
    int rows, columns, warps, masked_rows, masked_columns, bits, shared;
    const char *a, *b, *memory;
} move_case;

static move_case make_move(kc_arena *arena, FILE *layouts, FILE *funcs, int i, int lanes) {
    static const kc_dtype types[] = {KC_u8,   KC_f16, KC_f32,    KC_f64, KC_i64,
                                     KC_bf16, KC_i4,  KC_f4e2m1, KC_i4,  KC_f8e4m3};
    static const int odd[] = {1, 1, 1, 3};
    int lane_bits = lanes == 64 ? 6 : 5, warp_bits = roll(3);
    kc_dtype t = types[roll(sizeof types / sizeof *types)];
    int log_tile[2] = {roll(5), 2 + roll(5)}, reps[2] = {odd[roll(4)], odd[roll(4)]};
    bool mixed = roll(2);
    int vector_bits = roll(3), stages = 1 + roll(2);
    int stored_bits = kc_dtype_is_packed(t) ? 1 + roll(2) : 0; // pairs at least
    move_case c = {.rows = reps[0] << log_tile[0],
                   .columns = reps[1] << log_tile[1],
                   .warps = 1 << warp_bits,
                   .bits = kc_dtype_bits(t)};
    c.shared = 256 + stages * c.rows * c.columns * kc_dtype_unit(t);
    shape a = random_shape(log_tile, reps, lane_bits, warp_bits, vector_bits, mixed);
    shape b = random_shape(log_tile, reps, lane_bits, warp_bits, stored_bits, mixed);
    c.a = shape_text(arena, &a);
    c.b = shape_text(arena, &b);
    c.memory = memory_text(arena, log_tile, reps);
    c.masked_rows = 1 + roll(c.rows);
    int whole_bits = vector_bits > stored_bits ? vector_bits : stored_bits;
    c.masked_columns = (1 + roll(c.columns >> whole_bits)) << whole_bits;
    kc_layout la, lb;
    const char *error;
    size_t at;
    assert_true(kc_layout_parse(&la, c.a, strlen(c.a), &error, &at));
    assert_true(kc_layout_parse(&lb, c.b, strlen(c.b), &error, &at));
    bool shared = kc_layout_convert_kind(&la, &lb) > KC_CONVERT_SHUFFLE || roll(2);
    fprintf(layouts, "layout #%d = %s\nlayout #%d = %s\nlayout #%d = %s\n", 3 * i, c.a, 3 * i + 1,
            c.b, 3 * i + 2, c.memory);
    const char *tile = kc_arena_printf(arena, "tile<%dx%dx", c.rows, c.columns),
               *type = kc_dtype_name(t);
    fprintf(funcs,
            "func @f%d(%%x: %s[M, N]) -> (o: %s[M, N]) dims {M: 0..100000, N: 0..100000%s} {\n  "
            "variant {workspace = 0} {\n"
            "    %%o = output {name = \"o\"} : %s[M, N]\n"
            "    kernel inputs(%%x) outputs(%%o) {name = \"k%d\", grid = 1, warps = %d, shared = "
            "%d} {\n"
            "    ^(%%x: %s[M, N], %%o: %s[M, N]):\n      %%z = const {integer = 0} : i64\n"
            "      %%m = sym {expr = M} : i32\n      %%n = sym {expr = N} : i32\n",
            i, type, type, kc_dtype_is_packed(t) ? " multiple 2" : "", type, i, c.warps, c.shared,
            type, type);
    for (int l = 0; l < 2; l++)
        fprintf(funcs,
                "      %%i%d = iota {axis = 0} : %si32, #%d>\n      %%j%d = iota {axis = 1} : "
                "%si32, #%d>\n"
                "      %%im%d = lt %%i%d, %%m : %sbool, #%d>\n      %%jm%d = lt %%j%d, %%n : "
                "%sbool, #%d>\n"
                "      %%mask%d = and %%im%d, %%jm%d : %sbool, #%d>\n",
                l, tile, 3 * i + l, l, tile, 3 * i + l, l, l, tile, 3 * i + l, l, l, tile,
                3 * i + l, l, l, l, tile, 3 * i + l);
    fprintf(funcs,
            "      %%v = load %%x base(%%z, %%z) local(%%i0, %%j0) mask(%%mask0) {value = 3, "
            "vector = %d} : %s%s, #%d>\n",
            1 << vector_bits, tile, type, 3 * i);
    if (shared)
        fprintf(funcs,
                "      %%s = shared_alloc {offset = 256} : shared<%s%dx%dx%s, #%d>\n      %%st = "
                "const {integer = %d} : i64\n"
                "      shared_store %%s, %%v%s\n      barrier\n      %%w = shared_load %%s%s : "
                "%s%s, #%d>\n",
                stages > 1 ? "2x" : "", c.rows, c.columns, type, 3 * i + 2, stages - 1,
                stages > 1 ? " stage(%st)" : "", stages > 1 ? " stage(%st)" : "", tile, type,
                3 * i + 1);
    else fprintf(funcs, "      %%w = convert %%v : %s%s, #%d>\n", tile, type, 3 * i + 1);
    fprintf(funcs,
            "      store %%o, %%w base(%%z, %%z) local(%%i1, %%j1) mask(%%mask1) {vector = %d}\n"
            "      return\n    }\n  }\n}\n",
            1 << stored_bits);
    return c;
}

static void check_move(void *library, kc_arena *arena, const move_case *c, int i, int lanes) {
    int m = c->masked_rows, n = c->masked_columns;
    size_t size = (size_t)(m * n * c->bits / 8);
    unsigned char *x = aligned_alloc(64, (size + 127) / 64 * 64),
                  *o = aligned_alloc(64, (size + 127) / 64 * 64);
    for (size_t j = 0; j < size; j++)
        x[j] = (unsigned char)roll(256);
    memset(o, 0xcc, size + 16);
    run_argument arguments[] = {{x, size, 0}, {o, size + 16, 0}, {.value = m}, {.value = n}};
    run_kernel(library, kc_arena_printf(arena, "k%d", i), lanes, c->warps * lanes, 1, c->shared,
               arguments, 4);
    if (memcmp(x, o, size) || o[size] != 0xcc)
        fail_msg("case %d, %d lanes: %s to %s through %s, %d x %d", i, lanes, c->a, c->b, c->memory,
                 m, n);
    free(x);
    free(o);
}

static void moves_of(int lanes, uint64_t start) {
    seed = start;
    kc_arena *arena = kc_arena_create();
    char *text[2];
    size_t size[2];
    FILE *out[2] = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    move_case cases[BATCH];
    for (int i = 0; i < BATCH; i++)
        cases[i] = make_move(arena, out[0], out[1], i, lanes);
    fclose(out[0]), fclose(out[1]);
    const char *tile =
        kc_arena_printf(arena, "module @m {target = \"cuda:sm_80\"}\n%s%s", text[0], text[1]);
    void *library = run_compile(arena, tile, target_of(lanes));
    for (int i = 0; i < BATCH; i++)
        check_move(library, arena, &cases[i], i, lanes);
    run_release(library);
    free(text[0]), free(text[1]);
    kc_arena_destroy(arena);
}

static void moves(void **state) {
    run_place place = *(const run_place *)*state;
    if (!run_available(place)) skip();
    for (int round = 0; round < 4; round++)
        moves_of(round & 1 && place == RUN_ON_HOST ? 64 : 32, 1000 + (uint64_t)round);
}

// ---- reductions -----------------------------------------------------------------------------

typedef struct {
    int rows, columns, warps, axis, parts;
    const char *a, *b;
} reduce_case;

// The layout of what is left: registers and lanes along the axis are gone, warps along it count
// from 0.
static shape reduced(const shape *a, int axis, int *parts) {
    shape s = {.reps = {a->reps[0], a->reps[1]}, .n_lane = a->n_lane, .n_warp = a->n_warp};
    s.log_tile[1 - axis] = a->log_tile[1 - axis];
    s.reps[axis] = 1;
    for (int i = 0; i < a->n_reg; i++)
        if (!a->reg[i].at[axis]) s.reg[s.n_reg++] = a->reg[i];
    for (int i = 0; i < a->n_lane; i++)
        if (!a->lane[i].at[axis]) s.lane[i] = a->lane[i];
    for (int i = 0; i < a->n_warp; i++) {
        s.warp[i] = a->warp[i];
        if (a->warp[i].at[axis]) s.warp[i].at[axis] = 1 << s.log_tile[axis]++;
    }
    *parts = 1 << s.log_tile[axis];
    return s;
}

static reduce_case make_reduce(kc_arena *arena, FILE *layouts, FILE *funcs, int i, int lanes) {
    static const int odd[] = {1, 1, 1, 3};
    int lane_bits = lanes == 64 ? 6 : 5, warp_bits = roll(3);
    int log_tile[2] = {roll(5), 2 + roll(5)}, reps[2] = {odd[roll(4)], odd[roll(4)]};
    shape a = random_shape(log_tile, reps, lane_bits, warp_bits, 0, false);
    reduce_case c = {.rows = reps[0] << log_tile[0],
                     .columns = reps[1] << log_tile[1],
                     .warps = 1 << warp_bits,
                     .axis = roll(2)};
    shape b = reduced(&a, c.axis, &c.parts);
    c.a = shape_text(arena, &a);
    c.b = shape_text(arena, &b);
    int result[2] = {c.rows, c.columns};
    result[c.axis] = c.parts;
    fprintf(layouts, "layout #%d = %s\nlayout #%d = %s\n", 2 * i, c.a, 2 * i + 1, c.b);
    fprintf(funcs,
            "func @f%d(%%x: i32[%d, %d]) -> (o: i32[%d, %d], p: i64[%d, %d]) {\n  variant "
            "{workspace = 0} {\n"
            "    %%o = output {name = \"o\"} : i32[%d, %d]\n    %%p = output {name = \"p\"} : "
            "i64[%d, %d]\n"
            "    kernel inputs(%%x) outputs(%%o, %%p) {name = \"k%d\", grid = 1, warps = %d} {\n"
            "    ^(%%x: i32[%d, %d], %%o: i32[%d, %d], %%p: i64[%d, %d]):\n      %%z = const "
            "{integer = 0} : i64\n",
            i, c.rows, c.columns, result[0], result[1], result[0], result[1], result[0], result[1],
            result[0], result[1], i, c.warps, c.rows, c.columns, result[0], result[1], result[0],
            result[1]);
    const char *tile = kc_arena_printf(arena, "tile<%dx%dx", c.rows, c.columns),
               *left = kc_arena_printf(arena, "tile<%dx%dx", result[0], result[1]);
    fprintf(
        funcs,
        "      %%i = iota {axis = 0} : %si32, #%d>\n      %%j = iota {axis = 1} : %si32, #%d>\n"
        "      %%v = load %%x base(%%z, %%z) local(%%i, %%j) : %si32, #%d>\n      %%l = cast %%%s "
        "{dtype = i64} : %si64, #%d>\n"
        "      %%s, %%a = reduce %%v, %%l {axes = [%d], init = [0, 9e18]} : %si32, #%d>, %si64, "
        "#%d> {\n"
        "      ^(%%b: i32, %%bi: i64, %%c: i32, %%ci: i64):\n        %%1 = add %%b, %%c : i32\n    "
        "    %%2 = min %%bi, %%ci : i64\n"
        "        yield %%1, %%2\n      }\n"
        "      %%ii = iota {axis = 0} : %si32, #%d>\n      %%jj = iota {axis = 1} : %si32, #%d>\n"
        "      store %%o, %%s base(%%z, %%z) local(%%ii, %%jj)\n      store %%p, %%a base(%%z, "
        "%%z) local(%%ii, %%jj)\n"
        "      return\n    }\n  }\n}\n",
        tile, 2 * i, tile, 2 * i, tile, 2 * i, c.axis ? "j" : "i", tile, 2 * i, c.axis, left,
        2 * i + 1, left, 2 * i + 1, left, 2 * i + 1, left, 2 * i + 1);
    return c;
}

static void check_reduce(void *library, kc_arena *arena, const reduce_case *c, int i, int lanes) {
    int keep = c->axis ? c->rows : c->columns, along = c->axis ? c->columns : c->rows;
    int32_t *x = aligned_alloc(64, (size_t)(c->rows * c->columns * 4 + 63) / 64 * 64),
            *o = malloc((size_t)(keep * c->parts) * 4);
    int64_t *p = malloc((size_t)(keep * c->parts) * 8);
    for (int j = 0; j < c->rows * c->columns; j++)
        x[j] = roll(1 << 20);
    size_t left = (size_t)(keep * c->parts);
    run_argument arguments[] = {
        {x, (size_t)(c->rows * c->columns) * 4, 0}, {o, left * 4, 0}, {p, left * 8, 0}};
    run_kernel(library, kc_arena_printf(arena, "k%d", i), lanes, c->warps * lanes, 1, 0, arguments,
               3);
    for (int r = 0; r < keep; r++) {
        int64_t want = 0, got = 0, least = INT64_MAX;
        for (int j = 0; j < along; j++)
            want += c->axis ? x[r * c->columns + j] : x[j * c->columns + r];
        for (int w = 0; w < c->parts; w++) {
            int at = c->axis ? r * c->parts + w : w * c->columns + r;
            got += o[at];
            if (p[at] < least) least = p[at];
        }
        if (got != want || least != 0)
            fail_msg(
                "case %d, %d lanes: %s over %d to %s: %d gives %lld, expected %lld (least %lld)", i,
                lanes, c->a, c->axis, c->b, r, (long long)got, (long long)want, (long long)least);
    }
    free(x), free(o), free(p);
}

static void reductions_of(int lanes, uint64_t start) {
    seed = start;
    kc_arena *arena = kc_arena_create();
    char *text[2];
    size_t size[2];
    FILE *out[2] = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    reduce_case cases[BATCH];
    for (int i = 0; i < BATCH; i++)
        cases[i] = make_reduce(arena, out[0], out[1], i, lanes);
    fclose(out[0]), fclose(out[1]);
    const char *tile =
        kc_arena_printf(arena, "module @m {target = \"cuda:sm_80\"}\n%s%s", text[0], text[1]);
    void *library = run_compile(arena, tile, target_of(lanes));
    for (int i = 0; i < BATCH; i++)
        check_reduce(library, arena, &cases[i], i, lanes);
    run_release(library);
    free(text[0]), free(text[1]);
    kc_arena_destroy(arena);
}

static void reductions(void **state) {
    run_place place = *(const run_place *)*state;
    if (!run_available(place)) skip();
    for (int round = 0; round < 4; round++)
        reductions_of(round & 1 && place == RUN_ON_HOST ? 64 : 32, 2000 + (uint64_t)round);
}

// ---- scans ----------------------------------------------------------------------------------

typedef struct {
    int rows, columns, warps, axis, parts;
    const char *text;
} scan_case;

// What warps hold along the axis are its highest bits, in order; the others stay mixed.
static void warps_on_top(shape *s, int axis) {
    vector *low[32], *high[8];
    int n = 0, n_high = 0, bits[32];
    for (int i = 0; i < s->n_reg; i++)
        if (s->reg[i].at[axis]) low[n++] = &s->reg[i];
    for (int i = 0; i < s->n_lane; i++)
        if (s->lane[i].at[axis]) low[n++] = &s->lane[i];
    for (int i = 0; i < s->n_warp; i++)
        if (s->warp[i].at[axis]) high[n_high++] = &s->warp[i];
    for (int i = 0; i < n; i++)
        bits[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = roll(i + 1), t = bits[i];
        bits[i] = bits[j], bits[j] = t;
    }
    for (int i = 0; i < n; i++)
        low[i]->at[axis] = 1 << bits[i];
    for (int i = 0; i < n_high; i++)
        high[i]->at[axis] = 1 << (n + i);
}

// The totals as every thread holds them: the parts in further registers.
static shape gathered(const shape *partial, int axis) {
    shape s = *partial;
    for (int b = 0; b < s.log_tile[axis]; b++) {
        s.reg[s.n_reg] = (vector){{0, 0}};
        s.reg[s.n_reg++].at[axis] = 1 << b;
    }
    for (int i = 0; i < s.n_warp; i++)
        if (s.warp[i].at[axis]) s.warp[i] = (vector){{0, 0}};
    return s;
}

static const char affine[] = "{\n      ^(%a: i32, %b: i32, %c: i32, %d: i32):\n"
                             "        %1 = mul %a, %c : i32\n        %2 = mul %b, %c : i32\n"
                             "        %3 = add %2, %d : i32\n        yield %1, %3\n      }\n";

// Affine maps x -> c x + d, one after the other: the order matters. Wrapping, so exactly.
static scan_case make_scan(kc_arena *arena, FILE *layouts, FILE *funcs, int i, int lanes) {
    static const int odd[] = {1, 1, 1, 3};
    int lane_bits = lanes == 64 ? 6 : 5, warp_bits = roll(4), axis = roll(2);
    int log_tile[2] = {roll(6), 1 + roll(6)}, reps[2] = {1, 1};
    reps[1 - axis] = odd[roll(4)];
    shape a = random_shape(log_tile, reps, lane_bits, warp_bits, 0, false);
    warps_on_top(&a, axis);
    scan_case c = {.rows = reps[0] << log_tile[0],
                   .columns = reps[1] << log_tile[1],
                   .warps = 1 << warp_bits,
                   .axis = axis};
    shape b = reduced(&a, axis, &c.parts), d = gathered(&b, axis), last = b;
    last.log_tile[axis] = 0;
    for (int k = 0; k < last.n_warp; k++)
        if (last.warp[k].at[axis]) last.warp[k] = (vector){{0, 0}};
    c.text = shape_text(arena, &a);
    const char *memory = memory_text(arena, b.log_tile, b.reps);
    fprintf(layouts,
            "layout #%d = %s\nlayout #%d = %s\nlayout #%d = %s\nlayout #%d = %s\n"
            "layout #%d = %s\n",
            5 * i, c.text, 5 * i + 1, shape_text(arena, &b), 5 * i + 2, shape_text(arena, &d),
            5 * i + 3, shape_text(arena, &last), 5 * i + 4, memory);
    int part[2] = {c.rows, c.columns}, one[2] = {c.rows, c.columns};
    part[axis] = c.parts, one[axis] = 1;
    const char *whole = kc_arena_printf(arena, "tile<%dx%dxi32, #%d>", c.rows, c.columns, 5 * i);
    const char *parts = kc_arena_printf(arena, "%dx%dxi32", part[0], part[1]);
    const char *total = kc_arena_printf(arena, "tile<%dx%dxi32, #%d>", one[0], one[1], 5 * i + 3);
    const char *xy = kc_arena_printf(arena, "i32[%d, %d]", c.rows, c.columns),
               *t = kc_arena_printf(arena, "i32[%d, %d]", one[0], one[1]);
    fprintf(
        funcs,
        "func @f%d(%%x: %s) -> (o: %s, t: %s) {\n  variant {workspace = 0} {\n"
        "    %%o = output {name = \"o\"} : %s\n    %%t = output {name = \"t\"} : %s\n"
        "    kernel inputs(%%x) outputs(%%o, %%t) {name = \"k%d\", grid = 1, warps = %d, shared "
        "= 32768} {\n    ^(%%x: %s, %%o: %s, %%t: %s):\n"
        "      %%m1 = shared_alloc {offset = 0} : shared<%s, #%d>\n"
        "      %%m2 = shared_alloc {offset = 16384} : shared<%s, #%d>\n"
        "      %%z = const {integer = 0} : i64\n"
        "      %%i = iota {axis = 0} : %s\n      %%j = iota {axis = 1} : %s\n"
        "      %%v = load %%x base(%%z, %%z) local(%%i, %%j) : %s\n      %%w = add %%v, %%%s : "
        "%s\n",
        i, xy, xy, t, xy, t, i, c.warps, xy, xy, t, parts, 5 * i + 4, parts, 5 * i + 4, whole,
        whole, whole, axis ? "j" : "i", whole);
    const char *first = c.parts > 1 ? "p" : "r";
    fprintf(
        funcs,
        "      %%%s1, %%%s2, %%%su, %%%sv = scan %%v, %%w {axes = [%d], init = [1, 0]} : %s, %s, "
        "tile<%s, #%d>, tile<%s, #%d> %s",
        first, first, first, first, axis, whole, whole, parts, 5 * i + (c.parts > 1 ? 1 : 3), parts,
        5 * i + (c.parts > 1 ? 1 : 3), affine);
    if (c.parts > 1)
        fprintf(funcs,
                "      shared_store %%m1, %%pu\n      shared_store %%m2, %%pv\n      barrier\n"
                "      %%l1 = shared_load %%m1 : tile<%s, #%d>\n"
                "      %%l2 = shared_load %%m2 : tile<%s, #%d>\n"
                "      %%r1, %%r2, %%ru, %%rv = scan_carry inputs(%%p1, %%p2) totals(%%l1, %%l2) "
                "{axes = [%d], init = [1, 0]} : %s, %s, %s, %s %s",
                parts, 5 * i + 2, parts, 5 * i + 2, axis, whole, whole, total, total, affine);
    fprintf(funcs,
            "      %%s = add %%r1, %%r2 : %s\n      %%q = add %%ru, %%rv : %s\n"
            "      %%ii = iota {axis = 0} : %s\n      %%jj = iota {axis = 1} : %s\n"
            "      store %%o, %%s base(%%z, %%z) local(%%i, %%j)\n"
            "      store %%t, %%q base(%%z, %%z) local(%%ii, %%jj)\n      return\n    }\n  }\n}\n",
            whole, total, total, total);
    return c;
}

static void check_scan(void *library, kc_arena *arena, const scan_case *c, int i, int lanes) {
    int lines = c->axis ? c->rows : c->columns, along = c->axis ? c->columns : c->rows;
    size_t n = (size_t)(lines * along);
    uint32_t *x = aligned_alloc(64, (n * 4 + 63) / 64 * 64), *o = malloc(n * 4),
             *t = malloc((size_t)lines * 4);
    for (size_t j = 0; j < n; j++)
        x[j] = (uint32_t)roll(1 << 20);
    run_argument arguments[] = {{x, n * 4, 0}, {o, n * 4, 0}, {t, (size_t)lines * 4, 0}};
    run_kernel(library, kc_arena_printf(arena, "k%d", i), lanes, c->warps * lanes, 1, 32768,
               arguments, 3);
    for (int r = 0; r < lines; r++) {
        uint32_t a = 1, b = 0;
        for (int j = 0; j < along; j++) {
            int at = c->axis ? r * c->columns + j : j * c->columns + r;
            b = b * x[at] + x[at] + (uint32_t)j;
            a *= x[at];
            if (o[at] != a + b)
                fail_msg("case %d, %d lanes: %s along %d: element %d of line %d", i, lanes, c->text,
                         c->axis, j, r);
        }
        if (t[r] != a + b)
            fail_msg("case %d, %d lanes: %s along %d: total %d", i, lanes, c->text, c->axis, r);
    }
    free(x), free(o), free(t);
}

static void scans_of(int lanes, uint64_t start) {
    seed = start;
    kc_arena *arena = kc_arena_create();
    char *text[2];
    size_t size[2];
    FILE *out[2] = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    scan_case cases[BATCH];
    for (int i = 0; i < BATCH; i++)
        cases[i] = make_scan(arena, out[0], out[1], i, lanes);
    fclose(out[0]), fclose(out[1]);
    const char *tile =
        kc_arena_printf(arena, "module @m {target = \"cuda:sm_80\"}\n%s%s", text[0], text[1]);
    void *library = run_compile(arena, tile, target_of(lanes));
    for (int i = 0; i < BATCH; i++)
        check_scan(library, arena, &cases[i], i, lanes);
    run_release(library);
    free(text[0]), free(text[1]);
    kc_arena_destroy(arena);
}

static void scans(void **state) {
    run_place place = *(const run_place *)*state;
    if (!run_available(place)) skip();
    for (int round = 0; round < 4; round++)
        scans_of(round & 1 && place == RUN_ON_HOST ? 64 : 32, 3000 + (uint64_t)round);
}

// ---- matrix product -------------------------------------------------------------------------

static const char *layout_text(kc_arena *arena, const kc_layout *layout) {
    char *text = kc_arena_alloc(arena, 2048);
    assert_true(kc_layout_print(layout, text, 2048) < 2048);
    return text;
}

static kc_layout blocked(int m, int n, int k, const int *each, const int *lanes, const int *warps,
                         const int *order) {
    kc_layout_blocked_spec spec = {.rank = 3, .shape = {m, n, k}};
    for (int d = 0; d < 3; d++) {
        spec.size_per_thread[d] = each[d], spec.lanes[d] = lanes[d], spec.warps[d] = warps[d];
        spec.blocks[d] = 1, spec.order[d] = order[d];
    }
    kc_layout layout;
    const char *error = kc_layout_blocked(&layout, &spec);
    if (error) fail_msg("%s", error);
    return layout;
}

static kc_layout operand_of(const kc_layout *accumulator, int dropped, int k) {
    kc_layout flat = kc_layout_slice(accumulator, dropped, true), result;
    assert_null(kc_layout_expand(&result, &flat, 2, k));
    return result;
}

enum { TILE_M = 32, TILE_N = 48, TILE_K = 16, PART_K = 8 };

// y = x @ w with symbolic sizes: a loop over K with two stages of shared memory, masked edges.
static const char *matmul_text(kc_arena *arena, int lanes, const char *in, const char *sum) {
    int across = lanes == 64 ? 8 : 4;
    kc_layout acc = blocked(TILE_M, TILE_N, 1, (int[]){2, 4, 1}, (int[]){8, across, 1},
                            (int[]){2, 1, 1}, (int[]){1, 0, 2});
    kc_layout a = operand_of(&acc, 1, PART_K), b = operand_of(&acc, 0, PART_K);
    kc_layout la = blocked(TILE_M, 1, TILE_K, (int[]){1, 1, 2}, (int[]){lanes / 8, 1, 8},
                           (int[]){2, 1, 1}, (int[]){2, 0, 1});
    kc_layout lb = blocked(1, TILE_N, TILE_K, (int[]){1, 2, 1}, (int[]){1, 8, lanes / 8},
                           (int[]){1, 1, 2}, (int[]){1, 2, 0});
    kc_layout sa, sb;
    const char *even = kc_dtype_is_packed(kc_dtype_find(in, strlen(in))) ? " multiple 2" : "";
    int element = kc_dtype_unit(kc_dtype_find(in, strlen(in)));
    kc_layout whole_a = operand_of(&acc, 1, TILE_K), whole_b = operand_of(&acc, 0, TILE_K);
    assert_null(kc_layout_choose_memory(&sa, &la, &whole_a, element, 32, 1));
    assert_null(kc_layout_choose_memory(&sb, &lb, &whole_b, element, 32, 1));
    return kc_arena_printf(
        arena,
        "module @m {target = \"cuda:sm_80\"}\n"
        "layout #0 = %s\nlayout #1 = %s\nlayout #2 = %s\nlayout #3 = %s\nlayout #4 = %s\nlayout #5 "
        "= %s\nlayout #6 = %s\n"
        "func @mm(%%x: %s[M, K], %%w: %s[K, N]) -> (y: %s[M, N]) dims {M: 0..1000, N: 0..1000%s, "
        "K: 0..1000%s} {\n"
        "  variant {workspace = 0} {\n    %%y = output {name = \"y\"} : %s[M, N]\n"
        "    kernel inputs(%%x, %%w) outputs(%%y) {name = \"mm\", grid = cdiv(M, 32) * cdiv(N, "
        "48), warps = 2, shared = 40960} {\n"
        "    ^(%%x: %s[M, K], %%w: %s[K, N], %%y: %s[M, N]):\n"
        "      %%p = program_id : i64\n      %%nb = sym {expr = cdiv(N, 48)} : i64\n      %%z = "
        "const {integer = 0} : i64\n"
        "      %%cm = const {integer = 32} : i64\n      %%cn = const {integer = 48} : i64\n      "
        "%%ck = const {integer = 16} : i64\n"
        "      %%two = const {integer = 2} : i64\n"
        "      %%pm = floordiv %%p, %%nb : i64\n      %%pn = mod %%p, %%nb : i64\n"
        "      %%m0 = mul %%pm, %%cm : i64\n      %%n0 = mul %%pn, %%cn : i64\n"
        "      %%M = sym {expr = M} : i64\n      %%N = sym {expr = N} : i64\n      %%K = sym {expr "
        "= K} : i64\n"
        "      %%ml = sub %%M, %%m0 : i64\n      %%mi = cast %%ml {dtype = i32} : i32\n"
        "      %%nl = sub %%N, %%n0 : i64\n      %%ni = cast %%nl {dtype = i32} : i32\n"
        "      %%as = shared_alloc {offset = 0} : shared<2x32x1x16x%s, #5>\n"
        "      %%bs = shared_alloc {offset = 16384} : shared<2x1x48x16x%s, #6>\n"
        "      %%i0 = iota {axis = 0} : tile<32x1x16xi32, #3>\n      %%k0 = iota {axis = 2} : "
        "tile<32x1x16xi32, #3>\n"
        "      %%j1 = iota {axis = 1} : tile<1x48x16xi32, #4>\n      %%k1 = iota {axis = 2} : "
        "tile<1x48x16xi32, #4>\n"
        "      %%am = lt %%i0, %%mi : tile<32x1x16xbool, #3>\n      %%bm = lt %%j1, %%ni : "
        "tile<1x48x16xbool, #4>\n"
        "      %%zero = const {%s = 0} : tile<32x48x1x%s, #0>\n"
        "      %%acc = for %%z, %%K carried(%%zero) {step = 16} : tile<32x48x1x%s, #0> {\n"
        "      ^(%%k: i64, %%c: tile<32x48x1x%s, #0>):\n"
        "        %%q = floordiv %%k, %%ck : i64\n        %%st = mod %%q, %%two : i64\n"
        "        %%kl = sub %%K, %%k : i64\n        %%ki = cast %%kl {dtype = i32} : i32\n"
        "        %%ak = lt %%k0, %%ki : tile<32x1x16xbool, #3>\n        %%bk = lt %%k1, %%ki : "
        "tile<1x48x16xbool, #4>\n"
        "        %%ma = and %%am, %%ak : tile<32x1x16xbool, #3>\n        %%mb = and %%bm, %%bk : "
        "tile<1x48x16xbool, #4>\n"
        "        %%a = load %%x base(%%m0, %%k) local(%%i0, %%k0) mask(%%ma) : tile<32x1x16x%s, "
        "#3>\n"
        "        %%b = load %%w base(%%k, %%n0) local(%%k1, %%j1) mask(%%mb) : tile<1x48x16x%s, "
        "#4>\n"
        "        shared_store %%as, %%a stage(%%st)\n        shared_store %%bs, %%b stage(%%st)\n  "
        "      barrier\n"
        "        %%a0 = shared_load %%as stage(%%st) {offsets = [0, 0, 0]} : tile<32x1x8x%s, #1>\n"
        "        %%b0 = shared_load %%bs stage(%%st) {offsets = [0, 0, 0]} : tile<1x48x8x%s, #2>\n"
        "        %%d0 = dot %%a0, %%b0, %%c {axis = 2, unit = \"fma\"} : tile<32x48x1x%s, #0>\n"
        "        %%a1 = shared_load %%as stage(%%st) {offsets = [0, 0, 8]} : tile<32x1x8x%s, #1>\n"
        "        %%b1 = shared_load %%bs stage(%%st) {offsets = [0, 0, 8]} : tile<1x48x8x%s, #2>\n"
        "        %%d1 = dot %%a1, %%b1, %%d0 {axis = 2, unit = \"fma\"} : tile<32x48x1x%s, #0>\n"
        "        yield %%d1\n      }\n"
        "      %%i = iota {axis = 0} : tile<32x48x1xi32, #0>\n      %%j = iota {axis = 1} : "
        "tile<32x48x1xi32, #0>\n"
        "      %%sm = lt %%i, %%mi : tile<32x48x1xbool, #0>\n      %%sn = lt %%j, %%ni : "
        "tile<32x48x1xbool, #0>\n"
        "      %%mask = and %%sm, %%sn : tile<32x48x1xbool, #0>\n"
        "      store %%y, %%acc base(%%m0, %%n0) local(%%i, %%j) mask(%%mask)\n      return\n    "
        "}\n  }\n}\n",
        layout_text(arena, &acc), layout_text(arena, &a), layout_text(arena, &b),
        layout_text(arena, &la), layout_text(arena, &lb), layout_text(arena, &sa),
        layout_text(arena, &sb), in, in, sum, even, even, sum, in, in, sum, in, in,
        strcmp(sum, "i32") ? "value" : "integer", sum, sum, sum, in, in, in, in, sum, in, in, sum);
}

// Operands are small integers, so that the result is exact in every type.
static void check_matmul(void *library, int lanes, kc_dtype in, kc_dtype sum, int m, int n, int k) {
    int out = kc_dtype_bytes(sum);
    size_t xs = (size_t)kc_dtype_size(in, m * k) + 1, ws = (size_t)kc_dtype_size(in, k * n) + 1;
    char *x = calloc(xs, 1), *w = calloc(ws, 1), *y = malloc((size_t)(m * n * out + 8));
    for (int i = 0; i < m * k; i++)
        kc_dtype_is_float(in) ? kc_dtype_put(in, x, i, roll(7) - 3)
                              : kc_dtype_put_i64(in, x, i, roll(200) - 99);
    for (int i = 0; i < k * n; i++)
        kc_dtype_is_float(in) ? kc_dtype_put(in, w, i, roll(7) - 3)
                              : kc_dtype_put_i64(in, w, i, roll(200) - 99);
    memset(y, 0xcc, (size_t)(m * n * out + 8));
    run_argument arguments[] = {{x, xs, 0},   {w, ws, 0},   {y, (size_t)(m * n * out + 8), 0},
                                {.value = m}, {.value = n}, {.value = k}};
    int grid = (m + TILE_M - 1) / TILE_M * ((n + TILE_N - 1) / TILE_N);
    run_kernel(library, "mm", lanes, 2 * lanes, grid, 40960, arguments, 6);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double want = 0;
            for (int l = 0; l < k; l++)
                want += kc_dtype_get(in, x, i * k + l) * kc_dtype_get(in, w, l * n + j);
            double got = kc_dtype_load(sum, y + (i * n + j) * out);
            if (got != want)
                fail_msg("%s, %d lanes, %d x %d x %d at %d, %d: %g, expected %g", kc_dtype_name(in),
                         lanes, m, n, k, i, j, got, want);
        }
    assert_int_equal((unsigned char)y[m * n * out], 0xcc);
    free(x), free(w), free(y);
}

static void matmul(void **state) {
    run_place place = *(const run_place *)*state;
    if (!run_available(place)) skip();
    static const struct {
        kc_dtype in, sum;
    } types[] = {{KC_f16, KC_f32}, {KC_bf16, KC_f32},   {KC_f32, KC_f32},
                 {KC_f64, KC_f64}, {KC_i8, KC_i32},     {KC_u8, KC_i32},
                 {KC_i4, KC_i32},  {KC_f4e2m1, KC_f32}, {KC_f8e5m2, KC_f32}};
    seed = 5;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int lanes = 32; lanes <= (place == RUN_ON_HOST ? 64 : 32); lanes += 32) {
            kc_arena *arena = kc_arena_create();
            const char *text =
                matmul_text(arena, lanes, kc_dtype_name(types[t].in), kc_dtype_name(types[t].sum));
            void *library = run_compile(arena, text, target_of(lanes));
            int even = kc_dtype_is_packed(types[t].in); // inner extents of packed operands are
            check_matmul(library, lanes, types[t].in, types[t].sum, 1, 1 + even, 1 + even);
            check_matmul(library, lanes, types[t].in, types[t].sum, 37, 53 + even, 41 + even);
            check_matmul(library, lanes, types[t].in, types[t].sum, 32, 48, 32);
            check_matmul(library, lanes, types[t].in, types[t].sum, 5, 97 + even, 0);
            run_release(library);
            kc_arena_destroy(arena);
        }
}

static run_place places[] = {RUN_ON_HOST, RUN_ON_SIMULATOR};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(moves, &places[0]),
        cmocka_unit_test_prestate(reductions, &places[0]),
        cmocka_unit_test_prestate(scans, &places[0]),
        cmocka_unit_test_prestate(matmul, &places[0]),
        cmocka_unit_test_prestate(moves, &places[1]),
        cmocka_unit_test_prestate(reductions, &places[1]),
        cmocka_unit_test_prestate(scans, &places[1]),
        cmocka_unit_test_prestate(matmul, &places[1]),
    };
    return cmocka_run_group_tests(tests, run_setup, host_teardown);
}
