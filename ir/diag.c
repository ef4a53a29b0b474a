// The sink of diagnostics: kept in order of arrival, printed in source order with the line and a
// caret.
#include "ir/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_ERRORS = 100, KEPT_ENTRIES = 1000 };

typedef struct {
    kc_severity severity;
    kc_loc loc;
    const char *text;
} entry;

struct kc_diag {
    kc_arena *arena;
    const char *file, *source;
    size_t source_size;
    entry *entries;
    int n, capacity;
    int count, errors; // all that were reported, kept or not
    bool dropped;      // the last one was not kept, so its notes are not either
};

static const char *const severity_names[] = {
    [KC_ERROR] = "error", [KC_WARNING] = "warning", [KC_NOTE] = "note"};

kc_diag *kc_diag_create(kc_arena *arena, const char *file, const char *source, size_t source_size) {
    kc_diag *diag = KC_NEW(arena, kc_diag);
    *diag = (kc_diag){.arena = arena, .file = kc_arena_strdup(arena, file ? file : "<input>")};
    diag->source = source;
    diag->source_size = source ? source_size : 0;
    return diag;
}

static void append(kc_diag *diag, kc_severity severity, kc_loc loc, const char *text) {
    if (diag->n == diag->capacity) {
        int capacity = diag->capacity ? 2 * diag->capacity : 16;
        entry *entries = KC_NEW_ARRAY(diag->arena, entry, capacity);
        if (diag->n) memcpy(entries, diag->entries, (size_t)diag->n * sizeof *entries);
        diag->entries = entries;
        diag->capacity = capacity;
    }
    diag->entries[diag->n++] = (entry){severity, loc, kc_arena_strdup(diag->arena, text)};
}

// Counts an entry and says whether it is kept.
static bool admit(kc_diag *diag, kc_severity severity) {
    diag->count++;
    if (severity == KC_ERROR) diag->errors++;
    bool full = diag->n >= KEPT_ENTRIES || (severity == KC_ERROR && diag->errors > KEPT_ERRORS);
    diag->dropped = full || (severity == KC_NOTE && diag->dropped);
    return !diag->dropped;
}

void kc_report(kc_diag *diag, kc_severity severity, kc_loc loc, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0) *text = 0;
    else if ((size_t)length >= sizeof text) memcpy(text + sizeof text - 4, "...", 4);
    if (admit(diag, severity)) append(diag, severity, loc, text);
}

int kc_diag_errors(const kc_diag *diag) {
    return diag->errors;
}

int kc_diag_count(const kc_diag *diag) {
    return diag->count;
}

// ---- several readings of one text

// The entry of the other sink that says the same, or -1.
static int find_same(const kc_diag *diag, const entry *e) {
    for (int i = 0; i < diag->n; i++) {
        const entry *other = &diag->entries[i];
        if (other->severity == e->severity && other->loc.line == e->loc.line &&
            other->loc.column == e->loc.column && !strcmp(other->text, e->text))
            return i;
    }
    return -1;
}

// Where the entry of reading `first` is new: " (in f_f16, f_i8)", or "" when all have it. NULL: an
// earlier reading has told it.
static const char *who_has(kc_diag *into, int n, kc_diag *const *readings, const char *const *names,
                           int first, const entry *e) {
    const char *list = "";
    int having = 0;
    for (int r = 0; r < n; r++) {
        if (r != first && find_same(readings[r], e) < 0) continue;
        if (r < first) return NULL;
        list = kc_arena_printf(into->arena, "%s%s%s", list, having++ ? ", " : "", names[r]);
    }
    return having == n ? "" : kc_arena_printf(into->arena, " (in %s)", list);
}

void kc_diag_merge(kc_diag *into, int n, kc_diag *const *readings, const char *const *names) {
    for (int r = 0; r < n; r++) {
        bool told = false;
        for (int i = 0; i < readings[r]->n; i++) {
            const entry *e = &readings[r]->entries[i];
            const char *who = e->severity == KC_NOTE ? ""
                                                     : who_has(into, n, readings, names, r, e);
            if (e->severity != KC_NOTE) told = who != NULL;
            if (told) kc_report(into, e->severity, e->loc, "%s%s", e->text, who);
        }
    }
}

// ---- source order: groups of an entry and its notes, by line and column, stable; no location
// comes last

typedef struct {
    int first;
    kc_loc loc;
} group;

static int compare_groups(const void *a, const void *b) {
    const group *x = a, *y = b;
    uint32_t x_line = x->loc.line ? x->loc.line : UINT32_MAX,
             y_line = y->loc.line ? y->loc.line : UINT32_MAX;
    if (x_line != y_line) return x_line < y_line ? -1 : 1;
    if (x->loc.column != y->loc.column) return x->loc.column < y->loc.column ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

// Calls `each` for every kept entry in source order.
static void in_order(const kc_diag *diag, void (*each)(const kc_diag *, const entry *, void *),
                     void *context) {
    group *groups = KC_NEW_ARRAY(diag->arena, group, diag->n);
    int n = 0;
    for (int i = 0; i < diag->n; i++)
        if (diag->entries[i].severity != KC_NOTE || i == 0)
            groups[n++] = (group){i, diag->entries[i].loc};
    if (n) qsort(groups, (size_t)n, sizeof *groups, compare_groups);
    for (int g = 0; g < n; g++) {
        int i = groups[g].first;
        do
            each(diag, &diag->entries[i++], context);
        while (i < diag->n && diag->entries[i].severity == KC_NOTE);
    }
}

// ---- text

// Length of the UTF-8 sequence at `at`; 0 when it is not one.
static size_t sequence(const unsigned char *at, const unsigned char *end) {
    size_t n = *at < 0x80                  ? 1
               : *at >= 0xC2 && *at < 0xE0 ? 2
               : (*at & 0xF0) == 0xE0      ? 3
               : *at >= 0xF0 && *at < 0xF5 ? 4
                                           : 0;
    if (!n || (size_t)(end - at) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    return n;
}

static const unsigned char *find_line(const kc_diag *diag, uint32_t line,
                                      const unsigned char **end) {
    const char *at = diag->source, *stop = diag->source + diag->source_size;
    for (uint32_t i = 1; at && i < line; i++) {
        at = memchr(at, '\n', (size_t)(stop - at));
        if (at) at++;
    }
    if (!at || at == stop) return NULL;
    const char *newline = memchr(at, '\n', (size_t)(stop - at));
    *end = (const unsigned char *)(newline ? newline : stop);
    return (const unsigned char *)at;
}

enum { BEFORE_CARET = 100, LINE_WIDTH = 160 };

// The source line, or the part of a long one around the column, one column a code point, and the
// caret below.
static void print_caret(const kc_diag *diag, kc_loc loc, FILE *out) {
    const unsigned char *end,
        *at = diag->source && loc.line ? find_line(diag, loc.line, &end) : NULL;
    if (!at || !loc.column) return;
    uint32_t first = loc.column > BEFORE_CARET ? loc.column - BEFORE_CARET : 1;
    uint32_t column = 1;
    fputs(first > 1 ? "  ..." : "  ", out);
    while (at < end && column < first + LINE_WIDTH) {
        size_t n = sequence(at, end);
        if (column++ >= first) {
            if (!n) fputc('?', out);
            else if (n == 1) fputc(*at < 0x20 || *at == 0x7F ? ' ' : *at, out);
            else fwrite(at, 1, n, out);
        }
        at += n ? n : 1;
    }
    fprintf(out, "\n%*s^\n", (int)(loc.column - first) + (first > 1 ? 5 : 2), "");
}

static void print_entry(const kc_diag *diag, const entry *e, void *out) {
    fputs(diag->file, out);
    if (e->loc.line) fprintf(out, ":%u:%u", e->loc.line, e->loc.column);
    fprintf(out, ": %s: %s\n", severity_names[e->severity], e->text);
    print_caret(diag, e->loc, out);
}

void kc_diag_print(const kc_diag *diag, FILE *out) {
    in_order(diag, print_entry, out);
    if (diag->count > diag->n)
        fprintf(out, "%s: note: %d further diagnostics are not shown\n", diag->file,
                diag->count - diag->n);
}

// ---- JSON

static void print_json_string(const char *text, FILE *out) {
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    fputc('"', out);
    while (at < end) {
        size_t n = sequence(at, end);
        if (!n) fputs("\\ufffd", out);
        else if (n == 1 && (*at == '"' || *at == '\\')) fprintf(out, "\\%c", *at);
        else if (n == 1 && *at < 0x20) fprintf(out, "\\u%04x", *at);
        else fwrite(at, 1, n, out);
        at += n ? n : 1;
    }
    fputc('"', out);
}

typedef struct {
    FILE *out;
    bool later;
} json_list;

static void print_json_entry(const kc_diag *diag, const entry *e, void *context) {
    json_list *list = context;
    fputs(list->later ? ",\n " : "", list->out);
    list->later = true;
    fputs("{\"file\": ", list->out);
    print_json_string(diag->file, list->out);
    fprintf(list->out,
            ", \"line\": %u, \"column\": %u, \"severity\": \"%s\", \"text\": ", e->loc.line,
            e->loc.column, severity_names[e->severity]);
    print_json_string(e->text, list->out);
    fputc('}', list->out);
}

void kc_diag_print_json(const kc_diag *diag, FILE *out) {
    json_list list = {out, false};
    fputc('[', out);
    in_order(diag, print_json_entry, &list);
    fputs("]\n", out);
}

// ---- faults of ours

static _Thread_local const char *bug_context;

void kc_bug_context(const char *what) {
    bug_context = what;
}

void kc_bug(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("kc: internal error: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    if (bug_context) fprintf(stderr, " (in %s)", bug_context);
    fputc('\n', stderr);
    abort();
}
