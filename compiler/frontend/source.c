#include "compiler/frontend/source.h"

#include <string.h>

#include "compiler/frontend/frontend.h"

uint32_t kc_source_columns(const char *text, size_t bytes) {
    uint32_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

// Length of the UTF-8 sequence at `at`, 0 when it is none; the code point in *point.
static size_t decode(const unsigned char *at, size_t left, uint32_t *point) {
    if (at[0] < 0x80) return *point = at[0], 1;
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0xC2 || at[0] > 0xF4 || length > left) return 0;
    *point = at[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        *point = *point << 6 | (at[i] & 0x3F);
    }
    bool surrogate = *point >= 0xD800 && *point < 0xE000;
    return *point < least[length] || *point > 0x10FFFF || surrogate ? 0 : length;
}

static bool is_line_break(uint32_t point, const unsigned char *next, size_t left) {
    if (point == '\r') return left == 0 || *next != '\n';
    return point == 0x85 || point == 0x2028 || point == 0x2029;
}

static bool is_control(uint32_t point) {
    return (point < 0x20 && point != '\t' && point != '\n' && point != '\r') ||
           (point >= 0x7F && point < 0xA0) || point == 0xFFFE || point == 0xFFFF;
}

static bool refuse(kc_diag *diag, kc_loc loc, uint32_t point, bool line_break) {
    if (line_break)
        kc_report(diag, KC_ERROR, loc,
                  "lines must end with LF or CRLF; seen U+%04X used as a line break", point);
    else kc_report(diag, KC_ERROR, loc, "unexpected control character U+%04X", point);
    return false;
}

// Every character, with the location kept along.
static bool check_characters(const char *text, size_t size, uint32_t *lines, kc_diag *diag) {
    const unsigned char *bytes = (const unsigned char *)text;
    kc_loc loc = {1, 1};
    for (size_t i = 0, length; i < size; i += length) {
        uint32_t point;
        length = decode(bytes + i, size - i, &point);
        if (!length) {
            kc_report(diag, KC_ERROR, loc, "invalid UTF-8: byte 0x%02X; save the file as UTF-8",
                      bytes[i]);
            return false;
        }
        bool line_break = is_line_break(point, bytes + i + length, size - i - length);
        if (line_break || is_control(point)) return refuse(diag, loc, point, line_break);
        if (point == 0xFEFF && i == 0) continue; // the byte order mark takes no column
        if (point == '\n') loc = (kc_loc){loc.line + 1, 1};
        else loc.column++;
    }
    *lines = loc.line;
    return true;
}

// UTF-16 and UTF-32, from their byte order mark or from the zeros that their ASCII characters have.
static const char *wide_encoding(const char *text, size_t size) {
    static const struct {
        const char *start;
        size_t bytes;
        const char *name;
    } starts[] = {{"\xFF\xFE\0\0", 4, "UTF-32"}, {"\0\0\xFE\xFF", 4, "UTF-32"},
                  {"\xFF\xFE", 2, "UTF-16"},     {"\xFE\xFF", 2, "UTF-16"},
                  {"\0\0\0", 3, "UTF-32"},       {"\0", 1, "UTF-16"}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (size >= 4 && !memcmp(text, starts[i].start, starts[i].bytes)) return starts[i].name;
    if (size < 4 || text[1]) return NULL;
    return text[2] ? "UTF-16" : "UTF-32";
}

bool kc_source_check(kc_source *source, kc_arena *arena, const char *text, size_t size,
                     kc_diag *diag) {
    if (size > KC_MODEL_MAX_BYTES) {
        kc_report(diag, KC_ERROR, (kc_loc){1, 1},
                  "the file has %zu bytes; a model file has at most %d (%d MiB)", size,
                  (int)KC_MODEL_MAX_BYTES, KC_MODEL_MAX_BYTES >> 20);
        return false;
    }
    const char *wide = wide_encoding(text, size);
    if (wide) {
        kc_report(diag, KC_ERROR, (kc_loc){1, 1}, "the file is %s; save it as UTF-8", wide);
        return false;
    }
    uint32_t lines = 0;
    if (!check_characters(text, size, &lines, diag)) return false;
    size_t *starts = KC_NEW_ARRAY(arena, size_t, lines);
    uint32_t n = 1;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n') starts[n++] = i + 1;
    *source = (kc_source){.text = text, .size = size, .line_starts = starts, .lines = lines};
    return true;
}

const char *kc_source_line(const kc_source *source, uint32_t line, size_t *length) {
    *length = 0;
    if (line < 1 || line > source->lines) return "";
    size_t start = source->line_starts[line - 1];
    size_t end = line < source->lines ? source->line_starts[line] - 1 : source->size;
    if (end > start && source->text[end - 1] == '\r') end--;
    if (start == 0 && end >= 3 && !memcmp(source->text, "\xEF\xBB\xBF", 3)) start = 3;
    *length = end - start;
    return source->text + start;
}
