#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/exec.h"

static bool check_is_on(const kcsim_warp *warp, kcsim_finding_kind kind) {
    return warp->block->launch->machine->options.checks >> kind & 1;
}

void kcsim_report_lanes(kcsim_warp *warp, const kcsim_insn *insn, const kcsim_report *report) {
    const kcsim_block *block = warp->block;
    if (!report->lanes || !check_is_on(warp, report->kind)) return;
    unsigned lane = (unsigned)__builtin_ctz(report->lanes);
    kcsim_finding finding = {.kind = report->kind,
                             .kernel = block->launch->function->name,
                             .function = insn->source->function,
                             .instruction = insn->source->text,
                             .space = report->space,
                             .line = insn->line,
                             .address = report->addresses ? report->addresses[lane] : 0,
                             .size = report->size,
                             .count = (uint64_t)__builtin_popcount(report->lanes)};
    memcpy(finding.block, block->id, sizeof finding.block);
    for (int i = 0; i < 3; i++)
        finding.thread[i] = warp->tid[i][lane];
    finding.order = block->linear * 1024 + warp->index * 32 + lane;
    if (report->other) kcsim_text_fit(finding.other, sizeof finding.other, report->other);
    kcsim_finding_add(&block->worker->findings, &finding);
}

uint32_t kcsim_report_undefined(kcsim_warp *warp, const kcsim_insn *insn, kcsim_ref ref,
                                uint32_t mask, const char *what) {
    uint32_t bad = mask & ~warp->full[ref.slot];
    if (!bad || !warp->block->launch->track) return 0;
    kcsim_report report = {
        .kind = KCSIM_FINDING_UNINITIALIZED, .lanes = bad, .space = "register", .other = what};
    kcsim_report_lanes(warp, insn, &report);
    return bad;
}

void kcsim_thread_at(const kcsim_grid *grid, uint32_t thread, uint32_t id[3]) {
    id[0] = thread % grid->block[0];
    id[1] = thread / grid->block[0] % grid->block[1];
    id[2] = thread / grid->block[0] / grid->block[1];
}

kcsim_party kcsim_party_of(const kcsim_grid *grid, uint32_t key, uint32_t lane, uint16_t place) {
    uint32_t warps = grid->clock_count / grid->cluster_blocks, id = key % grid->clock_count;
    kcsim_party party = {.place = place == UINT16_MAX ? UINT32_MAX : place};
    kcsim_block_at(grid, key / grid->clock_count, id / warps, party.block);
    kcsim_thread_at(grid, id % warps * KCSIM_LANES + lane, party.thread);
    return party;
}

void kcsim_describe_party(const kcsim_grid *grid, const kcsim_party *party, const char *what,
                          const char *end, char *text, size_t size) {
    char at[KCSIM_FINDING_QUOTE + 32] = "", quote[KCSIM_FINDING_QUOTE];
    if (party->place != UINT32_MAX) {
        const kcsim_insn *insn = &grid->code->insns[party->place];
        kcsim_text_fit(quote, sizeof quote, insn->source->text);
        snprintf(at, sizeof at, " at line %u (%s)", insn->line, quote);
    }
    snprintf(text, size, "thread %u,%u,%u of block %u,%u,%u %s%s, %s", party->thread[0],
             party->thread[1], party->thread[2], party->block[0], party->block[1], party->block[2],
             what, at, end);
}
