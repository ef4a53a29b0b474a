// Types: construction, equality under the facts of a pool, element counts and strides.
#include "ir/internal.h"

static kc_type make(kc_type_kind kind, kc_dtype elem, int rank) {
    if (rank < 0 || rank > KC_MAX_RANK) kc_bug("a type of rank %d (at most %d)", rank, KC_MAX_RANK);
    return (kc_type){.kind = kind, .elem = elem, .rank = rank};
}

kc_type kc_type_tensor(kc_dtype elem, int rank, const kc_expr *const *shape) {
    kc_type type = make(KC_TYPE_TENSOR, elem, rank);
    for (int i = 0; i < rank; i++)
        type.shape[i] = shape[i];
    return type;
}

kc_type kc_type_import(kc_expr_pool *to, const kc_expr_pool *from, const kc_type *type) {
    kc_type copy = *type;
    for (int i = 0; from != to && type->kind == KC_TYPE_TENSOR && i < type->rank; i++) {
        if (type->shape[i]) copy.shape[i] = kc_expr_import(to, from, type->shape[i]);
        if (type->strides[i]) copy.strides[i] = kc_expr_import(to, from, type->strides[i]);
    }
    return copy;
}

kc_type kc_type_tile(kc_dtype elem, int rank, const int64_t *extents) {
    kc_type type = make(KC_TYPE_TILE, elem, rank);
    for (int i = 0; i < rank; i++)
        type.tile[i] = extents[i];
    return type;
}

kc_type kc_type_scalar(kc_dtype elem) {
    return make(KC_TYPE_TILE, elem, 0);
}

kc_type kc_type_shared(kc_dtype elem, int rank, const int64_t *extents) {
    kc_type type = kc_type_tile(elem, rank, extents);
    type.kind = KC_TYPE_SHARED;
    return type;
}

kc_type kc_type_token(void) {
    return make(KC_TYPE_TOKEN, KC_DTYPE_NONE, 0);
}

kc_type kc_type_copy(const kc_type *tile) {
    kc_type type = *tile;
    type.kind = KC_TYPE_TOKEN;
    return type;
}

bool kc_type_is_group(const kc_type *type) {
    return type->kind == KC_TYPE_TOKEN && type->elem == KC_DTYPE_NONE;
}

static bool same(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    return a == b || (a && b && pool && kc_expr_known_equal(pool, a, b));
}

bool kc_type_same_shape(kc_expr_pool *pool, const kc_type *a, const kc_type *b) {
    if (a->kind != b->kind || a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->kind == KC_TYPE_TENSOR ? !same(pool, a->shape[i], b->shape[i])
                                      : a->tile[i] != b->tile[i])
            return false;
    return true;
}

// Contiguous strides may be given or implied; without a pool to compute them only like is like.
static bool same_strides(kc_expr_pool *pool, const kc_type *a, const kc_type *b) {
    if (a->kind != KC_TYPE_TENSOR || (!a->strides[0] && !b->strides[0])) return true;
    if (!pool && (!a->strides[0] || !b->strides[0])) return false;
    for (int i = 0; i < a->rank; i++) {
        const kc_expr *x = a->strides[0] ? a->strides[i] : kc_type_stride(pool, a, i);
        const kc_expr *y = b->strides[0] ? b->strides[i] : kc_type_stride(pool, b, i);
        if (!same(pool, x, y)) return false;
    }
    return true;
}

bool kc_type_equal(kc_expr_pool *pool, const kc_type *a, const kc_type *b) {
    return a->elem == b->elem && kc_type_same_shape(pool, a, b) && same_strides(pool, a, b) &&
           kc_layout_same(a->layout, b->layout);
}

int64_t kc_tile_elements(const kc_type *type) {
    int64_t n = 1;
    for (int i = 0; i < type->rank; i++)
        if (__builtin_mul_overflow(n, type->tile[i], &n))
            kc_bug("a tile with more than 2^63 elements");
    return n;
}

static const kc_expr *product(kc_expr_pool *pool, const kc_type *type, int from) {
    const kc_expr *n = kc_expr_const(pool, 1);
    for (int i = from; i < type->rank; i++)
        n = kc_expr_mul(pool, n, type->shape[i]);
    return n;
}

const kc_expr *kc_type_stride(kc_expr_pool *pool, const kc_type *type, int d) {
    return type->strides[0] ? type->strides[d] : product(pool, type, d + 1);
}

const kc_expr *kc_type_elements(kc_expr_pool *pool, const kc_type *type) {
    return product(pool, type, 0);
}

const kc_expr *kc_type_bytes(kc_expr_pool *pool, const kc_type *type) {
    const kc_expr *elements = kc_type_elements(pool, type);
    if (kc_dtype_is_packed(type->elem)) return kc_expr_cdiv(pool, elements, kc_expr_const(pool, 2));
    return kc_expr_mul(pool, elements, kc_expr_const(pool, kc_dtype_bytes(type->elem)));
}

const char *kc_type_packing(kc_expr_pool *pool, const kc_type *type) {
    int last = type->rank - 1;
    if (!kc_dtype_is_packed(type->elem)) return NULL;
    if (last < 0) return "has rank 0: 4-bit elements stand two a byte along a last dimension";
    if (kc_expr_divisor(pool, type->shape[last]) % 2)
        return "has a last dimension not known to be even (multiple_of: 2): 4-bit elements stand "
               "two "
               "a byte along it";
    for (int d = 0; type->strides[0] && d < type->rank; d++) {
        if (d == last && !kc_expr_is_one(type->strides[d]))
            return "has a last stride other than 1: 4-bit elements stand two a byte";
        if (d < last && kc_expr_divisor(pool, type->strides[d]) % 2)
            return "has a stride not known to be even (multiple_of: 2): 4-bit elements stand two a "
                   "byte";
    }
    return NULL;
}

int kc_type_unit_stride(kc_expr_pool *pool, const kc_type *type) {
    int unit = -1;
    for (int d = type->rank - 1; d >= 0; d--) {
        if (!kc_expr_is_one(kc_type_stride(pool, type, d))) continue;
        if (!kc_expr_is_one(type->shape[d])) return d;
        if (unit < 0) unit = d;
    }
    return unit;
}
