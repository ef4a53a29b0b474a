#include "runtime/sim/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int reserve(kcsim_text *text, size_t more) {
    if (text->failed) return 0;
    if (text->capacity - text->length > more) return 1;
    size_t wanted = (text->length + more + 64) * 2;
    char *grown = realloc(text->data, wanted);
    if (!grown) {
        text->failed = 1;
        return 0;
    }
    text->data = grown;
    text->capacity = wanted;
    return 1;
}

void kcsim_text_add(kcsim_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && reserve(text, (size_t)length + 1)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void kcsim_text_add_quoted(kcsim_text *text, const char *value) {
    if (!value) {
        kcsim_text_add(text, "null");
        return;
    }
    kcsim_text_add(text, "\"");
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\') kcsim_text_add(text, "\\%c", *c);
        else if (*c < 0x20) kcsim_text_add(text, "\\u%04x", *c);
        else kcsim_text_add(text, "%c", *c < 0x7f ? *c : '?');
    }
    kcsim_text_add(text, "\"");
}

void kcsim_text_add_u64(kcsim_text *text, uint64_t value) {
    const char *quote = value > ((uint64_t)1 << 53) ? "\"" : "";
    kcsim_text_add(text, "%s%" PRIu64 "%s", quote, value, quote);
}

char *kcsim_text_take(kcsim_text *text) {
    char *data = text->data;
    if (text->failed) {
        free(data);
        data = NULL;
    }
    *text = (kcsim_text){0};
    return data;
}
