// Random functions through every pass. A seed makes a function of a dozen random ops over values of
// random shapes; what fails prints its seed, and `test_random SEED` runs it again and prints the
// function.
#include "tests/unit/passes/equivalence.h"

enum { MAX_VALUES = 48, MAX_RANK = 4 };

typedef struct {
    char name[16];
    char elem[8];
    int rank;
    char shape[MAX_RANK][64];
    bool given; // an input, of f32 and without strides: an output may occupy it
} value;

typedef struct {
    uint64_t state;
    FILE *out;
    value values[MAX_VALUES];
    int n, inputs, used[MAX_VALUES];
    int rank; // largest of the inputs
} maker;

static int below(maker *m, int n) {
    m->state ^= m->state << 13, m->state ^= m->state >> 7, m->state ^= m->state << 17;
    return (int)((m->state >> 33) % (uint64_t)n);
}

static const char *type_text(const value *v) {
    static char texts[4][400];
    static int next;
    char *text = texts[next++ % 4];
    int at = sprintf(text, "%s[", v->elem);
    for (int d = 0; d < v->rank; d++)
        at += sprintf(text + at, "%s%s", d ? ", " : "", v->shape[d]);
    sprintf(text + at, "]");
    return text;
}

static value *add_value(maker *m, const value *like, const char *elem) {
    value *v = &m->values[m->n];
    if (like) *v = *like;
    else *v = (value){.rank = 0};
    snprintf(v->elem, sizeof v->elem, "%s", elem ? elem : like->elem);
    v->given = false;
    snprintf(v->name, sizeof v->name, "v%d", m->n++);
    return v;
}

static bool is_float(const value *v) {
    return !strcmp(v->elem, "f32");
}

// A value made before, of f32, later ones preferred.
static const value *pick(maker *m) {
    for (int tries = 0; tries < 100; tries++) {
        int i = below(m, 3) ? m->n - 1 - below(m, m->n < 5 ? m->n : 5) : below(m, m->n);
        if (is_float(&m->values[i])) return m->used[i]++, &m->values[i];
    }
    return &m->values[0];
}

static bool same_shape(const value *a, const value *b) {
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (strcmp(a->shape[d], b->shape[d])) return false;
    return true;
}

static const value *pick_like(maker *m, const value *like) {
    int first = below(m, m->n);
    for (int k = 0; k < m->n; k++) {
        int i = (first + k) % m->n;
        if (is_float(&m->values[i]) && same_shape(&m->values[i], like))
            return m->used[i]++, &m->values[i];
    }
    return like;
}

static bool is_short(const char *dim) {
    return strlen(dim) < 20;
}

// ---- ops ----------------------------------------------------------------------------------------

static void make_unary(maker *m) {
    static const char *const ops[] = {"tanh", "exp",   "neg",  "abs", "sigmoid", "gelu",
                                      "relu", "floor", "silu", "sin", "erf",     "round"};
    const value *x = pick(m);
    const char *op = ops[below(m, 12)];
    const value *t = add_value(m, x, NULL);
    if (!strcmp(op, "exp")) { // of something small
        fprintf(m->out, "  %%%s = tanh %%%s : %s\n", t->name, x->name, type_text(t));
        x = t, t = add_value(m, x, NULL);
    }
    fprintf(m->out, "  %%%s = %s %%%s : %s\n", t->name, op, x->name, type_text(t));
}

static void make_binary(maker *m) {
    static const char *const ops[] = {"add", "sub", "mul", "max", "min", "add", "mul"};
    const value *x = pick(m), *y = pick_like(m, x), *r = add_value(m, x, NULL);
    fprintf(m->out, "  %%%s = %s %%%s, %%%s : %s\n", r->name, ops[below(m, 7)], x->name, y->name,
            type_text(r));
}

static void make_select(maker *m) {
    const value *x = pick(m), *y = pick_like(m, x), *c = add_value(m, x, "bool");
    fprintf(m->out, "  %%%s = %s %%%s, %%%s : %s\n", c->name, below(m, 2) ? "lt" : "ge", x->name,
            y->name, type_text(c));
    const value *z = pick_like(m, x), *r = add_value(m, x, NULL);
    fprintf(m->out, "  %%%s = select %%%s, %%%s, %%%s : %s\n", r->name, c->name, z->name, x->name,
            type_text(r));
}

static void make_casts(maker *m) {
    static const char *const narrow[] = {"f16", "bf16", "i32", "f64", "i8"};
    const value *x = pick(m), *half = add_value(m, x, narrow[below(m, 5)]);
    fprintf(m->out, "  %%%s = cast %%%s {dtype = %s} : %s\n", half->name, x->name, half->elem,
            type_text(half));
    const value *r = add_value(m, x, NULL);
    fprintf(m->out, "  %%%s = cast %%%s {dtype = f32} : %s\n", r->name, half->name, type_text(r));
}

static void make_integers(maker *m) {
    static const char *const ops[] = {"add", "sub", "mul",      "min", "max",
                                      "and", "or",  "floordiv", "mod"};
    static const char *const elems[] = {"i32", "i32", "i64", "i16", "i8", "u8"};
    const char *elem = elems[below(m, 6)];
    const value *x = pick(m), *y = pick_like(m, x), *a = add_value(m, x, elem),
                *b = add_value(m, x, elem), *r = add_value(m, x, elem), *f = add_value(m, x, NULL);
    fprintf(m->out, "  %%%s = cast %%%s {dtype = %s} : %s\n", a->name, x->name, elem, type_text(a));
    fprintf(m->out, "  %%%s = cast %%%s {dtype = %s} : %s\n", b->name, y->name, elem, type_text(b));
    fprintf(m->out, "  %%%s = %s %%%s, %%%s : %s\n", r->name, ops[below(m, 9)], a->name, b->name,
            type_text(r));
    fprintf(m->out, "  %%%s = cast %%%s {dtype = f32} : %s\n", f->name, r->name, type_text(f));
    m->used[a - m->values]++, m->used[b - m->values]++, m->used[r - m->values]++;
}

static void make_reduce(maker *m) {
    static const char *const ops[] = {"sum", "mean", "amax", "amin", "argmax", "sum"};
    const value *x = pick(m);
    if (!x->rank) return;
    const char *op = ops[below(m, 6)];
    int axis = below(m, x->rank), keep = below(m, 2), second = -1;
    if (strcmp(op, "argmax") && x->rank > 1 && !below(m, 3)) second = axis ? 0 : x->rank - 1;
    value *r = add_value(m, x, !strcmp(op, "argmax") ? "i64" : NULL);
    r->rank = 0;
    for (int d = 0; d < x->rank; d++) {
        if (d != axis && d != second) memmove(r->shape[r->rank++], x->shape[d], sizeof r->shape[0]);
        else if (keep) strcpy(r->shape[r->rank++], "1");
    }
    char axes[32];
    if (second < 0) snprintf(axes, sizeof axes, "%d", axis);
    else
        snprintf(axes, sizeof axes, "%d, %d", axis < second ? axis : second,
                 axis < second ? second : axis);
    fprintf(m->out, "  %%%s = %s %%%s {axes = [%s], keepdims = %d} : %s\n", r->name, op, x->name,
            axes, keep, type_text(r));
    if (is_float(r) || below(m, 2)) return;
    const value *f = add_value(m, r, "f32");
    fprintf(m->out, "  %%%s = cast %%%s {dtype = f32} : %s\n", f->name, r->name, type_text(f));
}

static void make_softmax(maker *m) {
    const value *x = pick(m), *r;
    if (!x->rank) return;
    r = add_value(m, x, NULL);
    fprintf(m->out, "  %%%s = %s %%%s {axis = %d} : %s\n", r->name,
            below(m, 3) ? "softmax" : "log_softmax", x->name, below(m, x->rank), type_text(r));
}

// A value that broadcasts to another one, and their sum.
static void make_broadcast(maker *m) {
    const value *x = pick(m), *like = NULL;
    int first = below(m, m->n);
    for (int k = 0; k < m->n && !like; k++) {
        const value *y = &m->values[(first + k) % m->n];
        bool fits = is_float(y) && y->rank >= x->rank && !same_shape(x, y);
        for (int d = 0; fits && d < x->rank; d++) {
            const char *to = y->shape[y->rank - x->rank + d];
            fits = !strcmp(x->shape[d], to) || !strcmp(x->shape[d], "1");
        }
        if (fits) like = y;
    }
    if (!like) return;
    m->used[like - m->values]++;
    const value *b = add_value(m, like, NULL);
    fprintf(m->out, "  %%%s = broadcast %%%s : %s\n", b->name, x->name, type_text(b));
    const value *r = add_value(m, like, NULL);
    m->used[b - m->values]++;
    fprintf(m->out, "  %%%s = %s %%%s, %%%s : %s\n", r->name, below(m, 2) ? "sub" : "mul",
            like->name, b->name, type_text(r));
}

static void make_transpose(maker *m) {
    const value *x = pick(m);
    if (x->rank < 2) return;
    int perm[MAX_RANK], a = below(m, x->rank), b = below(m, x->rank);
    value *r = add_value(m, x, NULL);
    for (int d = 0; d < x->rank; d++)
        perm[d] = d == a ? b : d == b ? a : d;
    for (int d = 0; d < x->rank; d++)
        memmove(r->shape[d], x->shape[perm[d]], sizeof r->shape[d]);
    fprintf(m->out, "  %%%s = transpose %%%s {perm = [", r->name, x->name);
    for (int d = 0; d < x->rank; d++)
        fprintf(m->out, "%s%d", d ? ", " : "", perm[d]);
    fprintf(m->out, "]} : %s\n", type_text(r));
}

static void make_reshape(maker *m) {
    const value *x = pick(m);
    value *r;
    int d = x->rank ? below(m, x->rank) : 0;
    if (below(m, 2) && x->rank >= 2) { // two dimensions become one
        d = below(m, x->rank - 1);
        if (!is_short(x->shape[d]) || !is_short(x->shape[d + 1])) return;
        r = add_value(m, x, NULL);
        snprintf(r->shape[d], sizeof r->shape[d], "(%s) * (%s)", x->shape[d], x->shape[d + 1]);
        for (int k = d + 1; k + 1 < x->rank; k++)
            memmove(r->shape[k], x->shape[k + 1], sizeof r->shape[k]);
        r->rank--;
    } else { // one of extent 1 more
        if (x->rank == MAX_RANK) return;
        d = below(m, x->rank + 1);
        r = add_value(m, x, NULL);
        for (int k = x->rank; k > d; k--)
            memmove(r->shape[k], x->shape[k - 1], sizeof r->shape[k]);
        strcpy(r->shape[d], "1");
        r->rank++;
    }
    fprintf(m->out, "  %%%s = reshape %%%s : %s\n", r->name, x->name, type_text(r));
}

static void print_list(maker *m, const value *x, int d, const char *there, const char *elsewhere) {
    for (int k = 0; k < x->rank; k++)
        fprintf(m->out, "%s%s", k ? ", " : "", k == d ? there : elsewhere);
}

static void make_slice(maker *m) {
    const value *x = pick(m);
    if (!x->rank) return;
    int d = below(m, x->rank), kind = below(m, 3);
    if (!is_short(x->shape[d]) || !strcmp(x->shape[d], "1")) return;
    value *r = add_value(m, x, NULL);
    char start[80] = "0";
    if (kind == 0)
        snprintf(r->shape[d], sizeof r->shape[d], "%s - 1", x->shape[d]), strcpy(start, "1");
    if (kind == 1) snprintf(start, sizeof start, "%s - 1", x->shape[d]); // backwards
    if (kind == 2) snprintf(r->shape[d], sizeof r->shape[d], "(%s + 1) // 2", x->shape[d]);
    fprintf(m->out, "  %%%s = slice %%%s {starts = [", r->name, x->name);
    print_list(m, x, d, start, "0");
    fprintf(m->out, "], steps = [");
    print_list(m, x, d, kind == 1 ? "-1" : kind == 2 ? "2" : "1", "1");
    fprintf(m->out, "]} : %s\n", type_text(r));
}

static void make_concat(maker *m) {
    const value *x = pick(m), *y = pick_like(m, x);
    if (!x->rank) return;
    int d = below(m, x->rank);
    if (!is_short(x->shape[d])) return;
    value *r = add_value(m, x, NULL);
    snprintf(r->shape[d], sizeof r->shape[d], "2 * (%s)", x->shape[d]);
    fprintf(m->out, "  %%%s = concat %%%s, %%%s {axis = %d} : %s\n", r->name, x->name, y->name, d,
            type_text(r));
}

static void make_pad(maker *m) {
    const value *x = pick(m);
    if (!x->rank) return;
    int d = below(m, x->rank);
    if (!is_short(x->shape[d])) return;
    value *r = add_value(m, x, NULL);
    snprintf(r->shape[d], sizeof r->shape[d], "%s + 3", x->shape[d]);
    fprintf(m->out, "  %%%s = pad %%%s {low = [", r->name, x->name);
    print_list(m, x, d, "1", "0");
    fprintf(m->out, "], high = [");
    print_list(m, x, d, "2", "0");
    fprintf(m->out, "], value = 0.25} : %s\n", type_text(r));
}

static void make_gather(maker *m) {
    const value *x = pick(m);
    if (!x->rank) return;
    int d = below(m, x->rank);
    value *r = add_value(m, x, NULL);
    strcpy(r->shape[d], "P");
    fprintf(m->out, "  %%%s = gather %%%s, %%k {axis = %d} : %s\n", r->name, x->name, d,
            type_text(r));
}

static void make_matmul(maker *m) {
    const value *x = pick(m);
    if (x->rank < 2) return;
    int ta = below(m, 2), row = x->rank - 2, column = x->rank - 1;
    value *r = add_value(m, x, NULL); // x times itself, transposed
    memmove(r->shape[row], x->shape[ta ? column : row], sizeof r->shape[0]);
    memmove(r->shape[column], r->shape[row], sizeof r->shape[0]);
    fprintf(m->out, "  %%%s = matmul %%%s, %%%s {transpose_%c = 1} : %s\n", r->name, x->name,
            x->name, ta ? 'a' : 'b', type_text(r));
    const value *t = add_value(m, r, NULL);
    m->used[r - m->values]++;
    fprintf(m->out, "  %%%s = tanh %%%s : %s\n", t->name, r->name, type_text(t));
}

// Rows or columns of a product, which its tiles may hold.
static void make_reduced_matmul(maker *m) {
    static const char *const ops[] = {"sum", "amax", "mean"};
    int before = m->n;
    make_matmul(m);
    if (m->n == before) return;
    const value *x = &m->values[m->n - 1];
    int axis = x->rank - 1 - below(m, 2);
    m->used[x - m->values]++;
    value *r = add_value(m, x, NULL);
    if (below(m, 2)) {
        fprintf(m->out, "  %%%s = softmax %%%s {axis = %d} : %s\n", r->name, x->name, axis,
                type_text(r));
        return;
    }
    strcpy(r->shape[axis], "1");
    fprintf(m->out, "  %%%s = %s %%%s {axes = [%d], keepdims = 1} : %s\n", r->name,
            ops[below(m, 3)], x->name, axis, type_text(r));
}

static void make_op(maker *m) {
    static void (*const ops[])(maker *) = {
        make_unary,  make_binary,  make_binary,    make_select,    make_casts,     make_reduce,
        make_reduce, make_softmax, make_broadcast, make_broadcast, make_transpose, make_reshape,
        make_slice,  make_concat,  make_pad,       make_gather,    make_matmul,    make_integers,
        make_reduced_matmul};
    ops[below(m, sizeof ops / sizeof *ops)](m);
}

// ---- functions ----------------------------------------------------------------------------------

// Rank 0 to 4, of symbols and numbers; f16 and integers are cast to f32 at once.
static void add_input(maker *m, char *inputs, size_t size) {
    static const char *const dims[] = {"M", "N", "K", "M", "N", "4", "1", "12", "7"};
    static const char *const elems[] = {"f32", "f32", "f32", "f16", "bf16", "i32", "u8"};
    const char *elem = elems[below(m, 7)];
    value *v = add_value(m, NULL, "f32");
    v->rank = 1 + below(m, 3) + !below(m, 6);
    for (int d = 0; d < v->rank; d++)
        strcpy(v->shape[d], dims[below(m, 9)]);
    if (v->rank > m->rank) m->rank = v->rank;
    value given = *v;
    strcpy(given.elem, elem);
    const char *strides = v->rank != 2 || below(m, 4) ? "" : below(m, 2) ? "@[ld, 1]" : "@[1, ld]";
    v->given = !strcmp(elem, "f32") && !*strides;
    snprintf(inputs + strlen(inputs), size - strlen(inputs), "%%%s%s: %s%s, ",
             strcmp(elem, "f32") ? "x" : "", v->name, type_text(&given), strides);
    if (strcmp(elem, "f32"))
        fprintf(m->out, "  %%%s = cast %%x%s {dtype = f32} : %s\n", v->name, v->name, type_text(v));
}

static void make_schedule(maker *m) {
    fprintf(m->out, "  schedule {");
    if (!below(m, 3)) fprintf(m->out, "tile = [%d, %d], ", 1 << below(m, 7), 1 << below(m, 7));
    fprintf(m->out, "warps = %d", 1 << below(m, 5));
    if (below(m, 2)) fprintf(m->out, ", vector = %d", 4 << below(m, 3));
    if (below(m, 2)) fprintf(m->out, ", stages = %d", 1 + below(m, 2));
    fprintf(m->out, "}\n");
}

// What is said behind an output's type.
static void print_place(maker *m, FILE *out, const value *v) {
    for (int i = 0; i < m->inputs; i++) {
        value *input = &m->values[i];
        if (!input->given || !is_float(v) || !same_shape(input, v) || below(m, 3)) continue;
        fprintf(out, " alias %s", input->name);
        input->given = false;
        return;
    }
    bool plain = v->rank == 2 && strlen(v->shape[0]) < 3 && strlen(v->shape[1]) < 3; // less than ld
    if (plain && !below(m, 6)) fputs(below(m, 2) ? "@[ld, 1]" : "@[1, ld]", out);
}

static char *make_function(uint64_t seed_of_case, int *rank) {
    char *body = NULL, *text = NULL;
    size_t size;
    maker m = {.state = seed_of_case * UINT64_C(0x9E3779B97F4A7C15) + 1,
               .out = open_memstream(&body, &size)};
    for (int i = 0; i < 8; i++)
        below(&m, 2);
    char inputs[1500] = "";
    int n_inputs = 2 + below(&m, 3);
    if (!below(&m, 3)) make_schedule(&m);
    for (int i = 0; i < n_inputs; i++)
        add_input(&m, inputs, sizeof inputs);
    m.inputs = m.n;
    int ops = 2 + below(&m, 10);
    for (int tries = 0; m.n < m.inputs + ops && tries < 200; tries++)
        make_op(&m);
    if (m.n == m.inputs) make_unary(&m);
    fclose(m.out);
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "func @f(%s%%k: i64[P]) -> (", inputs);
    char returned[200] = "";
    int n = 0;
    for (int i = m.n - 1; i >= m.inputs && n < 3; i--) { // what nothing uses, at least the last one
        if (m.used[i] && n) continue;
        fprintf(out, "%so%d: %s", n ? ", " : "", n, type_text(&m.values[i]));
        print_place(&m, out, &m.values[i]);
        snprintf(returned + strlen(returned), sizeof returned - strlen(returned), "%s%%%s",
                 n ? ", " : "", m.values[i].name);
        n++;
    }
    fprintf(out, ") dims {M: 3..1000, N: 3..1000, K: 1..100, P: 0..1000, ld} {\n%s  return %s\n}\n",
            body, returned);
    fclose(out);
    free(body);
    *rank = m.rank;
    return text;
}

static int run_seed(uint64_t number, bool print) {
    static const char *const targets[] = {"cuda:sm_80", "hip:gfx942", "hip:gfx1100"};
    char name[32], dims[80];
    int rank;
    char *text = make_function(number, &rank);
    uint64_t s = number * UINT64_C(0xD1B54A32D192ED03);
    static const int sizes[] = {3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 40, 64, 65};
    int large = s >> 60 == 0 && rank < 3 ? 200 : 0, choices = rank < 3 ? 13 : rank == 3 ? 11 : 5;
    snprintf(dims, sizeof dims, "M=%d,N=%d,K=%d,P=%d,ld=%d%s", sizes[(s >> 20) % choices],
             sizes[(s >> 28) % choices] + large, 1 + (int)((s >> 36) % 3), 1 + (int)((s >> 40) % 9),
             1200 + (int)((s >> 50) % 5), (s >> 44) % 4 == 0 ? " [general]" : "");
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)number);
    if (print) fprintf(stderr, "%s", text);
    int failed = run_in_child(name, text, targets[number % 3], dims, strlen(dims));
    if (failed && !print)
        fprintf(stderr, "%s fails; `test_random %llu` prints it\n", name,
                (unsigned long long)number);
    free(text);
    return failed;
}

static uint64_t first_seed = 1, count = 150;
static bool print_text;

static void test_random_functions(void **state) {
    (void)state;
    int failures = 0;
    for (uint64_t i = 0; i < count; i++)
        failures += run_seed(first_seed + i, print_text);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10),
        count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, print_text = argc == 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
