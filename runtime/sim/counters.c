#include "runtime/sim/counters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/arena.h"

static const char *const class_names[] = {
#define X(name, text) text,
    KCSIM_CLASSES(X)
#undef X
};

void kcsim_counts_add(kcsim_counts *into, const kcsim_counts *from) {
    for (int i = 0; i < KCSIM_CLASS_COUNT; i++)
        into->instructions[i] += from->instructions[i];
    into->thread_instructions += from->thread_instructions;
#define X(name) into->name += from->name;
    KCSIM_SUMS(X)
#undef X
}

void kcsim_counts_add_line(kcsim_counts *into, const kcsim_line *line) {
    const kcsim_cost *cost = &line->cost;
    into->instructions[line->class] += line->executions;
    into->tensor_flops += cost->flops;
    into->shared_wavefronts += cost->wavefronts;
    into->shared_bank_conflicts += cost->bank_conflicts;
    if (cost->stores) {
        into->global_store_bytes += cost->bytes;
        into->global_store_sectors += cost->sectors;
        into->global_store_sectors_ideal += cost->sectors_ideal;
    } else {
        into->global_load_bytes += cost->bytes;
        into->global_load_sectors += cost->sectors;
        into->global_load_sectors_ideal += cost->sectors_ideal;
    }
}

/* ---- lines ---- */

static int compare_lines(const void *a, const void *b) {
    const kcsim_line *left = a, *right = b;
    if (left->line != right->line) return left->line < right->line ? -1 : 1;
    return strcmp(left->instruction, right->instruction);
}

static void add_line(kcsim_line *into, const kcsim_line *from) {
    kcsim_cost *sum = &into->cost;
    into->executions += from->executions;
    sum->bytes += from->cost.bytes;
    sum->sectors += from->cost.sectors;
    sum->sectors_ideal += from->cost.sectors_ideal;
    sum->wavefronts += from->cost.wavefronts;
    sum->bank_conflicts += from->cost.bank_conflicts;
    sum->flops += from->cost.flops;
    sum->stores |= from->cost.stores;
}

void kcsim_lines_join(kcsim_line *lines, size_t *count) {
    size_t kept = 0;
    if (*count > 1) qsort(lines, *count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < *count; i++) {
        if (kept && compare_lines(&lines[kept - 1], &lines[i]) == 0)
            add_line(&lines[kept - 1], &lines[i]);
        else lines[kept++] = lines[i];
    }
    *count = kept;
}

/* Mostly they are the lines that are there already: the kernel was launched before. */
static void add_lines(kcsim_kernel_counts *kernel, const kcsim_line *lines, size_t count) {
    size_t known = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        while (at < kernel->line_count && compare_lines(&kernel->lines[at], &lines[i]) < 0)
            at++;
        known += at < kernel->line_count && compare_lines(&kernel->lines[at], &lines[i]) == 0;
    }
    if (known < count) {
        kcsim_line *grown =
            realloc(kernel->lines, (kernel->line_count + count - known) * sizeof *grown);
        if (!grown) return;
        kernel->lines = grown;
    }
    size_t old = kernel->line_count;
    for (size_t i = 0; i < count; i++) {
        kcsim_line *found =
            old ? bsearch(&lines[i], kernel->lines, old, sizeof *kernel->lines, compare_lines)
                : NULL;
        if (found) {
            add_line(found, &lines[i]);
            continue;
        }
        char *text = strdup(lines[i].instruction);
        if (!text) continue;
        kernel->lines[kernel->line_count] = lines[i];
        kernel->lines[kernel->line_count++].instruction = text;
    }
    if (known < count)
        qsort(kernel->lines, kernel->line_count, sizeof *kernel->lines, compare_lines);
}

/* ---- kernels ---- */

static kcsim_kernel_counts *find_kernel(kcsim_counters *counters, const char *kernel) {
    for (size_t i = 0; i < counters->count; i++)
        if (strcmp(counters->kernels[i].name, kernel) == 0) return &counters->kernels[i];
    char *name = strdup(kernel);
    if (!name || !kcsim_array_grow((void **)&counters->kernels, counters->count,
                                   &counters->capacity, sizeof *counters->kernels)) {
        free(name);
        return NULL;
    }
    counters->kernels[counters->count] = (kcsim_kernel_counts){.name = name};
    return &counters->kernels[counters->count++];
}

void kcsim_counters_add(kcsim_counters *counters, const char *kernel, const kcsim_counts *counts,
                        const kcsim_line *lines, size_t line_count) {
    kcsim_kernel_counts *found = find_kernel(counters, kernel);
    if (!found) return;
    found->launches++;
    kcsim_counts_add(&found->counts, counts);
    add_lines(found, lines, line_count);
}

void kcsim_counters_name(kcsim_counters *counters, const char *kernel) {
    find_kernel(counters, kernel);
}

void kcsim_counters_clear(kcsim_counters *counters) {
    for (size_t i = 0; i < counters->count; i++) {
        kcsim_kernel_counts *kernel = &counters->kernels[i];
        for (size_t k = 0; k < kernel->line_count; k++)
            free((char *)kernel->lines[k].instruction);
        free(kernel->lines);
        free(kernel->name);
    }
    free(counters->kernels);
    *counters = (kcsim_counters){0};
}

/* ---- JSON ---- */

static void add_line_json(kcsim_text *text, const kcsim_line *line) {
    const kcsim_cost *cost = &line->cost;
    kcsim_text_add(text, "{\"line\": %u, \"instruction\": ", line->line);
    kcsim_text_add_quoted(text, line->instruction);
    kcsim_text_add(text, ", \"class\": \"%s\", \"executions\": %" PRIu64, class_names[line->class],
                   line->executions);
    if (cost->bytes)
        kcsim_text_add(
            text, ", \"bytes\": %" PRIu64 ", \"sectors\": %" PRIu64 ", \"sectors_ideal\": %" PRIu64,
            cost->bytes, cost->sectors, cost->sectors_ideal);
    if (cost->wavefronts)
        kcsim_text_add(text, ", \"wavefronts\": %" PRIu64 ", \"bank_conflicts\": %" PRIu64,
                       cost->wavefronts, cost->bank_conflicts);
    if (cost->flops) kcsim_text_add(text, ", \"flops\": %" PRIu64, cost->flops);
    kcsim_text_add(text, "}");
}

static void add_kernel(kcsim_text *text, const kcsim_kernel_counts *kernel,
                       const kcsim_finding_set *findings) {
    kcsim_text_add(text, "{\"name\": ");
    kcsim_text_add_quoted(text, kernel->name);
    kcsim_text_add(text, ", \"launches\": %" PRIu64 ", \"instructions\": {", kernel->launches);
    for (int i = 0; i < KCSIM_CLASS_COUNT; i++)
        kcsim_text_add(text, "%s\"%s\": %" PRIu64, i ? ", " : "", class_names[i],
                       kernel->counts.instructions[i]);
    kcsim_text_add(text, "}");
#define X(name) kcsim_text_add(text, ", \"%s\": %" PRIu64, #name, kernel->counts.name);
    KCSIM_SUMS(X)
#undef X
    kcsim_text_add(text, ", \"findings\": [");
    const char *comma = "";
    for (size_t i = 0; i < findings->count; i++) {
        if (!findings->items[i].kernel || strcmp(findings->items[i].kernel, kernel->name) != 0)
            continue;
        kcsim_text_add(text, "%s", comma);
        kcsim_finding_json(text, &findings->items[i]);
        comma = ", ";
    }
    kcsim_text_add(text, "], \"lines\": [");
    for (size_t i = 0; i < kernel->line_count; i++) {
        kcsim_text_add(text, "%s", i ? ", " : "");
        add_line_json(text, &kernel->lines[i]);
    }
    kcsim_text_add(text, "]}");
}

static int compare_kernels(const void *a, const void *b) {
    const kcsim_kernel_counts *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static void sort_kernels(const kcsim_counters *counters) {
    if (counters->count > 1)
        qsort(counters->kernels, counters->count, sizeof *counters->kernels, compare_kernels);
}

void kcsim_counters_json_text(kcsim_text *text, const kcsim_counters *counters, const char *device,
                              const kcsim_finding_set *findings) {
    sort_kernels(counters);
    kcsim_text_add(text, "{\"device\": ");
    kcsim_text_add_quoted(text, device);
    kcsim_text_add(text, ", \"kernels\": [");
    for (size_t i = 0; i < counters->count; i++) {
        kcsim_text_add(text, "%s", i ? ", " : "");
        add_kernel(text, &counters->kernels[i], findings);
    }
    kcsim_text_add(text, "]}");
}

/* ---- a table ---- */

#define LITTLE 100u

static void add_ratio(kcsim_text *text, uint64_t part, uint64_t whole, int width) {
    if (whole) kcsim_text_add(text, " %*.2f", width, (double)part / (double)whole);
    else kcsim_text_add(text, " %*s", width, "");
}

static void add_number(kcsim_text *text, uint64_t value, int width) {
    if (value) kcsim_text_add(text, " %*" PRIu64, width, value);
    else kcsim_text_add(text, " %*s", width, "");
}

/* Sectors a request; bytes moved against bytes needed. */
static void add_row(kcsim_text *text, const kcsim_line *line) {
    const kcsim_cost *cost = &line->cost;
    kcsim_text_add(text, "%6u %12" PRIu64 " %-12s", line->line, line->executions,
                   class_names[line->class]);
    add_number(text, cost->sectors, 12);
    add_ratio(text, cost->sectors, cost->sectors ? line->executions : 0, 12);
    add_ratio(text, cost->sectors * 32, cost->bytes, 10);
    add_number(text, cost->wavefronts, 11);
    add_number(text, cost->bank_conflicts, 9);
    kcsim_text_add(text, "  %s\n", line->instruction);
}

static void add_table(kcsim_text *text, const kcsim_kernel_counts *kernel,
                      const kcsim_finding_set *findings) {
    uint64_t all = 0, shown = 0;
    char sentence[704];
    for (size_t i = 0; i < kernel->line_count; i++)
        all += kernel->lines[i].executions;
    kcsim_text_add(text, "\n%s: %" PRIu64 " launches, %" PRIu64 " warp instructions\n",
                   kernel->name, kernel->launches, all);
    kcsim_text_add(text, "%6s %12s %-12s %12s %12s %10s %11s %9s  %s\n", "line", "executions",
                   "class", "sectors", "sectors/each", "moved/need", "wavefronts", "conflicts",
                   "instruction");
    for (size_t i = 0; i < kernel->line_count; i++) {
        const kcsim_line *line = &kernel->lines[i];
        bool costs = line->cost.bytes || line->cost.wavefronts || line->cost.flops;
        if (!costs && line->executions * LITTLE < all) continue;
        add_row(text, line);
        shown += line->executions;
    }
    if (all > shown)
        kcsim_text_add(text,
                       "%6s %12" PRIu64 " in lines that move no memory, each below a hundredth\n",
                       "", all - shown);
    for (size_t i = 0; i < findings->count; i++) {
        if (!findings->items[i].kernel || strcmp(findings->items[i].kernel, kernel->name) != 0)
            continue;
        kcsim_finding_sentence(&findings->items[i], sentence, sizeof sentence);
        kcsim_text_add(text, "finding: %s\n", sentence);
    }
}

void kcsim_counters_table_text(kcsim_text *text, kcsim_counters *counters, const char *device,
                               const kcsim_finding_set *findings) {
    sort_kernels(counters);
    kcsim_text_add(text, "%s\n", device);
    for (size_t i = 0; i < counters->count; i++)
        add_table(text, &counters->kernels[i], findings);
}
