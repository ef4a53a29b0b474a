// Integer expressions over symbols: dimensions, strides, pointer alignments, device attributes.
//
// The compiler reasons with them (facts, ranges, divisibility), the manifest stores them as text,
// and the runtime evaluates them at launch. One implementation serves all three, so it needs libc
// alone.
//
// Arithmetic is mathematical: values inside an expression have 127 bits, so that regrouping a sum
// cannot make it fail; a value that does not fit there, or a result that does not fit int64_t, is
// an error (KC_EXPR_OVERFLOW), never a wrap. `//` is floor division, `%` has the divisor's sign,
// `/` must divide exactly. Comparisons and and/or/not give 0 or 1; and/or evaluate left to right
// and stop early.
//
// Text, which kc_expr_print writes and kc_expr_parse reads (print then parse gives the same node):
//     (M + 127) // 128        min(K, 64)   max(a, b)   M % 8 == 0 and align.x >= 16   cdiv(M, 128)
// Symbols are [A-Za-z_][A-Za-z0-9_]* with dots inside allowed: `align.x`, `dev.multiprocessors`.
//
// Expressions are immutable and interned in a pool: two equal (canonical) expressions of one pool
// are the same pointer. Constructors simplify: constants fold, sums and products are multiplied out
// into a sum of products in canonical order (a product is [constant *] factors; a sum ends with its
// constant; there is no KC_EXPR_SUB node, and cdiv by a constant becomes `//`), x*0, x//1, x%1,
// min/max of equal operands vanish, and facts are used (K % 8 is 0 when K is known to be a multiple
// of 8; (8*q)//8 is q; exact division cancels). A simplification may remove an error (x*0 where x
// overflows) but never changes a value. The order is by symbol name, so that text does not depend
// on the pool. The pool owns every node and symbol.
//
// Constructors give NULL when memory is out or the expression would pass KC_EXPR_MAX_DEPTH or
// _SIZE, and accept NULL operands, giving NULL: a chain of calls needs one check at its end.
#ifndef KC_IR_EXPR_H
#define KC_IR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kc_expr kc_expr;
typedef struct kc_expr_pool kc_expr_pool;

typedef enum {
    KC_EXPR_CONST, KC_EXPR_SYMBOL,
    KC_EXPR_ADD, KC_EXPR_SUB, KC_EXPR_MUL, KC_EXPR_FLOORDIV, KC_EXPR_MOD, KC_EXPR_DIV /* exact */,
    KC_EXPR_CDIV /* ceiling division */, KC_EXPR_MIN, KC_EXPR_MAX,
    KC_EXPR_EQ, KC_EXPR_NE, KC_EXPR_LT, KC_EXPR_LE, KC_EXPR_GT, KC_EXPR_GE,
    KC_EXPR_AND, KC_EXPR_OR, KC_EXPR_NOT,
} kc_expr_kind;

struct kc_expr {
    kc_expr_kind kind;
    int32_t symbol;           // KC_EXPR_SYMBOL: index in the pool's symbol table
    int64_t value;            // KC_EXPR_CONST
    const kc_expr *a, *b;     // operands; b is NULL for KC_EXPR_NOT
    uint64_t hash;
    int64_t min, max;         // sound bounds; INT64_MIN and INT64_MAX stand for "no bound"
    int64_t divisor;          // divides every value; 0 for the constant 0
    uint32_t depth, size;     // levels and nodes, counted as a tree
};

enum { KC_EXPR_MAX_DEPTH = 256, KC_EXPR_MAX_SIZE = 8192, KC_EXPR_MAX_NESTING = 64 };

typedef enum {
    KC_EXPR_OK, KC_EXPR_OVERFLOW, KC_EXPR_DIVIDE_BY_ZERO, KC_EXPR_INEXACT, KC_EXPR_UNBOUND,
} kc_expr_status;

typedef struct { int64_t min, max, multiple_of; } kc_expr_facts;

kc_expr_pool *kc_expr_pool_create(void);   // NULL when memory is out
void kc_expr_pool_destroy(kc_expr_pool *); // accepts NULL

// Symbols. Declaring twice returns the same index. Undeclared facts: INT64_MIN/4..INT64_MAX/4,
// multiple 1.
// kc_expr_symbol_index declares the symbol if it is absent; -1 when memory is out.
int kc_expr_symbol_index(kc_expr_pool *, const char *name, size_t length);
int kc_expr_symbol_count(const kc_expr_pool *);
const char *kc_expr_symbol_name(const kc_expr_pool *, int index);
// Facts are to be set before expressions that use the symbol are built.
void kc_expr_set_facts(kc_expr_pool *, int index, kc_expr_facts);
kc_expr_facts kc_expr_get_facts(const kc_expr_pool *, int index);

const kc_expr *kc_expr_const(kc_expr_pool *, int64_t);
const kc_expr *kc_expr_symbol(kc_expr_pool *, const char *name);
const kc_expr *kc_expr_binary(kc_expr_pool *, kc_expr_kind, const kc_expr *a, const kc_expr *b);
const kc_expr *kc_expr_not(kc_expr_pool *, const kc_expr *a);
// Shorthands for kc_expr_binary.
const kc_expr *kc_expr_add(kc_expr_pool *, const kc_expr *, const kc_expr *);
const kc_expr *kc_expr_sub(kc_expr_pool *, const kc_expr *, const kc_expr *);
const kc_expr *kc_expr_mul(kc_expr_pool *, const kc_expr *, const kc_expr *);
const kc_expr *kc_expr_cdiv(kc_expr_pool *, const kc_expr *, const kc_expr *);
// The same expression with symbol `index` replaced.
const kc_expr *kc_expr_substitute(kc_expr_pool *, const kc_expr *, int index, const kc_expr *by);
// A copy in another pool, symbols by name; a symbol new to `to` brings its facts.
// A symbol of which `to` knows more, so much that it has one value, is imported as that value.
const kc_expr *kc_expr_import(kc_expr_pool *to, const kc_expr_pool *from, const kc_expr *);

bool kc_expr_is_const(const kc_expr *, int64_t *value /* may be NULL */);
static inline bool kc_expr_is_one(const kc_expr *e) {
    int64_t value;
    return kc_expr_is_const(e, &value) && value == 1;
}
bool kc_expr_uses(const kc_expr *, int symbol);
// Sound bounds from the facts (saturating); divisor: the largest d known to divide every value (0
// for constant 0).
int64_t kc_expr_min_value(const kc_expr_pool *, const kc_expr *);
int64_t kc_expr_max_value(const kc_expr_pool *, const kc_expr *);
int64_t kc_expr_divisor(const kc_expr_pool *, const kc_expr *);
// True only when proved: a == b, a <= b for every value the facts allow.
bool kc_expr_known_equal(kc_expr_pool *, const kc_expr *a, const kc_expr *b);
bool kc_expr_known_le(kc_expr_pool *, const kc_expr *a, const kc_expr *b);
// When e is linear in `symbol` (e == c*symbol + rest, c a non-zero constant): gives c and rest.
bool kc_expr_linear_in(kc_expr_pool *, const kc_expr *e, int symbol, int64_t *c,
                       const kc_expr **rest);

// values[i] belongs to symbol i; bound[i] says whether it has a value (NULL: all are bound).
kc_expr_status kc_expr_eval(const kc_expr *, const int64_t *values, const bool *bound,
                            int64_t *out);
const char *kc_expr_status_text(kc_expr_status);

// Text. print returns the length that the whole text needs, as snprintf. parse: NULL on error, with
// *error a static sentence and *error_at the offset (either may be NULL). Brackets nest at most
// KC_EXPR_MAX_NESTING deep, in the text and in what it simplifies to. min and max take two or more
// operands.
size_t kc_expr_print(const kc_expr_pool *, const kc_expr *, char *buffer, size_t size);
const kc_expr *kc_expr_parse(kc_expr_pool *, const char *text, size_t length, const char **error,
                             size_t *error_at);

#endif
