// Where inputs come from when not from a file, and how --input is written.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kcrun/array.h"

bool kcrun_array_make(array *a, kc_dtype type, int rank, const int64_t *shape,
                      char error[ERROR_SIZE]) {
    *a = (array){.type = type, .rank = rank, .count = 1};
    size_t bytes = (size_t)kc_dtype_unit(type);
    for (int i = 0; i < rank; i++) {
        a->shape[i] = shape[i];
        if (shape[i] == 0) a->count = 0;
    }
    for (int i = 0; i < rank && a->count; i++)
        if (__builtin_mul_overflow(a->count, (size_t)shape[i], &a->count) ||
            a->count > SIZE_MAX / 16) {
            snprintf(error, ERROR_SIZE, "the array is too large");
            return false;
        }
    a->data = calloc(a->count ? a->count : 1, bytes);
    if (!a->data)
        snprintf(error, ERROR_SIZE, "not enough memory for %zu elements of %s", a->count,
                 kc_dtype_name(type));
    return a->data != NULL;
}

void kcrun_array_free(array *a) {
    free(a->data);
    a->data = NULL;
}

// ---- SPEC ---------------------------------------------------------------------------------------

static bool parse_number(const char *text, spec *out) {
    char *end;
    if (!*text) return false;
    errno = 0;
    long long integer = strtoll(text, &end, 0);
    if (!*end && !errno) {
        out->integer = integer;
        out->is_integer = true;
        out->number = (double)integer;
    } else {
        if (!strcmp(text, "true") || !strcmp(text, "false")) {
            out->is_integer = true;
            out->number = (double)(out->integer = text[0] == 't');
            out->fill = FILL_NUMBER;
            return true;
        }
        out->number = strtod(text, &end);
        if (*end) return false;
        if (fabs(out->number) < 0x1p53 && out->number == floor(out->number)) { // 1e3
            out->integer = (int64_t)out->number;
            out->is_integer = true;
        }
    }
    out->fill = FILL_NUMBER;
    return true;
}

static bool parse_fill(const char *text, spec *out) {
    static const struct {
        const char *name;
        fill_kind fill;
    } names[] = {{"zeros", FILL_ZEROS},
                 {"ones", FILL_ONES},
                 {"arange", FILL_ARANGE},
                 {"uniform", FILL_UNIFORM},
                 {"normal", FILL_NORMAL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i].name)) {
            out->fill = names[i].fill;
            return true;
        }
    return parse_number(text, out);
}

// "128x64"; text ends at the colon.
static bool parse_shape(const char *text, const char *colon, spec *out) {
    out->has_shape = true;
    while (text < colon) {
        char *end;
        errno = 0;
        long long extent = strtoll(text, &end, 10);
        if (end == text || errno || extent < 0 || *text < '0' || *text > '9' ||
            out->rank == ARRAY_MAX_RANK)
            return false;
        out->shape[out->rank++] = extent;
        if (end == colon) return true;
        if (*end != 'x') return false;
        text = end + 1;
    }
    return out->rank == 0;
}

static bool ends_with(const char *text, const char *tail) {
    size_t n = strlen(text), t = strlen(tail);
    return n >= t && !strcmp(text + n - t, tail);
}

bool kcrun_spec_parse(const char *text, spec *out, char error[ERROR_SIZE]) {
    *out = (spec){0};
    if (ends_with(text, ".npy")) {
        out->path = text;
        return true;
    }
    const char *colon = strchr(text, ':');
    const char *fill = colon ? colon + 1 : text;
    if ((!colon || parse_shape(text, colon, out)) && parse_fill(fill, out)) {
        bool too_large = out->fill == FILL_NUMBER && isinf(out->number) && !strpbrk(fill, "nN");
        if (too_large) snprintf(error, ERROR_SIZE, "%.200s is larger than any f64", fill);
        return !too_large;
    }
    snprintf(error, ERROR_SIZE,
             "`%.200s` is neither FILE.npy, a number, nor SHAPE:FILL such as 128x64:normal (fills: "
             "zeros ones arange uniform normal)",
             text);
    return false;
}

// ---- Fills --------------------------------------------------------------------------------------

static uint64_t next(uint64_t *state) { // splitmix64
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double unit(uint64_t *state) { // [0, 1)
    return (double)(next(state) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += unit(state);
    return sum;
}

static void put(array *a, size_t i, const spec *s, uint64_t *state) {
    bool is_float = kc_dtype_is_float(a->type),
         is_unsigned = kc_dtype_table[a->type].class == KC_CLASS_UINT;
    double value = 0;
    switch (s->fill) {
    case FILL_NONE:
    case FILL_ZEROS: break;
    case FILL_ONES: value = 1; break;
    case FILL_ARANGE: value = (double)i; break;
    case FILL_NUMBER: value = s->number; break;
    case FILL_UNIFORM:
        value = is_float ? 2 * unit(state) - 1 : floor(32 * unit(state)) - (is_unsigned ? 0 : 16);
        break;
    case FILL_NORMAL:
        value = normal(state);
        if (!is_float) value = nearbyint((kc_dtype_is_packed(a->type) ? 2 : 8) * value);
        break;
    }
    bool random = s->fill == FILL_UNIFORM || s->fill == FILL_NORMAL;
    if (random && a->type == KC_f8e8m0) value = fabs(value);
    if (is_float) kc_dtype_store(a->type, array_at(a, i), value);
    else if (a->type == KC_bool && random)
        kc_dtype_store_i64(a->type, array_at(a, i), next(state) >> 63);
    else
        kc_dtype_store_i64(a->type, array_at(a, i),
                           s->fill == FILL_NUMBER   ? s->integer
                           : s->fill == FILL_ARANGE ? (int64_t)i
                                                    : (int64_t)value);
}

static bool fits(const spec *s, kc_dtype type, char error[ERROR_SIZE]) {
    _Alignas(16) unsigned char stored[16] = {0};
    if (s->fill != FILL_NUMBER || kc_dtype_is_float(type)) return true;
    if (!s->is_integer) {
        snprintf(error, ERROR_SIZE, "%g is not an integer that %s can hold", s->number,
                 kc_dtype_name(type));
        return false;
    }
    kc_dtype_store_i64(type, stored, s->integer);
    if (kc_dtype_load_i64(type, stored) == s->integer) return true;
    snprintf(error, ERROR_SIZE, "%lld does not fit %s", (long long)s->integer, kc_dtype_name(type));
    return false;
}

bool kcrun_spec_fill(const spec *s, array *a, uint64_t seed, uint64_t stream,
                     char error[ERROR_SIZE]) {
    uint64_t state = seed * 0xd1342543de82ef95u + stream * 0x9e3779b97f4a7c15u + 1;
    if (!fits(s, a->type, error)) return false;
    for (size_t i = 0; i < a->count; i++)
        put(a, i, s, &state);
    return true;
}
