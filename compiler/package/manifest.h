// Assembles a package: the manifest (docs/PACKAGE.md) and the images behind it.
#ifndef KC_COMPILER_PACKAGE_MANIFEST_H
#define KC_COMPILER_PACKAGE_MANIFEST_H

#include <stdio.h>

#include "compiler/package/json_writer.h"
#include "compiler/package/offload.h"
#include "ir/ir.h"

typedef struct {
    const char *triple, *arch;
    const char *attributes;  // canonical text of what differs from the defaults, or NULL
    int images[2], n_images; // indices in kc_package.images
    const char *variants;    // JSON
} kc_package_target;

typedef struct {
    const kc_op *func;
    int ir; // image, or -1
    kc_package_target *targets;
    int n_targets;
} kc_package_function;

// A tensor of the package: one image holds nothing else.
typedef struct {
    const char *sha256;
    int image;
    size_t bytes;
} kc_package_constant;

typedef struct {
    const char *module;
    const char *kc, *llvm, *ptxas; // versions; ptxas NULL: none was used
    const char *note;              // about how it was made, or NULL
    kc_offload_image *images;
    int n_images;
    kc_package_constant *constants;
    int n_constants;
    kc_package_function *functions;
    int n_functions;
} kc_package;

// What a package calls the constant with this hash.
enum { KC_CONSTANT_NAME = 36 };
void kc_constant_name(const char *sha256, char name[KC_CONSTANT_NAME]);

// The whole file.
void kc_package_write(FILE *, const kc_package *);

#endif
