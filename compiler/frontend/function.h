// What the files of the frontend share: the state of one function while it is read.
//
// Order of work (function.c): facts of `dims`; the syntax of types, strides and body; then, since
// facts must be set before expressions are built on them, all symbols with what `/` says about
// them; then types, arguments, body, schedule, outputs.
#ifndef KC_COMPILER_FRONTEND_FUNCTION_H
#define KC_COMPILER_FRONTEND_FUNCTION_H

#include "compiler/frontend/body_ast.h"
#include "compiler/frontend/frontend.h"
#include "compiler/frontend/source.h"
#include "ir/map.h"
#include "compiler/frontend/suggest.h"
#include "compiler/frontend/yaml_tree.h"

typedef struct {
    kc_arena *arena;
    kc_diag *diag;
    kc_source source;
    kc_module *module;
    kc_map *functions; // name -> kc_loc
    int n_functions;
    const char *folder; // of the model file, with its slash; "" for the current one
    kc_map *tensors;    // what was read: path, tensor and type -> kc_constant_data
    size_t tensor_bytes;
} kc_model;

// A name of the key `types`, in one instance of the function: it stands for an element type.
typedef struct {
    const char *name;
    kc_loc loc;
    const char *dtype; // as text: an instance reports a type that is not built
    bool used;
} kc_type_parameter;

enum { KC_MAX_TYPE_PARAMETERS = 4, KC_MAX_INSTANCES = 64 };

// A dimension or stride name.
typedef struct {
    const char *name;
    kc_loc loc; // of its entry in `dims`, else of its first use
    kc_expr_facts facts;
    bool declared, used; // has an entry in `dims`; stands in a type, stride or statement
    bool fixed;          // a constant's shape says what it is: it is this number, and no symbol
    int64_t value;
    const char *fixed_by; // the constant
    int symbol;          // in the pool, once sealed
} kc_dim;

typedef struct {
    const char *name;
    kc_loc loc, type_loc, alias_loc;
    kc_direction direction;
    bool broken; // reported; its name is known, its type is not
    kc_dtype elem;
    int rank;
    kc_ast *shape[KC_MAX_RANK];
    bool strided;
    kc_ast *strides[KC_MAX_RANK];
    const char *alias; // input it may overlap, or NULL
    kc_type type;      // after kc_types_resolve
} kc_argument;

// An entry of the key `constants`.
typedef struct {
    const char *name, *path;
    kc_loc loc, file_loc;
    kc_argument declared; // its type and loc, when `typed`
    bool typed, broken;
    const struct kc_constant_data *data; // NULL when broken
} kc_constant_entry;

// A weak real expression: numbers and dimensions under elementwise ops; it is computed in the type
// that it meets.
typedef struct kc_weak kc_weak;
struct kc_weak {
    kc_opcode code; // CONST: number; SYM: expr; else an elementwise op on a (and b)
    double number;
    const kc_expr *expr;
    const kc_weak *a, *b;
    int size; // nodes
};

typedef enum {
    KC_TERM_POISON, // an error was reported: whatever uses it stays silent
    KC_TERM_TENSOR, // has a type
    KC_TERM_INT,    // weak: an integer literal or expression of dimensions
    KC_TERM_REAL,   // weak: a float literal or expression
} kc_term_kind;

typedef struct {
    kc_term_kind kind;
    kc_loc loc;
    kc_value *value;
    const kc_expr *expr;
    const kc_weak *weak;
} kc_term;

// A name of the body: an input or a statement.
typedef struct {
    const char *name;
    kc_loc loc;
    kc_term term;
    bool input, used;
    bool constant;
    bool inout; // the old contents: a statement of this name gives the new ones
} kc_name;

typedef struct {
    kc_arena *arena;
    kc_diag *diag;
    kc_model *model;
    const char *name;
    kc_loc loc;
    kc_type_parameter types[KC_MAX_TYPE_PARAMETERS];
    int n_types;

    kc_dim *dims[KC_MODEL_MAX_SYMBOLS];
    int n_dims;
    kc_map *dim_map;
    kc_argument *arguments; // inputs, inouts, outputs
    int n_inputs, n_inouts, n_outputs;
    kc_constant_entry *constants;
    int n_constants;
    const kc_expr *divisions[KC_MODEL_MAX_SYMBOLS]; // `a / b` of types: checked at launch
    int n_divisions;

    kc_op *func;
    kc_expr_pool *pool;
    kc_builder builder;
    kc_map *names; // kc_name
    kc_name **name_list;
    int n_names;
    kc_body body;
    int depth;         // of expression evaluation
    int errors_before; // in the sink when the function began
} kc_function;

#define KC_FN_ERROR(fn, loc, ...) kc_report((fn)->diag, KC_ERROR, (loc), __VA_ARGS__)

// ---- model.c: helpers for keys and scalars. Each reports what is wrong and returns false or NULL.
// `known` and `reserved` are words separated by blanks; reserved ones are refused as not built yet
// (NULL: none).
bool kc_model_check_keys(kc_model *, const kc_yaml *map, const char *what, const char *known,
                         const char *reserved);
const char *kc_model_name(kc_model *, const kc_yaml *, const char *what); // an identifier
bool kc_model_int(kc_model *, const kc_yaml *, const char *what, int64_t min, int64_t max,
                  int64_t *out);
bool kc_model_bool(kc_model *, const kc_yaml *, const char *what, bool *out);
const kc_yaml *kc_model_map(kc_model *, const kc_yaml *,
                            const char *what); // NULL: not a map (null is an empty map)

// ---- instances.c
// A function of the file: one, or an instance for each combination of its element types.
void kc_function_read(kc_model *, const kc_yaml *key, const kc_yaml *value);
// The parameter that the name stands for, NULL when it is none; it counts as used.
kc_type_parameter *kc_types_parameter(kc_function *, const char *name);

// ---- function.c
// Reads the function into the module, with the element types given (names as in the file).
void kc_function_read_instance(kc_model *, const char *name, kc_loc, const kc_yaml *map, int n,
                               const kc_type_parameter *);

// ---- dims.c
void kc_dims_read(kc_function *, const kc_yaml *); // the key `dims`
void kc_dims_scan(kc_function *, const kc_ast *);  // symbols of a type or stride, and what `/` says
void kc_dims_note_even(kc_function *, const kc_ast *); // a name alone becomes a multiple of 2
void kc_dims_scan_body(kc_function *, const kc_ast *); // what `/` says in lists of a body
void kc_dims_seal(kc_function *);                      // facts go to the pool
// A constant's shape has `value` where its type has the name, which is that number from now on.
void kc_dims_fix(kc_function *, const char *name, kc_loc, int64_t value, const char *constant);
const kc_expr *kc_dims_value(kc_function *, const kc_dim *); // its symbol, or its number
const kc_expr *kc_dims_eval(kc_function *, const kc_ast *, bool in_body); // NULL after an error
bool kc_dims_check_extent(kc_function *, kc_loc, const kc_expr *);
// Arithmetic on integer expressions with the errors it can have: division by 0, overflow, size.
const kc_expr *kc_dims_binary(kc_function *, kc_loc, kc_expr_kind, const kc_expr *,
                              const kc_expr *);
// Is the quotient a / b, an expression made with KC_EXPR_DIV, known to be exact?
bool kc_dims_divides(kc_function *, const kc_expr *a, const kc_expr *b, const kc_expr *quotient);
const char *kc_dims_text(kc_function *, const kc_expr *);
// For errors: that the two differ, or cannot be shown to be equal and what to do about it.
const char *kc_dims_unequal(kc_function *, const kc_expr *a, const kc_expr *b);

// ---- types.c
void kc_types_read_arguments(kc_function *, const kc_yaml *inputs, const kc_yaml *inouts,
                             const kc_yaml *outputs); // maps, or NULL
int kc_types_argument_count(const kc_function *);
bool kc_types_parse(kc_function *, kc_argument *, const kc_yaml *); // its type, as syntax
void kc_types_resolve(kc_function *); // expressions, and the function's arguments
const char *kc_types_text(kc_function *, const kc_type *); // f16[M, K]
// An element type by name; refuses unknown ones.
kc_dtype kc_types_dtype(kc_function *, kc_loc, const char *name);
const kc_expr *kc_types_elements(kc_function *, kc_loc,
                                 const kc_type *); // NULL after an error: too many
bool kc_types_check(kc_function *, kc_loc,
                    const kc_type *); // extents and their product are sensible

// ---- constants.c: in three steps, around kc_dims_seal. All report.
void kc_constants_read(kc_function *, const kc_yaml *); // files, and names that their shapes fix
void kc_constants_check(kc_function *);                 // the rest of the types
kc_value *kc_constants_define(kc_function *, int i);    // its value in the body; NULL: broken

// ---- schedule.c
void kc_schedule_read(kc_function *, const kc_yaml *);

// ---- body.c
kc_term kc_body_eval(kc_function *, const kc_ast *);
void kc_body_run(kc_function *);                        // the statements
void kc_body_return(kc_function *);                     // outputs, `return`, warnings
kc_name *kc_body_lookup(kc_function *, const kc_ast *); // NULL: undefined, reported once

// ---- body_ops.c
kc_term kc_body_call(kc_function *, const kc_ast *);
const char *kc_body_op_signature(const char *name); // NULL: there is no op of this name

#endif
