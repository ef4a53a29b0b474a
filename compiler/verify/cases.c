// Sizes at which tiles end, vectors fit or loops change, found in the expressions of the target
// itself: divisors in grids are tiles, divisors in predicates are vectors, limits in predicates are
// where another variant begins.
#include <string.h>

#include "compiler/verify/place.h"
#include "compiler/verify/verify.h"

enum { MOST_VALUES = 24, MOST_CASES = 400, USUAL_TILE = 32, PRIME = 37 };
enum { MOST_WORK = 1 << 22, MOST_ELEMENTS = 1 << 21 };

// What is known about one symbol.
typedef struct {
    int64_t tiles[4], limits[4];
    int n_tiles, n_limits;
    int64_t vector; // least common multiple of the divisors in predicates
    int64_t values[MOST_VALUES];
    int n_values;
} symbol;

typedef struct {
    kc_arena *arena;
    const kcrt_signature *f;
    symbol *symbols;
    int n;          // dims and strides
    bool unlimited; // sizes that the model fixes are tried however large
    kc_verify_case *cases;
    int n_cases;
} chooser;

// ---- reading expressions ------------------------------------------------------------------------

static int64_t common_multiple(int64_t a, int64_t b) {
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y, y = rest;
    }
    return a / x > 4096 / b ? a : a / x * b; // absurd ones are left out
}

static void note(int64_t *list, int *n, int64_t value) {
    for (int i = 0; i < *n; i++)
        if (list[i] == value) return;
    if (*n < 4) list[(*n)++] = value;
}

static void note_division(chooser *c, const kc_expr *e, int64_t by) {
    for (int s = 0; s < c->n; s++)
        if (kc_expr_uses(e->a, s) && by > 1 && by <= 4096) {
            if (e->kind == KC_EXPR_MOD)
                c->symbols[s].vector = common_multiple(c->symbols[s].vector, by);
            else note(c->symbols[s].tiles, &c->symbols[s].n_tiles, by);
        }
}

static void read_expr(chooser *c, const kc_expr *e) {
    int64_t value;
    if (!e || !e->a) return;
    read_expr(c, e->a);
    read_expr(c, e->b);
    if (!e->b || !kc_expr_is_const(e->b, &value)) return;
    bool divides = e->kind == KC_EXPR_FLOORDIV || e->kind == KC_EXPR_MOD || e->kind == KC_EXPR_CDIV;
    if (divides) note_division(c, e, value);
    bool compares = e->kind == KC_EXPR_LE || e->kind == KC_EXPR_LT || e->kind == KC_EXPR_GE ||
                    e->kind == KC_EXPR_GT;
    if (compares && e->a->kind == KC_EXPR_SYMBOL && e->a->symbol < c->n)
        note(c->symbols[e->a->symbol].limits, &c->symbols[e->a->symbol].n_limits, value);
}

static void read_target(chooser *c, const kcrt_target *t) {
    for (int v = 0; v < t->variant_count; v++) {
        if (t->variants[v].has_when) read_expr(c, t->variants[v].when.expr);
        for (int s = 0; s < t->variants[v].step_count; s++)
            for (int i = 0; i < 3 && t->variants[v].steps[s].kind == KCRT_STEP_KERNEL; i++)
                read_expr(c, t->variants[v].steps[s].grid[i].expr);
    }
}

// ---- values of one symbol -----------------------------------------------------------------------

int64_t kc_verify_allowed(const kc_expr_facts *facts, int64_t v, int64_t step) {
    int64_t multiple = common_multiple(facts->multiple_of > 0 ? facts->multiple_of : 1, step);
    if (v < facts->min) v = facts->min;
    v += (multiple - v % multiple) % multiple;
    return v > facts->max || v % facts->multiple_of ? -1 : v;
}

static int64_t allowed(const chooser *c, int s, int64_t v, int64_t step) {
    return kc_verify_allowed(&c->f->symbols[s].facts, v, step);
}

static void add_value(chooser *c, int s, int64_t v) {
    symbol *x = &c->symbols[s];
    v = allowed(c, s, v, 1);
    for (int i = 0; i < x->n_values; i++)
        if (x->values[i] == v) return;
    if (v >= 0 && x->n_values < MOST_VALUES) x->values[x->n_values++] = v;
}

static void choose_values(chooser *c, int s) {
    symbol *x = &c->symbols[s];
    if (!x->n_tiles) note(x->tiles, &x->n_tiles, USUAL_TILE);
    add_value(c, s, c->f->symbols[s].facts.min);
    add_value(c, s, 1);
    add_value(c, s, PRIME);
    for (int i = 0; i < x->n_tiles; i++)
        for (int d = -1; d <= 1; d++)
            add_value(c, s, x->tiles[i] + d);
    for (int i = 0; i < x->n_limits; i++)
        for (int d = 0; d <= 1; d++)
            add_value(c, s, x->limits[i] + d);
}

// ---- cases --------------------------------------------------------------------------------------

static bool eval(const chooser *c, const kcrt_term *term, const int64_t *values, int64_t *out) {
    (void)c;
    return kcrt_term_eval(term, values, out) == KC_EXPR_OK;
}

static bool element_count(const chooser *c, const kcrt_arg *arg, const int64_t *values,
                          int64_t *count) {
    *count = 1;
    for (int d = 0; d < arg->rank; d++) {
        int64_t extent;
        if (!eval(c, &arg->shape[d], values, &extent) || extent < 0) return false;
        if (__builtin_mul_overflow(*count, extent, count)) return false;
    }
    return c->unlimited || *count <= MOST_ELEMENTS;
}

// Small enough for a simulator and the reference, and a shape at all (an exact division may fail).
static bool feasible(const chooser *c, const int64_t *values) {
    double work = 1;
    for (int s = 0; s < c->f->dim_count; s++)
        work *= values[s] > 1 ? (double)values[s] : 1;
    if (work > MOST_WORK && !c->unlimited) return false;
    int64_t count;
    for (int a = 0; a < c->f->arg_count; a++)
        if (!element_count(c, &c->f->args[a], values, &count)) return false;
    return true;
}

static bool known(const chooser *c, const kc_verify_case *x) {
    for (int i = 0; i < c->n_cases; i++)
        if (!memcmp(c->cases[i].values, x->values, sizeof(int64_t) * (size_t)c->n) &&
            c->cases[i].misaligned == x->misaligned)
            return true;
    return false;
}

static void add_case(chooser *c, const int64_t *values, bool misaligned) {
    kc_verify_case x = {KC_NEW_ARRAY(c->arena, int64_t, c->f->symbol_count + 1), misaligned,
                        c->n_cases % 2, c->n_cases % 3};
    memcpy(x.values, values, sizeof(int64_t) * (size_t)c->n);
    if (c->n_cases < MOST_CASES && !known(c, &x)) c->cases[c->n_cases++] = x;
}

// The dims as they are, and rounded up to whole vectors, where pointers decide too. False: there are
// no such tensors, or too large ones.
static bool add_dims(chooser *c, const int64_t *dims) {
    int64_t values[KCRT_MAX_SYMBOLS] = {0}, steps[KCRT_MAX_SYMBOLS];
    memcpy(values, dims, sizeof(int64_t) * (size_t)c->f->dim_count);
    bool as_they_are =
        kc_verify_strides(c->f, NULL, c->n_cases % 2 ? 3 : 0, values) && feasible(c, values);
    if (as_they_are) add_case(c, values, false);
    for (int s = 0; s < c->n; s++)
        steps[s] = c->symbols[s].vector;
    for (int s = 0; s < c->f->dim_count; s++) {
        values[s] = allowed(c, s, dims[s], steps[s]);
        if (values[s] < 0) return as_they_are;
    }
    if (kc_verify_strides(c->f, steps, c->n_cases % 2 ? 1 : 0, values) && feasible(c, values)) {
        add_case(c, values, false);
        add_case(c, values, true);
    }
    return as_they_are;
}

// One dim at `v`, the others small enough that the whole is feasible.
static void vary(chooser *c, int s, int64_t v) {
    static const int64_t others[] = {PRIME, 5, 2, 1};
    int64_t dims[KCRT_MAX_SYMBOLS] = {0};
    for (int i = 0; i < 4; i++) {
        bool ok = true;
        for (int k = 0; k < c->f->dim_count; k++) {
            dims[k] = k == s ? v : allowed(c, k, others[i], 1);
            ok = ok && dims[k] >= 0;
        }
        if (ok && feasible(c, dims) && add_dims(c, dims)) return;
    }
}

// All dims at the same kind of value: least, 1, prime, around the first tile.
static void vary_all(chooser *c) {
    int64_t dims[KCRT_MAX_SYMBOLS] = {0};
    for (int kind = 0; kind < 6; kind++) {
        bool ok = true;
        for (int s = 0; s < c->f->dim_count; s++) {
            int64_t tile = c->symbols[s].tiles[0] > 128 ? 128 : c->symbols[s].tiles[0];
            int64_t wanted[] = {c->f->symbols[s].facts.min, 1, PRIME, tile - 1, tile, tile + 1};
            dims[s] = allowed(c, s, wanted[kind], 1);
            ok = ok && dims[s] >= 0;
        }
        if (ok) add_dims(c, dims);
    }
}

// Where there are few sizes to try, each is tried with every kind of input.
static void repeat(chooser *c) {
    enum { ENOUGH = 12 };
    int n = c->n_cases;
    for (int round = 1; round < 3 && c->n_cases < ENOUGH; round++)
        for (int i = 0; i < n; i++) {
            kc_verify_case x = c->cases[i];
            x.fill = (x.fill + round) % 3;
            x.in_place = !x.in_place;
            c->cases[c->n_cases++] = x;
        }
}

// ---- large functions ----------------------------------------------------------------------------

int kc_verify_variant(const kcrt_signature *f, const kcrt_target *target, const int64_t *device,
                      const int64_t *alignments, const kc_verify_case *x) {
    int64_t values[KCRT_MAX_SYMBOLS] = {0}, holds;
    for (int s = 0; s < f->dim_count + f->stride_count; s++)
        values[s] = x->values[s];
    for (int a = 0; a < f->arg_count; a++)
        values[f->align_base + a] = alignments[a];
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS; i++)
        values[f->device_base + i] = device[i];
    for (int v = 0; v < target->variant_count; v++)
        if (!target->variants[v].has_when ||
            (!kcrt_term_eval(&target->variants[v].when, values, &holds) && holds))
            return v;
    return -1;
}

static double size_of(const chooser *c, const kc_verify_case *x) {
    double size = 1;
    for (int s = 0; s < c->f->dim_count; s++)
        size *= (double)x->values[s];
    return size;
}

static void sort_by_size(chooser *c) {
    for (int i = 1; i < c->n_cases; i++) {
        kc_verify_case x = c->cases[i];
        int k = i;
        for (; k > 0 && size_of(c, &c->cases[k - 1]) > size_of(c, &x); k--)
            c->cases[k] = c->cases[k - 1];
        c->cases[k] = x;
    }
}

static int variant_of(const chooser *c, const kcrt_target *target, const int64_t *device,
                      const kc_verify_case *x) {
    int64_t alignments[KCRT_MAX_SYMBOLS];
    for (int a = 0; a < c->f->arg_count; a++) {
        const char *type = c->f->args[a].type;
        alignments[a] =
            x->misaligned ? kc_dtype_unit(kc_dtype_find(type, strlen(type))) : KC_PLACE_ALIGNMENT;
    }
    return kc_verify_variant(c->f, target, device, alignments, x);
}

// Of a function that is large whatever its dims: the smallest case of each variant, and a few more.
static void keep_smallest(chooser *c, const kcrt_target *target, const int64_t *device) {
    enum { A_FEW = 3 };
    bool *covered = KC_NEW_ARRAY(c->arena, bool, target->variant_count + 1);
    int kept = 0;
    sort_by_size(c);
    for (int i = 0; i < c->n_cases; i++) {
        int variant = variant_of(c, target, device, &c->cases[i]);
        bool first = variant >= 0 && !covered[variant];
        if (first) covered[variant] = true;
        if (first || i < A_FEW) c->cases[kept++] = c->cases[i];
    }
    c->n_cases = kept;
}

static void vary_each(chooser *c) {
    for (int s = 0; s < c->f->dim_count; s++)
        for (int i = 0; i < c->symbols[s].n_values; i++)
            vary(c, s, c->symbols[s].values[i]);
}

int kc_verify_cases(kc_arena *arena, const kcrt_signature *f, const kcrt_target *target,
                    const int64_t *device, kc_verify_case **out) {
    chooser c = {.arena = arena, .f = f, .n = f->dim_count + f->stride_count};
    c.symbols = KC_NEW_ARRAY(arena, symbol, c.n + 1);
    c.cases = KC_NEW_ARRAY(arena, kc_verify_case, MOST_CASES);
    for (int s = 0; s < c.n; s++)
        c.symbols[s].vector = 1;
    read_target(&c, target);
    for (int s = 0; s < f->dim_count; s++)
        choose_values(&c, s);
    vary_all(&c);
    vary_each(&c);
    if (!c.n_cases) {
        c.unlimited = true;
        vary_all(&c);
        vary_each(&c);
        keep_smallest(&c, target, device);
    }
    repeat(&c);
    *out = c.cases;
    return c.n_cases;
}
