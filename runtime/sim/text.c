#include "runtime/sim/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    size_t room = reserve(text, 80) ? text->capacity - text->length : 0;
    int length = room ? vsnprintf(text->data + text->length, room, format, arguments) : -1;
    if (length >= 0 && (size_t)length >= room && reserve(text, (size_t)length + 1))
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    if (length >= 0 && !text->failed) text->length += (size_t)length;
    va_end(again);
    va_end(arguments);
}

void kcsim_text_add_quoted(kcsim_text *text, const char *value) {
    if (!value) {
        kcsim_text_add(text, "null");
        return;
    }
    static const char hex[] = "0123456789abcdef";
    const unsigned char *c = (const unsigned char *)value;
    if (!reserve(text, 6 * strlen(value) + 3)) return;
    char *to = text->data + text->length;
    *to++ = '"';
    for (; *c; c++) {
        if (*c < 0x20) {
            memcpy(to, "\\u00", 4);
            to[4] = hex[*c >> 4];
            to[5] = hex[*c & 15];
            to += 6;
            continue;
        }
        if (*c == '"' || *c == '\\') *to++ = '\\';
        *to++ = *c < 0x7f ? (char)*c : '?';
    }
    *to++ = '"';
    *to = 0;
    text->length = (size_t)(to - text->data);
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

void kcsim_text_fit(char *out, size_t size, const char *text) {
    size_t length = strlen(text), room = size - 4, end = room;
    if (length < size) {
        memcpy(out, text, length + 1);
        return;
    }
    while (end > room / 2 && !strchr(" ,;", text[end - 1]))
        end--;
    if (end == room / 2) end = room;
    while (text[end - 1] == ' ')
        end--;
    memcpy(out, text, end);
    memcpy(out + end, "...", 4);
}

void kcsim_text_list(char *list, size_t size, const char *comma, const char *item) {
    static const char more[] = "...";
    size_t used = strlen(list), between = strlen(comma);
    if (used >= 3 && strcmp(list + used - 3, more) == 0) return;
    bool fits = used + between + strlen(item) + between + sizeof more <= size;
    snprintf(list + used, size - used, "%s%s", used ? comma : "", fits ? item : more);
}
