// Every target compiles the same function, so the same mistake comes back from each: it is told
// once. What has no place in the file (an assembler's failure, a fault) is told with the function
// and the targets it concerns.
#include <string.h>

#include "compiler/build/driver.h"
#include "runtime/arena.h"
#include "runtime/json.h"

typedef struct {
    kc_severity severity;
    kc_loc loc;
    const char *text;
    const char *who; // "f for cuda:sm_80"; only for entries without a place
    int others;      // how many more tasks said the same
    kc_loc of;       // where the function stands in the file
    const char *in;  // the functions there that said it, with commas
    const char *last;
    int n_in;
} entry;

typedef struct {
    kc_build_run *run;
    entry *entries;
    int n, capacity;
} merger;

static entry *find(const merger *m, kc_severity severity, kc_loc loc, const char *text) {
    for (int i = 0; i < m->n; i++) {
        entry *e = &m->entries[i];
        if (e->severity == severity && e->loc.line == loc.line && e->loc.column == loc.column &&
            !strcmp(e->text, text))
            return e;
    }
    return NULL;
}

static void append(merger *m, entry e) {
    if (m->n == m->capacity) {
        int capacity = m->capacity ? 2 * m->capacity : 64;
        entry *bigger = KC_NEW_ARRAY(m->run->arena, entry, capacity);
        if (m->n) memcpy(bigger, m->entries, sizeof e * (size_t)m->n);
        m->entries = bigger;
        m->capacity = capacity;
    }
    m->entries[m->n++] = e;
}

// Instances of a function, one for each element type, stand at one place: not all may be wrong.
static void note_instance(merger *m, entry *e, const kc_task *task) {
    bool other = task->loc.line != e->of.line || task->loc.column != e->of.column;
    if (!task->function || other || (e->last && !strcmp(e->last, task->function))) return;
    e->in = e->n_in++ ? kc_arena_printf(m->run->arena, "%s, %s", e->in, task->function)
                      : task->function;
    e->last = task->function;
}

static int count_instances(const kc_build_run *run, kc_loc of) {
    int n = 0;
    const char *last = "";
    for (int i = 0; i < run->n_tasks; i++) {
        const kc_task *task = &run->tasks[i];
        if (!task->function || task->loc.line != of.line || task->loc.column != of.column ||
            !strcmp(task->function, last))
            continue;
        last = task->function;
        n++;
    }
    return n;
}

// Returns whether the entry is new. Notes follow what they belong to, so they are never looked up
// by themselves.
static bool add(merger *m, const kc_task *task, kc_severity severity, kc_loc loc,
                const char *text) {
    entry *present = severity == KC_NOTE ? NULL : find(m, severity, loc, text);
    if (present) {
        present->others++;
        note_instance(m, present, task);
        return false;
    }
    const char *who = loc.line ? NULL : kc_task_name(m->run->arena, task);
    append(m, (entry){.severity = severity,
                      .loc = loc,
                      .text = kc_arena_strdup(m->run->arena, text),
                      .who = who,
                      .of = task->loc});
    if (severity != KC_NOTE && loc.line) note_instance(m, &m->entries[m->n - 1], task);
    return true;
}

// ---- what workers reported ----------------------------------------------------------------------

static kc_severity severity_of(const kcrt_json *item) {
    const kcrt_json *severity = kcrt_json_get(item, "severity");
    if (!severity || severity->kind != KCRT_JSON_STRING || !strcmp(severity->text, "error"))
        return KC_ERROR;
    return strcmp(severity->text, "note") ? KC_WARNING : KC_NOTE;
}

static uint32_t number_of(const kcrt_json *item, const char *key) {
    const kcrt_json *value = kcrt_json_get(item, key);
    return value && value->kind == KCRT_JSON_INT ? (uint32_t)value->integer : 0;
}

static void add_reported(merger *m, const kc_task *task, const kc_task_result *result) {
    kcrt_arena arena = {0};
    const char *error;
    size_t at;
    kcrt_json *list =
        kcrt_json_parse(&arena, result->diagnostics, strlen(result->diagnostics), &error, &at);
    if (!list) kc_bug("a worker's diagnostics cannot be read at %zu: %s", at, error);
    bool fresh = false;
    for (const kcrt_json *item = list->first; item; item = item->next) {
        const kcrt_json *text = kcrt_json_get(item, "text");
        kc_severity severity = severity_of(item);
        if (severity == KC_NOTE && !fresh) continue; // of an entry that is there already
        fresh = add(m, task, severity, (kc_loc){number_of(item, "line"), number_of(item, "column")},
                    text && text->kind == KCRT_JSON_STRING ? text->text : "");
    }
    kcrt_arena_release(&arena);
}

// ---- faults -------------------------------------------------------------------------------------

// The last line that says something.
static const char *last_line(kc_arena *arena, const char *text) {
    size_t size = strlen(text);
    while (size && text[size - 1] == '\n')
        size--;
    size_t start = size;
    while (start && text[start - 1] != '\n')
        start--;
    return kc_arena_strndup(arena, text + start, size - start);
}

static void add_fault(merger *m, const kc_task *task, const kc_task_result *result) {
    kc_arena *arena = m->run->arena;
    const char *said = last_line(arena, result->said);
    const char *text =
        kc_arena_printf(arena, "a fault inside kc while compiling %s, in %s: %s%s%s%s",
                        kc_task_name(arena, task), result->stage ? result->stage : "the start",
                        result->fault, *said ? " (" : "", said, *said ? ")" : "");
    append(m, (entry){.severity = KC_ERROR, .loc = task->loc, .text = text});
}

static void report(kc_build_run *run, const entry *e) {
    if (!e->who && e->n_in && e->n_in < count_instances(run, e->of))
        kc_report(run->diag, e->severity, e->loc, "%s (in %s)", e->text, e->in);
    else if (!e->who) kc_report(run->diag, e->severity, e->loc, "%s", e->text);
    else if (!e->others) kc_report(run->diag, e->severity, e->loc, "%s: %s", e->who, e->text);
    else
        kc_report(run->diag, e->severity, e->loc, "%s, and %d more: %s", e->who, e->others,
                  e->text);
}

int kc_build_merge(kc_build_run *run) {
    merger m = {.run = run};
    int status = KC_EXIT_DONE;
    for (int i = 0; i < run->n_tasks; i++) {
        const kc_task_result *result = &run->results[i];
        if (result->diagnostics) add_reported(&m, &run->tasks[i], result);
        if (result->end == KC_TASK_FAULT) add_fault(&m, &run->tasks[i], result);
        else if (*result->said)
            add(&m, &run->tasks[i], KC_WARNING, (kc_loc){0, 0},
                last_line(run->arena, result->said));
        if (result->end == KC_TASK_FAULT) status = KC_EXIT_FAULT;
        else if (result->end == KC_TASK_REFUSED && status == KC_EXIT_DONE) status = KC_EXIT_WRONG;
    }
    for (int i = 0; i < m.n; i++)
        report(run, &m.entries[i]);
    return status;
}
