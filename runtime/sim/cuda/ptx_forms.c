/* Which forms of its instructions PTX has: a mnemonic's words against the rows of ptx_forms.def. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/ptx_parser.h"
#include "runtime/sim/cuda/ptx_tables.h"

#define MOST_WORDS 16

typedef struct row {
    const char *where;
    int version;
    const char *pattern;
} row;

static const row rows[] = {
#define FORM(where, version, pattern) {where, version, pattern},
#define SOONER(where, version, pattern) {where, version, pattern},
#define WORD(word, where, version)
#include "runtime/sim/cuda/ptx_forms.def"
#undef FORM
#undef SOONER
#undef WORD
};

static const row words_that_ask[] = {
#define FORM(where, version, pattern)
#define SOONER(where, version, pattern)
#define WORD(word, where, version) {where, version, word},
#include "runtime/sim/cuda/ptx_forms.def"
#undef FORM
#undef SOONER
#undef WORD
};

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct mnemonic {
    span words[MOST_WORDS];
    bool is_type[MOST_WORDS];
    unsigned count, operands;
} mnemonic;

static bool is_span(span word, const char *text, size_t length) {
    return word.length == length && memcmp(word.text, text, length) == 0;
}

/* Takes one word of a pattern; *used has a bit a word of the mnemonic. Types are taken in order. */
static bool take_word(const mnemonic *given, const char *text, size_t length, unsigned *used) {
    bool type = ptx_find_type(text, length) != PTX_NO_TYPE;
    for (unsigned i = 0; i < given->count; i++) {
        if (*used >> i & 1 || given->is_type[i] != type) continue;
        if (is_span(given->words[i], text, length)) {
            *used |= 1u << i;
            return true;
        }
        if (type) return false;
    }
    return false;
}

/* ".f16.f32", or "ld.global" where it begins the pattern. */
static bool take_words(const mnemonic *given, const char *text, size_t length, unsigned *used) {
    size_t at = length && text[0] == '.' ? 1 : 0;
    while (at < length) {
        size_t end = at;
        while (end < length && text[end] != '.')
            end++;
        if (!take_word(given, text + at, end - at, used)) return false;
        at = end + 1;
    }
    return true;
}

static bool fits(const mnemonic *given, const char *pattern, unsigned used) {
    if (*pattern == '/')
        return given->operands == (unsigned)atoi(pattern + 1) && fits(given, "", used);
    if (!*pattern) return used == (1u << given->count) - 1;
    char open = *pattern, close = open == '(' ? ')' : ']';
    if (open != '(' && open != '[') {
        size_t length = strcspn(pattern, "([/");
        return take_words(given, pattern, length, &used) && fits(given, pattern + length, used);
    }
    const char *end = strchr(pattern, close) + 1;
    for (const char *one = pattern + 1; one < end;) {
        size_t length = strcspn(one, "|)]");
        unsigned after = used;
        if (take_words(given, one, length, &after) && fits(given, end, after)) return true;
        one += length + 1;
    }
    return open == '[' && fits(given, end, used);
}

/* The row's first word, which may be one of several, is the mnemonic's. */
static bool begins(const mnemonic *given, const char *pattern) {
    const char *end = pattern[0] == '(' ? strchr(pattern, ')') : pattern + strcspn(pattern, ".([/");
    for (const char *one = pattern + (pattern[0] == '('); one < end;) {
        size_t length = strcspn(one, "|).([/");
        if (is_span(given->words[0], one, length)) return true;
        one += length;
        one += strcspn(one, "|)");
        one += one < end;
    }
    return false;
}

static mnemonic read_words(const char *text, size_t length, unsigned operands) {
    mnemonic given = {.operands = operands};
    for (size_t at = 0; at < length && given.count < MOST_WORDS; given.count++) {
        size_t end = at;
        while (end < length && text[end] != '.')
            end++;
        given.words[given.count] = (span){text + at, end - at};
        given.is_type[given.count] = ptx_find_type(text + at, end - at) != PTX_NO_TYPE;
        at = end + 1;
    }
    return given;
}

/* "80" is that and everything newer; "100a 120a" are those alone. */
static bool has_target(const ptx_module *module, const char *where) {
    while (*where) {
        char *end;
        long number = strtol(where, &end, 10);
        if (*end != 'a') return module->target >= number;
        if (module->target == number && module->target_suffix) return true;
        where = end + 1 + (end[1] == ' ');
    }
    return false;
}

static bool gives(const ptx_module *module, const row *asks) {
    return has_target(module, asks->where) && module->version >= asks->version;
}

static bool asks_too_much(ptx_parser *parser, uint32_t line, span text, const row *asks) {
    const ptx_module *module = parser->module;
    bool target = has_target(module, asks->where);
    if (gives(module, asks)) return false;
    int shown = (int)(text.length < 100 ? text.length : 100);
    if (!target)
        ptx_parser_fail(parser, line, "'%.*s' needs sm_%s", shown, text.text, asks->where);
    else
        ptx_parser_fail(parser, line, "'%.*s' needs PTX %d.%d", shown, text.text,
                        asks->version / 10, asks->version % 10);
    return true;
}

/* A form may have rows for several architectures: the first that the module can have, else the first. */
static const row *find_row(const ptx_module *module, const mnemonic *given, bool *known) {
    const row *first = NULL;
    *known = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!begins(given, rows[i].pattern)) continue;
        *known = true;
        if (!fits(given, rows[i].pattern, 0)) continue;
        if (gives(module, &rows[i])) return &rows[i];
        if (!first) first = &rows[i];
    }
    return first;
}

static bool words_ask_too_much(ptx_parser *parser, uint32_t line, span text,
                               const mnemonic *given) {
    for (size_t i = 0; i < sizeof words_that_ask / sizeof words_that_ask[0]; i++) {
        const row *asks = &words_that_ask[i];
        for (unsigned k = 0; k < given->count; k++)
            if (is_span(given->words[k], asks->pattern, strlen(asks->pattern)) &&
                asks_too_much(parser, line, text, asks))
                return true;
    }
    return false;
}

void ptx_check_form(ptx_parser *parser, uint32_t line, const char *text, size_t length,
                    unsigned operands) {
    uint32_t hash = operands;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    hash = hash >> 16 & 63;
    span whole = {text, length};
    if (parser->passed[hash].text && parser->passed[hash].operands == operands &&
        is_span(whole, parser->passed[hash].text, parser->passed[hash].length))
        return;
    bool known;
    mnemonic given = read_words(text, length, operands);
    if (given.count > 1 && is_span(given.words[1], "async", 5)) return; /* of st and red: no rows */
    const row *found = find_row(parser->module, &given, &known);
    if (known && !found)
        ptx_parser_fail(parser, line, "PTX has no '%.*s' with %u operands",
                        (int)(length < 100 ? length : 100), text, operands);
    else if (!found || (!asks_too_much(parser, line, whole, found) &&
                        !words_ask_too_much(parser, line, whole, &given))) {
        parser->passed[hash].text = text;
        parser->passed[hash].length = length;
        parser->passed[hash].operands = operands;
    }
}
