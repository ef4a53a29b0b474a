// Shared by the files of `kc build`.
#ifndef KC_COMPILER_COMMANDS_BUILD_COMMAND_H
#define KC_COMPILER_COMMANDS_BUILD_COMMAND_H

#include "compiler/commands/command.h"
#include "compiler/package/embed.h"

// A kind of output (--emit).
typedef enum { KC_EMIT_KCB, KC_EMIT_OBJ, KC_EMIT_C, KC_EMIT_SINGLE } kc_emit_form;
typedef struct {
    const char *name;
    kc_emit_form form;
    int single;       // KC_BUILD_* or KC_TASK_* of KC_EMIT_SINGLE
    const char *kind; // the kind of target that has it, or NULL
    const char *role; // of the image
    const char *extension;
} kc_emit_kind;

const kc_emit_kind *kc_emit_kind_find(const char *name); // NULL: unknown
extern const char kc_emit_kind_names[];                  // "kcb, obj, ..."

typedef struct {
    const char *output, *header, *depend;
    const kc_emit_kind *emit;
    kc_host host;
    const char *dump_folder; // or NULL: stdout
    bool json, to_stdout;
    kc_build_request request;
} kc_build_command;

// build_files.c: every file of a finished build, all or none. False: *error.
bool kc_build_write_files(kc_build_run *, const kc_build_command *, const char **error);

// build_report.c
bool kc_build_write_dumps(kc_build_run *, const char *folder,
                          const char **error); // folder NULL: stdout
void kc_build_print_times(const kc_build_run *, FILE *);
void kc_build_print_explanations(const kc_build_run *, FILE *);
// `error`: why the files could not be written, or NULL.
void kc_build_print_json(const kc_build_run *, const char *output, const char *emit,
                         const char *error, int status, FILE *);

#endif
