/* Registers to slots: liveness over the control flow graph, then one linear scan.
 *
 * A register's interval is the hull of everywhere it is live. What is live at the entry may be read
 * before it is written: its slot is its own from the start, so that reading it is seen as undefined
 * and never as a neighbour's old value. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/code.h"

#define LARGEST_SETS ((size_t)1 << 31) /* bits */

typedef struct block {
    uint32_t first, end;
    uint32_t next[2];
    const ptx_operand *targets; /* of a brx */
    uint32_t next_count, target_count;
    uint64_t *live_in, *defined, *used;
} block;

typedef struct liveness {
    const kcsim_flat *flat;
    block *blocks;
    size_t block_count, words;
    uint32_t *block_at; /* statement -> block that starts there, or UINT32_MAX */
    uint64_t *sets;
    uint32_t *from, *to; /* the interval of a register; from > to: never used */
    bool *apart;         /* a register has its slot for itself */
} liveness;

void kcsim_visit_registers(ptx_statement *statement,
                           void (*visit)(void *context, uint32_t *reg, bool is_written),
                           void *context) {
    if (statement->guard != PTX_NO_REGISTER) visit(context, &statement->guard, false);
    for (uint32_t i = 0; i < statement->operand_count; i++) {
        ptx_operand *operand = &statement->operands[i];
        bool written = i < ptx_ops[statement->op].destinations;
        if (operand->kind == PTX_OPERAND_REGISTER) visit(context, &operand->reg, written);
        if (operand->kind == PTX_OPERAND_MEMORY && operand->reg != PTX_NO_REGISTER)
            visit(context, &operand->reg, false);
        for (uint32_t k = 0; k < operand->element_count; k++)
            if (operand->elements[k].kind == PTX_OPERAND_REGISTER)
                visit(context, &operand->elements[k].reg, written);
    }
}

static bool get(const uint64_t *set, uint32_t bit) {
    return set[bit / 64] >> (bit % 64) & 1;
}

static void put(uint64_t *set, uint32_t bit) {
    set[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static bool is_branch(ptx_op op) {
    return op == PTX_OP_BRA || op == PTX_OP_BRX;
}

static bool is_wgmma(ptx_op op) {
    return op == PTX_OP_WGMMA || op == PTX_OP_WGMMA_SPARSE;
}

static bool ends_block(const ptx_statement *statement) {
    return is_branch(statement->op) || statement->op == PTX_OP_RET ||
           statement->op == PTX_OP_EXIT || statement->op == PTX_OP_TRAP;
}

/* Marks block starts in block_at with 0, the rest with UINT32_MAX. */
static size_t mark_leaders(liveness *live) {
    const kcsim_flat *flat = live->flat;
    size_t count = 0;
    memset(live->block_at, 0xff, (flat->count + 1) * sizeof *live->block_at);
    live->block_at[0] = 0;
    for (size_t i = 0; i < flat->count; i++) {
        const ptx_statement *statement = &flat->statements[i];
        if (ends_block(statement)) live->block_at[i + 1] = 0;
        if (statement->op == PTX_OP_BRA) live->block_at[statement->operands[0].integer] = 0;
        for (uint32_t k = 0;
             statement->op == PTX_OP_BRX && k < statement->operands[1].element_count; k++)
            live->block_at[statement->operands[1].elements[k].integer] = 0;
    }
    for (size_t i = 0; i < flat->count; i++)
        count += live->block_at[i] == 0;
    return count;
}

static void link_block(liveness *live, block *here) {
    const ptx_statement *last = &live->flat->statements[here->end - 1];
    bool falls = !ends_block(last) || last->guard != PTX_NO_REGISTER;
    if (falls && here->end < live->flat->count)
        here->next[here->next_count++] = live->block_at[here->end];
    if (last->op == PTX_OP_BRA)
        here->next[here->next_count++] = live->block_at[last->operands[0].integer];
    if (last->op == PTX_OP_BRX) {
        here->targets = last->operands[1].elements;
        here->target_count = last->operands[1].element_count;
    }
}

static bool make_blocks(liveness *live) {
    live->block_at = malloc((live->flat->count + 1) * sizeof *live->block_at);
    if (!live->block_at) return false;
    live->block_count = mark_leaders(live);
    live->words = (live->flat->register_count + 63) / 64;
    if (live->block_count * live->words * 64 > LARGEST_SETS) return false;
    live->blocks = calloc(live->block_count, sizeof *live->blocks);
    live->sets = calloc(live->block_count * live->words * 3 + 1, sizeof *live->sets);
    if (!live->blocks || !live->sets) return false;
    uint32_t index = 0;
    for (uint32_t i = 0; i < live->flat->count; i++) {
        if (live->block_at[i] == UINT32_MAX) continue;
        live->block_at[i] = index;
        block *here = &live->blocks[index];
        here->first = i;
        here->live_in = live->sets + (size_t)index * 3 * live->words;
        here->used = here->live_in + live->words;
        here->defined = here->used + live->words;
        if (index) live->blocks[index - 1].end = i;
        index++;
    }
    live->blocks[index - 1].end = (uint32_t)live->flat->count;
    for (uint32_t i = 0; i < index; i++)
        link_block(live, &live->blocks[i]);
    return true;
}

typedef struct visit_state {
    liveness *live;
    block *here;
    uint32_t at;
    bool guarded, writes;
} visit_state;

/* Uses before definitions: the first pass over a statement takes its reads, the second its writes.
 */
static void note_use(void *context, uint32_t *reg, bool is_written) {
    visit_state *state = context;
    if (is_written != state->writes) return;
    if (!is_written && !get(state->here->defined, *reg)) put(state->here->used, *reg);
    /* Under a guard some lanes keep the old value: not a definition that ends a life. */
    if (is_written && !state->guarded) put(state->here->defined, *reg);
    if (state->live->from[*reg] > state->at) state->live->from[*reg] = state->at;
    if (state->live->to[*reg] < state->at || state->live->to[*reg] == UINT32_MAX)
        state->live->to[*reg] = state->at;
}

static void summarise(liveness *live) {
    for (size_t b = 0; b < live->block_count; b++)
        for (uint32_t i = live->blocks[b].first; i < live->blocks[b].end; i++) {
            ptx_statement *statement = &live->flat->statements[i];
            /* The accumulators of a wgmma are also read. */
            bool keeps = statement->guard != PTX_NO_REGISTER || is_wgmma(statement->op);
            visit_state state = {live, &live->blocks[b], i, keeps, false};
            kcsim_visit_registers(statement, note_use, &state);
            state.writes = true;
            kcsim_visit_registers(statement, note_use, &state);
        }
}

static uint64_t live_out_word(const liveness *live, const block *here, size_t word) {
    uint64_t out = 0;
    for (uint32_t k = 0; k < here->next_count; k++)
        out |= live->blocks[here->next[k]].live_in[word];
    for (uint32_t k = 0; k < here->target_count; k++)
        out |= live->blocks[live->block_at[here->targets[k].integer]].live_in[word];
    return out;
}

static void solve(liveness *live) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = live->block_count; b-- > 0;) {
            block *here = &live->blocks[b];
            for (size_t w = 0; w < live->words; w++) {
                uint64_t in = here->used[w] | (live_out_word(live, here, w) & ~here->defined[w]);
                changed |= in != here->live_in[w];
                here->live_in[w] = in;
            }
        }
    }
}

/* What is live into or out of a block is live at its first or last statement. */
static void widen(liveness *live) {
    for (size_t b = 0; b < live->block_count; b++) {
        block *here = &live->blocks[b];
        for (size_t w = 0; w < live->words; w++) {
            uint64_t out = live_out_word(live, here, w), in = here->live_in[w];
            for (uint64_t both = in | out; both; both &= both - 1) {
                int bit = __builtin_ctzll(both);
                size_t reg = w * 64 + (size_t)bit;
                if (in >> bit & 1 && live->from[reg] > here->first) live->from[reg] = here->first;
                if (in >> bit & 1 && live->to[reg] < here->first) live->to[reg] = here->first;
                if (out >> bit & 1 && live->from[reg] > here->end - 1)
                    live->from[reg] = here->end - 1;
                if (out >> bit & 1 && live->to[reg] < here->end - 1) live->to[reg] = here->end - 1;
            }
        }
    }
}

/* A wgmma goes on with its registers until it has been waited for, wherever that is: none of them
 * shares its slot. */
static void keep_apart(liveness *live) {
    for (size_t i = 0; i < live->flat->count; i++) {
        const ptx_statement *statement = &live->flat->statements[i];
        const ptx_operand *metadata = &statement->operands[3];
        if (statement->op == PTX_OP_WGMMA_SPARSE && metadata->kind == PTX_OPERAND_REGISTER)
            live->apart[metadata->reg] = true;
        for (uint32_t k = 0; is_wgmma(statement->op) && k < 2; k++)
            for (uint32_t e = 0; e < statement->operands[k].element_count; e++) {
                const ptx_operand *element = &statement->operands[k].elements[e];
                if (element->kind == PTX_OPERAND_REGISTER) live->apart[element->reg] = true;
            }
    }
}

static bool analyse(liveness *live) {
    size_t count = live->flat->register_count;
    live->from = malloc((count + 1) * sizeof *live->from);
    live->to = malloc((count + 1) * sizeof *live->to);
    live->apart = calloc(count + 1, sizeof *live->apart);
    if (!live->from || !live->to || !live->apart) return false;
    memset(live->from, 0xff, (count + 1) * sizeof *live->from);
    memset(live->to, 0, (count + 1) * sizeof *live->to);
    if (!make_blocks(live)) return false;
    summarise(live);
    solve(live);
    widen(live);
    keep_apart(live);
    return true;
}

static void release(liveness *live) {
    free(live->blocks);
    free(live->sets);
    free(live->block_at);
    free(live->from);
    free(live->to);
    free(live->apart);
}

/* ---- the scan -------------------------------------------------------------------------------- */

enum { SIZE_CLASSES = 5 };

static int size_class(uint8_t bytes) {
    return bytes == 0 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

/* Registers whose interval starts (or ends) at a statement, chained. */
typedef struct chains {
    uint32_t *starts, *ends, *next_start, *next_end;
    uint32_t *free_slots[SIZE_CLASSES];
    size_t free_count[SIZE_CLASSES], free_capacity[SIZE_CLASSES];
} chains;

static bool make_chains(chains *chain, const liveness *live) {
    size_t statements = live->flat->count, registers = live->flat->register_count;
    chain->starts = malloc((statements + 1) * sizeof(uint32_t));
    chain->ends = malloc((statements + 1) * sizeof(uint32_t));
    chain->next_start = malloc((registers + 1) * sizeof(uint32_t));
    chain->next_end = malloc((registers + 1) * sizeof(uint32_t));
    if (!chain->starts || !chain->ends || !chain->next_start || !chain->next_end) return false;
    memset(chain->starts, 0xff, (statements + 1) * sizeof(uint32_t));
    memset(chain->ends, 0xff, (statements + 1) * sizeof(uint32_t));
    for (uint32_t reg = (uint32_t)registers; reg-- > 0;) {
        if (live->from[reg] == UINT32_MAX) continue;
        chain->next_start[reg] = chain->starts[live->from[reg]];
        chain->starts[live->from[reg]] = reg;
        chain->next_end[reg] = chain->ends[live->to[reg]];
        chain->ends[live->to[reg]] = reg;
    }
    return true;
}

static void free_chains(chains *chain) {
    free(chain->starts);
    free(chain->ends);
    free(chain->next_start);
    free(chain->next_end);
    for (int i = 0; i < SIZE_CLASSES; i++)
        free(chain->free_slots[i]);
}

static uint32_t add_slot(kcsim_code *code, kcsim_slot *slots, uint8_t bytes) {
    uint32_t lane_bytes = bytes ? bytes * 32u : 4u;
    uint32_t align = bytes ? 64 : 4;
    code->register_bytes = (code->register_bytes + align - 1) / align * align;
    slots[code->slot_count] = (kcsim_slot){.at = code->register_bytes, .bytes = bytes};
    code->register_bytes += lane_bytes;
    return code->slot_count++;
}

static bool scan(chains *chain, const liveness *live, uint32_t *slot_of, kcsim_code *code,
                 kcsim_slot *slots) {
    const kcsim_flat *flat = live->flat;
    int words = 0, most_words = 0;
    for (size_t i = 0; i < flat->count; i++) {
        for (uint32_t reg = chain->starts[i]; reg != UINT32_MAX; reg = chain->next_start[reg]) {
            uint8_t bytes = flat->registers[reg].bytes;
            int kind = size_class(bytes);
            words += (bytes + 3) / 4;
            slot_of[reg] = chain->free_count[kind] && !live->apart[reg]
                               ? chain->free_slots[kind][--chain->free_count[kind]]
                               : add_slot(code, slots, bytes);
        }
        if (words > most_words) most_words = words;
        for (uint32_t reg = chain->ends[i]; reg != UINT32_MAX; reg = chain->next_end[reg]) {
            int kind = size_class(flat->registers[reg].bytes);
            words -= (flat->registers[reg].bytes + 3) / 4;
            if (live->apart[reg]) continue;
            if (!kcsim_array_grow((void **)&chain->free_slots[kind], chain->free_count[kind],
                                  &chain->free_capacity[kind], sizeof(uint32_t)))
                return false;
            chain->free_slots[kind][chain->free_count[kind]++] = slot_of[reg];
        }
    }
    code->registers = most_words;
    return true;
}

/* Without liveness (a kernel beyond all measure) every register has a slot of its own. */
static void one_slot_each(const kcsim_flat *flat, uint32_t *slot_of, kcsim_code *code,
                          kcsim_slot *slots) {
    for (size_t reg = 0; reg < flat->register_count; reg++)
        slot_of[reg] = add_slot(code, slots, flat->registers[reg].bytes);
    code->registers = 255;
}

bool kcsim_assign_slots(ptx_module *module, const kcsim_flat *flat, uint32_t *slot_of,
                        kcsim_code *code) {
    kcsim_slot *slots =
        kcsim_arena_alloc(&module->arena, (flat->register_count + 1) * sizeof *slots);
    if (!slots) return false;
    code->slots = slots;
    code->slot_count = 1; /* slot 0: always defined */
    liveness live = {.flat = flat};
    chains chain = {0};
    bool done = true;
    if (!analyse(&live)) one_slot_each(flat, slot_of, code, slots);
    else done = make_chains(&chain, &live) && scan(&chain, &live, slot_of, code, slots);
    free_chains(&chain);
    release(&live);
    /* The assembler needs a few more for addresses and allocates eight at a time. */
    int wanted = (code->registers + 6 + 7) / 8 * 8;
    code->registers = wanted > 255 ? 255 : wanted < 16 ? 16 : wanted;
    return done;
}
