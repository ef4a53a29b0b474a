// A package inside a program: as C source, as a relocatable object, and the header that calls its
// functions.
#ifndef KC_COMPILER_PACKAGE_EMBED_H
#define KC_COMPILER_PACKAGE_EMBED_H

#include <stdio.h>

#include "ir/ir.h"

// kc_MODULE_kcb[] and kc_MODULE_kcb_size.
void kc_embed_write_c(FILE *, const char *module, const void *package, size_t size);

typedef enum { KC_HOST_X86_64, KC_HOST_AARCH64 } kc_host;
kc_host kc_host_own(void);
// The same two symbols in .rodata of an ELF relocatable.
void kc_embed_write_object(FILE *, kc_host, const char *module, const void *package, size_t size);

// One inline function for each function of the module (C11 and C++17).
void kc_header_write(FILE *, const kc_module *);

#endif
