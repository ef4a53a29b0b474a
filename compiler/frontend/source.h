// The bytes of a model file: checked once, then asked for lines.
#ifndef KC_COMPILER_FRONTEND_SOURCE_H
#define KC_COMPILER_FRONTEND_SOURCE_H

#include "ir/diag.h"

typedef struct {
    const char *text;
    size_t size;
    const size_t *line_starts; // byte offset of each line
    uint32_t lines;
} kc_source;

// Refuses what YAML, the diagnostics and we would count differently or not read at all: too many
// bytes, UTF-16, invalid UTF-8, control characters, line separators other than LF and CRLF.
// Everything after may assume it.
bool kc_source_check(kc_source *, kc_arena *, const char *text, size_t size, kc_diag *);
// Line `line` (from 1) without its end of line; an empty string past the end.
const char *kc_source_line(const kc_source *, uint32_t line, size_t *length);
// Code points among the first `bytes` bytes.
uint32_t kc_source_columns(const char *text, size_t bytes);

#endif
