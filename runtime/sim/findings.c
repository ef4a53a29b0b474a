#include "runtime/sim/findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/arena.h"
#include "runtime/sim/machine.h"

static const char *const kind_names[] = {
#define X(name, text) text,
    KCSIM_FINDING_KINDS(X)
#undef X
};

const char *kcsim_finding_kind_name(kcsim_finding_kind kind) {
    return kind < KCSIM_FINDING_KIND_COUNT ? kind_names[kind] : "unknown";
}

bool kcsim_checks_parse(const char *text, uint32_t *mask, const char **bad) {
    uint32_t result = 0;
    *bad = NULL;
    if (strcmp(text, "all") == 0) result = KCSIM_CHECK_ALL;
    else if (*text && strcmp(text, "none") != 0) {
        for (bool more = true; more;) {
            size_t length = strcspn(text, ",");
            uint32_t kind = 0;
            for (int i = 0; i < KCSIM_FINDING_KIND_COUNT; i++)
                if (strlen(kind_names[i]) == length && strncmp(text, kind_names[i], length) == 0)
                    kind = 1u << i;
            if (!kind) {
                *bad = text;
                return false;
            }
            result |= kind;
            more = text[length] == ',';
            text += length + 1;
        }
    }
    *mask = result;
    return true;
}

static int compare_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

/* Of a launch that was refused there is only the reason, so each reason is a finding. */
static int compare_key(const kcsim_finding *a, const kcsim_finding *b) {
    int names = compare_text(a->kernel, b->kernel);
    if (names) return names;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    int spaces = compare_text(a->space, b->space);
    if (spaces || compare_text(a->space, "launch") != 0) return spaces;
    return strcmp(a->other, b->other);
}

static char *own(const char *text) {
    return text ? strdup(text) : NULL;
}

void kcsim_finding_add(kcsim_finding_set *set, const kcsim_finding *finding) {
    for (size_t i = 0; i < set->count; i++) {
        kcsim_finding *known = &set->items[i];
        if (compare_key(known, finding) != 0) continue;
        uint64_t count = known->count + finding->count;
        bool earlier = finding->order < known->order ||
                       (finding->order == known->order && finding->address < known->address);
        if (earlier) {
            kcsim_finding before = *known;
            *known = *finding;
            known->kernel = before.kernel;
            known->function = before.function;
            known->instruction = before.instruction;
            known->space = before.space;
        }
        known->count = count;
        return;
    }
    if (!kcsim_array_grow((void **)&set->items, set->count, &set->capacity, sizeof *set->items))
        return;
    kcsim_finding *added = &set->items[set->count++];
    *added = *finding;
    if (set->owns_text) {
        added->kernel = own(finding->kernel);
        added->function = own(finding->function);
        added->instruction = own(finding->instruction);
        added->space = own(finding->space);
    }
}

void kcsim_finding_merge(kcsim_finding_set *into, const kcsim_finding_set *from) {
    for (size_t i = 0; i < from->count; i++)
        kcsim_finding_add(into, &from->items[i]);
}

static int compare_items(const void *a, const void *b) {
    return compare_key(a, b);
}

void kcsim_finding_sort(kcsim_finding_set *set) {
    if (set->count > 1) qsort(set->items, set->count, sizeof *set->items, compare_items);
}

void kcsim_finding_clear(kcsim_finding_set *set) {
    for (size_t i = 0; set->owns_text && i < set->count; i++) {
        free((char *)set->items[i].kernel);
        free((char *)set->items[i].function);
        free((char *)set->items[i].instruction);
        free((char *)set->items[i].space);
    }
    free(set->items);
    *set = (kcsim_finding_set){.owns_text = set->owns_text};
}

void kcsim_finding_json(kcsim_text *text, const kcsim_finding *finding) {
    kcsim_text_add(text, "{\"kind\": \"%s\", \"kernel\": ", kcsim_finding_kind_name(finding->kind));
    kcsim_text_add_quoted(text, finding->kernel);
    kcsim_text_add(text, ", \"function\": ");
    kcsim_text_add_quoted(text, finding->function ? finding->function : finding->kernel);
    kcsim_text_add(text, ", \"line\": %u, \"instruction\": ", finding->line);
    kcsim_text_add_quoted(text, finding->instruction);
    kcsim_text_add(text, ", \"block\": [%u, %u, %u], \"thread\": [%u, %u, %u], \"space\": ",
                   finding->block[0], finding->block[1], finding->block[2], finding->thread[0],
                   finding->thread[1], finding->thread[2]);
    kcsim_text_add_quoted(text, finding->space);
    kcsim_text_add(text, ", \"address\": ");
    kcsim_text_add_u64(text, finding->address);
    kcsim_text_add(text, ", \"size\": %u, \"count\": %" PRIu64 ", \"other\": ", finding->size,
                   finding->count);
    kcsim_text_add_quoted(text, finding->other[0] ? finding->other : NULL);
    kcsim_text_add(text, "}");
}

void kcsim_finding_sentence(const kcsim_finding *finding, char *out, size_t size) {
    char quote[KCSIM_FINDING_QUOTE];
    kcsim_text_fit(quote, sizeof quote, finding->instruction ? finding->instruction : "?");
    int used = snprintf(out, size, "%s in kernel %s", kcsim_finding_kind_name(finding->kind),
                        finding->kernel ? finding->kernel : "?");
    bool called = finding->function && compare_text(finding->function, finding->kernel) != 0;
    if (called && used > 0 && (size_t)used < size)
        used += snprintf(out + used, size - (size_t)used, ", function %s", finding->function);
    if (finding->kind != KCSIM_FINDING_LAUNCH_LIMIT && used > 0 && (size_t)used < size)
        used += snprintf(out + used, size - (size_t)used,
                         ", line %u (%s), block %u,%u,%u thread %u,%u,%u", finding->line, quote,
                         finding->block[0], finding->block[1], finding->block[2],
                         finding->thread[0], finding->thread[1], finding->thread[2]);
    if (finding->other[0] && used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, ": %s", finding->other);
}
