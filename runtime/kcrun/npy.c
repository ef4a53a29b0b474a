// NumPy's .npy files: magic, version, a header that is a Python dict, then the elements.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/kcrun/array.h"

typedef struct {
    char order, kind; // '<' '>' '|' '='; 'f' 'i' 'u' 'b' 'V'
    int bytes;
    bool fortran;
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    size_t offset; // of the elements
} header;

static bool fail(char error[ERROR_SIZE], const char *path, const char *problem) {
    snprintf(error, ERROR_SIZE, "%.300s: %s", path, problem);
    return false;
}

// ---- The header ---------------------------------------------------------------------------------

// Past 'key': in the dict's text, or NULL.
static const char *value_of(const char *text, const char *key) {
    const char *at = strstr(text, key);
    if (!at) return NULL;
    at += strlen(key);
    return at + strspn(at, " :");
}

static bool parse_shape(const char *at, header *h) {
    if (*at++ != '(') return false;
    for (;;) {
        at += strspn(at, " ,");
        if (*at == ')') return true;
        char *end;
        errno = 0;
        long long extent = strtoll(at, &end, 10);
        if (end == at || errno || extent < 0 || h->rank == ARRAY_MAX_RANK) return false;
        h->shape[h->rank++] = extent;
        at = end + (*end == 'L');
    }
}

static bool parse_dict(const char *text, header *h) {
    const char *descr = value_of(text, "'descr'"), *fortran = value_of(text, "'fortran_order'"),
               *shape = value_of(text, "'shape'");
    if (!descr || !fortran || !shape || *descr != '\'' || !strchr("<>|=", descr[1])) return false;
    h->order = descr[1];
    h->kind = descr[2];
    char *end;
    h->bytes = (int)strtol(descr + 3, &end, 10);
    h->fortran = !strncmp(fortran, "True", 4);
    return end != descr + 3 && *end == '\'' && h->bytes >= 1 && h->bytes <= 16 &&
           parse_shape(shape, h);
}

static bool parse_header(const char *path, const unsigned char *bytes, size_t size, header *h,
                         char error[ERROR_SIZE]) {
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6)) return fail(error, path, "is not a .npy file");
    int version = bytes[6];
    if (version < 1 || version > 3)
        return fail(error, path, "is a .npy file of an unknown version (known: 1 to 3)");
    size_t start = version == 1 ? 10 : 12, length = bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - start || length > 65536) return fail(error, path, "ends inside its header");
    char *text = malloc(length + 1);
    if (!text) return fail(error, path, "not enough memory");
    memcpy(text, bytes + start, length);
    text[length] = 0;
    h->offset = start + length;
    bool good = parse_dict(text, h);
    free(text);
    return good ? true
                : fail(error, path,
                       "has a header that is not a simple array's (structured types are not read)");
}

// ---- Elements -----------------------------------------------------------------------------------

static kc_dtype type_of(const header *h) {
    char kind = h->kind;
    int bits = 8 * h->bytes;
    for (int t = 0; t < KC_DTYPE_COUNT; t++) {
        const kc_dtype_info *info = &kc_dtype_table[t];
        bool plain = info->class == KC_CLASS_FLOAT  ? kind == 'f' && info->dl_code == 2
                     : info->class == KC_CLASS_INT  ? kind == 'i'
                     : info->class == KC_CLASS_UINT ? kind == 'u'
                                                    : kind == 'b';
        if (plain && info->bits == bits) return (kc_dtype)t;
    }
    return KC_DTYPE_NONE;
}

static bool npy_lacks(kc_dtype t) {
    return kc_dtype_is_float(t) && kc_dtype_table[t].dl_code != 2;
}

// Element `i` of the file in row-major order, its bytes in this machine's order.
static void fetch(const header *h, const unsigned char *data, const size_t *strides, size_t i,
                  unsigned char out[16]) {
    size_t at = i;
    if (h->fortran) {
        at = 0;
        for (int axis = h->rank - 1; axis >= 0; axis--) {
            at += i % (size_t)h->shape[axis] * strides[axis];
            i /= (size_t)h->shape[axis];
        }
    }
    for (int b = 0; b < h->bytes; b++)
        out[b] = data[at * (size_t)h->bytes + (size_t)(h->order == '>' ? h->bytes - 1 - b : b)];
}

// u2, u4 and u8 arrays hold values that our integer types may lack: as signed when they fit.
static bool fetch_integer(const header *h, const unsigned char raw[16], int64_t *out) {
    uint64_t bits = 0;
    memcpy(&bits, raw, (size_t)h->bytes);
    int shift = 64 - 8 * h->bytes;
    *out = h->kind == 'i' ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    return h->kind == 'i' || *out >= 0;
}

typedef enum { AS_BITS, AS_NIBBLES, AS_FLOAT, AS_INTEGER, AS_NOTHING } conversion;

static conversion choose(const header *h, kc_dtype as, bool *rounded) {
    const kc_dtype_info *to = &kc_dtype_table[as];
    kc_dtype from = type_of(h);
    bool bits = h->kind == 'V' || h->kind == 'u';
    if (from == as && h->bytes <= 8) return AS_BITS;
    if (kc_dtype_is_packed(as) && bits && h->bytes == 1 && h->rank) return AS_NIBBLES;
    if (npy_lacks(as) && bits && 8 * h->bytes == to->bits) return AS_BITS;
    if (to->class == KC_CLASS_FLOAT && from != KC_DTYPE_NONE && kc_dtype_is_float(from)) {
        *rounded = kc_dtype_table[from].bits > to->bits || npy_lacks(as);
        return AS_FLOAT;
    }
    bool integer = (h->kind == 'i' || h->kind == 'u') && h->bytes <= 8;
    return integer && (to->class == KC_CLASS_INT || to->class == KC_CLASS_UINT) ? AS_INTEGER
                                                                                : AS_NOTHING;
}

static bool convert(const char *path, const header *h, const unsigned char *data,
                    const size_t *strides, conversion how, array *out, char error[ERROR_SIZE]) {
    kc_dtype from = type_of(h);
    size_t count = how == AS_NIBBLES ? out->count / 2 : out->count;
    bool as_they_are = how == AS_BITS && !h->fortran && (h->order != '>' || h->bytes == 1);
    if (as_they_are && count) memcpy(out->data, data, count * (size_t)h->bytes);
    for (size_t i = 0; i < count && !as_they_are; i++) {
        _Alignas(16) unsigned char raw[16];
        int64_t value;
        fetch(h, data, strides, i, raw);
        if (how == AS_BITS) {
            memcpy(array_at(out, i), raw, (size_t)h->bytes);
        } else if (how == AS_NIBBLES) {
            *(unsigned char *)array_at(out, 2 * i) = raw[0] & 0xf;
            *(unsigned char *)array_at(out, 2 * i + 1) = raw[0] >> 4;
        } else if (how == AS_FLOAT) {
            kc_dtype_put(out->type, array_at(out, i), 0, kc_dtype_load(from, raw));
        } else {
            bool fits = fetch_integer(h, raw, &value);
            kc_dtype_store_i64(out->type, array_at(out, i), value);
            if (!fits || kc_dtype_load_i64(out->type, array_at(out, i)) != value)
                return fail(error, path, "holds an integer that the argument's type cannot");
        }
    }
    return true;
}

// What does not begin as a .npy file is not read on: a device may never end.
static bool read_whole(const char *path, unsigned char **bytes, size_t *size,
                       char error[ERROR_SIZE]) {
    FILE *file = fopen(path, "rbe");
    *bytes = NULL;
    if (!file) return fail(error, path, strerror(errno));
    size_t capacity = 1 << 16, used = 0;
    *bytes = malloc(capacity);
    while (*bytes) {
        used += fread(*bytes + used, 1, capacity - used, file);
        if (used < capacity || memcmp(*bytes, "\x93NUMPY", 6)) break;
        unsigned char *bigger = realloc(*bytes, capacity *= 2);
        if (!bigger) free(*bytes);
        *bytes = bigger;
    }
    bool good = *bytes && !ferror(file);
    fclose(file);
    *size = used;
    return good ? true : fail(error, path, "cannot be read whole");
}

// Whether that many bytes hold the elements that the header announces.
static bool holds_elements(const header *h, size_t bytes) {
    size_t needed = (size_t)h->bytes;
    bool fits = true, empty = false;
    for (int axis = 0; axis < h->rank; axis++) {
        empty = empty || h->shape[axis] == 0;
        fits = fits && !__builtin_mul_overflow(needed, (size_t)h->shape[axis], &needed);
    }
    return empty || (fits && needed <= bytes);
}

// `rounded` NULL: numbers are not converted.
static bool read_elements(const char *path, const unsigned char *bytes, size_t size, kc_dtype as,
                          array *out, bool *rounded, char error[ERROR_SIZE]) {
    header h = {0};
    bool ignored = false;
    size_t strides[ARRAY_MAX_RANK], stride = 1;
    if (!parse_header(path, bytes, size, &h, error)) return false;
    if (as == KC_DTYPE_NONE) as = type_of(&h);
    conversion how =
        as == KC_DTYPE_NONE ? AS_NOTHING : choose(&h, as, rounded ? rounded : &ignored);
    if (!rounded && how != AS_BITS && how != AS_NIBBLES) how = AS_NOTHING;
    if (how == AS_NOTHING) {
        snprintf(error, ERROR_SIZE, "%.200s: holds elements of NumPy type %c%d, %s %s", path,
                 h.kind, h.bytes,
                 as == KC_DTYPE_NONE ? "which may be bits of another type:"
                 : rounded           ? "and the argument is"
                                     : "not",
                 as == KC_DTYPE_NONE ? "say which" : kc_dtype_name(as));
        return false;
    }
    int64_t shape[ARRAY_MAX_RANK];
    for (int axis = 0; axis < h.rank; axis++)
        shape[axis] = h.shape[axis];
    if (how == AS_NIBBLES && __builtin_mul_overflow(shape[h.rank - 1], 2, &shape[h.rank - 1]))
        return fail(error, path, "is too large");
    if (!holds_elements(&h, size - h.offset)) // before memory is asked for
        return fail(error, path, "ends before its last element");
    if (!kcrun_array_make(out, as, h.rank, shape, error))
        return fail(error, path, "is too large for memory");
    for (int axis = 0; axis < h.rank; axis++) {
        strides[axis] = stride;
        stride *= (size_t)h.shape[axis];
    }
    return convert(path, &h, bytes + h.offset, strides, how, out, error);
}

static bool read_file(const char *path, kc_dtype as, array *out, bool *rounded,
                      char error[ERROR_SIZE]) {
    unsigned char *bytes;
    size_t size;
    *out = (array){.data = NULL};
    bool good = read_whole(path, &bytes, &size, error) &&
                read_elements(path, bytes, size, as, out, rounded, error);
    free(bytes);
    if (!good) kcrun_array_free(out);
    return good;
}

bool kcrun_npy_read(const char *path, kc_dtype as, array *out, bool *rounded,
                    char error[ERROR_SIZE]) {
    *rounded = false;
    return read_file(path, as, out, rounded, error);
}

bool kcrun_npy_read_exact(const char *path, kc_dtype as, array *out, char error[ERROR_SIZE]) {
    return read_file(path, as, out, NULL, error);
}

// ---- Writing ------------------------------------------------------------------------------------

static bool write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

// Devices and pipes have no old content to keep, and must stay what they are.
static bool write_in_place(const char *path, const void *head, size_t head_size, const void *body,
                           size_t body_size, char error[ERROR_SIZE]) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail(error, path, strerror(errno));
    bool good = write_all(fd, head, head_size) && write_all(fd, body, body_size);
    int saved = errno;
    if (close(fd) && good) good = false, saved = errno;
    return good ? true : fail(error, path, strerror(saved));
}

bool kcrun_file_write(const char *path, const void *head, size_t head_size, const void *body,
                      size_t body_size, char error[ERROR_SIZE]) {
    char temporary[4200];
    struct stat s;
    if (!stat(path, &s) && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
        return write_in_place(path, head, head_size, body, body_size, error);
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
        return fail(error, path, "the name is too long");
    int fd = mkstemp(temporary);
    if (fd < 0) return fail(error, path, strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    bool good = fchmod(fd, 0666 & ~mask) == 0 && write_all(fd, head, head_size) &&
                write_all(fd, body, body_size) && fsync(fd) == 0;
    int saved = errno;
    if (close(fd) && good) good = false, saved = errno;
    if (good && rename(temporary, path)) good = false, saved = errno;
    if (good) return true;
    unlink(temporary);
    return fail(error, path, strerror(saved));
}

static const char *descr(kc_dtype t, char buffer[16]) {
    const kc_dtype_info *info = &kc_dtype_table[t];
    char kind = kc_dtype_is_packed(t)           ? 'u'
                : npy_lacks(t)                  ? 'V'
                : info->class == KC_CLASS_FLOAT ? 'f'
                : info->class == KC_CLASS_INT   ? 'i'
                : info->class == KC_CLASS_UINT  ? 'u'
                                                : 'b';
    snprintf(buffer, 16, "%c%c%d", kind == 'V' || info->bits <= 8 ? '|' : '<', kind,
             kc_dtype_unit(t));
    return buffer;
}

static size_t make_header(const array *a, kc_dtype type, char *out, size_t size) {
    char shape[ARRAY_MAX_RANK * 22 + 4] = "", kind[16];
    size_t at = 0;
    for (int i = 0; i < a->rank; i++) {
        bool halved = kc_dtype_is_packed(type) && i + 1 == a->rank;
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%lld,%s",
                               (long long)(halved ? a->shape[i] / 2 : a->shape[i]),
                               i + 1 < a->rank ? " " : "");
    }
    if (a->rank > 1) shape[at - 1] = 0; // one comma at the end belongs to tuples of one
    int n =
        snprintf(out + 10, size - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                 descr(type, kind), shape);
    size_t total = (10 + (size_t)n + 1 + 63) & ~(size_t)63;
    memset(out + 10 + n, ' ', total - 10 - (size_t)n);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((total - 10) & 255);
    out[9] = (char)((total - 10) >> 8);
    return total;
}

static void cast_element(const array *from, array *to, size_t i) {
    const void *source = array_at(from, i);
    void *target = array_at(to, i);
    bool integer = !kc_dtype_is_float(from->type);
    if (kc_dtype_is_float(to->type))
        kc_dtype_put(to->type, target, 0,
                     integer ? (double)kc_dtype_load_i64(from->type, source)
                             : kc_dtype_load(from->type, source));
    else
        kc_dtype_store_i64(to->type, target,
                           integer
                               ? kc_dtype_load_i64(from->type, source)
                               : kc_dtype_saturate(to->type, kc_dtype_load(from->type, source)));
}

// Two elements a byte, in place.
static bool pack(array *a, const char *path, char error[ERROR_SIZE]) {
    unsigned char *bytes = a->data;
    if (!a->rank || a->shape[a->rank - 1] % 2)
        return fail(error, path, "4-bit elements are written two a byte along an even last axis");
    for (size_t i = 0; i < a->count / 2; i++)
        bytes[i] = (unsigned char)((bytes[2 * i] & 0xf) | bytes[2 * i + 1] << 4);
    return true;
}

bool kcrun_npy_write(const char *path, const array *a, kc_dtype as, char error[ERROR_SIZE]) {
    char head[2048];
    array converted = {.data = NULL};
    if (as == KC_DTYPE_NONE) as = a->type;
    const array *body = a;
    if (as != a->type || kc_dtype_is_packed(as)) {
        if (!kcrun_array_make(&converted, as, a->rank, a->shape, error)) return false;
        for (size_t i = 0; i < a->count; i++)
            cast_element(a, &converted, i);
        body = &converted;
    }
    bool good = !kc_dtype_is_packed(as) || pack(&converted, path, error);
    size_t n = make_header(a, as, head, sizeof head);
    size_t size = (size_t)kc_dtype_size(as, (int64_t)a->count);
    good = good && kcrun_file_write(path, head, n, body->data, size, error);
    kcrun_array_free(&converted);
    return good;
}
