// A code object is an ELF file with a note "AMDGPU" of type 32 that holds a MessagePack map; its
// "amdhsa.kernels" is an array of maps, one a kernel. Only what we look for is decoded, everything
// else is skipped.
#include "targets/hip/metadata.h"
#include <elf.h>
#include <string.h>

typedef struct {
    const unsigned char *at, *end;
    bool bad;
} reader;

enum { MAX_DEPTH = 16 };

static uint64_t take(reader *r, int bytes) {
    uint64_t value = 0;
    if (r->end - r->at < bytes) return r->bad = true, 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | *r->at++;
    return value;
}

typedef enum { NOTHING, INTEGER, TEXT, ARRAY, MAP } item_kind;

typedef struct {
    item_kind kind;
    uint64_t value; // integer, length of text, number of elements
    const char *text;
} item;

static item text_item(reader *r, uint64_t length) {
    if ((uint64_t)(r->end - r->at) < length) return r->bad = true, (item){NOTHING, 0, NULL};
    item result = {TEXT, length, (const char *)r->at};
    r->at += length;
    return result;
}

// Types with a size field of 1, 2, 4 or 8 bytes, by first byte.
static item sized_item(reader *r, unsigned tag) {
    switch (tag) {
    case 0xc4:
    case 0xc5:
    case 0xc6: return text_item(r, take(r, 1 << (tag - 0xc4))); // binary
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return (item){INTEGER, take(r, 1 << (tag - 0xcc)), NULL};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return (item){INTEGER, take(r, 1 << (tag - 0xd0)), NULL};
    case 0xca: take(r, 4); return (item){NOTHING, 0, NULL};
    case 0xcb: take(r, 8); return (item){NOTHING, 0, NULL};
    case 0xd9:
    case 0xda:
    case 0xdb: return text_item(r, take(r, 1 << (tag - 0xd9)));
    case 0xdc:
    case 0xdd: return (item){ARRAY, take(r, 2 << (tag - 0xdc)), NULL};
    case 0xde:
    case 0xdf: return (item){MAP, take(r, 2 << (tag - 0xde)), NULL};
    case 0xc0:
    case 0xc2:
    case 0xc3: return (item){INTEGER, tag == 0xc3, NULL};
    default: return r->bad = true, (item){NOTHING, 0, NULL};
    }
}

static item next(reader *r) {
    unsigned tag = (unsigned)take(r, 1);
    if (r->bad) return (item){NOTHING, 0, NULL};
    if (tag < 0x80) return (item){INTEGER, tag, NULL};
    if (tag < 0x90) return (item){MAP, tag & 15, NULL};
    if (tag < 0xa0) return (item){ARRAY, tag & 15, NULL};
    if (tag < 0xc0) return text_item(r, tag & 31);
    if (tag >= 0xe0) return (item){INTEGER, (uint64_t)(int64_t)(int8_t)tag, NULL};
    return sized_item(r, tag);
}

static void skip(reader *r, int depth) {
    item i = next(r);
    if (depth > MAX_DEPTH) r->bad = true;
    uint64_t n = i.kind == MAP ? 2 * i.value : i.kind == ARRAY ? i.value : 0;
    for (; n && !r->bad; n--)
        skip(r, depth + 1);
}

static bool is(item key, const char *name) {
    return key.kind == TEXT && key.value == strlen(name) && !memcmp(key.text, name, key.value);
}

static void read_kernel(kc_arena *arena, reader *r, kc_kernel_resources *k) {
    item map = next(r);
    if (map.kind != MAP) r->bad = true;
    int64_t vector_spills = 0, scalar_spills = 0;
    *k = (kc_kernel_resources){"", -1, -1, -1, -1, -1};
    for (uint64_t n = map.value; n && !r->bad; n--) {
        item key = next(r);
        int64_t *slot = is(key, ".vgpr_count")                   ? &k->registers
                        : is(key, ".sgpr_count")                 ? &k->scalar_registers
                        : is(key, ".vgpr_spill_count")           ? &vector_spills
                        : is(key, ".sgpr_spill_count")           ? &scalar_spills
                        : is(key, ".private_segment_fixed_size") ? &k->stack
                        : is(key, ".group_segment_fixed_size")   ? &k->shared
                                                                 : NULL;
        if (!slot && !is(key, ".name")) {
            skip(r, 0);
            continue;
        }
        item value = next(r);
        if (slot) *slot = (int64_t)value.value;
        else if (value.kind == TEXT) k->kernel = kc_arena_strndup(arena, value.text, value.value);
    }
    k->spills = vector_spills + scalar_spills;
}

static int read_root(kc_arena *arena, reader r, kc_kernel_resources **out) {
    item map = next(&r);
    if (map.kind != MAP) return -1;
    for (uint64_t n = map.value; n && !r.bad; n--) {
        if (!is(next(&r), "amdhsa.kernels")) {
            skip(&r, 0);
            continue;
        }
        item kernels = next(&r);
        if (kernels.kind != ARRAY || kernels.value > (uint64_t)(r.end - r.at)) return -1;
        *out = KC_NEW_ARRAY(arena, kc_kernel_resources, kernels.value + 1);
        for (uint64_t i = 0; i < kernels.value && !r.bad; i++)
            read_kernel(arena, &r, &(*out)[i]);
        return r.bad ? -1 : (int)kernels.value;
    }
    return -1;
}

static int read_notes(kc_arena *arena, const char *at, size_t size, kc_kernel_resources **out) {
    Elf64_Nhdr h;
    while (size >= sizeof h) {
        memcpy(&h, at, sizeof h);
        uint64_t name = (h.n_namesz + 3ull) & ~3ull, body = (h.n_descsz + 3ull) & ~3ull;
        if (name + body > size - sizeof h) return -1;
        const char *text = at + sizeof h;
        if (h.n_type == 32 && h.n_namesz == 7 && !memcmp(text, "AMDGPU", 7)) {
            const unsigned char *d = (const unsigned char *)text + name;
            return read_root(arena, (reader){d, d + h.n_descsz, false}, out);
        }
        at += sizeof h + name + body;
        size -= sizeof h + name + body;
    }
    return -1;
}

int kc_metadata_read(kc_arena *arena, const char *image, size_t size, kc_kernel_resources **out) {
    Elf64_Ehdr e;
    *out = NULL;
    if (size < sizeof e || memcmp(image, ELFMAG, SELFMAG)) return -1;
    memcpy(&e, image, sizeof e);
    for (int i = 0; i < e.e_phnum; i++) {
        Elf64_Phdr p;
        uint64_t at = e.e_phoff + (uint64_t)i * sizeof p;
        if (e.e_phoff > size || at > size - sizeof p) return -1;
        memcpy(&p, image + at, sizeof p);
        if (p.p_type != PT_NOTE) continue;
        if (p.p_offset > size || p.p_filesz > size - p.p_offset) return -1;
        int n = read_notes(arena, image + p.p_offset, p.p_filesz, out);
        if (n >= 0) return n;
    }
    return -1;
}
