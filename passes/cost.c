#include "passes/cost.h"
#include "passes/integers.h"
#include "passes/products.h"
#include "targets/mma.h"

#include <string.h>

enum {
    LIKELY = 4096,          // of a symbol that may be larger
    MEMORY_LATENCY = 700,   // cycles from a load to its value
    STEP_CYCLES = 40,       // that a step takes at least
    STEP_INSTRUCTIONS = 40, // of the loop itself, a warp and step
    BARRIER_CYCLES = 100,   // that one block alone waits in a step
    START_CYCLES = 1000,    // before the first products, with the last stores
    CACHE_BYTES = 32,       // of the last cache, a cycle and multiprocessor
    SECTOR_BYTES = 32,      // that come together
    SHARED_BYTES = 128,     // of shared memory, a cycle
    CONVERSIONS = 64,       // a cycle and multiprocessor
    SCHEDULERS = 4,         // warp instructions a cycle
    FETCH_BYTES = 16,       // of an access to shared memory
    OTHER_REGISTERS = 16,   // addresses, counters
    LOAD_REGISTERS = 8,     // those of loads that pass registers
    EMULATED = 3,           // times the registers of fragments
    PARTS = 2,              // that an operand is taken in, and
    PRODUCTS = 3,           // those of them that are made
    SPARE_REGISTERS = 8,    // that an estimate may be wrong by
    GRANULE = 8,            // in which registers are given out
    GROUP = 8,              // rows of tiles
    MOST_PARTS = 64,        // of k
    LEAST_PART = 64,
    EVEN_PART = 32,
    MOST_FETCHED = 256, // words, a thread and step: an assembler that moves them up has room
    MICRO_TILE = 4,   // rows and columns of neighbours that a thread of FMA units holds
    MOST_WHOLE = 256, // of rows or columns that one tile holds
    LEAST_ODD = 32,   // of extents that are a half more than a power of two
};

static const double EFFORT = 0.2, // of instructions and sectors that are hidden, too: they take
                                  // power and clock
    NOT_HIDDEN = 0.25,            // of what goes on beside what limits
    KERNEL_SECONDS = 3e-6,        // that another kernel takes at least
    WORTH_PARTS = 0.85,           // of the time of the whole
    BETTER = 0.97,                // than fewer parts
    UNEVEN = 1.1;

// What is tried for a unit.
typedef struct {
    const char *unit;
    int64_t tiles[6], depths[4], stages[4]; // depths in bytes; 0: the end
    int64_t most_elements;                  // of the accumulator, a thread
    int64_t most_products; // a thread and step: they are unrolled, which costs compile time
} search;

static const search searches[] = {
    {"fma", {128, 64, 32, 16}, {256, 128, 64, 32}, {4, 3, 2}, 64, 512},
    // A step is two instructions along k at least: barrier and addresses of one alone would be half
    // of the loop.
    {"tensor", {256, 128, 64, 32, 16}, {128, 64}, {4, 3, 2}, 128, 8192},
};

static const int64_t warps_tried[] = {16, 8, 4, 2, 1};

static bool is_tensor(const kc_cost_problem *p) {
    return strcmp(p->unit, "tensor") == 0;
}

int64_t kc_cost_likely(kc_expr_pool *pool, const kc_expr *extent) {
    return larger(smaller(kc_expr_max_value(pool, extent), kc_expr_min_value(pool, extent) > LIKELY
                                                               ? kc_expr_min_value(pool, extent)
                                                               : LIKELY),
                  1);
}

static int64_t clamped(const kc_cost_problem *p, int i, int64_t extent) {
    return larger(smaller(extent, p->cover[i]), p->least[i]);
}

kc_cost_choice kc_cost_wish(const kc_op *op, const kc_cost_problem *p) {
    const kc_attr *tile = kc_attr_get(op, KC_ATTR_TILE);
    kc_cost_choice wish = {.warps = kc_attr_int(op, KC_ATTR_WARPS, 0),
                           .stages = kc_attr_int(op, KC_ATTR_STAGES, 0)};
    for (int i = 0; tile && i < 3 && i < tile->count; i++)
        wish.tile[i] = clamped(p, i, tile->integers[i]);
    return wish;
}

void kc_cost_choose_unit(const kc_target *t, kc_cost_problem *p, const char *precision) {
    p->unit = "fma", p->instruction = NULL, p->parted = false;
    for (int i = 0; i < 3; i++)
        p->least[i] = 1;
    for (int64_t depth = 1; depth <= KC_MMA_MOST_DEPTH; depth *= 2) {
        const kc_mma *row = kc_mma_find(t, p->elem, p->result, precision, depth);
        if (!row) continue;
        p->unit = "tensor";
        p->least[0] = row->m, p->least[1] = row->n, p->least[2] = row->k;
        p->instruction = kc_mma_find(t, p->elem, p->result, precision, KC_MMA_MOST_DEPTH);
        p->parted = row->note[0] && strcmp(precision, "high") == 0;
        return;
    }
}

// What fragments want side by side along k, and does not lie along k, is turned on its way, in
// registers.
static bool is_turned(const kc_op *product, int i) {
    return !kc_product_k_last(product, i) && kc_mma_run(kc_operand(product, i)->type.elem) > 1;
}

bool kc_cost_direct(const kc_target *t, const kc_op *product, int i) {
    const kc_value *factor = kc_operand(product, i);
    while (factor->def) {
        kc_opcode code = factor->def->code;
        if (!kc_op_has(factor->def, KC_MOVEMENT) || code == KC_OP_CONCAT || code == KC_OP_GATHER)
            return false;
        factor = kc_operand(factor->def, 0);
    }
    return t->attributes.has_async_copy && !is_turned(product, i);
}

void kc_cost_set_across(kc_cost_problem *p, const kc_op *contraction) {
    for (int i = 0; i < 2; i++)
        p->across[i] = contraction->code == KC_OP_MATMUL && !kc_product_k_last(contraction, i);
}

kc_cost_problem kc_cost_of_product(const kc_target *t, kc_expr_pool *pool, const kc_op *product) {
    const kc_type *a = &kc_operand(product, 0)->type, *type = &kc_result(product, 0)->type;
    kc_cost_problem p = {
        .batch = 1, .elem = kc_product_elem(a->elem), .result = type->elem, .vectors = true};
    for (int d = 0; d < type->rank - 2; d++)
        p.batch *= kc_cost_likely(pool, type->shape[d]);
    p.m = kc_cost_likely(pool, type->shape[type->rank - 2]);
    p.n = kc_cost_likely(pool, type->shape[type->rank - 1]);
    p.k = kc_cost_likely(pool, a->shape[kc_product_axis_of_k(product, 0)]);
    p.cover[0] = power_of_two_at_least(p.m), p.cover[1] = power_of_two_at_least(p.n);
    p.cover[2] = power_of_two_at_least(p.k);
    p.direct = kc_cost_direct(t, product, 0) && kc_cost_direct(t, product, 1);
    kc_cost_set_across(&p, product);
    kc_cost_choose_unit(t, &p, kc_attr_string(product, KC_ATTR_PRECISION, "ieee"));
    return p;
}

int64_t kc_cost_rate(const kc_target *t, const char *unit, kc_dtype elem) {
    const kc_target_attributes *a = &t->attributes;
    if (strcmp(unit, "tensor") != 0) {
        if (elem == KC_f64) return a->fma_f64_per_cycle;
        return kc_dtype_is_float(elem) ? a->fma_f32_per_cycle : smaller(a->fma_f32_per_cycle, 64);
    }
    switch (elem) {
    case KC_f16:
    case KC_bf16: return a->mma_f16_per_cycle;
    case KC_f32: return a->mma_tf32_per_cycle;
    case KC_f64: return a->mma_f64_per_cycle;
    case KC_i8:
    case KC_u8: return a->mma_i8_per_cycle;
    case KC_f8e4m3:
    case KC_f8e5m2: return a->mma_f8_per_cycle;
    default: return 0;
    }
}

// ---- what a thread and a block need -------------------------------------------------------------

// FMA: rows and columns of a thread's accumulators, in 4 x 8 lanes with blocks of 4 x 4; warps are
// dealt out to the longer side first.
static double fetched_by_thread(const kc_target *t, const kc_cost_choice *c) {
    int64_t lanes = t->attributes.warp_size, sides[2] = {c->tile[0], c->tile[1]}, dealt[2] = {1, 1};
    int64_t across = smaller(divided(sides[1], 4), lanes / 4), down = lanes / across;
    double sum = 0;
    for (int i = 0; i < 2; i++)
        sides[i] = larger(smaller(sides[i], 4), divided(sides[i], i ? across : down));
    for (int64_t warps = c->warps; warps > 1; warps /= 2)
        dealt[sides[0] / dealt[0] <= sides[1] / dealt[1]] *= 2;
    for (int i = 0; i < 2; i++) {
        double part = (double)sides[i] / (double)dealt[i], least = (double)smaller(c->tile[i], 4);
        sum += part < least ? least : part;
    }
    return sum;
}

// Elements of both operands that a thread fetches for one step of k. Tensor cores: its share of
// what the warp multiplies.
static double fetched(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    if (!is_tensor(p)) return fetched_by_thread(t, c);
    const kc_mma *row = p->instruction;
    int64_t sizes[2] = {row->m, row->n}, fragments[2], dealt[2];
    for (int i = 0; i < 2; i++)
        fragments[i] = divided(c->tile[i], sizes[i]);
    kc_mma_deal(row, fragments, c->warps, dealt);
    int64_t sum = 0;
    for (int i = 0; i < 2; i++)
        sum += larger(c->tile[i] / dealt[i], sizes[i]);
    return (double)sum / (double)t->attributes.warp_size;
}

static int64_t words(int64_t elements, kc_dtype type) {
    return divided(elements * kc_dtype_unit(type), 4);
}

static int64_t threads_of(const kc_target *t, const kc_cost_choice *c) {
    return c->warps * t->attributes.warp_size;
}

static int64_t accumulators(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    return words(divided(c->tile[0] * c->tile[1], threads_of(t, c)), p->result);
}

// Elements that are turned in registers.
static int64_t turned(const kc_cost_problem *p, const kc_cost_choice *c) {
    bool turns = is_tensor(p) && kc_mma_run(p->elem) > 1;
    int64_t across = (p->across[0] ? c->tile[0] : 0) + (p->across[1] ? c->tile[1] : 0);
    return turns ? across * c->tile[2] : 0;
}

// What passes through registers on its way to shared memory. Single elements that are turned are
// there twice, apart and joined to words.
static int64_t staged(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    if (p->direct) return 0;
    int64_t elements = divided((c->tile[0] + c->tile[1]) * c->tile[2], threads_of(t, c));
    if (p->vectors) return words(elements, p->elem);
    int64_t apart = elements * 5 / 4 + divided(turned(p, c), threads_of(t, c));
    return larger(words(elements, p->elem), apart);
}

// 8-bit floats that are no faster than f16 are made f16 by the assembler.
static bool is_emulated(const kc_target *t, const kc_cost_problem *p) {
    bool small = kc_dtype_is_float(p->elem) && kc_dtype_unit(p->elem) == 1;
    return is_tensor(p) && small &&
           t->attributes.mma_f8_per_cycle <= t->attributes.mma_f16_per_cycle;
}

// What addresses and values in flight take: copies of single elements each have an address of their
// own.
static int64_t moving(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    if (!p->direct) return p->vectors ? LOAD_REGISTERS : 5 * LOAD_REGISTERS;
    int64_t elements = divided((c->tile[0] + c->tile[1]) * c->tile[2], threads_of(t, c));
    return p->vectors ? 0 : elements * larger(kc_dtype_unit(p->elem) / 4, 1);
}

// Registers that a block of so many threads leaves each of them.
static int64_t most_registers(const kc_target *t, const kc_cost_choice *c) {
    int64_t share = t->attributes.registers_per_multiprocessor / threads_of(t, c);
    return smaller(t->attributes.max_registers, share / GRANULE * GRANULE);
}

// Of fragments two fetches are in flight where a step has as many.
static int64_t registers_of(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    int64_t bytes = kc_dtype_unit(p->elem),
            steps = is_tensor(p) ? p->instruction->k : smaller(FETCH_BYTES / bytes, 8),
            fetches = smaller(larger(c->tile[2] / steps, 1), 2);
    int64_t held = fetches * (int64_t)(fetched(t, p, c) * (double)(steps * bytes) / 4);
    if (is_emulated(t, p)) held *= EMULATED;
    if (p->parted) held *= PARTS;
    int64_t results = (1 + p->held) * accumulators(t, p, c);
    return results + held + staged(t, p, c) + moving(t, p, c) + OTHER_REGISTERS;
}

static int64_t shared_of(const kc_cost_problem *p, const kc_cost_choice *c) {
    return c->stages * (c->tile[0] + c->tile[1]) * c->tile[2] * kc_dtype_unit(p->elem);
}

const char *kc_cost_misfit(kc_arena *arena, const kc_target *t, const kc_cost_problem *p,
                           const kc_cost_choice *c) {
    kc_cost_problem packed = *p;
    packed.vectors = true; // single elements may be spilled
    int64_t tiles = staged(t, &packed, c);
    int64_t needed = accumulators(t, p, c) + tiles + OTHER_REGISTERS, most = most_registers(t, c),
            shared = shared_of(p, c);
    if (needed > most)
        return kc_arena_printf(
            arena,
            "a thread holds %lld words of the result and %lld of the tiles that are loaded, "
            "and has %lld registers (a smaller tile or other warps would fit)",
            (long long)accumulators(t, p, c), (long long)tiles, (long long)most);
    if (shared > t->attributes.max_shared_memory)
        return kc_arena_printf(
            arena,
            "%lld stages of the tiles need %lld bytes of shared memory, a block of %s has %lld (a "
            "smaller tile or fewer stages would fit)",
            (long long)c->stages, (long long)shared, t->arch->name,
            (long long)t->attributes.max_shared_memory);
    return NULL;
}

static int64_t resident(const kc_target *t, const kc_cost_plan *plan) {
    const kc_target_attributes *a = &t->attributes;
    int64_t threads = threads_of(t, &plan->choice);
    int64_t blocks = smaller(a->blocks_per_multiprocessor, a->threads_per_multiprocessor / threads);
    blocks = smaller(blocks, a->registers_per_multiprocessor /
                                 (divided(plan->registers, GRANULE) * GRANULE * threads));
    return smaller(blocks, a->shared_memory_per_multiprocessor /
                               (plan->shared + a->shared_memory_reserved + 1));
}

// ---- time ---------------------------------------------------------------------------------------

// Elements of both tiles with what comes along in their sectors.
static double brought(const kc_cost_problem *p, const kc_cost_choice *c) {
    int64_t sector = SECTOR_BYTES / kc_dtype_unit(p->elem), sum = 0;
    for (int i = 0; i < 2; i++) {
        bool torn = p->across[i] && c->tile[i] < p->cover[i];
        sum += (torn ? larger(c->tile[i], sector) : c->tile[i]) * c->tile[2];
    }
    return (double)sum;
}

// Of what comes, the part that is too much, in parts of what is wanted.
static double wasted(const kc_cost_problem *p, const kc_cost_choice *c) {
    return brought(p, c) / (double)((c->tile[0] + c->tile[1]) * c->tile[2]) - 1;
}

// Cycles of a multiprocessor for one block's step along k, by what limits it.
static void step_cycles(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c,
                        double cycles[KC_COST_LIMITS]) {
    double depth = (double)c->tile[2], bytes = kc_dtype_unit(p->elem),
           elements = (double)(c->tile[0] + c->tile[1]) * depth,
           products = (double)(c->tile[0] * c->tile[1]) * depth * (p->parted ? PRODUCTS : 1),
           reads = (double)threads_of(t, c) * fetched(t, p, c) * depth;
    bool converts = !is_tensor(p) && kc_dtype_is_float(p->elem) && bytes < 4;
    double instructions = reads * bytes / FETCH_BYTES + 6 * elements * bytes / FETCH_BYTES +
                          (is_tensor(p) ? products / 64 : products) + (converts ? reads : 0) +
                          (double)(threads_of(t, c) * STEP_INSTRUCTIONS);
    cycles[KC_COST_MATH] = products / (double)kc_cost_rate(t, p->unit, p->elem);
    cycles[KC_COST_SHARED] = (reads + elements) * bytes / SHARED_BYTES;
    cycles[KC_COST_CONVERT] = converts ? reads / CONVERSIONS : 0;
    cycles[KC_COST_ISSUE] = instructions / (double)t->attributes.warp_size / SCHEDULERS;
    cycles[KC_COST_CACHE] = brought(p, c) * bytes / CACHE_BYTES;
}

// Bytes that come from memory: the operands once when the last cache holds them, else what the
// tiles of each wave share.
static double memory_bytes(const kc_target *t, const kc_cost_problem *p, const kc_cost_plan *plan,
                           int64_t group) {
    const kc_cost_choice *c = &plan->choice;
    double bytes = kc_dtype_unit(p->elem), k = (double)p->k,
           operands = (double)p->batch * (double)(p->m + p->n) * k * bytes,
           result = (double)p->batch * (double)p->m * (double)p->n * kc_dtype_unit(p->result);
    if (operands <= (double)t->attributes.l2_size / 2) return operands + result;
    int64_t at_once = smaller(plan->blocks * t->attributes.multiprocessors, plan->programs),
            down = divided(p->m, c->tile[0]), across = divided(p->n, c->tile[1]);
    int64_t rows = smaller(larger(group, divided(at_once, across)), down),
            columns = smaller(divided(at_once, rows), across);
    double each = (double)(rows * c->tile[0] + columns * c->tile[1]) * k * bytes,
           all = each * (double)plan->programs / (double)at_once;
    return (all > operands ? all : operands) + result;
}

// A scheduler without a warp does nothing, and few warps leave it waiting now and then; less on
// tensor cores, whose instructions each take several cycles and do not wait for one another.
static double strain(const kc_cost_problem *p, const kc_cost_choice *c, int64_t blocks) {
    double warps = (double)(blocks * c->warps) / SCHEDULERS;
    return (warps < 1 ? 1 / warps : 1) + (is_tensor(p) ? 0.05 : 0.25) / warps;
}

static double latency_of(const kc_cost_choice *c) {
    return (double)MEMORY_LATENCY / (double)larger(c->stages - 1, 1);
}

// Of so many blocks at a time on a multiprocessor, from start to end.
static double wave_cycles(const kc_cost_problem *p, const kc_cost_choice *c, int64_t blocks,
                          double step) {
    double steps = (double)divided(p->k, c->tile[2]),
           busy = (double)blocks * step * strain(p, c, blocks),
           stored = (double)(c->tile[0] * c->tile[1]) * kc_dtype_unit(p->result) / CACHE_BYTES;
    if (c->stages < 2) busy += latency_of(c);
    if (busy < latency_of(c)) busy = latency_of(c);
    return START_CYCLES + steps * (busy + STEP_CYCLES + (blocks < 2 ? BARRIER_CYCLES : 0)) +
           (double)blocks * stored;
}

static void predict_time(const kc_target *t, const kc_cost_problem *p, kc_cost_plan *plan) {
    double cycles[KC_COST_LIMITS] = {0}, step = 0, sum = 0;
    int64_t machine = t->attributes.multiprocessors, at_once = machine * plan->blocks;
    step_cycles(t, p, &plan->choice, cycles);
    for (int i = 0; i < KC_COST_LIMITS; i++) {
        sum += cycles[i];
        if (cycles[i] > step) step = cycles[i], plan->limit = (kc_cost_limit)i;
    }
    step += NOT_HIDDEN * (sum - step);
    double issued = cycles[KC_COST_ISSUE] / cycles[KC_COST_MATH];
    int64_t rest = plan->programs % at_once;
    double total =
        (double)(plan->programs / at_once) * wave_cycles(p, &plan->choice, plan->blocks, step);
    if (rest) total += wave_cycles(p, &plan->choice, divided(rest, machine), step);
    int64_t busy = smaller(plan->blocks, divided(plan->programs, machine));
    if ((double)busy * step * strain(p, &plan->choice, larger(busy, 1)) < latency_of(&plan->choice))
        plan->limit = KC_COST_LATENCY;
    plan->waves = (double)plan->programs / (double)at_once;
    plan->seconds = total / ((double)t->attributes.clock * 1e6);
    double along = memory_bytes(t, p, plan, 1), down = memory_bytes(t, p, plan, GROUP);
    plan->group = down < 0.9 * along ? GROUP : 1;
    double memory = (down < along ? down : along) / ((double)t->attributes.dram_bandwidth * 1e9);
    if (memory > plan->seconds) plan->seconds = memory, plan->limit = KC_COST_MEMORY;
    plan->score = plan->seconds * (1 + EFFORT * (issued + wasted(p, &plan->choice)));
}

// False: it does not fit.
static bool predict(const kc_target *t, const kc_cost_problem *p, kc_cost_plan *plan) {
    const kc_cost_choice *c = &plan->choice;
    if (threads_of(t, c) > t->attributes.max_num_threads) return false;
    plan->registers = registers_of(t, p, c);
    plan->shared = shared_of(p, c);
    if (plan->registers + SPARE_REGISTERS > most_registers(t, c)) return false;
    if (plan->shared > t->attributes.max_shared_memory) return false;
    plan->blocks = resident(t, plan);
    if (plan->blocks < 1) return false;
    plan->programs = p->batch * divided(p->m, c->tile[0]) * divided(p->n, c->tile[1]);
    predict_time(t, p, plan);
    return true;
}

// ---- search -------------------------------------------------------------------------------------

typedef struct {
    const kc_target *target;
    const kc_cost_problem *problem;
    const search *search;
    kc_cost_plan *best;
    int n, most;
} ranking;

static bool same_choice(const kc_cost_choice *a, const kc_cost_choice *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void insert(ranking *r, const kc_cost_plan *plan) {
    int at = 0;
    for (int i = 0; i < r->n; i++)
        if (same_choice(&r->best[i].choice, &plan->choice)) return;
    while (at < r->n && r->best[at].score <= plan->score)
        at++;
    if (at == r->most) return;
    if (r->n < r->most) r->n++;
    for (int i = r->n - 1; i > at; i--)
        r->best[i] = r->best[i - 1];
    r->best[at] = *plan;
}

// Pieces of the tile that warps can be dealt; what is odd about an extent each of them repeats.
static int64_t pieces(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    int64_t n = is_tensor(p) ? t->attributes.warp_size : 1;
    for (int i = 0; i < 2; i++) {
        int64_t whole = power_of_two_in(c->tile[i]),
                piece = is_tensor(p) ? p->least[i] : MICRO_TILE;
        n *= larger(whole / piece, 1);
    }
    return n / t->attributes.warp_size;
}

// Whether what FMA units fetch in a step is more than there is room for beside the next tiles,
// which wait in registers.
static bool crowds(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    if (is_tensor(p) || p->direct) return false;
    return words((int64_t)(fetched(t, p, c) * (double)c->tile[2]), p->elem) > MOST_FETCHED;
}

// Whether it is worth looking at, where the wish leaves the choice.
static bool sensible(const ranking *r, const kc_cost_choice *c, const kc_cost_choice *wish) {
    int64_t threads = threads_of(r->target, c), all = c->tile[0] * c->tile[1],
            elements = divided(all, threads);
    bool odd = !is_power_of_two(c->tile[0]) || !is_power_of_two(c->tile[1]);
    if (!wish->warps && odd && c->warps > 1 && c->warps > pieces(r->target, r->problem, c))
        return false;
    int64_t halves = r->problem->vectors ? 1 : 2; // loads of single elements take compile time, too
    if (!wish->warps &&
        (elements * halves > r->search->most_elements || (elements < 8 && c->warps > 1)))
        return false;
    return wish->tile[2] || (elements * c->tile[2] * halves <= r->search->most_products &&
                             !crowds(r->target, r->problem, c));
}

static void consider(ranking *r, kc_cost_choice c, const kc_cost_choice *wish) {
    for (size_t i = 0; i < sizeof warps_tried / sizeof *warps_tried; i++) {
        c.warps = wish->warps ? wish->warps : warps_tried[i];
        for (int s = 0; s < 4 && r->search->stages[s]; s++) {
            kc_cost_plan plan = {.choice = c};
            plan.choice.stages = wish->stages ? wish->stages : r->search->stages[s];
            if (!wish->stages && plan.choice.stages > 2 && !r->problem->direct) continue;
            if (sensible(r, &plan.choice, wish) && predict(r->target, r->problem, &plan))
                insert(r, &plan);
        }
    }
}

static int64_t tried(const int64_t *values, int n, int i, int64_t wish) {
    if (wish) return i == 0 ? wish : 0;
    return i < n ? values[i] : 0;
}

int kc_cost_rank(const kc_target *target, const kc_cost_problem *p, const kc_cost_choice *wish,
                 kc_cost_plan *best, int most) {
    ranking r = {target, p, &searches[is_tensor(p)], best, 0, most};
    int64_t m, n, k, depths[4];
    for (int i = 0; i < 4; i++)
        depths[i] = r.search->depths[i] / kc_dtype_unit(p->elem);
    if (kc_cost_rate(target, p->unit, p->elem) == 0) return 0;
    if (is_tensor(p) && !p->instruction) return 0; // the schedule asks for one that there is not
    for (int a = 0; (m = tried(r.search->tiles, 6, a, wish->tile[0])) != 0; a++)
        for (int b = 0; (n = tried(r.search->tiles, 6, b, wish->tile[1])) != 0; b++)
            for (int d = 0; (k = tried(depths, 4, d, wish->tile[2])) != 0; d++) {
                kc_cost_choice c = {.tile = {clamped(p, 0, m), clamped(p, 1, n), clamped(p, 2, k)}};
                consider(&r, c, wish);
            }
    return r.n;
}

// ---- parts of k ---------------------------------------------------------------------------------

static double seconds_in_parts(const kc_target *t, const kc_cost_problem *whole,
                               const kc_cost_choice *wish, int64_t parts) {
    kc_cost_problem p = *whole;
    kc_cost_plan best;
    p.k = divided(whole->k, parts);
    p.batch = whole->batch * parts;
    if (kc_cost_rank(t, &p, wish, &best, 1) == 0) return -1;
    if (parts == 1) return best.seconds;
    double sums = (double)p.batch * (double)p.m * (double)p.n * kc_dtype_unit(p.result);
    return best.seconds + KERNEL_SECONDS + 2 * sums / ((double)t->attributes.dram_bandwidth * 1e9);
}

int64_t kc_cost_parts(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *wish) {
    int64_t best = 1;
    double whole = seconds_in_parts(t, p, wish, 1), least = whole;
    for (int64_t parts = 2; parts <= MOST_PARTS && p->k / parts >= LEAST_PART; parts++) {
        double seconds = seconds_in_parts(t, p, wish, parts);
        if (p->k % (parts * EVEN_PART))
            seconds *= UNEVEN; // the loads of parts that are filled up have masks
        if (seconds >= 0 && seconds < BETTER * least) least = seconds, best = parts;
    }
    return least < WORTH_PARTS * whole ? best : 1;
}

// ---- reductions of a product --------------------------------------------------------------------

int64_t kc_cost_whole_tile(const kc_cost_problem *p, int i, int64_t extent) {
    for (int64_t tile = p->least[i]; tile <= MOST_WHOLE; tile *= 2) {
        if (tile >= extent) return tile;
        int64_t half = tile / 2;
        if (tile >= LEAST_ODD && half % p->least[i] == 0 && tile + half >= extent &&
            tile + half <= MOST_WHOLE)
            return tile + half;
    }
    return 0;
}

int64_t kc_cost_held(const kc_op *reduction, kc_dtype result) {
    int64_t bytes = 0;
    for (int i = 1; i < reduction->n_operands; i++)
        bytes += kc_dtype_unit(kc_operand(reduction, i)->type.elem);
    return divided(bytes, kc_dtype_unit(result));
}

// Loads of single elements have to fit, too.
static double seconds_joined(const kc_target *t, const kc_cost_problem *p,
                             const kc_cost_choice *wish, const int64_t whole[2]) {
    kc_cost_choice tiles = *wish;
    kc_cost_problem joined = *p;
    kc_cost_plan best;
    for (int i = 0; i < 2; i++)
        if (whole[i]) tiles.tile[i] = whole[i];
    if (kc_cost_rank(t, &joined, &tiles, &best, 1) == 0) return -1;
    double seconds = best.seconds;
    joined.vectors = joined.direct = false;
    return kc_cost_rank(t, &joined, &tiles, &best, 1) == 0 ? -1 : seconds;
}

bool kc_cost_joins(const kc_target *t, const kc_cost_problem *p, const kc_cost_choice *wish,
                   const int64_t whole[2]) {
    kc_cost_plan best;
    for (int i = 0; i < 2; i++)
        if (whole[i] && wish->tile[i] && wish->tile[i] < whole[i]) return false;
    double joined = seconds_joined(t, p, wish, whole);
    if (joined < 0) return false;
    kc_cost_problem alone = *p;
    alone.held = 0;
    if (kc_cost_rank(t, &alone, wish, &best, 1) == 0) return true;
    double read = (double)p->batch * (double)p->m * (double)p->n * kc_dtype_unit(p->result);
    double apart =
        best.seconds + KERNEL_SECONDS + read / ((double)t->attributes.dram_bandwidth * 1e9);
    return joined <= apart;
}

// ---- for people ---------------------------------------------------------------------------------

static const char *const limit_names[KC_COST_LIMITS] = {
    [KC_COST_MATH] = "products",           [KC_COST_SHARED] = "shared memory",
    [KC_COST_CONVERT] = "conversions",     [KC_COST_ISSUE] = "instructions issued",
    [KC_COST_CACHE] = "the last cache",    [KC_COST_LATENCY] = "latency of loads",
    [KC_COST_MEMORY] = "memory bandwidth",
};

static const char *plan_text(kc_arena *arena, const char *before, const kc_cost_plan *plan) {
    const kc_cost_choice *c = &plan->choice;
    return kc_arena_printf(
        arena,
        "%s\ntile %lldx%lldx%lld warps %lld stages %lld: %.3g us, limited by %s; %lld registers, "
        "%lld bytes shared, %lld blocks a multiprocessor, %lld programs, %.1f waves%s",
        before, (long long)c->tile[0], (long long)c->tile[1], (long long)c->tile[2],
        (long long)c->warps, (long long)c->stages, plan->seconds * 1e6, limit_names[plan->limit],
        (long long)plan->registers, (long long)plan->shared, (long long)plan->blocks,
        (long long)plan->programs, plan->waves, plan->group > 1 ? ", raster grouped:8" : "");
}

const char *kc_cost_text(kc_arena *arena, const kc_target *t, const kc_cost_problem *p,
                         const kc_cost_plan *plans, int n) {
    double flops = 2 * (double)p->batch * (double)p->m * (double)p->n * (double)p->k,
           bytes =
               (double)p->batch * ((double)(p->m + p->n) * (double)p->k * kc_dtype_unit(p->elem) +
                                   (double)p->m * (double)p->n * kc_dtype_unit(p->result)),
           rate = (double)kc_cost_rate(t, p->unit, p->elem) * 2e6 * (double)t->attributes.clock *
                  (double)t->attributes.multiprocessors;
    const char *text =
        kc_arena_printf(arena,
                        "%lld x [%lld, %lld, %lld] of %s: %.3g GFLOP, %.3g MB, %.3g FLOP a byte; "
                        "unit %s has %.3g TFLOP/s, memory %lld GB/s",
                        (long long)p->batch, (long long)p->m, (long long)p->n, (long long)p->k,
                        kc_dtype_table[p->elem].name, flops / 1e9, bytes / 1e6, flops / bytes,
                        p->unit, rate / 1e12, (long long)t->attributes.dram_bandwidth);
    for (int i = 0; i < n; i++)
        text = plan_text(arena, text, &plans[i]);
    return text;
}
