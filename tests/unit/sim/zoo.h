/* Reading the files of tests/zoo: a case is a kernel as a difference between a broken form and its correct
 * twin. tests/zoo/README.md says how it is written. */
#ifndef KCSIM_ZOO_H
#define KCSIM_ZOO_H

#include <ctype.h>

#include "runtime/sim/findings.h"
#include "tests/unit/sim/machine_test.h"

#define ZOO_BUFFER 65536u
#define ZOO_EXPECTED 8
#define ZOO_HEADER                                                                                 \
    ".shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n"                            \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128]) "
#define ZOO_PROLOGUE                                                                               \
    "\n{\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>;\n.reg .f32 %f<128>;\n" \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmov.u32 %r4, %ctaid.x;\n" \
    "mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.s32 %r3, %r1, %r2;\ncvt.u64.u32 %d4, %r2;\n"    \
    "add.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\nsetp.eq.u32 %p0, %r0, 0;\n"                   \
    "setp.ge.u32 %p1, %r0, 32;\nsetp.ge.u32 %p2, %r0, 16;\nsetp.ne.u32 %p3, %r4, 0;\n"

/* A finding that is expected, as text: the fields, then what `other` says. */
typedef struct zoo_finding {
    unsigned line; /* of the broken kernel's PTX */
    char instruction[200];
    char fields[200], other[KCSIM_FINDING_TEXT];
    bool sometimes; /* only its kind and line are fixed, and only under other seeds */
    unsigned file_line;
} zoo_finding;

typedef struct zoo_form {
    char arch[16], limits[120], top[800];
    char body[6000];
    unsigned grid[2], block[2], cluster, shared;
    bool freed, reserved, no_map, deep, im2col; /* deep: the map has three dimensions */
    bool cooperative;
    bool early; /* `before`, `between`, where they are in the module, and k begin before the one in front ends */
    bool by_seed; /* only some schedules show it, mostly as wrong results */
} zoo_form;

typedef struct zoo_case {
    char name[80], file[40];
    unsigned file_line;
    zoo_form broken, twin;
    zoo_finding expected[ZOO_EXPECTED];
    size_t expected_count;
} zoo_case;

static inline unsigned zoo_lines(const char *text) {
    unsigned count = 0;
    for (; (text = strchr(text, '\n')); text++) count++;
    return count;
}

static inline void zoo_ptx(const zoo_form *form, char *out, size_t size) {
    assert_in_range(snprintf(out, size, ".version 8.7\n.target %s\n.address_size 64\n%s%s%s%s%s\nret;\n}\n", form->arch, form->top,
                             ZOO_HEADER, form->limits, ZOO_PROLOGUE, form->body),
                    1, size - 1);
}

/* The line of module text that the next line of the body will have; `line` 0 of it is the kernel's own. */
static inline unsigned zoo_entry_line(const zoo_form *form) {
    return 3 + zoo_lines(form->top) + zoo_lines(ZOO_HEADER) + 1;
}

static inline unsigned zoo_body_line(const zoo_form *form) {
    return 3 + zoo_lines(form->top) + zoo_lines(ZOO_HEADER) + zoo_lines(ZOO_PROLOGUE) + zoo_lines(form->body) + 1;
}

static inline void zoo_directive(zoo_form *form, const char *text) {
    unsigned value = 0, rows = 1;
    if (sscanf(text, "@grid %u %u", &value, &rows) >= 1) form->grid[0] = value, form->grid[1] = rows;
    else if (sscanf(text, "@block %u %u", &value, &rows) >= 1) form->block[0] = value, form->block[1] = rows;
    else if (sscanf(text, "@cluster %u", &value) == 1) form->cluster = value;
    else if (sscanf(text, "@shared %u", &value) == 1) form->shared = value;
    else if (strncmp(text, "@arch ", 6) == 0) snprintf(form->arch, sizeof form->arch, "%.15s", text + 6);
    else if (strncmp(text, "@limits ", 8) == 0) snprintf(form->limits, sizeof form->limits, "%.118s", text + 8);
    else if (strncmp(text, "@top ", 5) == 0) {
        size_t used = strlen(form->top);
        snprintf(form->top + used, sizeof form->top - used, "%.250s\n", text + 5);
    } else if (strcmp(text, "@early") == 0) form->early = true;
    else if (strcmp(text, "@cooperative") == 0) form->cooperative = true;
    else if (strcmp(text, "@freed") == 0) form->freed = true;
    else if (strcmp(text, "@reserved") == 0) form->reserved = true;
    else if (strcmp(text, "@by_seed") == 0) form->by_seed = true;
    else if (strcmp(text, "@no_map") == 0) form->no_map = true;
    else if (strcmp(text, "@deep") == 0) form->deep = true;
    else if (strcmp(text, "@im2col") == 0) form->deep = form->im2col = true;
    else fail_msg("unknown directive %s", text);
}

static inline void zoo_add(zoo_form *form, const char *text) {
    while (*text == ' ') text++;
    if (*text == '@' && islower((unsigned char)text[1])) {
        zoo_directive(form, text);
        return;
    }
    size_t used = strlen(form->body);
    assert_in_range(snprintf(form->body + used, sizeof form->body - used, "%s\n", text), 1, sizeof form->body - used - 1);
}

static inline void zoo_expect(zoo_case *read, const char *text, unsigned file_line) {
    zoo_form *form = &read->broken;
    if (strncmp(text, "~   ", 4) == 0) {
        assert_true(read->expected_count > 0);
        snprintf(read->expected[read->expected_count - 1].other, sizeof read->expected[0].other, "%.351s", text + 4);
        return;
    }
    assert_true(read->expected_count < ZOO_EXPECTED);
    zoo_finding *made = &read->expected[read->expected_count++];
    memset(made, 0, sizeof *made);
    made->sometimes = text[1] == '?';
    made->file_line = file_line;
    snprintf(made->fields, sizeof made->fields, "%.190s", text + (made->sometimes ? 3 : 2));
    if (!form->body[0]) {
        made->line = zoo_entry_line(form);
        return;
    }
    made->line = zoo_body_line(form) - 1;
    size_t end = strlen(form->body) - 1, start = end;
    while (start > 0 && form->body[start - 1] != '\n') start--;
    if (form->body[end - 1] == ';') end--;
    snprintf(made->instruction, sizeof made->instruction, "%.*s", (int)(end - start), form->body + start);
}

/* The next case of the file; false at its end. `line` counts the lines that were read. */
static inline bool zoo_read(FILE *file, const char *name, zoo_case *read, unsigned *line) {
    char text[512];
    bool inside = false;
    const zoo_form usual = {.arch = "sm_90a", .grid = {1, 1}, .block = {32, 1}};
    memset(read, 0, sizeof *read);
    snprintf(read->file, sizeof read->file, "%s", name);
    read->broken = read->twin = usual;
    for (long at = ftell(file); fgets(text, sizeof text, file); at = ftell(file)) {
        text[strcspn(text, "\n")] = 0;
        if (strncmp(text, "case ", 5) == 0) {
            if (inside) {
                fseek(file, at, SEEK_SET);
                return true;
            }
            inside = true;
            snprintf(read->name, sizeof read->name, "%.79s", text + 5);
            read->file_line = *line + 1;
        } else if (inside && text[0] == '~') {
            zoo_expect(read, text, *line + 1);
        } else if (inside && text[0] && text[0] != '#') {
            assert_true(strchr(" +-", text[0]));
            if (text[0] != '+') zoo_add(&read->broken, text + 1);
            if (text[0] != '-') zoo_add(&read->twin, text + 1);
        }
        ++*line;
    }
    return inside;
}

#endif
