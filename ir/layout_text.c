// Layouts as text: `#layout<tile: 16x8, reg: [0,1] [8,0], lane: [0,2], rep: 1x3>`.
#include "ir/layout.h"

#include <stdio.h>
#include <string.h>

static const char *const place_names[KC_LAYOUT_PLACES] = {
    [KC_LAYOUT_REGISTER] = "reg", [KC_LAYOUT_LANE] = "lane",     [KC_LAYOUT_WARP] = "warp",
    [KC_LAYOUT_BLOCK] = "block",  [KC_LAYOUT_OFFSET] = "offset",
};

// ---- printing -----------------------------------------------------------------------------------

typedef struct {
    char *buffer;
    size_t size, length;
} printer;

static void put(printer *p, const char *text) {
    for (; *text != '\0'; text++, p->length++)
        if (p->length + 1 < p->size) p->buffer[p->length] = *text;
}

static void put_number(printer *p, unsigned v) {
    char text[16];
    snprintf(text, sizeof text, "%u", v);
    put(p, text);
}

static void put_vector(printer *p, const kc_layout *l, uint32_t flat) {
    int shift = 0;
    for (int d = 0; d < l->rank; d++)
        shift += l->log_tile[d];
    for (int d = 0; d < l->rank; d++) {
        shift -= l->log_tile[d];
        put(p, d == 0 ? "[" : ",");
        put_number(p, flat >> shift & ((UINT32_C(1) << l->log_tile[d]) - 1));
    }
    put(p, "]");
}

size_t kc_layout_print(const kc_layout *l, char *buffer, size_t size) {
    printer p = {buffer, size, 0};
    bool repeats = false;
    put(&p, "#layout<tile: ");
    for (int d = 0; d < l->rank; d++) {
        if (d > 0) put(&p, "x");
        put_number(&p, 1u << l->log_tile[d]);
        repeats |= l->reps[d] != 1;
    }
    for (int place = 0; place < KC_LAYOUT_PLACES; place++) {
        if (l->bits[place] == 0 && !(l->memory && place == KC_LAYOUT_OFFSET)) continue;
        put(&p, ", ");
        put(&p, place_names[place]);
        put(&p, ":");
        for (int i = 0; i < l->bits[place]; i++) {
            put(&p, " ");
            put_vector(&p, l, l->basis[place][i]);
        }
    }
    for (int d = 0; repeats && d < l->rank; d++) {
        put(&p, d == 0 ? ", rep: " : "x");
        put_number(&p, l->reps[d]);
    }
    put(&p, ">");
    if (size > 0) buffer[p.length < size ? p.length : size - 1] = '\0';
    return p.length;
}

// ---- parsing ------------------------------------------------------------------------------------

typedef struct {
    const char *at, *end, *error;
} reader;

static bool fail(reader *r, const char *error) {
    if (r->error == NULL) r->error = error;
    return false;
}

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

static bool take(reader *r, const char *token) {
    size_t n = strlen(token);
    skip_space(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, token, n) != 0) return false;
    r->at += n;
    return true;
}

static bool read_number(reader *r, uint32_t most, uint32_t *out) {
    skip_space(r);
    uint64_t v = 0;
    const char *from = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        v = v * 10 + (uint64_t)(*r->at - '0');
        if (v > most) break;
    }
    if (v > most) {
        r->at = from;
        return fail(r, "the number is too large here");
    }
    if (r->at == from) return fail(r, "expected a number");
    *out = (uint32_t)v;
    return true;
}

// Numbers joined by `x`; -1 on error.
static int read_extents(reader *r, uint32_t most, uint32_t out[KC_LAYOUT_MAX_RANK]) {
    int n = 0;
    do {
        if (n == KC_LAYOUT_MAX_RANK) return fail(r, "a layout has 1 to 6 dimensions"), -1;
        if (!read_number(r, most, &out[n++])) return -1;
    } while (take(r, "x"));
    return n;
}

static bool read_tile(reader *r, kc_layout *l) {
    uint32_t extents[KC_LAYOUT_MAX_RANK];
    int n = read_extents(r, INT32_MAX, extents), bits = 0;
    if (n < 0) return false;
    l->rank = (uint8_t)n;
    for (int d = 0; d < n; d++) {
        if (extents[d] == 0 || (extents[d] & (extents[d] - 1)) != 0)
            return fail(r, "a tile's extents are powers of two; factors besides go to `rep`");
        l->log_tile[d] = (uint8_t)(31 - __builtin_clz(extents[d]));
        l->reps[d] = 1;
        bits += l->log_tile[d];
    }
    return bits <= 30 || fail(r, "a tile has less than 2^31 elements");
}

static bool read_vector(reader *r, const kc_layout *l, uint32_t *flat) {
    *flat = 0;
    for (int d = 0; d < l->rank; d++) {
        uint32_t v;
        if (!take(r, d == 0 ? "[" : ","))
            return fail(r, "expected a coordinate for each dimension");
        if (!read_number(r, (UINT32_C(1) << l->log_tile[d]) - 1, &v)) return false;
        *flat = *flat << l->log_tile[d] | v;
    }
    return take(r, "]") || fail(r, "expected `]`: a vector has one coordinate for each dimension");
}

static bool read_place(reader *r, kc_layout *l, int place) {
    skip_space(r);
    while (r->at < r->end && *r->at == '[') {
        if (l->bits[place] == KC_LAYOUT_MAX_BITS)
            return fail(r, "a hardware dimension has at most 20 bits");
        if (!read_vector(r, l, &l->basis[place][l->bits[place]])) return false;
        l->bits[place]++;
        skip_space(r);
    }
    if (place == KC_LAYOUT_OFFSET) l->memory = true;
    return place == KC_LAYOUT_OFFSET || l->bits[place] > 0 || fail(r, "expected `[`");
}

static bool read_reps(reader *r, kc_layout *l) {
    uint32_t reps[KC_LAYOUT_MAX_RANK];
    int n = read_extents(r, KC_LAYOUT_MAX_REPS, reps);
    if (n < 0) return false;
    if (n != l->rank) return fail(r, "expected as many repetitions as dimensions");
    for (int d = 0; d < n; d++)
        l->reps[d] = (uint16_t)reps[d];
    return true;
}

// The fields stand in one order, each at most once.
static bool read_fields(reader *r, kc_layout *l) {
    if (!take(r, "#layout<")) return fail(r, "expected `#layout<`");
    if (!take(r, "tile:")) return fail(r, "expected `tile:`");
    if (!read_tile(r, l)) return false;
    bool repeats = false;
    for (int place = 0; !repeats && take(r, ",");) {
        skip_space(r);
        int found = place;
        for (; found < KC_LAYOUT_PLACES; found++) {
            const char *start = r->at;
            if (take(r, place_names[found]) && take(r, ":")) break;
            r->at = start;
        }
        repeats = found == KC_LAYOUT_PLACES;
        if (repeats && !take(r, "rep:"))
            return fail(r, "expected `reg:`, `lane:`, `warp:`, `block:`, `offset:` or `rep:`, "
                           "in this order, each once");
        if (repeats ? !read_reps(r, l) : !read_place(r, l, found)) return false;
        place = found + 1;
    }
    return take(r, ">") || fail(r, "expected `,` or `>`");
}

bool kc_layout_parse(kc_layout *out, const char *text, size_t length, const char **error,
                     size_t *error_at) {
    kc_layout l = {0};
    reader r = {text, text + length, NULL};
    if (read_fields(&r, &l)) {
        skip_space(&r);
        if (r.at != r.end) fail(&r, "expected the end after `>`");
        else r.error = kc_layout_check(&l);
    }
    if (error != NULL) *error = r.error;
    if (error_at != NULL) *error_at = r.error != NULL ? (size_t)(r.at - text) : 0;
    if (r.error == NULL) *out = l;
    return r.error == NULL;
}
