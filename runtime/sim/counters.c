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

void kcsim_counters_add(kcsim_counters *counters, const char *kernel, const kcsim_counts *counts) {
    size_t i = 0;
    while (i < counters->count && strcmp(counters->kernels[i].name, kernel) != 0)
        i++;
    if (i == counters->count) {
        char *name = strdup(kernel);
        if (!name || !kcsim_array_grow((void **)&counters->kernels, counters->count,
                                       &counters->capacity, sizeof *counters->kernels)) {
            free(name);
            return;
        }
        counters->kernels[counters->count++] = (kcsim_kernel_counts){.name = name};
    }
    counters->kernels[i].launches++;
    kcsim_counts_add(&counters->kernels[i].counts, counts);
}

void kcsim_counters_clear(kcsim_counters *counters) {
    for (size_t i = 0; i < counters->count; i++)
        free(counters->kernels[i].name);
    free(counters->kernels);
    *counters = (kcsim_counters){0};
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
    kcsim_text_add(text, "]}");
}

static int compare_kernels(const void *a, const void *b) {
    const kcsim_kernel_counts *left = a, *right = b;
    return strcmp(left->name, right->name);
}

void kcsim_counters_json_text(kcsim_text *text, const kcsim_counters *counters, const char *device,
                              const kcsim_finding_set *findings) {
    if (counters->count > 1)
        qsort(counters->kernels, counters->count, sizeof *counters->kernels, compare_kernels);
    kcsim_text_add(text, "{\"device\": ");
    kcsim_text_add_quoted(text, device);
    kcsim_text_add(text, ", \"kernels\": [");
    for (size_t i = 0; i < counters->count; i++) {
        kcsim_text_add(text, "%s", i ? ", " : "");
        add_kernel(text, &counters->kernels[i], findings);
    }
    kcsim_text_add(text, "]}");
}
