// Joins packages of one module.
#ifndef KC_COMPILER_PACKAGE_LINK_H
#define KC_COMPILER_PACKAGE_LINK_H

#include <stdio.h>

#include "compiler/package/reader.h"

// Writes the joined package. False: *error names the files that do not fit together, and why.
bool kc_package_link(kc_arena *, kc_package_file *const *files, int n, FILE *, const char **error);

#endif
