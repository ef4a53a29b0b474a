// What the files of integer expressions share among themselves.
//
//   expr.c          the pool, its interned nodes, its symbols
//   expr_wide.c     arithmetic in 127 bits
//   expr_eval.c     what each kind means, and evaluation
//   expr_bounds.c   bounds and divisors of nodes
//   expr_poly.c     polynomials, and + - * by them
//   expr_divide.c   // % / cdiv
//   expr_compare.c  min max, comparisons, and or not
//   expr_build.c    any kind by its operands; substitution; copies into another pool
//   expr_parse.c    text
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
#ifndef KC_IR_EXPR_INTERNAL_H
#define KC_IR_EXPR_INTERNAL_H

#include "ir/expr.h"

// ---- numbers ------------------------------------------------------------------------------------

typedef __int128 kc_wide;

// Values lie in -KC_WIDE_MOST..KC_WIDE_MOST, so that -v is always one.
#define KC_WIDE_MOST ((kc_wide)(~(unsigned __int128)0 >> 1))

static inline bool kc_wide_fits(kc_wide v) {
    return v == (int64_t)v;
}

static inline kc_wide kc_wide_magnitude(kc_wide v) {
    return v < 0 ? -v : v;
}

static inline bool kc_wide_divides(kc_wide d, kc_wide v) {
    return d == 0 ? v == 0 : v % d == 0;
}

kc_wide kc_wide_floor_div(kc_wide a, kc_wide b); // b is not 0
kc_wide kc_wide_floor_mod(kc_wide a, kc_wide b); // b is not 0
kc_wide kc_wide_gcd(kc_wide a, kc_wide b);       // not negative; of 0 and 0: 0
// False when the result has more than 127 bits.
bool kc_wide_add(kc_wide a, kc_wide b, kc_wide *out);
bool kc_wide_multiply(kc_wide a, kc_wide b, kc_wide *out);

// What `a kind b` is (of KC_EXPR_NOT: not a).
kc_expr_status kc_expr_apply(kc_expr_kind, kc_wide a, kc_wide b, kc_wide *out);

// ---- the pool -----------------------------------------------------------------------------------

typedef struct kc_expr_chunk kc_expr_chunk;

typedef struct {
    char *name;
    kc_expr_facts facts;
} kc_expr_named;

struct kc_expr_pool {
    kc_expr_chunk *chunks;
    const kc_expr **table; // open addressing; capacity is a power of two
    size_t capacity, count;
    kc_expr_named *symbols;
    int symbol_count, symbol_capacity;
};

// The node of that kind and operands, exactly as given; every other constructor ends here.
const kc_expr *kc_expr_intern(kc_expr_pool *, kc_expr wanted);
const kc_expr *kc_expr_plain(kc_expr_pool *, kc_expr_kind, const kc_expr *a, const kc_expr *b);
// The same, but the constant where the node's bounds leave one value.
const kc_expr *kc_expr_atom(kc_expr_pool *, kc_expr_kind, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_constant(kc_expr_pool *, kc_wide); // NULL when it does not fit
int kc_expr_find_symbol(const kc_expr_pool *, const char *name, size_t length); // -1: none
const kc_expr *kc_expr_symbol_node(kc_expr_pool *, int index);                  // NULL for -1

// A total order of nodes that does not depend on addresses or on the pool.
int kc_expr_compare(const kc_expr_pool *, const kc_expr *, const kc_expr *);

// ---- bounds -------------------------------------------------------------------------------------

#define KC_INFINITE ((kc_wide)1 << 63)

typedef struct {
    kc_wide min, max; // -KC_INFINITE and KC_INFINITE: no bound
} kc_expr_range;

kc_expr_range kc_expr_range_of(const kc_expr *);
// Sets bounds and divisor of a new node.
void kc_expr_analyse(const kc_expr_pool *, kc_expr *);

// x // c where c is known to divide x.
static inline bool kc_expr_is_whole_quotient(const kc_expr *e) {
    return e->kind == KC_EXPR_FLOORDIV && e->b->kind == KC_EXPR_CONST && e->b->value > 0 &&
           kc_wide_divides(e->b->value, e->a->divisor);
}

// ---- polynomials --------------------------------------------------------------------------------

enum { KC_POLY_TERMS = 24, KC_EXPR_FACTORS = 12 };

typedef struct {
    kc_wide k;
    const kc_expr *mono;
} kc_term;

typedef struct {
    bool bad; // too many terms, or arithmetic that does not fit
    int n;
    kc_wide constant;
    kc_term t[KC_POLY_TERMS];
} kc_poly;

kc_poly kc_poly_of(const kc_expr *);
void kc_poly_add(kc_poly *, const kc_expr *, kc_wide scale); // p += scale * e
void kc_poly_add_term(kc_poly *, kc_wide k, const kc_expr *mono);
void kc_poly_add_constant(kc_poly *, kc_wide k);
bool kc_poly_fits(const kc_poly *); // not bad, and every coefficient has 64 bits
// The node of a polynomial, or NULL when it does not fit.
const kc_expr *kc_poly_build(kc_expr_pool *, kc_poly *);
// The same, but the plain node when it does not fit.
const kc_expr *kc_poly_build_or(kc_expr_pool *, kc_poly *, kc_expr_kind, const kc_expr *a,
                                const kc_expr *b);
const kc_expr *kc_poly_scaled(kc_expr_pool *, const kc_expr *, int64_t k);

// The operands of a left-deep chain of one kind, in order, written from out[n] on: how many there
// are then; -1 when there are more than KC_EXPR_FACTORS.
int kc_expr_chain(kc_expr_kind, const kc_expr *, const kc_expr **out, int n);
// Sorts f and builds the chain of its n operands.
const kc_expr *kc_expr_build_chain(kc_expr_pool *, kc_expr_kind, const kc_expr **f, int n);

// ---- constructors of one kind -------------------------------------------------------------------

const kc_expr *kc_expr_floordiv(kc_expr_pool *, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_mod(kc_expr_pool *, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_exact_div(kc_expr_pool *, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_choose(kc_expr_pool *, kc_expr_kind, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_comparison(kc_expr_pool *, kc_expr_kind, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_logic(kc_expr_pool *, kc_expr_kind, const kc_expr *a, const kc_expr *b);

#endif
