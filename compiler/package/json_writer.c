// A writer with one piece of state: where commas and line breaks go.
#include "compiler/package/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>

kc_json kc_json_to(FILE *out, int broken) {
    return (kc_json){.out = out, .broken = broken};
}

static void new_line(kc_json *j) {
    fputc('\n', j->out);
    for (int i = 0; i < j->depth; i++)
        fputc(' ', j->out);
}

// What stands before an item: a comma, a line break, or nothing after its key.
static void before_item(kc_json *j) {
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth == 0) return;
    bool *filled = &j->filled[j->depth - 1];
    if (*filled) fputs(j->depth <= j->broken ? "," : ", ", j->out);
    *filled = true;
    if (j->depth <= j->broken) new_line(j);
}

void kc_json_open(kc_json *j, char bracket) {
    before_item(j);
    fputc(bracket, j->out);
    if (j->depth == KC_JSON_DEPTH) abort(); // a fault of ours: nothing we write nests that deep
    j->filled[j->depth++] = false;
}

void kc_json_close(kc_json *j, char bracket) {
    bool filled = j->filled[--j->depth];
    if (filled && j->depth < j->broken) new_line(j);
    fputc(bracket, j->out);
}

// Length of the UTF-8 sequence at `at`, which ends with a NUL; 0 when it is none (RFC 3629).
static int sequence(const unsigned char *at) {
    int n = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    bool overlong = (*at == 0xE0 && at[1] < 0xA0) || (*at == 0xF0 && at[1] < 0x90);
    bool outside = (*at == 0xED && at[1] > 0x9F) || (*at == 0xF4 && at[1] > 0x8F);
    return n > 1 && (overlong || outside) ? 0 : n;
}

static void write_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int n = sequence(at);
        if (!n) fputs("\\ufffd", out);
        else if (*at == '"' || *at == '\\') fprintf(out, "\\%c", *at);
        else if (*at == '\n') fputs("\\n", out);
        else if (*at < 0x20 || *at == 0x7F) fprintf(out, "\\u%04x", *at);
        else fwrite(at, 1, (size_t)n, out);
        at += n ? n : 1;
    }
    fputc('"', out);
}

void kc_json_key(kc_json *j, const char *key) {
    before_item(j);
    write_string(j->out, key);
    fputs(": ", j->out);
    j->after_key = true;
}

void kc_json_string(kc_json *j, const char *text) {
    before_item(j);
    write_string(j->out, text);
}

void kc_json_string_or_null(kc_json *j, const char *text) {
    if (text) kc_json_string(j, text);
    else kc_json_raw(j, "null");
}

void kc_json_int(kc_json *j, int64_t value) {
    const int64_t exact = INT64_C(1) << 53;
    before_item(j);
    bool quoted = value > exact || value < -exact;
    fprintf(j->out, quoted ? "\"%" PRId64 "\"" : "%" PRId64, value);
}

void kc_json_bool(kc_json *j, bool value) {
    kc_json_raw(j, value ? "true" : "false");
}

void kc_json_real(kc_json *j, double value) {
    before_item(j);
    bool finite = value - value == 0;
    if (finite) fprintf(j->out, "%.6g", value);
    else write_string(j->out, value != value ? "nan" : value > 0 ? "inf" : "-inf");
}

void kc_json_expr(kc_json *j, const kc_expr_pool *pool, const kc_expr *expr) {
    int64_t value;
    if (kc_expr_is_const(expr, &value)) {
        kc_json_int(j, value);
        return;
    }
    size_t size = kc_expr_print(pool, expr, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) abort();
    kc_expr_print(pool, expr, text, size);
    kc_json_string(j, text);
    free(text);
}

void kc_json_raw(kc_json *j, const char *text) {
    before_item(j);
    fputs(text, j->out);
}

void kc_json_put_string(kc_json *j, const char *key, const char *text) {
    kc_json_key(j, key);
    kc_json_string(j, text);
}

void kc_json_put_int(kc_json *j, const char *key, int64_t value) {
    kc_json_key(j, key);
    kc_json_int(j, value);
}

void kc_json_put_bool(kc_json *j, const char *key, bool value) {
    kc_json_key(j, key);
    kc_json_bool(j, value);
}
