// Shared-memory layouts: wavefronts counted one by one against the formula, and the chosen layout
// against every layout there is, for small tiles.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ir/layout_test.h"

enum { WORD_BYTES = 4, MAX_BANKS = 64, MAX_WORDS = 4096 };

// ---- counting -----------------------------------------------------------------------------------

// Wavefronts of lanes [first, first + count) that each move vector_bytes at their byte address: in
// each wavefront a bank gives one word, to whoever wants it.
static int group_wavefronts(const uint32_t *address, int first, int count, int vector_bytes,
                            int banks) {
    static uint8_t seen[MAX_WORDS];
    int in_bank[MAX_BANKS] = {0}, most = 1;
    memset(seen, 0, sizeof seen);
    for (int lane = first; lane < first + count; lane++)
        for (int byte = 0; byte < vector_bytes; byte++) {
            uint32_t word = (address[lane] + (uint32_t)byte) / WORD_BYTES;
            assert_true(word < MAX_WORDS);
            if (seen[word]++) continue;
            if (++in_bank[word % (uint32_t)banks] > most) most = in_bank[word % (uint32_t)banks];
            seen[word] = 1;
        }
    return most;
}

typedef struct {
    int registers[16]; // in the order of the offsets that they go to
    int count;
} vector;

// One warp's access, one instruction at a time, as the hardware would. Replica registers move
// nothing.
static kc_layout_cost slow_cost(const kc_layout *threads, const kc_layout *memory,
                                int element_bytes, int banks, int elements) {
    kc_linear access = kc_layout_access(threads, memory);
    uint32_t copies = kc_layout_replicas(threads, KC_LAYOUT_REGISTER);
    int registers = 1 << threads->bits[KC_LAYOUT_REGISTER],
        lanes = 1 << threads->bits[KC_LAYOUT_LANE];
    int vector_bytes = elements * element_bytes;
    int word = vector_bytes < WORD_BYTES ? WORD_BYTES : vector_bytes;
    int group = banks * WORD_BYTES / word < 1 ? 1 : banks * WORD_BYTES / word;
    if (group > lanes) group = lanes;
    kc_layout_cost cost = {.vector_bytes = vector_bytes};
    uint8_t moved[1 << 10] = {0};
    for (int r = 0; r < registers; r++) {
        if ((uint32_t)r & copies || moved[r]) continue;
        uint32_t address[64];
        for (int lane = 0; lane < lanes; lane++) {
            uint32_t low = kc_linear_apply(&access, (uint32_t)(r | lane * registers));
            address[lane] = low / (uint32_t)elements * (uint32_t)vector_bytes;
        }
        // The other registers of the vector: those that lane 0 sends to the same vector.
        vector v = {.count = 0};
        for (int i = 0; i < registers; i++) {
            uint32_t at = kc_linear_apply(&access, (uint32_t)i) * (uint32_t)element_bytes;
            if ((uint32_t)i & copies ||
                at / (uint32_t)vector_bytes != address[0] / (uint32_t)vector_bytes)
                continue;
            assert_true(v.count < 16);
            v.registers[v.count++] = i;
            moved[i] = 1;
        }
        assert_int_equal(v.count, elements);
        for (int lane = 0; lane < lanes;
             lane++) // every lane agrees on where in the vector each one goes
            for (int i = 0; i < v.count; i++) {
                uint32_t mine =
                    kc_linear_apply(&access, (uint32_t)(v.registers[i] | lane * registers));
                uint32_t first = kc_linear_apply(&access, (uint32_t)v.registers[i]);
                assert_int_equal(mine % (uint32_t)elements, first % (uint32_t)elements);
                assert_int_equal(mine / (uint32_t)elements, address[lane] / (uint32_t)vector_bytes);
            }
        cost.instructions++;
        for (int lane = 0; lane < lanes; lane += group) {
            int n = group_wavefronts(address, lane, group, vector_bytes, banks);
            cost.wavefronts += n;
            cost.conflicts += n - 1;
        }
    }
    return cost;
}

static void check_cost(const kc_layout *threads, const kc_layout *memory, int element_bytes,
                       int banks) {
    kc_layout_cost cost = kc_layout_access_cost(threads, memory, element_bytes, banks);
    kc_layout_cost slow =
        slow_cost(threads, memory, element_bytes, banks, cost.vector_bytes / element_bytes);
    assert_int_equal(cost.instructions, slow.instructions);
    assert_int_equal(cost.wavefronts, slow.wavefronts);
    assert_int_equal(cost.conflicts, slow.conflicts);
}

static void shuffle(uint32_t *v, int n) {
    for (int i = n - 1; i > 0; i--) {
        uint32_t j = pick(0, (uint32_t)i), t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}

// Threads with `lanes` lane bits; unit vectors dealt at random, lanes left over are replicas.
static kc_layout random_threads(int bits, int lanes, int warps, bool plain) {
    kc_layout l = {
        .rank = 2, .log_tile = {(uint8_t)(bits / 2), (uint8_t)(bits - bits / 2)}, .reps = {1, 1}};
    uint32_t order[16];
    for (int i = 0; i < bits; i++)
        order[i] = UINT32_C(1) << i;
    shuffle(order, bits);
    for (int i = 1; i < bits && !plain; i++)
        if (pick(0, 2) == 0) order[i] ^= order[pick(0, (uint32_t)i - 1)];
    l.bits[KC_LAYOUT_LANE] = (uint8_t)lanes;
    for (int i = 0; i < bits; i++) {
        if (i < lanes && pick(0, 9) != 0) l.basis[KC_LAYOUT_LANE][i] = order[i];
        else if (i >= lanes && i < lanes + warps)
            l.basis[KC_LAYOUT_WARP][l.bits[KC_LAYOUT_WARP]++] = order[i];
        else l.basis[KC_LAYOUT_REGISTER][l.bits[KC_LAYOUT_REGISTER]++] = order[i];
    }
    return l;
}

static kc_layout random_memory(const kc_layout *shape, int bits) {
    kc_layout l = *shape;
    memset(l.bits, 0, sizeof l.bits);
    l.memory = true;
    l.bits[KC_LAYOUT_OFFSET] = (uint8_t)bits;
    for (int i = 0; i < bits; i++) {
        l.basis[KC_LAYOUT_OFFSET][i] = UINT32_C(1) << i;
        if (pick(0, 2) == 0) l.basis[KC_LAYOUT_OFFSET][i] ^= pick(0, (1u << i) - 1);
    }
    shuffle(l.basis[KC_LAYOUT_OFFSET], (int)pick(0, (uint32_t)bits));
    return l;
}

static void test_counting(void **state) {
    (void)state;
    const char *given = getenv("KC_SEED");
    round_seed = given ? strtoull(given, NULL, 0) : 1;
    for (int rounds = given ? 1 : 1500; rounds > 0; rounds--, round_seed++) {
        seed = (round_seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        int bits = (int)pick(1, 10), lanes = (int)pick(0, 6), element_bytes = 1 << pick(0, 3);
        int banks = pick(0, 1) ? 32 : 1 << pick(1, 6);
        kc_layout threads = random_threads(bits, lanes, (int)pick(0, 2), pick(0, 1));
        kc_layout memory = random_memory(&threads, bits), chosen;
        if (banks * WORD_BYTES < element_bytes) continue;
        check_cost(&threads, &memory, element_bytes, banks);
        kc_layout other = random_threads(bits, lanes, (int)pick(0, 2), pick(0, 1));
        assert_null(kc_layout_choose_memory(&chosen, &threads, &other, element_bytes, banks, 1));
        assert_null(kc_layout_check(&chosen));
        assert_true(kc_layout_is_surjective(&chosen));
        assert_int_equal(chosen.bits[KC_LAYOUT_OFFSET], bits);
        check_cost(&threads, &chosen, element_bytes, banks);
        check_cost(&other, &chosen, element_bytes, banks);
    }
}

// ---- choosing -----------------------------------------------------------------------------------

static bool independent(const uint32_t *v, int n) {
    for (uint32_t mask = 1; mask < UINT32_C(1) << n; mask++) {
        uint32_t sum = 0;
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) sum ^= v[i];
        if (sum == 0) return false;
    }
    return true;
}

typedef struct {
    const kc_layout *writer, *reader;
    int element_bytes, banks;
    int64_t wavefronts, instructions;
} search;

static void score(search *s, const kc_layout *memory) {
    kc_layout_cost a = kc_layout_access_cost(s->writer, memory, s->element_bytes, s->banks);
    kc_layout_cost b = kc_layout_access_cost(s->reader, memory, s->element_bytes, s->banks);
    int64_t wavefronts = a.wavefronts + b.wavefronts,
            instructions = a.instructions + b.instructions;
    if (wavefronts > s->wavefronts) return;
    if (wavefronts == s->wavefronts && instructions >= s->instructions) return;
    s->wavefronts = wavefronts;
    s->instructions = instructions;
}

// Every invertible matrix of `bits` columns, from column `at` on.
static void every_memory(search *s, kc_layout *memory, int bits, int at) {
    uint32_t *columns = memory->basis[KC_LAYOUT_OFFSET];
    if (at == bits) {
        score(s, memory);
        return;
    }
    for (uint32_t v = 1; v < UINT32_C(1) << bits; v++) {
        columns[at] = v;
        if (independent(columns, at + 1)) every_memory(s, memory, bits, at + 1);
    }
}

static void check_minimal(int bits, int lanes, int warps) {
    kc_layout writer = random_threads(bits, lanes, warps, true);
    kc_layout reader = random_threads(bits, lanes, warps, true), chosen;
    int element_bytes = 1 << pick(0, 3), banks = 1 << pick(1, 3);
    search all = {&writer, &reader, element_bytes, banks, INT64_MAX, INT64_MAX}, ours = all;
    assert_null(kc_layout_choose_memory(&chosen, &writer, &reader, element_bytes, banks, 1));
    score(&ours, &chosen);
    kc_layout memory = chosen;
    every_memory(&all, &memory, bits, 0);
    assert_int_equal(ours.wavefronts, all.wavefronts);
    assert_int_equal(ours.instructions, all.instructions);
}

static void test_minimal(void **state) {
    (void)state;
    const char *given = getenv("KC_SEED");
    round_seed = given ? strtoull(given, NULL, 0) : 1;
    for (int rounds = given ? 1 : 330; rounds > 0; rounds--, round_seed++) {
        seed = (round_seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        int bits = rounds <= 12 ? 4 : 3;
        check_minimal(bits, (int)pick(0, (uint32_t)bits), (int)pick(0, 1));
    }
}

static void check_free(const char *from, const char *to, int element_bytes, int banks,
                       int writer_bytes, int reader_bytes) {
    kc_layout writer = parse(from), reader = parse(to), memory;
    assert_null(kc_layout_choose_memory(&memory, &writer, &reader, element_bytes, banks, 1));
    kc_layout_cost a = kc_layout_access_cost(&writer, &memory, element_bytes, banks);
    kc_layout_cost b = kc_layout_access_cost(&reader, &memory, element_bytes, banks);
    assert_int_equal(a.conflicts, 0);
    assert_int_equal(b.conflicts, 0);
    assert_int_equal(a.vector_bytes, writer_bytes);
    assert_int_equal(b.vector_bytes, reader_bytes);
}

// The cases that kernels are made of.
static void test_kernels(void **state) {
    (void)state;
    // transpose of 32x32 f32, 8 warps: rows in, columns out
    check_free("#layout<tile: 32x32, reg: [0,1] [0,2], lane: [0,4] [0,8] [0,16] [1,0] [2,0], "
               "warp: [4,0] [8,0] [16,0]>",
               "#layout<tile: 32x32, reg: [1,0] [2,0], lane: [4,0] [8,0] [16,0] [0,1] [0,2], "
               "warp: [0,4] [0,8] [0,16]>",
               4, 32, 16, 4);
    // a 64x64 f16 tile written in rows of 16 bytes and read by ldmatrix, whose addresses are rows
    // of 16 bytes
    check_free("#layout<tile: 64x64, reg: [0,1] [0,2] [0,4] [32,0], lane: [0,8] [0,16] [0,32] "
               "[1,0] [2,0], "
               "warp: [4,0] [8,0] [16,0]>",
               "#layout<tile: 64x64, reg: [0,1] [0,2] [0,4] [0,16] [0,32], lane: [1,0] [2,0] [4,0] "
               "[8,0] [0,8], "
               "warp: [16,0] [32,0] [0,0]>",
               2, 32, 16, 16);
    // the same on 64 lanes and 64 banks
    check_free(
        "#layout<tile: 64x64, reg: [0,1] [0,2] [0,4], lane: [0,8] [0,16] [0,32] [1,0] [2,0] [4,0], "
        "warp: [8,0] [16,0] [32,0]>",
        "#layout<tile: 64x64, reg: [0,1] [0,2] [0,4] [0,32], lane: [1,0] [2,0] [4,0] [8,0] [0,8] "
        "[0,16], "
        "warp: [16,0] [32,0] [0,0]>",
        2, 64, 16, 16);
    // an accumulator of m16n8 fragments, f32, to rows of 16 bytes for the global store
    check_free(
        "#layout<tile: 64x32, reg: [0,1] [8,0] [0,8] [0,16], lane: [0,2] [0,4] [1,0] [2,0] [4,0], "
        "warp: [16,0] [32,0]>",
        "#layout<tile: 64x32, reg: [0,1] [0,2] [16,0] [32,0], lane: [0,4] [0,8] [0,16] [1,0] "
        "[2,0], "
        "warp: [4,0] [8,0]>",
        4, 32, 16, 8);
}

static void test_row_major_transpose_conflicts(void **state) {
    (void)state;
    kc_layout
        columns = parse(
            "#layout<tile: 32x32, reg: [0,1] [0,2] [0,4], lane: [1,0] [2,0] [4,0] [8,0] [16,0], "
            "warp: [0,8] [0,16]>"),
        memory;
    assert_null(kc_layout_memory(&memory, 2, (int[]){32, 32}, (int[]){0, 1}));
    kc_layout_cost along = kc_layout_access_cost(&columns, &memory, 4, 32);
    assert_int_equal(along.conflicts, 0);
    assert_int_equal(along.wavefronts, 8);
    assert_null(kc_layout_memory(&memory, 2, (int[]){32, 32}, NULL));
    kc_layout_cost across = kc_layout_access_cost(&columns, &memory, 4, 32);
    assert_int_equal(across.vector_bytes, 16);
    assert_int_equal(across.instructions, 2);
    assert_int_equal(across.wavefronts, 2 * 4 * 8); // 8 lanes of 16 bytes, all in one set of banks
    assert_int_equal(across.conflicts, 2 * 4 * 7);
}

static int print_seed(void **state) {
    (void)state;
    printf("random layouts ended at KC_SEED=%" PRIu64 " (set it to replay)\n", round_seed);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_counting, print_seed),
        cmocka_unit_test_teardown(test_minimal, print_seed),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_row_major_transpose_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
