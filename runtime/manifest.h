// The manifest as checked data: what docs/PACKAGE.md describes, with every expression parsed and
// every name resolved.
//
// Everything is in the package's arena but the expression pools, which kcrt_manifest_release
// destroys. Strings of entries and the manifest's own point into the arena. After a successful read
// nothing needs checking again: all indices are in range, all symbols declared, all limits kept.
#ifndef KCRT_MANIFEST_H
#define KCRT_MANIFEST_H

#include "ir/expr.h"
#include "runtime/json.h"
#include "runtime/package.h"

#define KCRT_MAX_ARGS 64
#define KCRT_MAX_RANK 16
#define KCRT_MAX_NAMES 128 // dims, and again stride names
#define KCRT_MAX_SYMBOLS (2 * KCRT_MAX_NAMES + KCRT_MAX_ARGS + KCRT_DEVICE_SYMBOLS)
#define KCRT_MAX_KERNEL_ARGS 128
#define KCRT_MAX_PARAMETER_BYTES 4096
#define KCRT_ALIGN_CAP 256
#define KCRT_DEVICE_SYMBOLS 9

// The device attributes that expressions may name, in order; kcrt_attr of each.
extern const struct kcrt_device_symbol {
    const char *name;
    kcrt_attr attr;
} kcrt_device_symbols[KCRT_DEVICE_SYMBOLS];

// An expression, with the two cheap forms apart.
typedef enum { KCRT_TERM_CONST, KCRT_TERM_SYMBOL, KCRT_TERM_EXPR } kcrt_term_form;
typedef struct {
    kcrt_term_form form;
    int symbol;
    int64_t value;
    const kc_expr *expr; // always there
} kcrt_term;

static inline kc_expr_status kcrt_term_eval(const kcrt_term *term, const int64_t *values,
                                            int64_t *out) {
    switch (term->form) {
    case KCRT_TERM_CONST: *out = term->value; return KC_EXPR_OK;
    case KCRT_TERM_SYMBOL: *out = values[term->symbol]; return KC_EXPR_OK;
    case KCRT_TERM_EXPR: break;
    }
    return kc_expr_eval(term->expr, values, NULL, out);
}

typedef struct {
    const char *name;
    kc_expr_facts facts;
    bool is_passed;
} kcrt_symbol;

typedef struct {
    const char *name, *type;
    DLDataType dtype;
    int bytes; // of an element; 1 when packed
    bool packed; // 4-bit elements, two a byte along the last axis
    bool is_output, is_inout; // is_output: it is written, which an inout is too
    bool is_scalar;
    int rank;
    kcrt_term *shape;
    kcrt_term *strides; // NULL: contiguous
    int alias;          // argument index, or -1
    int align_symbol;   // of a tensor
} kcrt_arg;

typedef struct {
    int arg; // tensor argument, or -1: the workspace
    kcrt_term offset;
} kcrt_step_place;

typedef enum {
    KCRT_PARAM_PLACE,
    KCRT_PARAM_CONSTANT,
    KCRT_PARAM_SCALAR,
    KCRT_PARAM_EXPR
} kcrt_param_kind;
typedef struct {
    kcrt_param_kind kind;
    int size;              // bytes
    int index;             // CONSTANT: in the manifest's constants; SCALAR: argument
    kcrt_step_place place; // PLACE
    kcrt_term expr;        // EXPR
} kcrt_param;

typedef enum { KCRT_STEP_KERNEL, KCRT_STEP_MEMSET, KCRT_STEP_COPY } kcrt_step_kind;
typedef struct {
    kcrt_step_kind kind;
    const char *kernel;
    kcrt_term grid[3], shared;
    uint32_t block[3], cluster[3];
    kcrt_param *params;
    int param_count;
    kcrt_step_place to, from;
    int value;
    kcrt_term bytes;
} kcrt_step;

typedef struct {
    bool has_when;
    kcrt_term when, workspace;
    kcrt_step *steps;
    int step_count;
} kcrt_variant;

typedef struct {
    const char *triple, *arch;
    int *images;
    int image_count;
    kcrt_variant *variants;
    int variant_count;
    uint32_t device_used; // bit i: kcrt_device_symbols[i] occurs in its expressions
} kcrt_target;

// How one symbol gets its value at launch, in an order in which everything needed is known.
typedef struct {
    int symbol, arg, axis; // arg -1: passed by the caller, `axis` is its place among those
    int64_t
        factor; // the extent is factor * symbol + rest; factor 1 and rest NULL: the extent itself
    const kc_expr *rest;
} kcrt_binding;

// A tensor that comes with the package: what the function's IR and its kernels call by this name.
typedef struct {
    const char *name, *type;
    DLDataType dtype;
    int rank;
    int64_t *shape;
    int index; // in the manifest's constants
} kcrt_constant_use;

typedef struct {
    const char *name, *doc;
    kc_expr_pool *pool;
    kcrt_symbol *symbols; // dims, then stride names; after them in the pool: align.*, dev.*
    int dim_count, stride_count, symbol_count /* of the pool */;
    kcrt_arg *args;
    int arg_count, passed_count;
    kcrt_constant_use *constants;
    int constant_count;
    int align_base, device_base; // first symbol of each group
    uint32_t device_used;        // of the target being read
    kcrt_binding *bindings;      // of dims, each after what it needs
    int binding_count;
    kcrt_binding *shape_sites; // every place that can determine a dim, by argument and axis
    int shape_site_count;
    kcrt_binding *stride_sites; // where stride names stand bare, grouped by symbol
    int stride_site_count;
    int ir; // image, or -1
    kcrt_target *targets;
    int target_count;
} kcrt_signature;

typedef struct {
    const char *triple, *arch, *role, *sha256;
    uint64_t size;
} kcrt_image;
typedef struct {
    const char *name;
    int image;
    uint64_t offset, bytes;
} kcrt_constant;

typedef struct {
    const char *module;
    kcrt_image *images; // image i is the package's entry i + 1
    int image_count;
    kcrt_constant *constants;
    int constant_count;
    kcrt_signature *functions;
    int function_count;
} kcrt_manifest;

// Reads and checks the manifest of a package; release also after a failure. `what` names the
// package in messages.
kcrt_status kcrt_manifest_read(kcrt_arena *, const char *what, const kcrt_package *,
                               kcrt_manifest *out);
void kcrt_manifest_release(kcrt_manifest *);

#endif
