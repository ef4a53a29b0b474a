// Shared memory: what an access costs, and the layout that makes writer and reader cheapest.
//
// Let a memory layout have columns c0 c1 ... (what offset bits add to the coordinates). The first
// few are the *vector*: elements that one thread moves together. The next fill one row of all
// banks; the rest are *segments*, steps that come back to the same bank. Lanes that go together
// span a space Q of coordinates (with the vector, and with what shares a 4-byte word); the access
// is free of conflicts exactly when no segment step lies in Q. So the segments must be chosen
// outside both the writer's Q and the reader's, and that is always possible for two spaces no
// larger than a row of banks: take vectors outside their sum, then sums of one vector that only the
// writer has and one that only the reader has. The latter are the swizzle.
#include "ir/layout.h"
#include "ir/layout_span.h"

#include <string.h>

enum { WORD_BYTES = 4, VECTOR_BYTES = 16 };

static int log2_of(int v) {
    return 31 - __builtin_clz((unsigned)v);
}

kc_linear kc_layout_access(const kc_layout *threads, const kc_layout *memory) {
    kc_linear to_offset = kc_layout_invert(memory), where = kc_layout_linear(threads);
    return kc_linear_compose(&to_offset, &where);
}

bool kc_layout_run_in(const kc_layout *threads, const kc_layout *memory, int n) {
    kc_linear access = kc_layout_access(threads, memory);
    int bits = log2_of(n);
    if (bits > threads->bits[KC_LAYOUT_REGISTER] || bits > memory->bits[KC_LAYOUT_OFFSET])
        return false;
    for (int i = 0; i < access.ins; i++)
        if (i < bits ? access.column[i] != UINT32_C(1) << i
                     : (access.column[i] & (uint32_t)(n - 1)) != 0)
            return false;
    return true;
}

// ---- cost ---------------------------------------------------------------------------------------

// log2 of the longest vector: offset bits 0, 1, ... are each a register's own, and no other thread
// has them.
static int vector_bits(const kc_layout *threads, const kc_linear *access, int element_bytes) {
    int most = log2_of(VECTOR_BYTES / element_bytes), registers = threads->bits[KC_LAYOUT_REGISTER];
    int n = 0;
    for (; n < most; n++) {
        bool found = false, alone = true;
        for (int i = 0; i < access->ins; i++) {
            if (i < registers) found |= access->column[i] == UINT32_C(1) << n;
            else alone &= (access->column[i] >> n & 1) == 0;
        }
        if (!found || !alone) break;
    }
    return n;
}

// log2 of how many lanes go together when each moves a vector of that size.
static int group_bits(const kc_layout *threads, int vector_bytes, int banks) {
    int word = vector_bytes < WORD_BYTES ? WORD_BYTES : vector_bytes;
    int together = banks * WORD_BYTES / word, lanes = threads->bits[KC_LAYOUT_LANE];
    int n = together < 1 ? 0 : log2_of(together);
    return n < lanes ? n : lanes;
}

// log2 of the wavefronts of one group. Words that the group touches form a space; each bank that is
// touched is touched by equally many of them.
static int group_conflict_bits(const kc_layout *threads, const kc_linear *access, int vector,
                               int element_bytes, int banks) {
    int lanes = group_bits(threads, element_bytes << vector, banks);
    int in_word = element_bytes < WORD_BYTES ? log2_of(WORD_BYTES / element_bytes) : 0;
    int row = log2_of(banks * WORD_BYTES / element_bytes);
    uint32_t row_mask = (UINT32_C(1) << row) - 1;
    kc_span words = {.rank = 0}, in_row = {.rank = 0};
    for (int i = 0; i < vector + lanes; i++) {
        int column = threads->bits[KC_LAYOUT_REGISTER] + i - vector;
        uint32_t v = i < vector ? UINT32_C(1) << i : access->column[column];
        kc_span_add(&words, v >> in_word, 0);
        kc_span_add(&in_row, (v & row_mask) >> in_word, 0);
    }
    return words.rank - in_row.rank;
}

static int64_t repetitions(const kc_layout *l) {
    return kc_layout_count(l, KC_LAYOUT_REGISTER) >> l->bits[KC_LAYOUT_REGISTER];
}

kc_layout_cost kc_layout_access_cost(const kc_layout *threads, const kc_layout *memory,
                                     int element_bytes, int banks) {
    kc_linear access = kc_layout_access(threads, memory);
    int vector = vector_bits(threads, &access, element_bytes);
    uint32_t copies = kc_layout_replicas(threads, KC_LAYOUT_REGISTER);
    int registers = threads->bits[KC_LAYOUT_REGISTER] - __builtin_popcount(copies);
    kc_layout_cost cost = {.vector_bytes = element_bytes << vector};
    int groups = threads->bits[KC_LAYOUT_LANE] - group_bits(threads, cost.vector_bytes, banks);
    cost.instructions = repetitions(threads) << (registers - vector);
    int conflict = group_conflict_bits(threads, &access, vector, element_bytes, banks);
    cost.wavefronts = cost.instructions << (groups + conflict);
    cost.conflicts = cost.wavefronts - (cost.instructions << groups);
    return cost;
}

// ---- choice -------------------------------------------------------------------------------------

typedef struct {
    const kc_layout *writer, *reader;
    int element_bytes, banks, size; // size: log2 of the tile
    int kept;                       // first registers of the writer that come first in memory
} problem;

static bool has_register(const kc_layout *l, uint32_t v) {
    for (int i = 0; i < l->bits[KC_LAYOUT_REGISTER]; i++)
        if (l->basis[KC_LAYOUT_REGISTER][i] == v) return true;
    return false;
}

// Registers of `from` that are (or are not) also registers of `other`, lowest coordinates first,
// after those already in `vectors`.
static int add_registers(const kc_layout *from, const kc_layout *other, bool common,
                         uint32_t *vectors, int n) {
    int start = n;
    kc_span s = {.rank = 0};
    for (int i = 0; i < n; i++)
        kc_span_add(&s, vectors[i], 0);
    for (int i = 0; i < from->bits[KC_LAYOUT_REGISTER]; i++) {
        uint32_t v = from->basis[KC_LAYOUT_REGISTER][i];
        if (has_register(other, v) != common || !kc_span_add(&s, v, 0)) continue;
        int j = n++;
        for (; j > start && vectors[j - 1] > v; j--)
            vectors[j] = vectors[j - 1];
        vectors[j] = v;
    }
    return n;
}

// The columns of a memory layout under construction, and the space that they span.
typedef struct {
    int n;
    uint32_t column[32];
    kc_span span;
} basis;

static void add_column(basis *b, uint32_t v) {
    if (kc_span_add(&b->span, v, 0)) b->column[b->n++] = v;
}

static void add_place(basis *b, const kc_layout *l, kc_layout_place p) {
    for (int i = 0; i < l->bits[p]; i++)
        add_column(b, l->basis[p][i]);
}

// Completes the vector (the first columns) to a basis by a complement in which threads come first:
// vectors can then be moved whole, whatever thread moves them.
static basis complement(const problem *p, const uint32_t *vectors, int vector) {
    basis all = {.n = 0}, rest = {.n = 0};
    for (int i = 0; i < vector; i++)
        add_column(&all, vectors[i]);
    for (kc_layout_place place = KC_LAYOUT_LANE; place <= KC_LAYOUT_BLOCK; place++) {
        add_place(&all, p->writer, place);
        add_place(&all, p->reader, place);
    }
    for (int i = 0; i < p->size; i++)
        add_column(&all, UINT32_C(1) << i);
    rest.n = all.n - vector;
    memcpy(rest.column, all.column + vector, (size_t)rest.n * sizeof rest.column[0]);
    return rest;
}

// v without its part in the vector: its part in the complement.
static uint32_t project(const uint32_t *vectors, int vector, const basis *rest, uint32_t v) {
    kc_span s = {.rank = 0};
    uint32_t made_of = 0, out = 0;
    for (int i = 0; i < vector; i++)
        kc_span_add(&s, vectors[i], 0);
    for (int i = 0; i < rest->n; i++)
        kc_span_add(&s, rest->column[i], UINT32_C(1) << i);
    kc_span_reduce(&s, v, &made_of);
    for (int i = 0; i < rest->n; i++)
        if (made_of >> i & 1) out ^= rest->column[i];
    return out;
}

// The space Q of one side: lanes that go together, and what shares a word with them.
static basis together(const problem *p, const kc_layout *side, const uint32_t *vectors, int vector,
                      const basis *rest, const uint32_t *word, int in_word) {
    int own = 0;
    while (own < vector && has_register(side, vectors[own]))
        own++;
    int lanes = group_bits(side, p->element_bytes << own, p->banks);
    basis q = {.n = 0};
    for (int i = 0; i < in_word; i++)
        add_column(&q, word[i]);
    for (int i = 0; i < lanes; i++)
        add_column(&q, project(vectors, vector, rest, side->basis[KC_LAYOUT_LANE][i]));
    return q;
}

// `count` segment steps outside a and b as far as that can be; see the head of the file.
static basis choose_segments(const basis *a, const basis *b, const basis *rest, int count) {
    basis sum_a = *a, sum_b = *b, segments = {.n = 0};
    for (int i = 0; i < b->n; i++)
        add_column(&sum_a, b->column[i]); // then: what only b has
    for (int i = 0; i < a->n; i++)
        add_column(&sum_b, a->column[i]);
    basis outside = sum_a;
    for (int i = 0; i < rest->n; i++)
        add_column(&outside, rest->column[i]);
    for (int i = outside.n - 1; i >= sum_a.n && segments.n < count; i--)
        add_column(&segments, outside.column[i]);
    int pairs = sum_a.n - a->n < sum_b.n - b->n ? sum_a.n - a->n : sum_b.n - b->n;
    for (int i = 0; i < pairs && segments.n < count; i++)
        add_column(&segments, sum_a.column[a->n + i] ^ sum_b.column[b->n + i]);
    for (int i = rest->n - 1; i >= 0 && segments.n < count; i--)
        add_column(&segments, rest->column[i]);
    return segments;
}

// The memory layout whose first offset bits are these vectors.
static kc_layout with_vector(const problem *p, const uint32_t *vectors, int vector) {
    kc_layout l = *p->writer;
    l.memory = true;
    memset(l.bits, 0, sizeof l.bits);
    int row = log2_of(p->banks * WORD_BYTES / p->element_bytes);
    int word = p->element_bytes < WORD_BYTES ? log2_of(WORD_BYTES / p->element_bytes) : 0;
    int in_word = word > vector ? word - vector : 0; // elements of a word that no vector joins
    basis rest = complement(p, vectors, vector), columns = {.n = 0};
    if (in_word > rest.n) in_word = rest.n;
    basis a = together(p, p->writer, vectors, vector, &rest, rest.column, in_word);
    basis b = together(p, p->reader, vectors, vector, &rest, rest.column, in_word);
    basis segments = choose_segments(&a, &b, &rest, p->size > row ? p->size - row : 0);
    // The row is any complement of the segments; the order of `rest` keeps the writer's addresses
    // simple.
    basis spare = segments;
    for (int i = 0; i < rest.n; i++) {
        int before = spare.n;
        add_column(&spare, rest.column[i]);
        if (spare.n > before) columns.column[columns.n++] = rest.column[i];
    }
    int n = 0;
    for (int i = 0; i < vector; i++)
        l.basis[KC_LAYOUT_OFFSET][n++] = vectors[i];
    for (int i = 0; i < columns.n; i++)
        l.basis[KC_LAYOUT_OFFSET][n++] = columns.column[i];
    for (int i = 0; i < segments.n; i++)
        l.basis[KC_LAYOUT_OFFSET][n++] = segments.column[i];
    l.bits[KC_LAYOUT_OFFSET] = (uint8_t)n;
    return l;
}

static void keep_better(const problem *p, const kc_layout *candidate, kc_layout_cost *best,
                        kc_layout *out) {
    kc_layout_cost a = kc_layout_access_cost(p->writer, candidate, p->element_bytes, p->banks);
    kc_layout_cost b = kc_layout_access_cost(p->reader, candidate, p->element_bytes, p->banks);
    int64_t wavefronts = a.wavefronts + b.wavefronts;
    int64_t instructions = a.instructions + b.instructions;
    bool better = best->vector_bytes == 0 || wavefronts < best->wavefronts ||
                  (wavefronts == best->wavefronts && instructions < best->instructions);
    if (!better) return;
    *best = (kc_layout_cost){1, instructions, wavefronts, 0};
    *out = *candidate;
}

// Vectors of registers that both sides have; and all of those with any few that only `one` has,
// which lets `one` move more at once at no or some cost to `other`.
static void try_vectors(const problem *p, const kc_layout *one, const kc_layout *other,
                        kc_layout_cost *best, kc_layout *chosen) {
    enum { MOST_EXTRA = 8 };
    uint32_t registers[32], vectors[32];
    int most = log2_of(VECTOR_BYTES / p->element_bytes);
    memcpy(registers, p->writer->basis[KC_LAYOUT_REGISTER], (size_t)p->kept * sizeof registers[0]);
    int common = add_registers(one, other, true, registers, p->kept);
    int extra = add_registers(one, other, false, registers, common) - common;
    int joined = common < most ? common : most;
    for (int n = joined - 1; n >= p->kept; n--) {
        kc_layout candidate = with_vector(p, registers, n);
        keep_better(p, &candidate, best, chosen);
    }
    for (unsigned mask = 0; mask < 1u << (extra < MOST_EXTRA ? extra : MOST_EXTRA); mask++) {
        int n = joined;
        if (n + __builtin_popcount(mask) > most) continue;
        memcpy(vectors, registers, sizeof vectors);
        for (int i = 0; i < MOST_EXTRA; i++)
            if (mask >> i & 1) vectors[n++] = registers[common + i];
        kc_layout candidate = with_vector(p, vectors, n);
        keep_better(p, &candidate, best, chosen);
    }
}

const char *kc_layout_choose_memory(kc_layout *out, const kc_layout *writer,
                                    const kc_layout *reader, int element_bytes, int banks,
                                    int kept) {
    if (writer->memory || reader->memory) return "shared memory joins two layouts of threads";
    if (!kc_layout_same_shape(writer, reader)) return "writer and reader have one shape";
    if (!kc_layout_is_surjective(writer)) return "the writer does not hold every element";
    if (element_bytes < 1 || element_bytes > 16 || (element_bytes & (element_bytes - 1)) != 0)
        return "an element in shared memory has 1, 2, 4, 8 or 16 bytes";
    if (banks < 1 || banks > 1024 || (banks & (banks - 1)) != 0 ||
        banks * WORD_BYTES < element_bytes)
        return "the number of banks is a power of two";
    if (kept < 1 || kept * element_bytes > VECTOR_BYTES ||
        log2_of(kept) > writer->bits[KC_LAYOUT_REGISTER])
        return "what is kept together is a vector of the writer";
    problem p = {writer, reader, element_bytes, banks, 0, log2_of(kept)};
    for (int d = 0; d < writer->rank; d++)
        p.size += writer->log_tile[d];
    if (p.size > KC_LAYOUT_MAX_BITS) return "a tile in shared memory has at most 2^20 elements";
    kc_layout_cost best = {0};
    kc_layout chosen = *writer;
    try_vectors(&p, writer, reader, &best, &chosen);
    try_vectors(&p, reader, writer, &best, &chosen);
    *out = chosen;
    return NULL;
}
