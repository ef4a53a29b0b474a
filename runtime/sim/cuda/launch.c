/* A launch: limits, then blocks over host threads, then what they found and counted, merged in an
 * order that does not depend on the threads.
 *
 * Blocks that cannot see each other's work in progress run to their end one by one, on as many host
 * threads as there are. Kernels that talk across blocks (atomics or strong accesses on global
 * memory) run on one, in an order that the seed gives (residents.c). */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"
#include "runtime/sim/cuda/wgmma.h"

#define MOST_RESIDENT 4096u
#define MOST_CONFLICT_BYTES ((uint64_t)1 << 30)

/* ---- limits ---- */

static kcsim_status over_limit(kcsim_machine *machine, const kcsim_function *function,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

static kcsim_status over_limit(kcsim_machine *machine, const kcsim_function *function,
                               const char *format, ...) {
    kcsim_finding finding = {.kind = KCSIM_FINDING_LAUNCH_LIMIT,
                             .kernel = function->name,
                             .function = function->name,
                             .count = 1,
                             .line = function->routine->line,
                             .space = "launch"};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding.other, sizeof finding.other, format, arguments);
    va_end(arguments);
    kcsim_finding_sentence(&finding, machine->fault, sizeof machine->fault);
    if (machine->options.checks & KCSIM_CHECK_LAUNCH_LIMIT) {
        kcsim_finding_add(&machine->findings, &finding);
        kcsim_counters_name(&machine->counters, function->name);
    }
    return KCSIM_LAUNCH_LIMIT;
}

static kcsim_status check_block(kcsim_machine *machine, const kcsim_function *function,
                                const kcsim_launch_config *config) {
    static const uint32_t most[3] = {1024, 1024, 64};
    const ptx_routine *routine = function->routine;
    uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    for (int i = 0; i < 3; i++) {
        if (config->block[i] > most[i])
            return over_limit(machine, function, "block dimension %d is %u, the limit is %u", i,
                              config->block[i], most[i]);
        if (routine->reqntid[0] && routine->reqntid[i] != config->block[i])
            return over_limit(machine, function, "block dimension %d is %u, the kernel requires %u",
                              i, config->block[i], routine->reqntid[i]);
    }
    if (threads > (uint64_t)machine->arch->max_threads_per_block)
        return over_limit(machine, function, "%" PRIu64 " threads in a block, the limit is %d",
                          threads, machine->arch->max_threads_per_block);
    uint64_t bound = (uint64_t)routine->maxntid[0] * routine->maxntid[1] * routine->maxntid[2];
    if (bound && threads > bound)
        return over_limit(machine, function,
                          "%" PRIu64 " threads in a block, the kernel allows %" PRIu64, threads,
                          bound);
    return KCSIM_OK;
}

/* CUDA programming guide, "Thread Block Clusters": 8 blocks everywhere, 16 where the function may.
 */
static kcsim_status check_cluster(kcsim_machine *machine, const kcsim_function *function,
                                  const kcsim_launch_config *config) {
    const ptx_routine *routine = function->routine;
    const uint32_t *asked = config->cluster[0] ? config->cluster : routine->cluster;
    uint64_t blocks = 1, most = config->big_clusters ? KCSIM_CLUSTER_MOST : 8;
    if (!asked[0] && routine->explicit_cluster)
        return over_limit(machine, function,
                          "the kernel is .explicitcluster, and the launch gives "
                          "no cluster size");
    if (!asked[0]) return KCSIM_OK;
    for (int i = 0; i < 3; i++) {
        blocks *= asked[i];
        if (!asked[i] || config->grid[i] % asked[i])
            return over_limit(machine, function,
                              "grid dimension %d is %u, no multiple of the cluster's %u", i,
                              config->grid[i], asked[i]);
        if (routine->cluster[0] && asked[i] != routine->cluster[i])
            return over_limit(machine, function,
                              "cluster dimension %d is %u, the kernel requires %u", i, asked[i],
                              routine->cluster[i]);
    }
    if (blocks > 1 && machine->arch->major < 9)
        return over_limit(machine, function, "%s has no clusters", machine->arch->name);
    if (routine->max_cluster && blocks > routine->max_cluster)
        return over_limit(machine, function,
                          "%" PRIu64 " blocks in a cluster, the kernel allows %u", blocks,
                          routine->max_cluster);
    if (blocks > most)
        return over_limit(machine, function,
                          "%" PRIu64 " blocks in a cluster, the limit is %" PRIu64
                          " (16 with the function attribute set)",
                          blocks, most);
    return KCSIM_OK;
}

/* CUDA programming guide, "Grid Synchronization": all blocks of a cooperative grid are resident. */
static kcsim_status check_cooperative(kcsim_machine *machine, const kcsim_function *function,
                                      const kcsim_launch_config *config) {
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    int threads = (int)(config->block[0] * config->block[1] * config->block[2]);
    int each = kcsim_occupancy(machine, function, threads, config->dynamic_shared);
    uint64_t most = (uint64_t)each * (uint64_t)machine->options.multiprocessors;
    if (!config->cooperative || blocks <= most) return KCSIM_OK;
    return over_limit(machine, function,
                      "%" PRIu64 " blocks in a cooperative grid, the device holds %" PRIu64
                      " of them at once",
                      blocks, most);
}

static kcsim_status check_limits(kcsim_machine *machine, const kcsim_function *function,
                                 const kcsim_launch_config *config) {
    static const uint32_t most[3] = {2147483647, 65535, 65535};
    const kcsim_arch *arch = machine->arch;
    const kcsim_code *code = &function->code;
    for (int i = 0; i < 3; i++)
        if (config->grid[i] > most[i])
            return over_limit(machine, function, "grid dimension %d is %u, the limit is %u", i,
                              config->grid[i], most[i]);
    kcsim_status status = check_block(machine, function, config);
    if (status != KCSIM_OK) return status;
    uint64_t shared = code->dynamic_shared_at + config->dynamic_shared;
    uint64_t limit = (uint64_t)code->dynamic_shared_at + config->shared_limit;
    if (limit < (uint64_t)arch->shared_per_block) limit = (uint64_t)arch->shared_per_block;
    if (limit > (uint64_t)arch->shared_per_block_optin)
        limit = (uint64_t)arch->shared_per_block_optin;
    if (shared < code->dynamic_shared_at || config->dynamic_shared > limit || shared > limit)
        return over_limit(
            machine, function,
            "%zu bytes of dynamic and %" PRIu32 " of static shared memory, the limit is %" PRIu64
            " (%d with the function attribute raised)",
            config->dynamic_shared, code->dynamic_shared_at, limit, arch->shared_per_block_optin);
    if (code->local_bytes > 512 * 1024)
        return over_limit(machine, function,
                          "%" PRIu64 " bytes of local memory a thread, the limit is 524288",
                          code->local_bytes);
    status = check_cooperative(machine, function, config);
    return status == KCSIM_OK ? check_cluster(machine, function, config) : status;
}

/* ---- workers ---- */

static bool create_worker(kcsim_worker *worker, const kcsim_grid *grid) {
    bool copies = grid->code->copies || grid->code->bulk;
    bool in_transit = copies && (grid->check_race || grid->check_copies);
    bool fenced = grid->code->bulk && grid->check_proxy;
    memset(worker, 0, sizeof *worker);
    worker->launch = grid;
    worker->executed = calloc(grid->code->insn_count + 1, sizeof *worker->executed);
    worker->near = calloc(grid->code->insn_count + 1, sizeof *worker->near);
    if ((grid->check_race || in_transit || fenced) && grid->code->talks_across_blocks)
        worker->talk = kcsim_talk_create();
    if (grid->check_race || fenced)
        worker->global_race = kcsim_global_race_create(&grid->machine->memory);
    if (fenced) worker->proxy_global = kcsim_proxy_global_create(grid->clock_count);
    if (in_transit) worker->transit = kcsim_transit_create(&grid->machine->memory);
    if (worker->talk && grid->by_seed) worker->past = kcsim_past_create();
    worker->costs = calloc(grid->code->insn_count + 1, sizeof *worker->costs);
    if (grid->code->wgmma) worker->plans = calloc(KCSIM_WGMMA_PLANS, sizeof *worker->plans);
    worker->failed = !worker->executed || !worker->near || !worker->costs ||
                     (grid->code->wgmma && !worker->plans) || (in_transit && !worker->transit);
    return !worker->failed;
}

static void destroy_worker(kcsim_worker *worker) {
    free(worker->executed);
    free(worker->near);
    free(worker->plans);
    free(worker->costs);
    kcsim_talk_destroy(worker->talk);
    kcsim_past_destroy(worker->past);
    kcsim_global_race_destroy(worker->global_race);
    kcsim_transit_destroy(worker->transit);
    kcsim_proxy_global_destroy(worker->proxy_global);
    kcsim_finding_clear(&worker->findings);
    free(worker->conflicts.items);
    free(worker->printed.data);
    free(worker->complained.data);
}

static void *run_independent(void *context) {
    kcsim_worker *worker = context;
    kcsim_grid *grid = (kcsim_grid *)(uintptr_t)worker->launch;
    kcsim_cluster cluster;
    if (!kcsim_cluster_create(&cluster, worker)) {
        worker->failed = true;
        return NULL;
    }
    for (;;) {
        uint64_t number = atomic_fetch_add(&grid->next_cluster, 1);
        if (number >= grid->cluster_total) break;
        kcsim_cluster_start(&cluster, number);
        kcsim_progress progress = KCSIM_PROGRESS_PAUSED;
        while (progress == KCSIM_PROGRESS_PAUSED)
            progress = kcsim_cluster_run(&cluster, UINT64_MAX);
        if (progress == KCSIM_PROGRESS_POLLING) kcsim_cluster_polls_forever(&cluster);
    }
    kcsim_cluster_destroy(&cluster);
    return NULL;
}

/* ---- results ---- */

/* What the workers counted, by line. malloc'd; NULL when the host is out of memory. */
static kcsim_line *join_lines(const kcsim_grid *grid, const kcsim_worker *workers, uint32_t count,
                              size_t *line_count) {
    uint32_t insns = grid->code->insn_count;
    kcsim_line *lines = calloc((size_t)insns * count + 1, sizeof *lines);
    *line_count = 0;
    for (uint32_t i = 0; lines && i < count; i++)
        for (uint32_t pc = 0; pc < insns; pc++) {
            const kcsim_insn *insn = &grid->code->insns[pc];
            if (!workers[i].executed || !workers[i].executed[pc]) continue;
            lines[(*line_count)++] = (kcsim_line){.line = insn->line,
                                                  .class = (kcsim_class)insn->class,
                                                  .instruction = insn->source->text,
                                                  .executions = workers[i].executed[pc],
                                                  .cost = workers[i].costs[pc]};
        }
    if (lines) kcsim_lines_join(lines, line_count);
    return lines;
}

static void count_launch(const kcsim_grid *grid, const kcsim_worker *workers, uint32_t count) {
    kcsim_counts counts = {0};
    size_t line_count;
    kcsim_line *lines = join_lines(grid, workers, count, &line_count);
    for (size_t i = 0; i < line_count; i++)
        kcsim_counts_add_line(&counts, &lines[i]);
    for (uint32_t i = 0; i < count; i++) {
        counts.barriers += workers[i].barriers;
        counts.thread_instructions += workers[i].thread_instructions;
    }
    kcsim_counters_add(&grid->machine->counters, grid->function->name, &counts, lines, line_count);
    free(lines);
}

static const kcsim_finding *earliest(const kcsim_finding_set *set) {
    const kcsim_finding *first = set->count ? &set->items[0] : NULL;
    for (size_t i = 1; i < set->count; i++)
        if (set->items[i].order < first->order) first = &set->items[i];
    return first;
}

static kcsim_party party_of(const kcsim_grid *grid, kcsim_accessor accessor) {
    kcsim_party party = {.place = accessor.place};
    uint32_t rank = (uint32_t)(accessor.block % grid->cluster_blocks);
    kcsim_block_at(grid, accessor.block / grid->cluster_blocks, rank, party.block);
    kcsim_thread_at(grid, accessor.thread, party.thread);
    return party;
}

/* Conflicts between blocks, each at the word's least writer. */
static void tell_conflicts(const kcsim_grid *grid, const kcsim_worker *worker,
                           kcsim_finding_set *found) {
    for (size_t i = 0; i < worker->conflicts.count; i++) {
        uint64_t item = worker->conflicts.items[i];
        kcsim_accessor second = {.block = 0};
        kcsim_accessor first = kcsim_conflicts_at(grid->conflicts, item, &second);
        kcsim_party writer = party_of(grid, first), other = party_of(grid, second);
        const kcsim_insn *insn = &grid->code->insns[writer.place];
        uint64_t rows = writer.block[1] + (uint64_t)grid->grid[1] * writer.block[2];
        kcsim_finding finding = {.kind = KCSIM_FINDING_RACE,
                                 .kernel = grid->function->name,
                                 .function = insn->source->function,
                                 .line = insn->line,
                                 .instruction = insn->source->text,
                                 .space = "global",
                                 .address = item / 2,
                                 .size = item & 1 ? 1 : 4,
                                 .count = 1};
        finding.order = (writer.block[0] + grid->grid[0] * rows) * 1024 + first.thread;
        memcpy(finding.block, writer.block, sizeof finding.block);
        memcpy(finding.thread, writer.thread, sizeof finding.thread);
        kcsim_describe_party(grid, &other, second.writes ? "stores here too" : "reads this",
                             "and nothing orders blocks", finding.other, sizeof finding.other);
        kcsim_finding_add(found, &finding);
    }
}

/* Of one worker: kernels that print have no more. */
static void hand_out(const kcsim_machine *machine, const kcsim_worker *worker) {
    const kcsim_text *printed = &worker->printed, *complained = &worker->complained;
    if (machine->output && printed->length)
        machine->output(machine->output_context, false, printed->data, printed->length);
    if (machine->output && complained->length)
        machine->output(machine->output_context, true, complained->data, complained->length);
}

static kcsim_status finish(kcsim_grid *grid, kcsim_worker *workers, uint32_t count) {
    kcsim_machine *machine = grid->machine;
    kcsim_finding_set found = {0};
    bool faulted = false, failed = false;
    machine->fault[0] = 0;
    hand_out(machine, &workers[0]);
    for (uint32_t i = 0; i < count; i++) {
        kcsim_finding_merge(&found, &workers[i].findings);
        tell_conflicts(grid, &workers[i], &found);
        failed |= workers[i].failed;
        faulted |= workers[i].faulted;
        if (workers[i].faulted && !machine->fault[0])
            snprintf(machine->fault, sizeof machine->fault, "%s", workers[i].fault);
    }
    kcsim_finding_sort(&found);
    const kcsim_finding *first = earliest(&found);
    bool is_error = first && machine->options.on_finding == KCSIM_ON_FINDING_ERROR;
    if (first && (is_error || !machine->fault[0]))
        kcsim_finding_sentence(first, machine->fault, sizeof machine->fault);
    kcsim_finding_merge(&machine->findings, &found);
    count_launch(grid, workers, count);
    kcsim_finding_clear(&found);
    if (failed) {
        snprintf(machine->fault, sizeof machine->fault,
                 "the host has no memory for a block of '%s'", grid->function->name);
        return KCSIM_NO_MEMORY;
    }
    return faulted || is_error ? KCSIM_FAULT : KCSIM_OK;
}

static void run_workers(kcsim_worker *workers, uint32_t count) {
    pthread_t threads[256];
    uint32_t started = 0;
    for (uint32_t i = 1; i < count; i++, started++)
        if (pthread_create(&threads[i], NULL, run_independent, &workers[i]) != 0) break;
    run_independent(&workers[0]);
    for (uint32_t i = 1; i <= started; i++)
        pthread_join(threads[i], NULL);
}

static uint32_t resident_blocks(const kcsim_grid *grid, int block_threads) {
    int each = kcsim_occupancy(grid->machine, grid->function, block_threads, grid->dynamic_shared);
    uint64_t total =
        (uint64_t)(each < 1 ? 1 : each) * (uint64_t)grid->machine->options.multiprocessors;
    total /= grid->cluster_blocks;
    if (total < 1) total = 1;
    if (total > grid->cluster_total) total = grid->cluster_total;
    return total > MOST_RESIDENT && !grid->cooperative ? MOST_RESIDENT : (uint32_t)total;
}

static kcsim_status run_grid(kcsim_grid *grid) {
    uint32_t count = (uint32_t)grid->machine->options.host_threads;
    if (grid->code->talks_across_blocks || grid->code->system_calls) count = 1;
    if (count > grid->cluster_total) count = (uint32_t)grid->cluster_total;
    if (count > 256) count = 256;
    kcsim_worker *workers = calloc(count, sizeof *workers);
    if (!workers) return KCSIM_NO_MEMORY;
    bool ready = true;
    for (uint32_t i = 0; i < count; i++)
        ready &= create_worker(&workers[i], grid);
    int threads = (int)(grid->block[0] * grid->block[1] * grid->block[2]);
    if (ready && grid->code->talks_across_blocks)
        kcsim_run_talking(&workers[0], grid, resident_blocks(grid, threads));
    else if (ready) run_workers(workers, count);
    kcsim_status status = finish(grid, workers, count);
    for (uint32_t i = 0; i < count; i++)
        destroy_worker(&workers[i]);
    free(workers);
    return status;
}

/* Where blocks talk, their atomics may order what they do, and this check does not follow that.
 * What it remembers takes three times the memory in use: above a limit it is left out. */
static void look_for_conflicts(kcsim_grid *grid) {
    kcsim_machine *machine = grid->machine;
    if (grid->code->talks_across_blocks || grid->block_total < 2 ||
        machine->memory.used > MOST_CONFLICT_BYTES)
        return;
    if (!machine->conflicts) machine->conflicts = kcsim_conflicts_create(&machine->memory);
    if (!machine->conflicts) return;
    kcsim_conflicts_begin(machine->conflicts, grid->cluster_blocks);
    grid->conflicts = machine->conflicts;
}

/* Kernels of older devices have no way to begin early, nor to wait. */
static void look_back(kcsim_grid *grid, uint64_t after) {
    kcsim_machine *machine = grid->machine;
    if (machine->arch->major < 9 || machine->memory.used > MOST_CONFLICT_BYTES) return;
    if (!machine->earlier) machine->earlier = kcsim_earlier_create(&machine->memory);
    if (!machine->earlier) return;
    uint64_t warps = grid->cluster_total * grid->clock_count;
    grid->hands_over = grid->code->triggers && grid->code->fences && warps < UINT32_MAX;
    kcsim_earlier_begin(machine->earlier, machine->launches, grid->function->name, after,
                        grid->hands_over ? warps : 0);
    grid->earlier = machine->earlier;
    grid->is_early = kcsim_earlier_is_open(machine->earlier);
}

/* cooperative_groups/details/driver_abi.h: two words, of which the first is the size and the second
 * the barrier, which begins with 0. */
static kcsim_status make_workspace(kcsim_grid *grid, bool cooperative) {
    kcsim_machine *machine = grid->machine;
    const uint32_t words[2] = {sizeof words, 0};
    grid->cooperative = cooperative;
    if (!cooperative) return KCSIM_OK;
    if (!machine->workspace) {
        const kcsim_allocation *made = kcsim_memory_alloc(&machine->memory, sizeof words);
        if (!made) return KCSIM_NO_MEMORY;
        machine->workspace = made->base;
    }
    grid->workspace = machine->workspace;
    memcpy(machine->memory.host + (grid->workspace - machine->memory.base), words, sizeof words);
    kcsim_memory_mark(&machine->memory, grid->workspace, sizeof words);
    return KCSIM_OK;
}

/* Threads that have to fit on a multiprocessor, or 0. The assembler ignores a .minnctapersm beside
 * no block's size, and one of more blocks or threads than there may be. */
static uint32_t threads_together(const kcsim_grid *grid) {
    const kcsim_arch *arch = grid->machine->arch;
    const ptx_routine *routine = grid->function->routine;
    const uint32_t *most = routine->reqntid[0] ? routine->reqntid : routine->maxntid;
    uint64_t block = ((uint64_t)most[0] * most[1] * most[2] + 31) / 32 * 32;
    uint64_t threads = block * routine->minnctapersm;
    bool fit = routine->minnctapersm <= (uint32_t)arch->max_blocks_per_multiprocessor &&
               threads <= (uint64_t)arch->max_threads_per_multiprocessor;
    return fit ? (uint32_t)threads : 0;
}

/* setmaxnreg moves what the kernel was compiled for: .maxnreg or what .minnctapersm leaves, the
 * less of both; else all that its threads may have. */
static uint32_t registers_of(const kcsim_grid *grid, uint32_t threads) {
    uint32_t asked = grid->function->routine->maxnreg, together = threads_together(grid);
    if (asked && !together) return asked;
    uint32_t shared_by = together ? together : threads;
    uint32_t bound =
        (uint32_t)grid->machine->arch->registers_per_multiprocessor / shared_by / 8 * 8;
    if (bound > 248) bound = 248;
    return asked && asked < bound ? asked : bound;
}

static void set_clusters(kcsim_grid *grid, const kcsim_launch_config *config) {
    const uint32_t *own = grid->function->routine->cluster;
    uint32_t threads = grid->block[0] * grid->block[1] * grid->block[2];
    const uint32_t *asked = config->cluster[0] ? config->cluster : own;
    grid->explicit_cluster = asked[0] != 0;
    grid->cluster_blocks = 1;
    for (int i = 0; i < 3; i++) {
        grid->cluster[i] = asked[0] ? asked[i] : 1;
        grid->cluster_blocks *= grid->cluster[i];
    }
    grid->cluster_total = grid->block_total / grid->cluster_blocks;
    grid->clock_count = (threads + 31) / 32 * grid->cluster_blocks;
    grid->quota = registers_of(grid, (threads + 31) / 32 * 32);
}

static kcsim_status launch_locked(kcsim_machine *machine, const kcsim_function *function,
                                  const kcsim_launch_config *config, const void *params,
                                  size_t param_bytes) {
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    machine->fault[0] = 0;
    if (!blocks || !config->block[0] || !config->block[1] || !config->block[2]) {
        snprintf(machine->fault, sizeof machine->fault,
                 "a dimension of the grid or of its blocks is 0");
        return KCSIM_INVALID;
    }
    if (param_bytes < function->routine->parameter_bytes) {
        snprintf(machine->fault, sizeof machine->fault,
                 "'%s' takes %" PRIu64 " bytes of parameters, not %zu", function->name,
                 function->routine->parameter_bytes, param_bytes);
        return KCSIM_INVALID;
    }
    kcsim_status status = check_limits(machine, function, config);
    if (status != KCSIM_OK) return status;
    uint32_t checks = machine->options.checks;
    kcsim_grid grid = {.machine = machine,
                       .function = function,
                       .code = &function->code,
                       .block_total = blocks,
                       .by_seed = machine->options.seed && (function->code.talks_across_blocks ||
                                                            function->code.strong_shared),
                       .shared_bytes = function->code.dynamic_shared_at + config->dynamic_shared,
                       .dynamic_shared = config->dynamic_shared,
                       .params = params,
                       .param_bytes = function->routine->parameter_bytes,
                       .track = checks & KCSIM_CHECK_UNINITIALIZED,
                       .check_alignment = checks & KCSIM_CHECK_MISALIGNED,
                       .check_bounds = checks & KCSIM_CHECK_OUT_OF_BOUNDS,
                       .check_race = checks & KCSIM_CHECK_RACE,
                       .check_copies = checks & KCSIM_CHECK_ASYNC_IN_FLIGHT,
                       .check_proxy = checks & KCSIM_CHECK_PROXY_FENCE};
    grid.check_wgmma = grid.check_copies || grid.check_proxy ||
                       checks & KCSIM_CHECK_BARRIER_DIVERGENCE;
    grid.check_order =
        grid.check_bounds || grid.check_race || grid.check_copies || grid.check_proxy;
    if (config->dynamic_shared == 0) grid.shared_bytes = function->code.shared_bytes;
    memcpy(grid.grid, config->grid, sizeof grid.grid);
    memcpy(grid.block, config->block, sizeof grid.block);
    set_clusters(&grid, config);
    status = make_workspace(&grid, config->cooperative);
    if (status != KCSIM_OK) return status;
    machine->launches++;
    if (grid.check_race) look_for_conflicts(&grid);
    if (grid.check_race) look_back(&grid, config->after);
    return run_grid(&grid);
}

/* PTX ISA, ".blocksareclusters". What CUDA's headers then launch are blocks of one thread, as the
 * kernel says how large they are. */
static kcsim_launch_config spread(const ptx_routine *routine, const kcsim_launch_config *config) {
    kcsim_launch_config made = *config;
    bool sizeless = config->block[0] == 1 && config->block[1] == 1 && config->block[2] == 1;
    for (int i = 0; routine->blocks_are_clusters && i < 3; i++) {
        uint64_t size = (uint64_t)config->grid[i] * routine->cluster[i];
        made.grid[i] = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
        if (sizeless) made.block[i] = routine->reqntid[i];
    }
    return made;
}

kcsim_status kcsim_launch(kcsim_machine *machine, const kcsim_function *function,
                          const kcsim_launch_config *config, const void *params,
                          size_t param_bytes) {
    kcsim_launch_config spread_out = spread(function->routine, config);
    pthread_mutex_lock(&machine->lock);
    kcsim_status status = launch_locked(machine, function, &spread_out, params, param_bytes);
    pthread_mutex_unlock(&machine->lock);
    return status;
}

/* How resources are given out, as the vendor's occupancy calculator has it: registers in units of
 * 256 a warp, from four equal files, each of which serves a quarter of a block's warps; shared
 * memory in units of 256 bytes on compute capability 7, of 128 since. */
enum { REGISTER_UNIT = 256, REGISTER_FILES = 4 };

static int round_to(int value, int unit) {
    return (value + unit - 1) / unit * unit;
}

static int blocks_by_registers(const kcsim_arch *arch, int registers, int warps) {
    int a_warp = round_to(registers * 32, REGISTER_UNIT);
    if (a_warp * round_to(warps, REGISTER_FILES) > arch->registers_per_block) return 0;
    int a_file = arch->registers_per_multiprocessor / REGISTER_FILES / a_warp;
    return a_file * REGISTER_FILES / warps;
}

int kcsim_occupancy(const kcsim_machine *machine, const kcsim_function *function, int block_threads,
                    size_t dynamic_shared) {
    const kcsim_arch *arch = machine->arch;
    size_t most = (size_t)arch->shared_per_multiprocessor, unit = arch->major < 8 ? 256 : 128;
    if (block_threads < 1 || block_threads > arch->max_threads_per_block || dynamic_shared > most)
        return 0;
    int warps = (block_threads + 31) / 32;
    int blocks = arch->max_threads_per_multiprocessor / 32 / warps;
    int by_registers = blocks_by_registers(arch, function->code.registers, warps);
    size_t shared = function->code.dynamic_shared_at + dynamic_shared +
                    (size_t)arch->shared_reserved_per_block;
    shared = (shared + unit - 1) / unit * unit;
    if (blocks > arch->max_blocks_per_multiprocessor) blocks = arch->max_blocks_per_multiprocessor;
    if (by_registers < blocks) blocks = by_registers;
    if (shared && most / shared < (size_t)blocks) blocks = (int)(most / shared);
    return blocks;
}
