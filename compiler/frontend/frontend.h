// The frontend: a model file (YAML, see docs/MODEL.md) becomes a module of tensor IR at
// KC_LEVEL_COMPOSITE.
//
// Every `cast` and `broadcast` that the language implies is an op in the result; values keep the
// names of the statements that made them and every op has the line and column of the expression it
// came from. Functions hold `schedule` ops for the entries of `schedule`. The facts of `dims` are
// in the function's expression pool.
//
// Files that the key `constants` names are read, relative to the folder of `file_name`; their
// content is in the module's `constants`, their paths in its `files`.
//
// Any bytes are acceptable as input: errors go to the sink, many a run, and memory and time stay
// within a small multiple of the file's size, which is limited.
#ifndef KC_COMPILER_FRONTEND_FRONTEND_H
#define KC_COMPILER_FRONTEND_FRONTEND_H

#include "ir/ir.h"

// Limits; each is an error that names it.
enum {
    KC_MODEL_MAX_BYTES = 8 << 20,  // of a file
    KC_MODEL_MAX_NODES = 200000,   // YAML nodes, aliases counted as often as they stand for
    KC_MODEL_MAX_DEPTH = 32,       // YAML nesting
    KC_MODEL_MAX_FUNCTIONS = 4096, // of one file
    KC_MODEL_MAX_BODY = 256 << 10, // bytes of one function's body
    KC_MODEL_MAX_NESTING = 100,    // brackets and operators in one expression
    KC_MODEL_MAX_ARGUMENTS = 64,   // of one function, outputs included
    KC_MODEL_MAX_CONSTANTS = 256,  // of one function
    KC_MODEL_MAX_SYMBOLS = 128,    // dimensions and strides of one function
    KC_MODEL_MAX_NAME = 64,        // bytes of a name
    KC_MODEL_MAX_DIM_NODES = 256,  // names, numbers and operators of one dimension
};

// `file_name` is for the module's name when the file gives none. NULL after errors, which are in
// the sink, made by kc_diag_create with the same text. Warnings alone do not stop it.
kc_module *kc_frontend_load(kc_arena *, const char *file_name, const char *text, size_t size,
                            kc_diag *);

#endif
