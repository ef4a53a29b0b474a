// ELF64, little endian: .rodata with the package and its size, two global symbols, and the note
// that no executable stack is wanted. Written field by field, so that the builder's own byte order
// and headers do not matter.
#include <stdlib.h>
#include <string.h>

#include "compiler/package/bytes.h"
#include "compiler/package/embed.h"

enum { HEADER_BYTES = 64, SECTION_BYTES = 64, SYMBOL_BYTES = 24, ALIGNMENT = 16 };
enum { NONE, RODATA, NOTE, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };
enum { TYPE_NULL = 0, TYPE_PROGBITS = 1, TYPE_SYMTAB = 2, TYPE_STRTAB = 3, FLAG_ALLOC = 2 };

static const char section_names[] = "\0.rodata\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab";

typedef struct {
    uint32_t name, type;
    uint64_t flags, offset, size, align, entry;
    uint32_t link, info;
} section;

kc_host kc_host_own(void) {
#if defined(__aarch64__)
    return KC_HOST_AARCH64;
#else
    return KC_HOST_X86_64;
#endif
}

static uint64_t aligned(uint64_t n) {
    return (n + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static void write_header(FILE *out, kc_host host, uint64_t sections_at) {
    fwrite("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 1, 16, out);
    kc_bytes_number(out, 1, 2); // relocatable
    kc_bytes_number(out, host == KC_HOST_AARCH64 ? 183 : 62, 2);
    kc_bytes_number(out, 1, 4);
    kc_bytes_number(out, 0, 8); // no entry point
    kc_bytes_number(out, 0, 8); // no program headers
    kc_bytes_number(out, sections_at, 8);
    kc_bytes_number(out, 0, 4);
    kc_bytes_number(out, HEADER_BYTES, 2);
    kc_bytes_number(out, 0, 2);
    kc_bytes_number(out, 0, 2);
    kc_bytes_number(out, SECTION_BYTES, 2);
    kc_bytes_number(out, SECTIONS, 2);
    kc_bytes_number(out, SHSTRTAB, 2);
}

static void write_symbol(FILE *out, uint64_t name, uint64_t value, uint64_t size) {
    enum { GLOBAL_OBJECT = 1 << 4 | 1 };
    kc_bytes_number(out, name, 4);
    kc_bytes_number(out, GLOBAL_OBJECT, 1);
    kc_bytes_number(out, 0, 1); // default visibility
    kc_bytes_number(out, RODATA, 2);
    kc_bytes_number(out, value, 8);
    kc_bytes_number(out, size, 8);
}

static void write_section(FILE *out, const section *s) {
    kc_bytes_number(out, s->name, 4);
    kc_bytes_number(out, s->type, 4);
    kc_bytes_number(out, s->flags, 8);
    kc_bytes_number(out, 0, 8);
    kc_bytes_number(out, s->offset, 8);
    kc_bytes_number(out, s->size, 8);
    kc_bytes_number(out, s->link, 4);
    kc_bytes_number(out, s->info, 4);
    kc_bytes_number(out, s->align, 8);
    kc_bytes_number(out, s->entry, 8);
}

static uint32_t name_of(const char *section_name) {
    for (uint32_t at = 0; at < sizeof section_names; at += (uint32_t)strlen(section_names + at) + 1)
        if (!strcmp(section_names + at, section_name)) return at;
    abort(); // not in our own table
}

void kc_embed_write_object(FILE *out, kc_host host, const char *module, const void *package,
                           size_t size) {
    size_t first = strlen(module) + sizeof "kc__kcb",
           second = strlen(module) + sizeof "kc__kcb_size";
    uint64_t count_at = aligned(size), data = count_at + 8, symbols = HEADER_BYTES + aligned(data);
    uint64_t strings = symbols + 3 * SYMBOL_BYTES, names = strings + 1 + first + second,
             end = aligned(names + sizeof section_names);
    const section sections[SECTIONS] = {
        [RODATA] = {name_of(".rodata"), TYPE_PROGBITS, FLAG_ALLOC, HEADER_BYTES, data, ALIGNMENT, 0,
                    0, 0},
        [NOTE] = {name_of(".note.GNU-stack"), TYPE_PROGBITS, 0, symbols, 0, 1, 0, 0, 0},
        [SYMTAB] = {name_of(".symtab"), TYPE_SYMTAB, 0, symbols, 3 * SYMBOL_BYTES, 8, SYMBOL_BYTES,
                    STRTAB, 1},
        [STRTAB] = {name_of(".strtab"), TYPE_STRTAB, 0, strings, names - strings, 1, 0, 0, 0},
        [SHSTRTAB] = {name_of(".shstrtab"), TYPE_STRTAB, 0, names, sizeof section_names, 1, 0, 0,
                      0},
    };
    write_header(out, host, end);
    fwrite(package, 1, size, out);
    kc_bytes_zeros(out, count_at - size);
    kc_bytes_number(out, size, 8);
    kc_bytes_zeros(out, symbols - HEADER_BYTES - data);
    kc_bytes_zeros(out, SYMBOL_BYTES);
    write_symbol(out, 1, 0, size);
    write_symbol(out, 1 + first, count_at, 8);
    fprintf(out, "%ckc_%s_kcb%ckc_%s_kcb_size%c", 0, module, 0, module, 0);
    fwrite(section_names, 1, sizeof section_names, out);
    kc_bytes_zeros(out, end - names - sizeof section_names);
    for (int i = 0; i < SECTIONS; i++)
        write_section(out, &sections[i]);
}
