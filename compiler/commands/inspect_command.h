// Shared by the files of `kc inspect`.
#ifndef KC_COMPILER_COMMANDS_INSPECT_COMMAND_H
#define KC_COMPILER_COMMANDS_INSPECT_COMMAND_H

#include "compiler/commands/command.h"
#include "compiler/package/reader.h"

void kc_inspect_print(const kc_package_file *, FILE *);

// What does not agree: hashes, labels, kernels that an image lacks. A list of sentences.
kc_texts kc_inspect_check(kc_arena *, const kc_package_file *);

// FILE of "ARCH[:ROLE[:FUNCTION]]=FILE", or NULL when the text is not of that form.
const char *kc_inspect_extract_file(const char *what);
// `what` is of that form. False: *error.
bool kc_inspect_extract(kc_arena *, const kc_package_file *, const char *what, const char **error);

#endif
