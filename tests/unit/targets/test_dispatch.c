// Fragments of tensor-core instructions, and how they come from shared memory: ldmatrix by its definition, lane by lane, and
// memory layouts that neither side meets a conflict in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "targets/dispatch.h"
#include "targets/mma.h"

enum { LANES = 32, BANKS = 32 };

static const kc_target *target(const char *text) {
    static kc_arena *arena;
    const char *error;
    if (!arena) arena = kc_arena_create();
    const kc_target *t = kc_target_parse_one(arena, text, &error);
    assert_non_null(t);
    return t;
}

// ---- rows of the table ----------------------------------------------------------------------

static void fragments_hold_every_element_once(void **state) {
    (void)state;
    const kc_target *t = target("cuda:sm_90a");
    for (int i = 0; i < t->kind->n_mmas; i++) {
        const kc_mma *row = &t->kind->mmas[i];
        int extents[3][2] = {{row->m, row->k}, {row->n, row->k}, {row->m, row->n}};
        for (kc_mma_side side = KC_MMA_A; side <= KC_MMA_C; side++) {
            kc_layout f = *kc_mma_fragment(row, side);
            assert_int_equal(kc_layout_extent(&f, 0), extents[side][0]);
            assert_int_equal(kc_layout_extent(&f, 1), extents[side][1]);
            assert_true(kc_layout_is_surjective(&f));
            assert_int_equal(kc_layout_count(&f, KC_LAYOUT_REGISTER) * LANES,
                             extents[side][0] * extents[side][1]);
        }
        assert_ptr_equal(kc_mma_named(t, row->name), row);
        assert_in_range(row->k, 1, KC_MMA_MOST_DEPTH);
    }
}

static const kc_mma *find(const char *arch, kc_dtype a, kc_dtype c, const char *precision, int k) {
    return kc_mma_find(target(arch), a, c, precision, k);
}

static void instructions_by_architecture(void **state) {
    (void)state;
    assert_string_equal(find("cuda:sm_75", KC_f16, KC_f32, "ieee", 32)->name, "m16n8k8.f16");
    assert_string_equal(find("cuda:sm_80", KC_f16, KC_f32, "ieee", 32)->name, "m16n8k16.f16");
    assert_string_equal(find("cuda:sm_80", KC_f16, KC_f32, "ieee", 24)->name, "m16n8k8.f16");
    assert_null(find("cuda:sm_75", KC_bf16, KC_f32, "ieee", 32));
    assert_null(find("cuda:sm_80", KC_f8e4m3, KC_f32, "ieee", 32));
    assert_non_null(find("cuda:sm_89", KC_f8e4m3, KC_f32, "ieee", 32));
    assert_null(find("cuda:sm_80", KC_f32, KC_f32, "ieee", 32));
    assert_non_null(find("cuda:sm_80", KC_f32, KC_f32, "fast", 32));
    assert_null(find("cuda:sm_75", KC_f32, KC_f32, "high", 32));
    assert_string_equal(find("cuda:sm_80", KC_f64, KC_f64, "ieee", 16)->name, "m8n8k4.f64");
    assert_string_equal(find("cuda:sm_90", KC_f64, KC_f64, "ieee", 16)->name, "m16n8k16.f64");
    assert_null(find("hip:gfx942", KC_f16, KC_f32, "ieee", 16));
}

// ---- ldmatrix, by its definition ------------------------------------------------------------

static void where(const kc_layout *l, uint32_t reg, uint32_t lane, int *at) {
    uint32_t place[KC_LAYOUT_PLACES] = {[KC_LAYOUT_REGISTER] = reg, [KC_LAYOUT_LANE] = lane};
    kc_layout_apply(l, place, at);
}

// Element e of the word that lane l gets of matrix j: which lane pointed at its row, and where it is in the row.
static void origin(int lane, int matrix, int e, int in_word, bool transposed, int *from,
                   int *place) {
    if (transposed) *from = 8 * matrix + 2 * (lane % 4) + e, *place = lane / 4;
    else *from = 8 * matrix + lane / 4, *place = lane % 4 * in_word + e;
}

static bool matches(const kc_layout *tile, int bytes, kc_matrix_order order) {
    kc_layout rows;
    int matrices, want[KC_LAYOUT_MAX_RANK], got[KC_LAYOUT_MAX_RANK], from, place;
    if (kc_layout_matrix_rows(&rows, &matrices, tile, bytes, order)) return false;
    int in_word = 4 / bytes, in_row = 16 / bytes,
        instructions = (int)kc_layout_count(&rows, KC_LAYOUT_REGISTER) / in_row;
    assert_int_equal(instructions * matrices * in_word, kc_layout_count(tile, KC_LAYOUT_REGISTER));
    for (int i = 0; i < instructions * matrices * in_word; i++)
        for (int lane = 0; lane < LANES; lane++) {
            int matrix = i / in_word % matrices, instruction = i / in_word / matrices;
            origin(lane, matrix, i % in_word, in_word, order == KC_MATRIX_TRANSPOSED, &from,
                   &place);
            where(tile, (uint32_t)i, (uint32_t)lane, want);
            where(&rows, (uint32_t)(instruction * in_row + place), (uint32_t)from, got);
            assert_memory_equal(want, got, sizeof(int) * tile->rank);
        }
    return true;
}

static void matrix_loads_bring_fragments(void **state) {
    (void)state;
    const kc_target *t = target("cuda:sm_90a");
    int plain = 0, transposed = 0;
    for (int i = 0; i < t->kind->n_mmas; i++) {
        const kc_mma *row = &t->kind->mmas[i];
        for (kc_mma_side side = KC_MMA_A; side <= KC_MMA_B; side++) {
            kc_layout f = *kc_mma_fragment(row, side), four;
            int bytes = kc_dtype_unit(row->operand);
            assert_null(
                kc_layout_extend(&four, &f, (int[]){kc_layout_extent(&f, 0) * 4, row->k}, NULL));
            plain += matches(&f, bytes, KC_MATRIX_PLAIN);
            plain += matches(&four, bytes, KC_MATRIX_PLAIN);
            transposed += matches(&f, bytes, KC_MATRIX_TRANSPOSED);
            transposed += matches(&four, bytes, KC_MATRIX_TRANSPOSED);
        }
    }
    assert_int_equal(plain, 4 * 14);     // all but f64
    assert_int_equal(transposed, 4 * 4); // 16 bits
}

// ---- memory layouts -------------------------------------------------------------------------

// Threads that load a tile of [own, k] along `fast`, 16 bytes each, as the layout pass deals them out.
static kc_layout loader(int own, int k, int fast, int bytes, int warps, int run) {
    kc_layout_blocked_spec spec = {.rank = 2,
                                   .shape = {own, k},
                                   .size_per_thread = {1, 1},
                                   .lanes = {1, 1},
                                   .warps = {1, 1},
                                   .order = {fast, 1 - fast}};
    spec.size_per_thread[fast] = 16 / bytes;
    if (fast == 0) spec.size_per_thread[1] = run;
    int lanes = spec.shape[fast] / spec.size_per_thread[fast];
    spec.lanes[fast] = lanes < LANES ? lanes : LANES;
    spec.lanes[1 - fast] = LANES / spec.lanes[fast];
    spec.warps[1 - fast] = warps;
    kc_layout l;
    assert_null(kc_layout_blocked(&l, &spec));
    return l;
}

static kc_layout reader(const kc_mma *row, kc_mma_side side, int own, int k, int warps) {
    kc_layout fragment = *kc_mma_fragment(row, side), grid, l;
    int rows = own / kc_layout_extent(&fragment, 0);
    kc_layout_blocked_spec spec = {.rank = 2,
                                   .shape = {rows, k / row->k},
                                   .size_per_thread = {rows / warps, k / row->k},
                                   .lanes = {1, 1},
                                   .warps = {warps, 1},
                                   .order = {0, 1}};
    assert_null(kc_layout_blocked(&grid, &spec));
    assert_null(kc_layout_product(&l, &fragment, &grid));
    return l;
}

// Fewest wavefronts that there can be: what a side moves over what the banks move at once.
static void check_minimal(const kc_target *t, const kc_mma *row, kc_mma_side side, int own,
                          int depth_bytes, int fast) {
    int bytes = kc_dtype_unit(row->operand), k = depth_bytes / bytes,
        run = bytes == 1 && fast == 0 ? 4 : 1, kept = run > 1 ? 1 : 16 / bytes;
    int warps =
        own * depth_bytes / (16 * run * LANES) < 4 ? own * depth_bytes / (16 * run * LANES) : 4;
    if (k % row->k || k < row->k || warps < 1) return;
    kc_layout writer = loader(own, k, fast, bytes, warps, run), want = reader(row, side, own, k, 2),
              memory;
    assert_null(kc_dispatch_choose_memory(&memory, t, &writer, &want, bytes, kept));
    kc_layout_cost write = kc_layout_access_cost(&writer, &memory, bytes, BANKS);
    kc_shared_plan read = kc_dispatch_shared_load(t, &want, &memory, bytes);
    int64_t least = (int64_t)own * k * bytes / (BANKS * 4);
    assert_int_equal(write.conflicts, 0);
    assert_int_equal(write.wavefronts * warps, least); // of one warp
    assert_int_equal(read.cost.conflicts, 0);
    assert_int_equal(read.cost.wavefronts * 2, least); // of one warp of the two that share nothing
    if (bytes == 2 || (bytes <= 4 && fast == 1)) assert_int_not_equal(read.path, KC_PATH_PLAIN);
}

static void swizzles_are_minimal(void **state) {
    (void)state;
    static const char *const archs[] = {"cuda:sm_75", "cuda:sm_80", "cuda:sm_90a"};
    for (int a = 0; a < 3; a++) {
        const kc_target *t = target(archs[a]);
        for (int i = 0; i < t->kind->n_mmas; i++) {
            const kc_mma *row = &t->kind->mmas[i];
            if (row->compute_capability > t->attributes.compute_capability) continue;
            for (kc_mma_side side = KC_MMA_A; side <= KC_MMA_B; side++)
                for (int own = 64; own <= 256; own *= 2)
                    for (int depth = 32; depth <= 128; depth *= 2)
                        for (int fast = 0; fast < 2; fast++)
                            check_minimal(t, row, side, own, depth, fast);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_hold_every_element_once),
        cmocka_unit_test(instructions_by_architecture),
        cmocka_unit_test(matrix_loads_bring_fragments),
        cmocka_unit_test(swizzles_are_minimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
