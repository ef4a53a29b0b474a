/* Loops that have no way out.
 *
 *     L: ld.volatile.global.b32 %r1, [%rd1];
 *        bra L;                                   nothing behind this leads to ret, exit or trap
 *
 * Whoever comes to where such a loop begins will not end, whatever others do, so that nothing needs
 * to be executed to know. */
#include <stdlib.h>

#include "runtime/sim/cuda/code.h"

static bool ends(const kcsim_insn *insn) {
    return insn->kind == KCSIM_DO_EXIT || insn->kind == KCSIM_DO_TRAP;
}

/* Whether a way leads from here to an instruction that `reaches` an end, or past the list's end. */
static bool leads_on(const kcsim_code *code, uint32_t pc, const bool *reaches) {
    const kcsim_insn *insn = &code->insns[pc];
    bool falls = insn->guard || (insn->kind != KCSIM_DO_BRANCH &&
                                 !(insn->kind == KCSIM_DO_BRANCH_INDEX && insn->list_count));
    if (ends(insn) || (falls && reaches[pc + 1])) return true;
    if (insn->kind == KCSIM_DO_BRANCH) return reaches[insn->target];
    for (uint32_t i = 0; insn->kind == KCSIM_DO_BRANCH_INDEX && i < insn->list_count; i++)
        if (reaches[insn->list[i].at]) return true;
    return false;
}

static void begins_at(kcsim_code *code, uint32_t head, uint32_t end) {
    kcsim_insn *insn = &code->insns[head];
    if (head > end || insn->kind == KCSIM_DO_ENDLESS) return;
    insn->kind = KCSIM_DO_ENDLESS;
    insn->guard = 0;
    insn->imm = code->insns[end].line;
}

bool kcsim_find_endless(kcsim_code *code) {
    bool *reaches = calloc(code->insn_count + 1u, sizeof *reaches), more = true;
    if (!reaches) return false;
    reaches[code->insn_count] = true;
    while (more) {
        more = false;
        for (uint32_t pc = code->insn_count; pc-- > 0;)
            if (!reaches[pc] && leads_on(code, pc, reaches)) reaches[pc] = more = true;
    }
    for (uint32_t pc = code->insn_count; pc-- > 0;) { /* so that the last way back is told */
        const kcsim_insn *insn = &code->insns[pc];
        if (reaches[pc]) continue;
        if (insn->kind == KCSIM_DO_BRANCH) begins_at(code, insn->target, pc);
        for (uint32_t i = 0; insn->kind == KCSIM_DO_BRANCH_INDEX && i < insn->list_count; i++)
            begins_at(code, insn->list[i].at, pc);
    }
    free(reaches);
    return true;
}
