// Diagnostics: user errors go to a sink, many at a time, each with a source location; printing comes last.
//
// Form: `FILE:LINE:COL: error: TEXT`, the source line, a caret. Lines and columns count from 1, columns in code
// points. A good text says what was expected, what was seen and what to try. Faults of ours go to kc_bug().
#ifndef KC_IR_DIAG_H
#define KC_IR_DIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "ir/arena.h"

typedef struct { uint32_t line, column; } kc_loc; // {0, 0}: no location in the source
typedef enum { KC_ERROR, KC_WARNING, KC_NOTE } kc_severity;

typedef struct kc_diag kc_diag;

// `source` (may be NULL) is borrowed and gives the caret lines; it need not be valid UTF-8.
kc_diag *kc_diag_create(kc_arena *, const char *file, const char *source, size_t source_size);
void kc_report(kc_diag *, kc_severity, kc_loc, const char *format, ...) __attribute__((format(printf, 4, 5)));
int kc_diag_errors(const kc_diag *);                 // number of errors so far
int kc_diag_count(const kc_diag *);                  // all entries; past 100 errors further ones are counted, not kept
// Reports what n readings of one text found, each entry once: with the names of those that have it when not all do.
void kc_diag_merge(kc_diag *into, int n, kc_diag *const *readings, const char *const *names);
void kc_diag_print(const kc_diag *, FILE *);         // in source order, notes after the entry they follow
void kc_diag_print_json(const kc_diag *, FILE *);    // [{"file","line","column","severity","text"}]

// A fault inside kc: prints "kc: internal error: TEXT" with the pass or op that was active and aborts the worker.
_Noreturn void kc_bug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kc_bug_context(const char *what); // borrowed; NULL clears

#endif
