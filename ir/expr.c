// Integer expressions: the pool, the canonical form, bounds and divisibility, evaluation.
//
// Sums and products are handled as polynomials. A polynomial is a constant and a few terms; a term
// is a coefficient and a *monomial*: a sorted product of atoms, where an atom is a symbol or any
// node that is not a sum or product. Every constructor of + - * // % takes operands apart into
// polynomials, computes there, and builds nodes again; when a polynomial would be too large or a
// coefficient would not fit, the plain node is kept instead, which is always right, only less
// simple.
//
// Each node carries bounds and a divisor, found when it is made. INT64_MIN as lower and INT64_MAX
// as upper bound mean unbounded: values inside an expression may pass 64 bits (see expr.h).
#include "ir/expr.h"

#include <stdlib.h>
#include <string.h>

typedef __int128 wide;
enum { MAX_TERMS = 24, MAX_FACTORS = 12, CHUNK_NODES = 64 };
#define INFINITE ((wide)1 << 63)
// Values lie in -MOST..MOST, so that -v is always one.
#define MOST ((wide)(~(unsigned __int128)0 >> 1))

typedef struct chunk {
    struct chunk *next;
    int used;
    kc_expr nodes[CHUNK_NODES];
} chunk;

typedef struct {
    char *name;
    kc_expr_facts facts;
} symbol;

struct kc_expr_pool {
    chunk *chunks;
    const kc_expr **table; // open addressing; capacity is a power of two
    size_t capacity, count;
    symbol *symbols;
    int symbol_count, symbol_capacity;
};

typedef struct {
    wide k;
    const kc_expr *mono;
} term;

typedef struct {
    bool bad; // too many terms, or arithmetic that does not fit
    int n;
    wide constant;
    term t[MAX_TERMS];
} poly;

// ---- numbers ------------------------------------------------------------------------------------

static bool fits(wide v) {
    return v == (int64_t)v;
}

static wide floor_div(wide a, wide b) {
    if (fits(a) && fits(b) && b != -1) {
        int64_t x = (int64_t)a, y = (int64_t)b, q = x / y;
        return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
    }
    wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static wide floor_mod(wide a, wide b) {
    if (fits(a) && fits(b) && b != -1) {
        int64_t r = (int64_t)a % (int64_t)b;
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    wide r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static wide magnitude(wide v) {
    return v < 0 ? -v : v;
}

static bool add(wide a, wide b, wide *out) {
    return !__builtin_add_overflow(a, b, out) && *out >= -MOST;
}

// False when the product has more than 127 bits. Not the builtin: clang's needs compiler-rt at 128
// bits.
static bool multiply(wide a, wide b, wide *out) {
    if (!(fits(a) && fits(b)) && a != 0 && magnitude(b) > MOST / magnitude(a)) return false;
    *out = a * b;
    return true;
}

static wide gcd(wide a, wide b) {
    a = magnitude(a), b = magnitude(b);
    while (b != 0) {
        wide r = a % b;
        a = b, b = r;
    }
    return a;
}

static bool divides(wide d, wide v) {
    return d == 0 ? v == 0 : v % d == 0;
}

// ---- evaluation ---------------------------------------------------------------------------------

static kc_expr_status apply(kc_expr_kind kind, wide a, wide b, wide *out) {
    if (kind >= KC_EXPR_FLOORDIV && kind <= KC_EXPR_CDIV && b == 0) return KC_EXPR_DIVIDE_BY_ZERO;
    switch (kind) {
    case KC_EXPR_ADD: return add(a, b, out) ? KC_EXPR_OK : KC_EXPR_OVERFLOW;
    case KC_EXPR_SUB: return add(a, -b, out) ? KC_EXPR_OK : KC_EXPR_OVERFLOW;
    case KC_EXPR_MUL: return multiply(a, b, out) ? KC_EXPR_OK : KC_EXPR_OVERFLOW;
    case KC_EXPR_FLOORDIV: *out = floor_div(a, b); break;
    case KC_EXPR_CDIV: *out = -floor_div(-a, b); break;
    case KC_EXPR_MOD: *out = floor_mod(a, b); break;
    case KC_EXPR_DIV:
        if (floor_mod(a, b) != 0) return KC_EXPR_INEXACT;
        *out = floor_div(a, b);
        break;
    case KC_EXPR_MIN: *out = a < b ? a : b; break;
    case KC_EXPR_MAX: *out = a > b ? a : b; break;
    case KC_EXPR_EQ: *out = a == b; break;
    case KC_EXPR_NE: *out = a != b; break;
    case KC_EXPR_LT: *out = a < b; break;
    case KC_EXPR_LE: *out = a <= b; break;
    case KC_EXPR_GT: *out = a > b; break;
    case KC_EXPR_GE: *out = a >= b; break;
    case KC_EXPR_AND: *out = a && b; break;
    case KC_EXPR_OR: *out = a || b; break;
    case KC_EXPR_NOT: *out = !a; break;
    case KC_EXPR_CONST:
    case KC_EXPR_SYMBOL: break;
    }
    return KC_EXPR_OK;
}

static kc_expr_status eval(const kc_expr *e, const int64_t *values, const bool *bound, wide *out) {
    if (e->kind == KC_EXPR_CONST) {
        *out = e->value;
        return KC_EXPR_OK;
    }
    if (e->kind == KC_EXPR_SYMBOL) {
        if (bound != NULL && !bound[e->symbol]) return KC_EXPR_UNBOUND;
        *out = values[e->symbol];
        return KC_EXPR_OK;
    }
    wide a, b = 0;
    kc_expr_status status = eval(e->a, values, bound, &a);
    if (status != KC_EXPR_OK) return status;
    bool decided = (e->kind == KC_EXPR_AND && a == 0) || (e->kind == KC_EXPR_OR && a != 0);
    if (e->b != NULL && !decided) status = eval(e->b, values, bound, &b);
    return status == KC_EXPR_OK ? apply(e->kind, a, b, out) : status;
}

kc_expr_status kc_expr_eval(const kc_expr *e, const int64_t *values, const bool *bound,
                            int64_t *out) {
    wide v = 0;
    *out = 0;
    kc_expr_status status = eval(e, values, bound, &v);
    if (status == KC_EXPR_OK && !fits(v)) status = KC_EXPR_OVERFLOW;
    if (status == KC_EXPR_OK) *out = (int64_t)v;
    return status;
}

// ---- the pool -----------------------------------------------------------------------------------

kc_expr_pool *kc_expr_pool_create(void) {
    return calloc(1, sizeof(kc_expr_pool));
}

void kc_expr_pool_destroy(kc_expr_pool *pool) {
    if (pool == NULL) return;
    for (chunk *c = pool->chunks, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    for (int i = 0; i < pool->symbol_count; i++)
        free(pool->symbols[i].name);
    free(pool->symbols);
    free(pool->table);
    free(pool);
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_node(const kc_expr *e) {
    uint64_t h = mix(mix(mix(1, (uint64_t)e->kind), (uint64_t)e->symbol), (uint64_t)e->value);
    return mix(mix(h, e->a ? e->a->hash : 0), e->b ? e->b->hash : 0);
}

static bool same_node(const kc_expr *x, const kc_expr *y) {
    return x->hash == y->hash && x->kind == y->kind && x->symbol == y->symbol &&
           x->value == y->value && x->a == y->a && x->b == y->b;
}

static const kc_expr **slot_of(const kc_expr_pool *pool, const kc_expr *e) {
    size_t i = e->hash & (pool->capacity - 1);
    while (pool->table[i] != NULL && !same_node(pool->table[i], e))
        i = (i + 1) & (pool->capacity - 1);
    return &pool->table[i];
}

static bool grow_table(kc_expr_pool *pool) {
    const kc_expr **old = pool->table;
    size_t old_capacity = pool->capacity;
    size_t capacity = old_capacity ? old_capacity * 2 : 64;
    const kc_expr **table = calloc(capacity, sizeof *table);
    if (table == NULL) return false;
    pool->table = table;
    pool->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i] != NULL) *slot_of(pool, old[i]) = old[i];
    free(old);
    return true;
}

static kc_expr *new_node(kc_expr_pool *pool) {
    if (pool->chunks == NULL || pool->chunks->used == CHUNK_NODES) {
        chunk *c = malloc(sizeof *c);
        if (c == NULL) return NULL;
        c->next = pool->chunks;
        c->used = 0;
        pool->chunks = c;
    }
    return &pool->chunks->nodes[pool->chunks->used++];
}

static void analyse(const kc_expr_pool *, kc_expr *);

// The node of that kind and operands, exactly as given; every other constructor ends here.
static const kc_expr *intern(kc_expr_pool *pool, kc_expr wanted) {
    const kc_expr *a = wanted.a, *b = wanted.b;
    wanted.depth = 1 + (a ? a->depth : 0);
    if (b != NULL && b->depth >= wanted.depth) wanted.depth = b->depth + 1;
    wanted.size = 1 + (a ? a->size : 0) + (b ? b->size : 0);
    if (wanted.depth > KC_EXPR_MAX_DEPTH || wanted.size > KC_EXPR_MAX_SIZE) return NULL;
    wanted.hash = hash_node(&wanted);
    if (pool->count * 2 >= pool->capacity && !grow_table(pool)) return NULL;
    const kc_expr **slot = slot_of(pool, &wanted);
    if (*slot != NULL) return *slot;
    kc_expr *e = new_node(pool);
    if (e == NULL) return NULL;
    *e = wanted;
    analyse(pool, e);
    pool->count++;
    return *slot = e;
}

static const kc_expr *plain(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                            const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    return intern(pool, (kc_expr){.kind = kind, .a = a, .b = b});
}

const kc_expr *kc_expr_const(kc_expr_pool *pool, int64_t value) {
    return intern(pool, (kc_expr){.kind = KC_EXPR_CONST, .value = value});
}

// An atom whose bounds leave one value is that value.
static const kc_expr *settle(kc_expr_pool *pool, const kc_expr *e) {
    bool one = e != NULL && e->min == e->max && e->min != INT64_MIN && e->max != INT64_MAX;
    return one ? kc_expr_const(pool, e->min) : e;
}

static const kc_expr *atom(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                           const kc_expr *b) {
    return settle(pool, plain(pool, kind, a, b));
}

// ---- symbols ------------------------------------------------------------------------------------

static int find_symbol(const kc_expr_pool *pool, const char *name, size_t length) {
    for (int i = 0; i < pool->symbol_count; i++) {
        const char *s = pool->symbols[i].name;
        if (strncmp(s, name, length) == 0 && s[length] == '\0') return i;
    }
    return -1;
}

int kc_expr_symbol_index(kc_expr_pool *pool, const char *name, size_t length) {
    int found = find_symbol(pool, name, length);
    if (found >= 0) return found;
    if (pool->symbol_count == pool->symbol_capacity) {
        int capacity = pool->symbol_capacity ? pool->symbol_capacity * 2 : 16;
        symbol *grown = realloc(pool->symbols, (size_t)capacity * sizeof *grown);
        if (grown == NULL) return -1;
        pool->symbols = grown;
        pool->symbol_capacity = capacity;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL) return -1;
    memcpy(copy, name, length);
    copy[length] = '\0';
    pool->symbols[pool->symbol_count] = (symbol){copy, {INT64_MIN / 4, INT64_MAX / 4, 1}};
    return pool->symbol_count++;
}

int kc_expr_symbol_count(const kc_expr_pool *pool) {
    return pool->symbol_count;
}

const char *kc_expr_symbol_name(const kc_expr_pool *pool, int index) {
    return pool->symbols[index].name;
}

static const kc_expr *symbol_node(kc_expr_pool *pool, int index) {
    return index < 0 ? NULL : intern(pool, (kc_expr){.kind = KC_EXPR_SYMBOL, .symbol = index});
}

const kc_expr *kc_expr_symbol(kc_expr_pool *pool, const char *name) {
    return symbol_node(pool, kc_expr_symbol_index(pool, name, strlen(name)));
}

void kc_expr_set_facts(kc_expr_pool *pool, int index, kc_expr_facts facts) {
    if (facts.multiple_of < 1) facts.multiple_of = 1;
    pool->symbols[index].facts = facts;
    // The pool owns its nodes, so that the symbol's may be brought up to date.
    const kc_expr *e = symbol_node(pool, index);
    if (e != NULL) analyse(pool, (kc_expr *)e);
}

kc_expr_facts kc_expr_get_facts(const kc_expr_pool *pool, int index) {
    return pool->symbols[index].facts;
}

// ---- bounds and divisors ------------------------------------------------------------------------

typedef struct {
    wide min, max;
} range;

static range range_of(const kc_expr *e) {
    return (range){e->min == INT64_MIN ? -INFINITE : e->min,
                   e->max == INT64_MAX ? INFINITE : e->max};
}

static int64_t clamp(wide v) {
    return v <= INT64_MIN ? INT64_MIN : v >= INT64_MAX ? INT64_MAX : (int64_t)v;
}

// Extremes over the corners of two ranges; operands are at most 2^63 in magnitude, so products fit.
static range corners(range a, range b, bool divide) {
    range r = {0, 0};
    for (int i = 0; i < 4; i++) {
        wide x = i & 1 ? a.max : a.min, y = i & 2 ? b.max : b.min;
        wide v = divide ? floor_div(x, y) : x * y;
        if (i == 0 || v < r.min) r.min = v;
        if (i == 0 || v > r.max) r.max = v;
    }
    return r;
}

static range sum_range(range a, range b) {
    range r = {a.min + b.min, a.max + b.max};
    if (a.min == -INFINITE || b.min == -INFINITE) r.min = -INFINITE;
    if (a.max == INFINITE || b.max == INFINITE) r.max = INFINITE;
    return r;
}

static range narrower(range a, range b) {
    return (range){a.min > b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
}

static range corner_range(const kc_expr *sum);

static range quotient_range(range a, range b) {
    // Whatever the divisor, a quotient of integers is no larger than the dividend.
    wide most = magnitude(a.min) > magnitude(a.max) ? magnitude(a.min) : magnitude(a.max);
    range r = {-most, most};
    if (b.min > 0) {
        r = corners(a, b, true);
        if (a.min == -INFINITE) r.min = -INFINITE;
        if (a.max == INFINITE) r.max = INFINITE;
    }
    return r;
}

static range mod_range(range a, range b) {
    range r = {b.min < 0 ? b.min + 1 : 0, b.max > 0 ? b.max - 1 : 0};
    if (b.max == INFINITE) r.max = INFINITE;
    if (b.min == -INFINITE) r.min = -INFINITE;
    if (b.min > 0 && a.min >= 0 && a.max < r.max) r.max = a.max;
    if (b.min > 0 && a.min >= 0 && a.max < b.min) r.min = a.min;
    return r;
}

static range node_range(const kc_expr_pool *pool, const kc_expr *e) {
    if (e->kind == KC_EXPR_CONST) return (range){e->value, e->value};
    if (e->kind == KC_EXPR_SYMBOL) {
        kc_expr_facts f = pool->symbols[e->symbol].facts;
        return range_of(&(kc_expr){.min = f.min, .max = f.max});
    }
    range a = range_of(e->a), b = e->b != NULL ? range_of(e->b) : a;
    switch (e->kind) {
    case KC_EXPR_ADD: return narrower(corner_range(e), sum_range(a, b));
    case KC_EXPR_MUL: return corners(a, b, false);
    case KC_EXPR_FLOORDIV:
    case KC_EXPR_DIV: return quotient_range(a, b);
    case KC_EXPR_CDIV: {
        range q = quotient_range((range){-a.max, -a.min}, b);
        return (range){-q.max, -q.min};
    }
    case KC_EXPR_MOD: return mod_range(a, b);
    case KC_EXPR_MIN: return (range){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
    case KC_EXPR_MAX: return (range){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
    default: return (range){0, 1};
    }
}

// x // c where c is known to divide x.
static bool is_whole_quotient(const kc_expr *e) {
    return e->kind == KC_EXPR_FLOORDIV && e->b->kind == KC_EXPR_CONST && e->b->value > 0 &&
           divides(e->b->value, e->a->divisor);
}

static wide node_divisor(const kc_expr_pool *pool, const kc_expr *e) {
    wide a = e->a != NULL ? e->a->divisor : 1, b = e->b != NULL ? e->b->divisor : 1;
    switch (e->kind) {
    case KC_EXPR_CONST: return e->value == INT64_MIN ? INT64_MAX / 2 + 1 : magnitude(e->value);
    case KC_EXPR_SYMBOL: return pool->symbols[e->symbol].facts.multiple_of;
    case KC_EXPR_MUL: return fits(a * b) ? a * b : a > b ? a : b;
    case KC_EXPR_ADD:
    case KC_EXPR_MOD:
    case KC_EXPR_MIN:
    case KC_EXPR_MAX: return gcd(a, b);
    case KC_EXPR_FLOORDIV: return is_whole_quotient(e) ? a / b : 1;
    case KC_EXPR_DIV: return e->b->kind == KC_EXPR_CONST && e->b->value > 0 ? a / gcd(a, b) : 1;
    default: return 1;
    }
}

// Sets bounds and divisor; bounds are pulled in to multiples of the divisor.
static void set_bounds(kc_expr *e, range r) {
    wide d = e->divisor;
    if (r.min < -INFINITE) r.min = -INFINITE;
    if (r.max > INFINITE) r.max = INFINITE;
    if (d > 1 && r.min > -INFINITE) r.min = -floor_div(-r.min, d) * d;
    if (d > 1 && r.max < INFINITE) r.max = floor_div(r.max, d) * d;
    // No value at all (facts that contradict each other, or an operand that always fails): claim
    // nothing.
    if (r.min > r.max) r = (range){-INFINITE, INFINITE};
    e->min = clamp(r.min);
    e->max = clamp(r.max);
}

static void analyse(const kc_expr_pool *pool, kc_expr *e) {
    e->divisor = clamp(node_divisor(pool, e));
    set_bounds(e, node_range(pool, e));
}

int64_t kc_expr_min_value(const kc_expr_pool *pool, const kc_expr *e) {
    (void)pool;
    return e->min;
}

int64_t kc_expr_max_value(const kc_expr_pool *pool, const kc_expr *e) {
    (void)pool;
    return e->max;
}

int64_t kc_expr_divisor(const kc_expr_pool *pool, const kc_expr *e) {
    (void)pool;
    return e->divisor;
}

// ---- order --------------------------------------------------------------------------------------

// A total order of nodes that does not depend on addresses or on the pool. Nodes are interned, so
// that below two different nodes only the first differing pair of operands is ever entered.
static int compare(const kc_expr_pool *pool, const kc_expr *x, const kc_expr *y) {
    if (x == y) return 0;
    if (x == NULL || y == NULL) return x == NULL ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == KC_EXPR_SYMBOL)
        return strcmp(pool->symbols[x->symbol].name, pool->symbols[y->symbol].name);
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    int order = compare(pool, x->a, y->a);
    return order != 0 ? order : compare(pool, x->b, y->b);
}

static bool term_before(const kc_expr_pool *pool, const term *x, const term *y) {
    if ((x->k < 0) != (y->k < 0)) return y->k < 0;
    return compare(pool, x->mono, y->mono) < 0;
}

// The operands of a left-deep chain of one kind, in order; -1 when there are more than MAX_FACTORS.
static int chain(kc_expr_kind kind, const kc_expr *e, const kc_expr **out, int n) {
    int links = 1;
    for (const kc_expr *x = e; x->kind == kind; x = x->a)
        links++;
    if (n < 0 || n + links > MAX_FACTORS) return -1;
    for (int i = n + links - 1; i >= n; i--) {
        out[i] = i > n ? e->b : e;
        e = e->a;
    }
    return n + links;
}

static const kc_expr *build_chain(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr **f, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && compare(pool, f[j], f[j - 1]) < 0; j--) {
            const kc_expr *t = f[j];
            f[j] = f[j - 1];
            f[j - 1] = t;
        }
    const kc_expr *e = f[0];
    for (int i = 1; i < n; i++)
        e = plain(pool, kind, e, f[i]);
    return e;
}

// ---- polynomials --------------------------------------------------------------------------------

static void poly_add_term(poly *p, wide k, const kc_expr *mono) {
    if (mono == NULL) p->bad = true;
    if (p->bad || k == 0) return;
    int i = 0;
    while (i < p->n && p->t[i].mono != mono)
        i++;
    if (i == MAX_TERMS) {
        p->bad = true;
        return;
    }
    if (i == p->n) p->t[p->n++] = (term){0, mono};
    if (!add(p->t[i].k, k, &p->t[i].k)) p->bad = true;
    if (p->t[i].k == 0) p->t[i] = p->t[--p->n];
}

static void poly_add_constant(poly *p, wide k) {
    if (!add(p->constant, k, &p->constant)) p->bad = true;
}

// p += scale * e
static void poly_add(poly *p, const kc_expr *e, wide scale) {
    for (; e != NULL && e->kind == KC_EXPR_ADD; e = e->a)
        poly_add(p, e->b, scale);
    wide k = scale;
    if (e == NULL || !fits(scale)) {
        p->bad = true;
    } else if (e->kind == KC_EXPR_CONST) {
        poly_add_constant(p, scale * e->value);
    } else {
        if (e->kind == KC_EXPR_MUL && e->a->kind == KC_EXPR_CONST) k *= e->a->value, e = e->b;
        poly_add_term(p, k, e);
    }
}

static poly poly_of(const kc_expr *e) {
    poly p = {.bad = false};
    poly_add(&p, e, 1);
    return p;
}

static bool poly_fits(const poly *p) {
    bool ok = !p->bad && fits(p->constant);
    for (int i = 0; ok && i < p->n; i++)
        ok = fits(p->t[i].k);
    return ok;
}

static const kc_expr *mono_mul(kc_expr_pool *pool, const kc_expr *x, const kc_expr *y) {
    const kc_expr *f[MAX_FACTORS];
    int n = chain(KC_EXPR_MUL, y, f, chain(KC_EXPR_MUL, x, f, 0));
    return n < 0 ? NULL : build_chain(pool, KC_EXPR_MUL, f, n);
}

// The bounds of a sum of products whose atoms each stand at most once in a product: it is linear in
// every atom, so that its extremes over the box of the atoms' bounds are at corners. (M-1)*(N-1),
// multiplied out, gets its true bounds this way.
static range corner_range(const kc_expr *sum) {
    enum { MAX_ATOMS = 6 };
    const range unknown = {-INFINITE, INFINITE};
    range r = unknown;
    const kc_expr *atoms[MAX_ATOMS], *f[MAX_FACTORS];
    unsigned masks[MAX_TERMS];
    int count = 0;
    const poly p = poly_of(sum);
    if (!poly_fits(&p)) return unknown;
    for (int i = 0; i < p.n; i++) {
        int n = chain(KC_EXPR_MUL, p.t[i].mono, f, 0);
        masks[i] = 0;
        for (int j = 0; j < n; j++) {
            int a = 0;
            while (a < count && atoms[a] != f[j])
                a++;
            if (a == MAX_ATOMS || f[j]->min == INT64_MIN || f[j]->max == INT64_MAX) return unknown;
            if (a == count) atoms[count++] = f[j];
            if (masks[i] >> a & 1) return unknown;
            masks[i] |= 1u << a;
        }
        if (n < 0) return unknown;
    }
    for (unsigned corner = 0; corner < 1u << count; corner++) {
        wide total = p.constant;
        for (int i = 0; i < p.n; i++) {
            wide v = p.t[i].k;
            for (int a = 0; a < count; a++)
                if ((masks[i] >> a & 1) &&
                    !multiply(v, corner >> a & 1 ? atoms[a]->max : atoms[a]->min, &v))
                    return unknown;
            if (!add(total, v, &total)) return unknown;
        }
        if (corner == 0 || total < r.min) r.min = total;
        if (corner == 0 || total > r.max) r.max = total;
    }
    return r;
}

static const kc_expr *floordiv(kc_expr_pool *, const kc_expr *, const kc_expr *);

// k * (x // c), where c divides x, is smaller when k and c share a factor: 8 * (K // 8) is K.
// Rewrites one such term; false when there is none.
static bool reduce_term(kc_expr_pool *pool, poly *p) {
    const kc_expr *f[MAX_FACTORS];
    for (int i = 0; i < p->n; i++) {
        int n = chain(KC_EXPR_MUL, p->t[i].mono, f, 0);
        for (int j = 0; j < n; j++) {
            wide g = is_whole_quotient(f[j]) ? gcd(p->t[i].k, f[j]->b->value) : 1;
            if (g <= 1 || !fits(p->t[i].k / g)) continue;
            const kc_expr *rest = kc_expr_const(pool, (int64_t)(p->t[i].k / g));
            const kc_expr *divisor = kc_expr_const(pool, (int64_t)(f[j]->b->value / g));
            f[j] = floordiv(pool, f[j]->a, divisor);
            for (int m = 0; m < n; m++)
                rest = kc_expr_mul(pool, rest, f[m]);
            p->t[i] = p->t[--p->n];
            poly_add(p, rest, 1);
            return true;
        }
    }
    return false;
}

// The node of a polynomial, or NULL when it does not fit.
static const kc_expr *build(kc_expr_pool *pool, poly *p) {
    while (poly_fits(p) && reduce_term(pool, p)) {
    }
    if (!poly_fits(p)) return NULL;
    for (int i = 1; i < p->n; i++)
        for (int j = i; j > 0 && term_before(pool, &p->t[j], &p->t[j - 1]); j--) {
            term t = p->t[j];
            p->t[j] = p->t[j - 1];
            p->t[j - 1] = t;
        }
    const kc_expr *sum = NULL;
    for (int i = 0; i < p->n; i++) {
        const kc_expr *e = p->t[i].mono;
        if (p->t[i].k != 1)
            e = plain(pool, KC_EXPR_MUL, kc_expr_const(pool, (int64_t)p->t[i].k), e);
        sum = i == 0 ? e : plain(pool, KC_EXPR_ADD, sum, e);
        if (sum == NULL) return NULL;
    }
    const kc_expr *constant = kc_expr_const(pool, (int64_t)p->constant);
    if (p->n == 0) return constant;
    if (p->constant != 0) sum = plain(pool, KC_EXPR_ADD, sum, constant);
    return sum;
}

static const kc_expr *build_or(kc_expr_pool *pool, poly *p, kc_expr_kind kind, const kc_expr *a,
                               const kc_expr *b) {
    const kc_expr *e = build(pool, p);
    return e != NULL ? e : plain(pool, kind, a, b);
}

const kc_expr *kc_expr_add(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    poly p = poly_of(a);
    poly_add(&p, b, 1);
    return build_or(pool, &p, KC_EXPR_ADD, a, b);
}

static const kc_expr *scaled(kc_expr_pool *pool, const kc_expr *e, int64_t k) {
    if (e == NULL) return NULL;
    poly p = {.bad = false};
    poly_add(&p, e, k);
    return build_or(pool, &p, KC_EXPR_MUL, kc_expr_const(pool, k), e);
}

const kc_expr *kc_expr_sub(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    poly p = poly_of(a);
    poly_add(&p, b, -1);
    const kc_expr *e = build(pool, &p);
    return e != NULL ? e : plain(pool, KC_EXPR_ADD, a, scaled(pool, b, -1));
}

static poly poly_product(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    poly x = poly_of(a), y = poly_of(b), p = {.bad = false};
    if (!poly_fits(&x) || !poly_fits(&y) || (x.n + 1) * (y.n + 1) > 2 * MAX_TERMS) p.bad = true;
    for (int i = 0; !p.bad && i <= x.n; i++)
        for (int j = 0; !p.bad && j <= y.n; j++) {
            wide k = (i < x.n ? x.t[i].k : x.constant) * (j < y.n ? y.t[j].k : y.constant);
            if (i == x.n && j == y.n) poly_add_constant(&p, k);
            else if (i == x.n) poly_add_term(&p, k, y.t[j].mono);
            else if (j == y.n) poly_add_term(&p, k, x.t[i].mono);
            else poly_add_term(&p, k, mono_mul(pool, x.t[i].mono, y.t[j].mono));
        }
    return p;
}

const kc_expr *kc_expr_mul(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (a->kind == KC_EXPR_CONST) return scaled(pool, b, a->value);
    if (b->kind == KC_EXPR_CONST) return scaled(pool, a, b->value);
    poly p = poly_product(pool, a, b);
    return build_or(pool, &p, KC_EXPR_MUL, a, b);
}

// ---- division -----------------------------------------------------------------------------------

static const kc_expr *constant(kc_expr_pool *pool, wide v) {
    return fits(v) ? kc_expr_const(pool, (int64_t)v) : NULL;
}

static bool nonzero(const kc_expr *e) {
    return e->min > 0 || e->max < 0;
}

// (k*m) / c as an expression when the facts prove that it divides, else NULL. Divides the
// coefficient as far as it goes, then a factor, then the whole monomial.
static const kc_expr *divide_term(kc_expr_pool *pool, const term *t, wide c) {
    const kc_expr *f[MAX_FACTORS], *q = t->mono;
    wide g = gcd(t->k, c), rest = c / g;
    int n = chain(KC_EXPR_MUL, t->mono, f, 0), at = n;
    if (rest != 1) {
        for (int i = n - 1; i >= 0; i--)
            if (divides(rest, f[i]->divisor)) at = i;
        const kc_expr *whole = at < n ? f[at] : t->mono;
        if (!divides(rest, whole->divisor)) return NULL;
        if (is_whole_quotient(whole) && fits(rest * whole->b->value))
            q = floordiv(pool, whole->a, constant(pool, rest * whole->b->value));
        else q = atom(pool, KC_EXPR_FLOORDIV, whole, constant(pool, rest));
        for (int i = 0; at < n && i < n; i++)
            if (i != at) q = kc_expr_mul(pool, q, f[i]);
    }
    return fits(t->k / g) ? scaled(pool, q, (int64_t)(t->k / g)) : NULL;
}

// a / b when b is a single product that stands, as it is, in every term of a; else NULL.
static const kc_expr *cancel(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    const kc_expr *f[MAX_FACTORS], *g[MAX_FACTORS];
    poly x = poly_of(a), y = poly_of(b), q = {.bad = false};
    if (!nonzero(b) || !poly_fits(&x) || !poly_fits(&y)) return NULL;
    if (y.n != 1 || y.constant != 0 || x.constant != 0) return NULL;
    int m = chain(KC_EXPR_MUL, y.t[0].mono, g, 0);
    for (int i = 0; i < x.n; i++) {
        int n = chain(KC_EXPR_MUL, x.t[i].mono, f, 0);
        if (n < 0 || m < 0 || !divides(y.t[0].k, x.t[i].k)) return NULL;
        for (int j = 0; j < m; j++) {
            int k = 0;
            while (k < n && f[k] != g[j])
                k++;
            if (k == n) return NULL;
            for (n--; k < n; k++)
                f[k] = f[k + 1];
        }
        wide scale = x.t[i].k / y.t[0].k;
        if (n == 0) poly_add_constant(&q, scale);
        else poly_add_term(&q, scale, build_chain(pool, KC_EXPR_MUL, f, n));
    }
    return build(pool, &q);
}

// Divides p's coefficients and c by what they share.
static wide take_common(poly *p, wide *c, bool with_constant) {
    wide g = with_constant ? gcd(*c, p->constant) : *c;
    for (int i = 0; i < p->n; i++)
        g = gcd(g, p->t[i].k);
    for (int i = 0; i < p->n; i++)
        p->t[i].k /= g;
    p->constant = floor_div(p->constant, g);
    *c /= g;
    return g;
}

// Moves what c surely divides from p to *quotient; only the rest stays, with its constant in [0,
// c).
static void split_multiples(kc_expr_pool *pool, poly *p, wide c, poly *quotient) {
    poly rest = {.bad = p->bad};
    for (int i = 0; i < p->n; i++) {
        const kc_expr *q = divide_term(pool, &p->t[i], c);
        if (q != NULL) poly_add(quotient, q, 1);
        else poly_add_term(&rest, p->t[i].k, p->t[i].mono);
    }
    wide k = floor_div(p->constant, c);
    poly_add_constant(quotient, k);
    rest.constant = p->constant - k * c;
    *p = rest;
}

// floor(e / c) and e - c*floor(e / c) are known when all of e's bounds lie between two multiples of
// c.
static bool one_quotient(const kc_expr *e, wide c, wide *q) {
    *q = floor_div(e->min, c);
    return e->min != INT64_MIN && e->max != INT64_MAX && floor_div(e->max, c) == *q;
}

static const kc_expr *floordiv_rest(kc_expr_pool *pool, poly *rest, wide c) {
    wide q;
    take_common(rest, &c, false);
    const kc_expr *x = rest->t[0].mono;
    bool nested = rest->n == 1 && rest->t[0].k == 1 && x->kind == KC_EXPR_FLOORDIV &&
                  x->b->kind == KC_EXPR_CONST && x->b->value > 0;
    if (nested && fits(c * x->b->value) && fits(rest->constant * x->b->value)) {
        wide inner = x->b->value;
        const kc_expr *sum = kc_expr_add(pool, x->a, constant(pool, rest->constant * inner));
        return floordiv(pool, sum, constant(pool, c * inner));
    }
    const kc_expr *e = build(pool, rest);
    if (e != NULL && one_quotient(e, c, &q)) return constant(pool, q);
    return atom(pool, KC_EXPR_FLOORDIV, e, constant(pool, c));
}

static const kc_expr *floordiv(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (b->kind != KC_EXPR_CONST) {
        const kc_expr *q = cancel(pool, a, b);
        return q != NULL ? q : atom(pool, KC_EXPR_FLOORDIV, a, b);
    }
    wide c = b->value;
    if (c == 0 || c == INT64_MIN) return plain(pool, KC_EXPR_FLOORDIV, a, b);
    if (c < 0) return floordiv(pool, scaled(pool, a, -1), constant(pool, -c));
    poly p = poly_of(a), quotient = {.bad = false};
    if (!poly_fits(&p)) return plain(pool, KC_EXPR_FLOORDIV, a, b);
    split_multiples(pool, &p, c, &quotient);
    if (p.n > 0) poly_add(&quotient, floordiv_rest(pool, &p, c), 1);
    return build_or(pool, &quotient, KC_EXPR_FLOORDIV, a, b);
}

static const kc_expr *mod(kc_expr_pool *, const kc_expr *, const kc_expr *);

// The rest shares g with c: (g*r + s) % (g*d) is g*(r % d) + s for 0 <= s < g.
static const kc_expr *mod_rest(kc_expr_pool *pool, poly *rest, wide c) {
    wide q, below = rest->constant, g = take_common(rest, &c, false);
    below -= rest->constant * g;
    const kc_expr *e = build(pool, rest), *x = rest->t[0].mono;
    if (e == NULL) return NULL;
    if (e == x && x->kind == KC_EXPR_MOD && x->b->kind == KC_EXPR_CONST && x->b->value > 0 &&
        divides(c, x->b->value))
        e = mod(pool, x->a, constant(pool, c));
    else if (one_quotient(e, c, &q)) e = kc_expr_sub(pool, e, constant(pool, q * c));
    else e = atom(pool, KC_EXPR_MOD, e, constant(pool, c));
    return kc_expr_add(pool, scaled(pool, e, (int64_t)g), constant(pool, below));
}

static const kc_expr *mod(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (b->kind != KC_EXPR_CONST) {
        if (b->min > 0 && a->min >= 0 && a->max < b->min) return a;
        return cancel(pool, a, b) != NULL ? kc_expr_const(pool, 0) : atom(pool, KC_EXPR_MOD, a, b);
    }
    wide c = b->value;
    if (c == 0 || c == INT64_MIN) return plain(pool, KC_EXPR_MOD, a, b);
    if (c < 0) return scaled(pool, mod(pool, scaled(pool, a, -1), constant(pool, -c)), -1);
    poly p = poly_of(a), quotient = {.bad = false};
    if (!poly_fits(&p)) return plain(pool, KC_EXPR_MOD, a, b);
    split_multiples(pool, &p, c, &quotient);
    for (int i = 0; i < p.n; i++)
        p.t[i].k %= c;
    const kc_expr *e = p.n > 0 ? mod_rest(pool, &p, c) : constant(pool, p.constant);
    return e != NULL ? e : plain(pool, KC_EXPR_MOD, a, b);
}

static const kc_expr *exact_div(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (b->kind != KC_EXPR_CONST) {
        const kc_expr *q = cancel(pool, a, b);
        return q != NULL ? q : plain(pool, KC_EXPR_DIV, a, b);
    }
    wide c = b->value;
    if (c != 0 && c != INT64_MIN && divides(c, a->divisor)) return floordiv(pool, a, b);
    if (c == 0 || c == INT64_MIN) return plain(pool, KC_EXPR_DIV, a, b);
    if (c < 0) return kc_expr_binary(pool, KC_EXPR_DIV, scaled(pool, a, -1), constant(pool, -c));
    poly p = poly_of(a);
    if (!poly_fits(&p)) return plain(pool, KC_EXPR_DIV, a, b);
    take_common(&p, &c, true);
    const kc_expr *e = build(pool, &p);
    if (e == NULL) return plain(pool, KC_EXPR_DIV, a, b);
    return c == 1 ? e : plain(pool, KC_EXPR_DIV, e, constant(pool, c));
}

const kc_expr *kc_expr_cdiv(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (b->kind == KC_EXPR_CONST && b->value > 0)
        return floordiv(pool, kc_expr_add(pool, a, kc_expr_const(pool, b->value - 1)), b);
    if (b->kind == KC_EXPR_CONST && b->value < 0 && b->value != INT64_MIN)
        return scaled(pool, floordiv(pool, a, kc_expr_const(pool, -b->value)), -1);
    const kc_expr *q = cancel(pool, a, b);
    return q != NULL ? q : atom(pool, KC_EXPR_CDIV, a, b);
}

// ---- choice, comparison, logic ------------------------------------------------------------------

bool kc_expr_known_le(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return false;
    if (a == b || (a->max <= b->min && a->max != INT64_MAX && b->min != INT64_MIN)) return true;
    const kc_expr *difference = kc_expr_sub(pool, b, a);
    return difference != NULL && difference->min >= 0;
}

bool kc_expr_known_equal(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return false;
    const kc_expr *difference = a == b ? NULL : kc_expr_sub(pool, a, b);
    return a == b || (difference != NULL && difference->min == 0 && difference->max == 0);
}

static const kc_expr *choose(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                             const kc_expr *b) {
    const kc_expr *f[MAX_FACTORS];
    int n = chain(kind, b, f, chain(kind, a, f, 0));
    if (n < 0) return plain(pool, kind, a, b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            bool wins = i != j && (kind == KC_EXPR_MIN ? kc_expr_known_le(pool, f[i], f[j])
                                                       : kc_expr_known_le(pool, f[j], f[i]));
            if (!wins) continue;
            f[j] = f[--n];
            i = j = -1;
            break;
        }
    return build_chain(pool, kind, f, n);
}

// What `P kind R` is for a polynomial P and a constant R, given P's bounds and divisor: 0, 1 or -1
// (unknown).
static int decide(const kc_expr *p, wide r, kc_expr_kind kind) {
    range b = range_of(p);
    bool never = r < b.min || r > b.max || !divides(p->divisor, r);
    bool always = b.min == r && b.max == r;
    switch (kind) {
    case KC_EXPR_EQ: return never ? 0 : always ? 1 : -1;
    case KC_EXPR_NE: return never ? 1 : always ? 0 : -1;
    case KC_EXPR_LE: return b.max < INFINITE && b.max <= r ? 1 : b.min > r ? 0 : -1;
    default: return b.min > -INFINITE && b.min >= r ? 1 : b.max < r ? 0 : -1;
    }
}

static kc_expr_kind mirrored(kc_expr_kind kind) {
    switch (kind) {
    case KC_EXPR_LT: return KC_EXPR_GT;
    case KC_EXPR_LE: return KC_EXPR_GE;
    case KC_EXPR_GT: return KC_EXPR_LT;
    case KC_EXPR_GE: return KC_EXPR_LE;
    default: return kind;
    }
}

// Writes `P kind r` (kind: == != <= >=) with positive terms on the left, negative ones on the
// right, and the constant where it is positive: `M < N`, `2*M <= N + 3`, `M >= 1`.
static const kc_expr *build_comparison(kc_expr_pool *pool, const poly *p, kc_expr_kind kind,
                                       wide r) {
    poly left = {.bad = false}, right = {.bad = false};
    for (int i = 0; i < p->n; i++)
        poly_add_term(p->t[i].k > 0 ? &left : &right, magnitude(p->t[i].k), p->t[i].mono);
    if (right.n > 0 && kind == KC_EXPR_LE && r == -1) kind = KC_EXPR_LT, r = 0;
    if (right.n > 0 && kind == KC_EXPR_GE && r == 1) kind = KC_EXPR_GT, r = 0;
    if (right.n > 0 && r < 0) left.constant = -r;
    else right.constant = r;
    return atom(pool, kind, build(pool, &left), build(pool, &right));
}

static const kc_expr *comparison(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                                 const kc_expr *b) {
    poly p = poly_of(a);
    poly_add(&p, b, -1);
    if (build(pool, &p) == NULL) return plain(pool, kind, a, b);
    // The side that holds the first monomial of all stands on the left.
    int first = 0;
    for (int i = 1; i < p.n; i++)
        if (compare(pool, p.t[i].mono, p.t[first].mono) < 0) first = i;
    bool flip = p.n > 0 && p.t[first].k < 0;
    for (int i = 0; flip && i < p.n; i++)
        p.t[i].k = -p.t[i].k;
    if (flip) kind = mirrored(kind);
    wide r = flip ? p.constant : -p.constant, g = 0;
    if (kind == KC_EXPR_LT) kind = KC_EXPR_LE, r--;
    if (kind == KC_EXPR_GT) kind = KC_EXPR_GE, r++;
    p.constant = 0;
    for (int i = 0; i < p.n; i++)
        g = gcd(g, p.t[i].k);
    const kc_expr *e = build(pool, &p);
    int known = e == NULL ? -1 : decide(e, r, kind);
    if (g != 0 && !divides(g, r) && kind == KC_EXPR_EQ) known = 0;
    if (g != 0 && !divides(g, r) && kind == KC_EXPR_NE) known = 1;
    if (known >= 0) return kc_expr_const(pool, known);
    if (e == NULL || g == 0) return plain(pool, kind, a, b);
    for (int i = 0; i < p.n; i++)
        p.t[i].k /= g;
    r = kind == KC_EXPR_GE ? -floor_div(-r, g) : floor_div(r, g);
    const kc_expr *c = build_comparison(pool, &p, kind, r);
    return c != NULL ? c : plain(pool, kind, a, b);
}

static bool is_truth(const kc_expr *e) {
    return e->min >= 0 && e->max <= 1;
}

static const kc_expr *truth(kc_expr_pool *pool, const kc_expr *e) {
    return is_truth(e) ? e : comparison(pool, KC_EXPR_NE, e, kc_expr_const(pool, 0));
}

static const kc_expr *logic(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                            const kc_expr *b) {
    a = truth(pool, a), b = truth(pool, b);
    if (a == NULL || b == NULL) return NULL;
    bool neutral = kind == KC_EXPR_AND;
    for (int side = 0; side < 2; side++) {
        const kc_expr *one = side ? b : a, *other = side ? a : b;
        if (one->kind == KC_EXPR_CONST) return (one->value != 0) == neutral ? other : one;
    }
    if (a == b || (a->kind == kind && a->b == b)) return a;
    // Left-deep, in the order written: evaluation stops early.
    if (b->kind == kind) return logic(pool, kind, logic(pool, kind, a, b->a), b->b);
    return plain(pool, kind, a, b);
}

const kc_expr *kc_expr_not(kc_expr_pool *pool, const kc_expr *a) {
    static const kc_expr_kind opposite[] = {KC_EXPR_NE, KC_EXPR_EQ, KC_EXPR_GE,
                                            KC_EXPR_GT, KC_EXPR_LE, KC_EXPR_LT};
    if (a == NULL) return NULL;
    if (a->kind == KC_EXPR_NOT) return a->a;
    a = truth(pool, a);
    if (a == NULL) return NULL;
    if (a->kind == KC_EXPR_CONST) return kc_expr_const(pool, !a->value);
    if (a->kind >= KC_EXPR_EQ && a->kind <= KC_EXPR_GE)
        return kc_expr_binary(pool, opposite[a->kind - KC_EXPR_EQ], a->a, a->b);
    return intern(pool, (kc_expr){.kind = KC_EXPR_NOT, .a = a});
}

const kc_expr *kc_expr_binary(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                              const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (a->kind == KC_EXPR_CONST && b->kind == KC_EXPR_CONST) {
        wide v;
        bool ok = apply(kind, a->value, b->value, &v) == KC_EXPR_OK && fits(v);
        if (ok) return kc_expr_const(pool, (int64_t)v);
    }
    switch (kind) {
    case KC_EXPR_ADD: return kc_expr_add(pool, a, b);
    case KC_EXPR_SUB: return kc_expr_sub(pool, a, b);
    case KC_EXPR_MUL: return kc_expr_mul(pool, a, b);
    case KC_EXPR_FLOORDIV: return floordiv(pool, a, b);
    case KC_EXPR_MOD: return mod(pool, a, b);
    case KC_EXPR_DIV: return exact_div(pool, a, b);
    case KC_EXPR_CDIV: return kc_expr_cdiv(pool, a, b);
    case KC_EXPR_MIN:
    case KC_EXPR_MAX: return choose(pool, kind, a, b);
    case KC_EXPR_AND:
    case KC_EXPR_OR: return logic(pool, kind, a, b);
    case KC_EXPR_EQ:
    case KC_EXPR_NE:
    case KC_EXPR_LT:
    case KC_EXPR_LE:
    case KC_EXPR_GT:
    case KC_EXPR_GE: return comparison(pool, kind, a, b);
    case KC_EXPR_CONST:
    case KC_EXPR_SYMBOL:
    case KC_EXPR_NOT: break;
    }
    return NULL;
}

// ---- questions and copies -----------------------------------------------------------------------

bool kc_expr_is_const(const kc_expr *e, int64_t *value) {
    if (e->kind != KC_EXPR_CONST) return false;
    if (value != NULL) *value = e->value;
    return true;
}

bool kc_expr_uses(const kc_expr *e, int wanted) {
    if (e->kind == KC_EXPR_SYMBOL) return e->symbol == wanted;
    return (e->a != NULL && kc_expr_uses(e->a, wanted)) ||
           (e->b != NULL && kc_expr_uses(e->b, wanted));
}

bool kc_expr_linear_in(kc_expr_pool *pool, const kc_expr *e, int wanted, int64_t *c,
                       const kc_expr **rest) {
    poly p = poly_of(e), others = {.constant = p.constant};
    wide k = 0;
    for (int i = 0; !p.bad && i < p.n; i++) {
        const kc_expr *mono = p.t[i].mono;
        if (mono->kind == KC_EXPR_SYMBOL && mono->symbol == wanted) k = p.t[i].k;
        else if (kc_expr_uses(mono, wanted)) return false;
        else poly_add_term(&others, p.t[i].k, mono);
    }
    const kc_expr *r = p.bad || k == 0 || !fits(k) ? NULL : build(pool, &others);
    if (r == NULL) return false;
    *c = (int64_t)k;
    *rest = r;
    return true;
}

// Builds e again in `pool`: symbols through `from` by name (NULL: the same pool), and one replaced
// by `by`.
static const kc_expr *rebuild(kc_expr_pool *pool, const kc_expr_pool *from, const kc_expr *e,
                              int index, const kc_expr *by) {
    if (e == NULL) return NULL;
    if (e->kind == KC_EXPR_CONST) return kc_expr_const(pool, e->value);
    if (e->kind == KC_EXPR_SYMBOL && from == NULL) return e->symbol == index ? by : e;
    if (e->kind == KC_EXPR_SYMBOL) {
        const symbol *s = &from->symbols[e->symbol];
        bool known = find_symbol(pool, s->name, strlen(s->name)) >= 0;
        int at = kc_expr_symbol_index(pool, s->name, strlen(s->name));
        if (!known && at >= 0) kc_expr_set_facts(pool, at, s->facts);
        return symbol_node(pool, at);
    }
    const kc_expr *a = rebuild(pool, from, e->a, index, by);
    if (e->kind == KC_EXPR_NOT) return kc_expr_not(pool, a);
    return kc_expr_binary(pool, e->kind, a, rebuild(pool, from, e->b, index, by));
}

const kc_expr *kc_expr_substitute(kc_expr_pool *pool, const kc_expr *e, int index,
                                  const kc_expr *by) {
    return rebuild(pool, NULL, e, index, by);
}

const kc_expr *kc_expr_import(kc_expr_pool *to, const kc_expr_pool *from, const kc_expr *e) {
    return to == from ? e : rebuild(to, from, e, -1, NULL);
}
