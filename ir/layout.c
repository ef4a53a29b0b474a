// The algebra of layouts; layout.h explains it. Vectors are flat coordinates (uint32_t), so that
// everything below is elimination over columns of bits; only making, printing and reshaping look at
// single dimensions.
#include "ir/layout.h"
#include "ir/layout_span.h"

#include <string.h>

// ---- matrices -----------------------------------------------------------------------------------

uint32_t kc_linear_apply(const kc_linear *m, uint32_t in) {
    uint32_t out = 0;
    for (int i = 0; i < m->ins; i++)
        if (in >> i & 1) out ^= m->column[i];
    return out;
}

kc_linear kc_linear_compose(const kc_linear *outer, const kc_linear *inner) {
    kc_linear m = {.ins = inner->ins};
    for (int i = 0; i < inner->ins; i++)
        m.column[i] = kc_linear_apply(outer, inner->column[i]);
    return m;
}

uint32_t kc_span_reduce(const kc_span *s, uint32_t v, uint32_t *made_of) {
    for (int p = 31; p >= 0; p--)
        if (v >> p & 1 && s->vector[p] != 0) {
            v ^= s->vector[p];
            *made_of ^= s->made_of[p];
        }
    return v;
}

bool kc_span_add(kc_span *s, uint32_t v, uint32_t made_of) {
    uint32_t rest = kc_span_reduce(s, v, &made_of);
    if (rest == 0) return false;
    int p = 31 - __builtin_clz(rest);
    s->vector[p] = rest;
    s->made_of[p] = made_of;
    s->rank++;
    return true;
}

// ---- coordinates --------------------------------------------------------------------------------

static int shift_of(const kc_layout *l, int dim) {
    int shift = 0;
    for (int d = dim + 1; d < l->rank; d++)
        shift += l->log_tile[d];
    return shift;
}

static int tile_bits(const kc_layout *l) {
    return shift_of(l, -1);
}

static uint32_t unit(const kc_layout *l, int dim, int bit) {
    return UINT32_C(1) << (shift_of(l, dim) + bit);
}

static uint32_t part(const kc_layout *l, uint32_t flat, int dim) {
    return flat >> shift_of(l, dim) & ((UINT32_C(1) << l->log_tile[dim]) - 1);
}

// A flat coordinate of `from` as one of `to`: dimension d of `to` is dimension from_dim[d] of
// `from` (NULL: the same), moved up by lift[d] bits (NULL: not at all).
static uint32_t reflat(const kc_layout *from, const kc_layout *to, uint32_t flat,
                       const int *from_dim, const uint8_t *lift) {
    uint32_t out = 0;
    for (int d = 0; d < to->rank; d++)
        out |= part(from, flat, from_dim ? from_dim[d] : d)
               << (lift ? lift[d] : 0) << shift_of(to, d);
    return out;
}

static int place_bits(const kc_layout *l) {
    int bits = 0;
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        bits += l->bits[p];
    return bits;
}

static int repetitions(const kc_layout *l) {
    int n = 1;
    for (int d = 0; d < l->rank; d++)
        n *= l->reps[d];
    return n;
}

static kc_layout_place repeated_place(const kc_layout *l) {
    return l->memory ? KC_LAYOUT_OFFSET : KC_LAYOUT_REGISTER;
}

static const char *check_size(const kc_layout *l) {
    int64_t n = 1;
    for (int d = 0; d < l->rank; d++) {
        n *= l->reps[d];
        if (n > KC_LAYOUT_MAX_REPS) return "a layout has at most 32767 repetitions";
    }
    int bits = l->bits[repeated_place(l)];
    if (tile_bits(l) > 31 || n << tile_bits(l) > INT32_MAX)
        return "a tile has less than 2^31 elements";
    if (n << bits > INT32_MAX) return "a layout has less than 2^31 registers or offsets";
    return NULL;
}

const char *kc_layout_check(const kc_layout *l) {
    if (l->rank < 1 || l->rank > KC_LAYOUT_MAX_RANK) return "a layout has 1 to 6 dimensions";
    for (int d = 0; d < l->rank; d++) {
        if (l->reps[d] % 2 == 0) return "repetitions are odd: factors of two belong into the tile";
        if (l->log_tile[d] > 31) return "a tile has less than 2^31 elements";
    }
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        if (l->bits[p] > KC_LAYOUT_MAX_BITS) return "a hardware dimension has at most 20 bits";
    const char *error = check_size(l);
    if (error != NULL) return error;
    for (int p = 0; p < KC_LAYOUT_PLACES; p++) {
        if (l->bits[p] > 0 && (p == KC_LAYOUT_OFFSET) != l->memory)
            return "a memory layout has offsets alone, any other has none";
        for (int i = 0; i < l->bits[p]; i++)
            if (l->basis[p][i] >> tile_bits(l) != 0) return "a vector lies outside the tile";
    }
    return place_bits(l) > 31 ? "a layout has at most 31 hardware bits" : NULL;
}

// ---- making layouts -----------------------------------------------------------------------------

static bool is_power_of_two(int v) {
    return v > 0 && (v & (v - 1)) == 0;
}

static int log2_of(int v) {
    return 31 - __builtin_clz((unsigned)v);
}

static const char *check_shape(int rank, const int *shape, const int *order) {
    if (rank < 1 || rank > KC_LAYOUT_MAX_RANK) return "a layout has 1 to 6 dimensions";
    unsigned seen = 0;
    int bits = 0;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 1) return "an extent of a layout is at least 1";
        bits += log2_of(shape[d]) + !is_power_of_two(shape[d]);
        if (order != NULL && (order[d] < 0 || order[d] >= rank || seen >> order[d] & 1))
            return "the order names each dimension once, as 0 to rank - 1";
        if (order != NULL) seen |= 1u << order[d];
    }
    return bits > 31 ? "a tile has less than 2^31 elements" : NULL;
}

static kc_layout empty_layout(int rank, const int *shape, bool memory) {
    kc_layout l = {.rank = (uint8_t)rank, .memory = memory};
    for (int d = 0; d < rank; d++) {
        l.log_tile[d] = (uint8_t)__builtin_ctz((unsigned)shape[d]);
        int reps = shape[d] >> l.log_tile[d];
        l.reps[d] = reps > UINT16_MAX ? UINT16_MAX : (uint16_t)reps; // refused by kc_layout_check
    }
    return l;
}

static const char *push(kc_layout *l, kc_layout_place place, uint32_t vector) {
    if (l->bits[place] == KC_LAYOUT_MAX_BITS) return "a hardware dimension has at most 20 bits";
    l->basis[place][l->bits[place]++] = vector;
    return NULL;
}

static const char *finish(kc_layout *out, const kc_layout *made, const char *error) {
    if (error == NULL) error = kc_layout_check(made);
    if (error == NULL) *out = *made;
    return error;
}

// Gives the next bits of `place` the next bits of each dimension in turn; beyond the tile,
// registers get nothing and threads zero vectors. used[d] counts the bits of dimension d that are
// given.
static const char *deal(kc_layout *l, kc_layout_place place, const int *sizes, const int *order,
                        int *used) {
    const char *error = NULL;
    for (int i = 0; i < l->rank; i++) {
        int d = order != NULL ? order[i] : l->rank - 1 - i;
        int n = sizes != NULL ? log2_of(sizes[d]) : l->log_tile[d];
        for (int b = 0; b < n && error == NULL; b++) {
            bool inside = used[d] < l->log_tile[d];
            if (inside) error = push(l, place, unit(l, d, used[d]++));
            else if (place == KC_LAYOUT_LANE || place == KC_LAYOUT_WARP || place == KC_LAYOUT_BLOCK)
                error = push(l, place, 0);
        }
    }
    return error;
}

const char *kc_layout_blocked(kc_layout *out, const kc_layout_blocked_spec *spec) {
    const char *error = check_shape(spec->rank, spec->shape, spec->order);
    if (error != NULL) return error;
    int blocks[KC_LAYOUT_MAX_RANK], used[KC_LAYOUT_MAX_RANK] = {0};
    for (int d = 0; d < spec->rank; d++) {
        blocks[d] = spec->blocks[d] == 0 ? 1 : spec->blocks[d];
        if (!is_power_of_two(spec->size_per_thread[d]) || !is_power_of_two(spec->lanes[d]) ||
            !is_power_of_two(spec->warps[d]) || !is_power_of_two(blocks[d]))
            return "elements a thread, lanes, warps and blocks are powers of two in each dimension";
    }
    kc_layout l = empty_layout(spec->rank, spec->shape, false);
    const int *order = spec->order;
    error = deal(&l, KC_LAYOUT_REGISTER, spec->size_per_thread, order, used);
    if (error == NULL) error = deal(&l, KC_LAYOUT_LANE, spec->lanes, order, used);
    if (error == NULL) error = deal(&l, KC_LAYOUT_WARP, spec->warps, order, used);
    if (error == NULL) error = deal(&l, KC_LAYOUT_BLOCK, blocks, order, used);
    if (error == NULL) error = deal(&l, KC_LAYOUT_REGISTER, NULL, order, used);
    return finish(out, &l, error);
}

const char *kc_layout_memory(kc_layout *out, int rank, const int *shape, const int *order) {
    const char *error = check_shape(rank, shape, order);
    if (error != NULL) return error;
    kc_layout l = empty_layout(rank, shape, true);
    int used[KC_LAYOUT_MAX_RANK] = {0};
    error = deal(&l, KC_LAYOUT_OFFSET, NULL, order, used);
    return finish(out, &l, error);
}

const char *kc_layout_extend(kc_layout *out, const kc_layout *fragment, const int *shape,
                             const int *order) {
    const char *error = check_shape(fragment->rank, shape, order);
    if (error != NULL) return error;
    kc_layout l = empty_layout(fragment->rank, shape, fragment->memory);
    int used[KC_LAYOUT_MAX_RANK] = {0};
    for (int d = 0; d < l.rank; d++) {
        used[d] = fragment->log_tile[d];
        if (fragment->reps[d] != 1) return "a layout with repetitions cannot be extended";
        if (used[d] > l.log_tile[d]) return "an extent is no multiple of the fragment's";
    }
    memcpy(l.bits, fragment->bits, sizeof l.bits);
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l.bits[p]; i++)
            l.basis[p][i] = reflat(fragment, &l, fragment->basis[p][i], NULL, NULL);
    error = deal(&l, repeated_place(&l), NULL, order, used);
    return finish(out, &l, error);
}

// ---- asking -------------------------------------------------------------------------------------

int kc_layout_extent(const kc_layout *l, int dim) {
    return l->reps[dim] << l->log_tile[dim];
}

uint32_t kc_layout_count(const kc_layout *l, kc_layout_place place) {
    return (place == repeated_place(l) ? (uint32_t)repetitions(l) : 1) << l->bits[place];
}

void kc_layout_apply(const kc_layout *l, const uint32_t place[KC_LAYOUT_PLACES], int *coordinates) {
    uint32_t flat = 0;
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l->bits[p]; i++)
            if (place[p] >> i & 1) flat ^= l->basis[p][i];
    uint32_t repetition = place[repeated_place(l)] >> l->bits[repeated_place(l)];
    for (int d = l->rank - 1; d >= 0; d--) {
        coordinates[d] = (int)(repetition % l->reps[d] << l->log_tile[d] | part(l, flat, d));
        repetition /= l->reps[d];
    }
}

bool kc_layout_same_shape(const kc_layout *a, const kc_layout *b) {
    return a->rank == b->rank && memcmp(a->log_tile, b->log_tile, a->rank) == 0 &&
           memcmp(a->reps, b->reps, a->rank * sizeof a->reps[0]) == 0;
}

bool kc_layout_equal(const kc_layout *a, const kc_layout *b) {
    if (!kc_layout_same_shape(a, b) || a->memory != b->memory) return false;
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        if (a->bits[p] != b->bits[p] ||
            memcmp(a->basis[p], b->basis[p], a->bits[p] * sizeof a->basis[0][0]) != 0)
            return false;
    return true;
}

uint64_t kc_layout_hash(const kc_layout *l) {
    uint64_t h = (uint64_t)l->rank << 1 | l->memory;
#define MIX(v) (h = (h ^ (v)) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29)
    for (int d = 0; d < l->rank; d++)
        MIX((uint64_t)l->log_tile[d] << 16 | l->reps[d]);
    for (int p = 0; p < KC_LAYOUT_PLACES; p++) {
        MIX(l->bits[p]);
        for (int i = 0; i < l->bits[p]; i++)
            MIX(l->basis[p][i]);
    }
#undef MIX
    return h;
}

kc_linear kc_layout_linear(const kc_layout *l) {
    kc_linear m = {0};
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l->bits[p]; i++)
            m.column[m.ins++] = l->basis[p][i];
    return m;
}

static kc_span span_of(const kc_linear *m) {
    kc_span s = {.rank = 0};
    for (int i = 0; i < m->ins; i++)
        kc_span_add(&s, m->column[i], UINT32_C(1) << i);
    return s;
}

bool kc_layout_is_surjective(const kc_layout *l) {
    kc_linear m = kc_layout_linear(l);
    return span_of(&m).rank == tile_bits(l);
}

uint32_t kc_layout_replicas(const kc_layout *l, kc_layout_place wanted) {
    kc_span s = {.rank = 0};
    uint32_t mask = 0;
    for (kc_layout_place p = 0; p <= wanted; p++)
        for (int i = 0; i < l->bits[p]; i++)
            if (!kc_span_add(&s, l->basis[p][i], 0) && p == wanted) mask |= UINT32_C(1) << i;
    return mask;
}

int kc_layout_run(const kc_layout *l, int dim) {
    int n = 0;
    for (; n < l->log_tile[dim]; n++) {
        uint32_t wanted = unit(l, dim, n);
        int holders = 0, users = 0; // vectors that are this bit, and that have it
        for (int p = 0; p < KC_LAYOUT_PLACES; p++)
            for (int i = 0; i < l->bits[p]; i++) {
                users += (l->basis[p][i] & wanted) != 0;
                holders += p == (int)repeated_place(l) && l->basis[p][i] == wanted;
            }
        if (holders != 1 || users != 1) break;
    }
    return 1 << n;
}

// ---- algebra ------------------------------------------------------------------------------------

kc_linear kc_layout_invert(const kc_layout *l) {
    kc_linear m = kc_layout_linear(l), inverse = {.ins = tile_bits(l)};
    kc_span s = span_of(&m);
    for (int i = 0; i < inverse.ins; i++)
        kc_span_reduce(&s, UINT32_C(1) << i, &inverse.column[i]);
    return inverse;
}

const char *kc_layout_product(kc_layout *out, const kc_layout *inner, const kc_layout *outer) {
    if (inner->rank != outer->rank) return "the factors of a product have one rank";
    if (inner->memory != outer->memory) return "a memory layout multiplies only with another";
    if (repetitions(inner) != 1) return "the inner factor of a product has no repetitions";
    kc_layout l = *outer;
    for (int d = 0; d < l.rank; d++)
        l.log_tile[d] = (uint8_t)(l.log_tile[d] + inner->log_tile[d]);
    if (tile_bits(&l) > 31) return "a tile has less than 2^31 elements";
    const char *error = NULL;
    for (kc_layout_place p = 0; p < KC_LAYOUT_PLACES; p++) {
        l.bits[p] = 0;
        for (int i = 0; i < inner->bits[p] && error == NULL; i++)
            error = push(&l, p, reflat(inner, &l, inner->basis[p][i], NULL, NULL));
        for (int i = 0; i < outer->bits[p] && error == NULL; i++)
            error = push(&l, p, reflat(outer, &l, outer->basis[p][i], NULL, inner->log_tile));
    }
    return finish(out, &l, error);
}

// The vector v of `whole` as one of the outer factor; false when it has a part inside the inner
// factor.
static bool outer_part(const kc_layout *whole, const kc_layout *inner, const kc_layout *outer,
                       uint32_t v, uint32_t *out) {
    *out = 0;
    for (int d = 0; d < whole->rank; d++) {
        uint32_t coordinate = part(whole, v, d);
        if (coordinate & ((UINT32_C(1) << inner->log_tile[d]) - 1)) return false;
        *out |= coordinate >> inner->log_tile[d] << shift_of(outer, d);
    }
    return true;
}

const char *kc_layout_divide(kc_layout *out, const kc_layout *whole, const kc_layout *inner) {
    if (inner->rank != whole->rank) return "the factors of a product have one rank";
    if (inner->memory != whole->memory) return "a memory layout is divided only by another";
    if (repetitions(inner) != 1) return "the inner factor of a product has no repetitions";
    kc_layout l = *whole;
    for (int d = 0; d < l.rank; d++) {
        if (inner->log_tile[d] > whole->log_tile[d]) return "the divisor is larger than the layout";
        l.log_tile[d] = (uint8_t)(whole->log_tile[d] - inner->log_tile[d]);
    }
    for (int p = 0; p < KC_LAYOUT_PLACES; p++) {
        int n = inner->bits[p];
        if (n > whole->bits[p]) return "the divisor has more hardware bits than the layout";
        for (int i = 0; i < n; i++)
            if (reflat(inner, whole, inner->basis[p][i], NULL, NULL) != whole->basis[p][i])
                return "the layout does not consist of whole copies of the divisor";
        l.bits[p] = (uint8_t)(whole->bits[p] - n);
        for (int i = 0; i < l.bits[p]; i++)
            if (!outer_part(whole, inner, &l, whole->basis[p][i + n], &l.basis[p][i]))
                return "the layout does not consist of whole copies of the divisor";
    }
    return finish(out, &l, NULL);
}

kc_layout kc_layout_slice(const kc_layout *from, int dim, bool compact) {
    kc_layout l = *from;
    l.log_tile[dim] = 0;
    l.reps[dim] = 1;
    for (kc_layout_place p = 0; p < KC_LAYOUT_PLACES; p++) {
        l.bits[p] = 0;
        for (int i = 0; i < from->bits[p]; i++) {
            uint32_t v = from->basis[p][i] &
                         ~(((UINT32_C(1) << from->log_tile[dim]) - 1) << shift_of(from, dim));
            bool drop = compact && p == repeated_place(from) && v == 0 && from->basis[p][i] != 0;
            int low = shift_of(from, dim);
            uint32_t below = v & ((UINT32_C(1) << low) - 1);
            v = v >> low >> from->log_tile[dim] << low | below;
            if (!drop) l.basis[p][l.bits[p]++] = v;
        }
    }
    return l;
}

const char *kc_layout_expand(kc_layout *out, const kc_layout *from, int dim, int extent) {
    if (kc_layout_extent(from, dim) != 1) return "only an extent of 1 can be expanded";
    int shape[KC_LAYOUT_MAX_RANK];
    for (int d = 0; d < from->rank; d++)
        shape[d] = kc_layout_extent(from, d);
    shape[dim] = extent;
    const char *error = check_shape(from->rank, shape, NULL);
    if (error != NULL) return error;
    kc_layout l = empty_layout(from->rank, shape, from->memory);
    memcpy(l.bits, from->bits, sizeof l.bits);
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l.bits[p]; i++)
            l.basis[p][i] = reflat(from, &l, from->basis[p][i], NULL, NULL);
    for (int b = 0; b < l.log_tile[dim] && error == NULL; b++)
        error = push(&l, repeated_place(&l), unit(&l, dim, b));
    return finish(out, &l, error);
}

kc_layout kc_layout_permute(const kc_layout *from, const int *permutation) {
    kc_layout l = *from;
    for (int d = 0; d < l.rank; d++) {
        l.log_tile[d] = from->log_tile[permutation[d]];
        l.reps[d] = from->reps[permutation[d]];
    }
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l.bits[p]; i++)
            l.basis[p][i] = reflat(from, &l, from->basis[p][i], permutation, NULL);
    return l;
}

const char *kc_layout_inside(kc_layout *out, const kc_layout *from, const kc_layout *whole) {
    kc_layout l = *from;
    if (from->rank != whole->rank) return "a part and the whole have one rank";
    for (int d = 0; d < l.rank; d++) {
        if (from->log_tile[d] > whole->log_tile[d]) return "the part is larger than the whole";
        l.log_tile[d] = whole->log_tile[d];
    }
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l.bits[p]; i++)
            l.basis[p][i] = reflat(from, &l, from->basis[p][i], NULL, NULL);
    *out = l;
    return NULL;
}

const char *kc_layout_embed(kc_layout *out, const kc_layout *from, int rank, const int *dims) {
    int shape[KC_LAYOUT_MAX_RANK];
    if (rank < from->rank || rank > KC_LAYOUT_MAX_RANK) return "a layout has 1 to 6 dimensions";
    for (int d = 0; d < rank; d++)
        shape[d] = 1;
    for (int d = 0; d < from->rank; d++)
        shape[dims[d]] = kc_layout_extent(from, d);
    kc_layout l = empty_layout(rank, shape, from->memory);
    memcpy(l.bits, from->bits, sizeof l.bits);
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < l.bits[p]; i++) {
            l.basis[p][i] = 0;
            for (int d = 0; d < from->rank; d++)
                l.basis[p][i] |= part(from, from->basis[p][i], d) << shift_of(&l, dims[d]);
        }
    return finish(out, &l, NULL);
}

const char *kc_layout_reshape(kc_layout *out, const kc_layout *from, int rank, const int *shape) {
    const char *error = check_shape(rank, shape, NULL);
    if (error != NULL) return error;
    kc_layout l = empty_layout(rank, shape, from->memory);
    if (repetitions(from) != 1 || repetitions(&l) != 1)
        return "a layout with repetitions cannot be reshaped";
    if (tile_bits(from) != tile_bits(&l)) return "a reshape keeps the number of elements";
    // Flat coordinates are row-major indices: they stay.
    memcpy(l.bits, from->bits, sizeof l.bits);
    memcpy(l.basis, from->basis, sizeof l.basis);
    return finish(out, &l, NULL);
}

// ---- conversions --------------------------------------------------------------------------------

// Solves for the place in `from`, looking only at places up to `reach`: bits of later places stay
// as they are in `to`. False when some element cannot be reached so.
static bool fetch(const kc_layout *from, const kc_layout *to, kc_layout_place reach,
                  kc_linear *source) {
    kc_span s = {.rank = 0};
    int first[KC_LAYOUT_PLACES + 1] = {0};
    for (int p = 0; p < KC_LAYOUT_PLACES; p++)
        first[p + 1] = first[p] + from->bits[p];
    for (kc_layout_place p = 0; p <= reach; p++)
        for (int i = 0; i < from->bits[p]; i++)
            kc_span_add(&s, from->basis[p][i], UINT32_C(1) << (first[p] + i));
    *source = (kc_linear){0};
    for (kc_layout_place p = 0; p < KC_LAYOUT_PLACES; p++)
        for (int i = 0; i < to->bits[p]; i++) {
            uint32_t made_of = 0, v = to->basis[p][i];
            bool stays = p > reach;
            if (stays && i >= from->bits[p]) return false;
            if (stays) v ^= from->basis[p][i], made_of = UINT32_C(1) << (first[p] + i);
            if (kc_span_reduce(&s, v, &made_of) != 0) return false;
            source->column[source->ins++] = made_of;
        }
    return true;
}

static kc_convert_kind convert(const kc_layout *from, const kc_layout *to, kc_linear *source) {
    if (from->memory || to->memory || !kc_layout_same_shape(from, to)) return KC_CONVERT_NEVER;
    static const kc_convert_kind kinds[] = {KC_CONVERT_REGISTERS, KC_CONVERT_SHUFFLE,
                                            KC_CONVERT_SHARED, KC_CONVERT_CLUSTER};
    for (kc_layout_place reach = KC_LAYOUT_REGISTER; reach <= KC_LAYOUT_BLOCK; reach++)
        if (fetch(from, to, reach, source)) return kinds[reach];
    return KC_CONVERT_NEVER;
}

kc_convert_kind kc_layout_convert_kind(const kc_layout *from, const kc_layout *to) {
    kc_linear ignored;
    if (kc_layout_equal(from, to)) return KC_CONVERT_NOTHING;
    return convert(from, to, &ignored);
}

kc_linear kc_layout_source(const kc_layout *from, const kc_layout *to) {
    kc_linear source = {.ins = place_bits(to)};
    for (int i = 0; i < source.ins; i++)
        source.column[i] = UINT32_C(1) << i;
    if (!kc_layout_equal(from, to)) convert(from, to, &source);
    return source;
}
