// The safetensors format: 8 bytes with the length of a header, the header as JSON, then bytes.
//
//     {"layer.bias": {"dtype": "F16", "shape": [128], "data_offsets": [0, 256]}, "__metadata__": {...}}
//
// Offsets count from the end of the header. Every entry is checked, also those that nobody asks
// for: one whose bytes lie outside the file or inside another tensor says that the file is not what
// it seems.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/frontend/suggest.h"
#include "compiler/frontend/tensor_file.h"
#include "runtime/json.h"

// The names of element types; bits alone where kc has no such type.
static const struct {
    const char *name;
    kc_dtype type;
    int bits; // of an unsigned integer, which may be the bits of another type; else 0
} types[] = {
    {"F64", KC_f64, 0},         {"F32", KC_f32, 0},         {"F16", KC_f16, 0},
    {"BF16", KC_bf16, 0},       {"F8_E4M3", KC_f8e4m3, 0},  {"F8_E5M2", KC_f8e5m2, 0},
    {"I64", KC_i64, 0},         {"I32", KC_i32, 0},         {"I16", KC_i16, 0},
    {"I8", KC_i8, 0},           {"U8", KC_u8, 8},           {"BOOL", KC_bool, 0},
    {"U16", KC_DTYPE_NONE, 16}, {"U32", KC_DTYPE_NONE, 32}, {"U64", KC_DTYPE_NONE, 64},
};
enum { N_TYPES = sizeof types / sizeof *types };

typedef struct {
    const char *name, *dtype;
    const kcrt_json *shape;
    int64_t begin, end;
} entry;

typedef struct {
    const char *path;
    char *error;
    kcrt_arena arena; // of the header
    size_t data;      // bytes behind the header
    entry *entries;
    int n;
} reader;

static bool fail(reader *r, const char *tensor, const char *problem) {
    if (tensor)
        snprintf(r->error, KC_TENSOR_ERROR, "%.200s: tensor '%.100s' %s", r->path, tensor, problem);
    else snprintf(r->error, KC_TENSOR_ERROR, "%.300s: %s", r->path, problem);
    return false;
}

static bool read_at(int file, void *data, size_t size, size_t offset) {
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(file, (char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

// ---- the header ---------------------------------------------------------------------------------

static int find_type(const char *name) {
    for (int i = 0; i < N_TYPES; i++)
        if (!strcmp(types[i].name, name)) return i;
    return -1;
}

// Bytes of the shape in a type of the table; false: no such size.
static bool bytes_of(const entry *e, int type, uint64_t *bytes) {
    *bytes = (uint64_t)(types[type].bits ? types[type].bits : kc_dtype_bits(types[type].type)) / 8;
    for (const kcrt_json *extent = e->shape->first; extent; extent = extent->next)
        if (extent->kind != KCRT_JSON_INT || extent->integer < 0 ||
            __builtin_mul_overflow(*bytes, (uint64_t)extent->integer, bytes))
            return false;
    return true;
}

static bool read_entry(reader *r, const kcrt_json *item, entry *e) {
    const kcrt_json *dtype = kcrt_json_get(item, "dtype"),
                    *offsets = kcrt_json_get(item, "data_offsets");
    *e = (entry){.name = item->key, .shape = kcrt_json_get(item, "shape")};
    if (!dtype || dtype->kind != KCRT_JSON_STRING || !e->shape || e->shape->kind != KCRT_JSON_LIST)
        return fail(r, e->name, "has no 'dtype' and 'shape'");
    const kcrt_json *begin = offsets && offsets->kind == KCRT_JSON_LIST && offsets->length == 2
                                 ? offsets->first
                                 : NULL;
    if (!begin || begin->kind != KCRT_JSON_INT || begin->next->kind != KCRT_JSON_INT)
        return fail(r, e->name, "has no 'data_offsets' of two integers");
    e->dtype = dtype->text;
    e->begin = begin->integer;
    e->end = begin->next->integer;
    if (e->begin < 0 || e->end < e->begin || (uint64_t)e->end > r->data)
        return fail(r, e->name, "lies outside the file, which is cut off or damaged");
    int type = find_type(e->dtype);
    uint64_t bytes;
    if (type >= 0 && (!bytes_of(e, type, &bytes) || bytes != (uint64_t)(e->end - e->begin)))
        return fail(r, e->name, "does not have as many bytes as its type and shape say");
    return true;
}

static int by_place(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static bool read_entries(reader *r, const kcrt_json *root) {
    r->entries = KCRT_NEW(&r->arena, entry, root->length + 1);
    if (!r->entries) return fail(r, NULL, "not enough memory");
    for (const kcrt_json *item = root->first; item; item = item->next)
        if (strcmp(item->key, "__metadata__") && !read_entry(r, item, &r->entries[r->n++]))
            return false;
    qsort(r->entries, (size_t)r->n, sizeof *r->entries, by_place);
    for (int i = 1; i < r->n; i++)
        if (r->entries[i].begin < r->entries[i - 1].end)
            return fail(r, r->entries[i].name, "overlaps another tensor of the file");
    return true;
}

static bool read_header(reader *r, int file, size_t size, size_t *data_at) {
    unsigned char head[8];
    uint64_t length = 0;
    if (size < 8 || !read_at(file, head, 8, 0)) return fail(r, NULL, "is no safetensors file");
    for (int i = 7; i >= 0; i--)
        length = length << 8 | head[i];
    if (length > size - 8) return fail(r, NULL, "ends inside its header");
    if (length > KC_TENSOR_MAX_HEADER) return fail(r, NULL, "has a header of more than 16 MiB");
    char *text = kcrt_arena_alloc(&r->arena, 1, (size_t)length + 1);
    if (!text) return fail(r, NULL, "not enough memory");
    if (!read_at(file, text, (size_t)length, 8)) return fail(r, NULL, "cannot be read");
    const char *why;
    size_t at;
    kcrt_json *root = kcrt_json_parse(&r->arena, text, (size_t)length, &why, &at);
    if (!root || root->kind != KCRT_JSON_OBJECT) {
        snprintf(r->error, KC_TENSOR_ERROR, "%.200s: its header is no JSON object: %.100s at byte %zu",
                 r->path, root ? "another value" : why, root ? (size_t)8 : 8 + at);
        return false;
    }
    *data_at = 8 + (size_t)length;
    r->data = size - *data_at;
    return read_entries(r, root);
}

// ---- one tensor ---------------------------------------------------------------------------------

static const entry *find_entry(reader *r, kc_arena *arena, const char *tensor) {
    kc_suggest suggest;
    kc_suggest_start(&suggest, tensor ? tensor : "");
    const char *has = "";
    for (int i = 0; i < r->n; i++) {
        if (tensor && !strcmp(r->entries[i].name, tensor)) return &r->entries[i];
        kc_suggest_offer(&suggest, r->entries[i].name);
        if (strlen(has) < 150) has = kc_arena_printf(arena, "%s %.60s", has, r->entries[i].name);
        else if (!strstr(has, " ...")) has = kc_arena_printf(arena, "%s ...", has);
    }
    if (!tensor) snprintf(r->error, KC_TENSOR_ERROR, "%.200s: say which 'tensor'; the file has:%s",
                          r->path, *has ? has : " none");
    else
        snprintf(r->error, KC_TENSOR_ERROR, "%.150s: has no tensor '%.64s'%s; it has:%s", r->path,
                 tensor, kc_suggest_text(&suggest, arena), *has ? has : " none");
    return NULL;
}

// The type that the tensor has for kc; unsigned integers may be bits of it.
static bool settle_type(reader *r, const entry *e, kc_dtype as, kc_dtype *out) {
    int i = find_type(e->dtype);
    char text[200];
    *out = as == KC_DTYPE_NONE && i >= 0 ? types[i].type : as;
    if (*out == KC_DTYPE_NONE) {
        snprintf(text, sizeof text, "has elements of type %.40s, which kc does not have%s", e->dtype,
                 i >= 0 ? "; they may be bits of another type: say which" : "");
        return fail(r, e->name, text);
    }
    bool packed = kc_dtype_is_packed(*out);
    int bits = packed ? 8 : kc_dtype_bits(*out);
    bool fits = i >= 0 && (types[i].type == *out || types[i].bits == bits);
    if (fits) return true;
    snprintf(text, sizeof text, "has elements of type %.40s, not %s", e->dtype,
             kc_dtype_name(*out));
    return fail(r, e->name, text);
}

static bool settle_shape(reader *r, const entry *e, kc_tensor_data *out) {
    if (e->shape->length > KC_MAX_RANK) return fail(r, e->name, "has more than 8 dimensions");
    for (const kcrt_json *extent = e->shape->first; extent; extent = extent->next)
        out->shape[out->rank++] = extent->integer;
    bool packed = kc_dtype_is_packed(out->type);
    if (packed && !out->rank) return fail(r, e->name, "has 4-bit elements and no last axis");
    int64_t *last = packed ? &out->shape[out->rank - 1] : NULL;
    if (packed && __builtin_mul_overflow(*last, 2, last)) return fail(r, e->name, "is too large");
    return true;
}

static bool read_tensor(reader *r, kc_arena *arena, int file, size_t data_at, const char *tensor,
                        kc_dtype as, kc_tensor_data *out) {
    const entry *e = find_entry(r, arena, tensor);
    *out = (kc_tensor_data){.rank = 0};
    if (!e || !settle_type(r, e, as, &out->type) || !settle_shape(r, e, out)) return false;
    out->size = (size_t)(e->end - e->begin);
    if (out->size > KC_TENSOR_MAX_BYTES)
        return fail(r, tensor, "is larger than 1 GiB, which no package holds");
    void *data = kc_tensor_memory(arena, out->size);
    if (!data) return fail(r, NULL, "not enough memory");
    if (!read_at(file, data, out->size, data_at + (size_t)e->begin))
        return fail(r, tensor, "cannot be read");
    out->data = data;
    return true;
}

bool kc_safetensors_read(kc_arena *arena, int file, size_t size, const char *path,
                         const char *tensor, kc_dtype as, kc_tensor_data *out,
                         char error[KC_TENSOR_ERROR]) {
    reader r = {.path = path, .error = error};
    size_t data_at = 0;
    bool good = read_header(&r, file, size, &data_at) &&
                read_tensor(&r, arena, file, data_at, tensor, as, out);
    kcrt_arena_release(&r.arena);
    return good;
}
