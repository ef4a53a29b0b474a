// The IR: one node type for tensor IR and tile IR.
//
// A module holds functions; a function body, a kernel, a loop, a reduction's combiner are regions of one block.
// An op has operands (with use lists), results, attributes (which ones, the op table says), at most one region, and
// a source location that survives rewriting. What is legal where is a column of the op table (ir/ops.def), and so is
// everything passes need to know: traits, type rules, operand segments. Passes ask the table, never names.
//
// Ownership: everything lives in the module's arena; erasing an op unlinks it. Integer expressions (shapes, grids,
// predicates) live in expression pools: each function has one, and each `variant` has a copy with the same symbols
// in the same order but stronger facts. kc_op_pool() finds the one that governs an op.
//
// Text: kc_module_print writes, kc_module_parse reads; print(parse(x)) == x for canonical text. See docs/IR.md.
#ifndef KC_IR_IR_H
#define KC_IR_IR_H

#include "ir/arena.h"
#include "ir/diag.h"
#include "ir/dtype.h"
#include "ir/expr.h"
#include "ir/layout.h"

enum { KC_MAX_RANK = 8, KC_MAX_SEGMENTS = 6, KC_MAX_ATTRS = 14 };

// ---- types ---------------------------------------------------------------------------------------------------

typedef enum {
    KC_TYPE_NONE,
    KC_TYPE_TENSOR, // f16[M, K] or f16[M, K]@[ldw, 1]; symbolic; in a kernel's tile form: a buffer in global memory
    // All tiles of a kernel have one rank, that of its iteration space (parallel axes, then reduced ones); a tile that
    // does not vary along an axis has extent 1 there, and elementwise ops broadcast it. Scalars (rank 0) broadcast too.
    KC_TYPE_TILE,   // tile<64x32xf16> or tile<64x32xf16, #0>; rank 0 is a scalar and prints as `f16`
    KC_TYPE_SHARED, // shared<2x64x32xf16, #1>: a buffer in shared memory; stages first when there are several
    KC_TYPE_TOKEN,  // token: a group of copies on their way. token<64x32xf16, #0>: one copy that no group has yet
} kc_type_kind;

typedef struct {
    kc_type_kind kind;
    kc_dtype elem;
    int rank;
    const kc_expr *shape[KC_MAX_RANK];   // TENSOR
    const kc_expr *strides[KC_MAX_RANK]; // TENSOR, in elements; strides[0] NULL: contiguous row-major
    int64_t tile[KC_MAX_RANK];           // TILE, SHARED and TOKEN: extents. A tile's are powers of two times repetitions
    const kc_layout *layout;             // TILE, SHARED and TOKEN of a copy, after `layout`, else NULL
} kc_type;

// ---- nodes ---------------------------------------------------------------------------------------------------

typedef struct kc_op kc_op;
typedef struct kc_value kc_value;
typedef struct kc_block kc_block;
typedef struct kc_module kc_module;

typedef enum {
#define OP(id, ...) KC_OP_##id,
#include "ir/ops.def"
#undef OP
    KC_OP_COUNT
} kc_opcode;

typedef enum {
#define ATTR(id, ...) KC_ATTR_##id,
#include "ir/attrs.def"
#undef ATTR
    KC_ATTR_COUNT
} kc_attr_key;

typedef enum {
    KC_KIND_INT, KC_KIND_FLOAT, KC_KIND_STRING, KC_KIND_DTYPE, KC_KIND_EXPR,
    KC_KIND_INTS, KC_KIND_EXPRS, KC_KIND_FLOATS, KC_KIND_STRINGS,
} kc_attr_kind;

typedef struct {
    kc_attr_key key;
    int count; // of the lists
    union {
        int64_t integer;   // INT (also booleans)
        double number;     // FLOAT
        const char *string;
        kc_dtype dtype;
        const kc_expr *expr;
        const int64_t *integers;
        const kc_expr *const *exprs;
        const double *numbers;
        const char *const *strings;
    };
} kc_attr;

typedef struct kc_use {
    kc_value *value;
    kc_op *user;
    int index; // in user->operands
    struct kc_use *next, *previous;
} kc_use;

struct kc_value {
    kc_type type;
    const char *name; // without %, readable, not necessarily unique until printing; NULL: the printer numbers it
    kc_op *def;       // NULL for a block argument
    kc_block *block;  // the block whose argument it is, else NULL
    int index;        // among the results or the block's arguments
    kc_use *uses;
    void *data;       // scratch of the running pass
};

struct kc_block {
    kc_op *parent;
    kc_value **args;
    int n_args, args_capacity;
    kc_op *first, *last;
};

struct kc_op {
    kc_opcode code;
    kc_loc loc;
    kc_use *operands; // owns its entries
    int n_operands;
    int segments[KC_MAX_SEGMENTS]; // operands of each segment of the op's row
    kc_value **results;
    int n_results;
    kc_attr attrs[KC_MAX_ATTRS];
    int n_attrs;
    kc_block *body;       // the region, or NULL
    kc_expr_pool *pool;   // FUNC and VARIANT: the pool of the expressions inside; else NULL
    kc_block *block;      // where it stands
    kc_op *previous, *next;
    int order;            // position in its block, kept by kc_block_renumber
    void *data;           // scratch of the running pass
};

// The bytes of a constant, as device memory holds them; functions name it by its hash. Text has the hash alone.
typedef struct kc_constant {
    const char *sha256; // 64 lowercase hexadecimal digits
    const void *data;   // borrowed
    size_t size;
    struct kc_constant *next;
} kc_constant;

// A file, beside the model, that the module was made from.
typedef struct kc_file_name {
    const char *path;
    struct kc_file_name *next;
} kc_file_name;

struct kc_module {
    kc_arena *arena;
    const char *name;
    const char *target; // "cuda:sm_80,attribute=value" once a target is chosen, else NULL
    kc_block *body;     // FUNC ops
    struct kc_layout_entry *layouts; // what kc_module_layout has made
    kc_constant *constants; // each content once; empty when the module was read from text
    kc_file_name *files;    // in order of first use
};

// ---- the op table --------------------------------------------------------------------------------------------

// Levels at which an op is legal.
enum {
    KC_LEVEL_COMPOSITE = 1, // tensor IR as the frontend makes it
    KC_LEVEL_TENSOR = 2,    // tensor IR of primitives, after decompose
    KC_LEVEL_TILE = 4,      // tile IR before layouts
    KC_LEVEL_LAYOUT = 8,    // tile IR with layouts and explicit shared memory
    KC_LEVEL_ALL_TENSOR = 3, KC_LEVEL_ALL_TILE = 12, KC_LEVEL_ALL = 15,
};

// Traits.
enum {
    KC_PURE = 1,          // no effect: may be removed, duplicated, reordered
    KC_ELEMENTWISE = 2,   // result element depends on the same element of each operand alone
    KC_COMMUTATIVE = 4,
    KC_MOVEMENT = 8,      // moves elements, computes nothing (transpose, slice, ...)
    KC_REDUCTION = 16,    // combines elements along `axes`, which go unless it is a scan
    KC_CONTRACTION = 32,
    KC_TERMINATOR = 64,
    KC_CHEAP = 128,       // a few instructions an element: recomputing costs less than storing
    KC_READS_GLOBAL = 256, KC_WRITES_GLOBAL = 512, KC_READS_SHARED = 1024, KC_WRITES_SHARED = 2048,
    KC_BARRIER = 4096,
    KC_ISOLATED = 8192,   // its region sees only its own arguments
    KC_COLLECTIVE = 16384, // all threads of the block carry it out together
    KC_SCAN = 32768,      // a reduction that keeps its axis: every prefix
};

// How the result types follow from operands and attributes; one function per rule in ir/type_rules.c.
typedef enum {
    KC_RULE_SAME,     // all operands one dtype; result likewise
    KC_RULE_COMPARE,  // operands one dtype; result bool
    KC_RULE_SELECT,   // bool, T, T -> T
    KC_RULE_CAST,     // attribute dtype
    KC_RULE_GIVEN,    // stated by the builder; the verifier checks op-specific facts
    KC_RULE_NONE,     // no results
} kc_type_rule;

// Element types an elementwise op accepts.
typedef enum {
    KC_DOMAIN_ANY,     // every type
    KC_DOMAIN_REAL,    // f32 f64
    KC_DOMAIN_FLOAT,   // floats of every width
    KC_DOMAIN_NUMBER,  // f32 f64 and integers: arithmetic
    KC_DOMAIN_ORDERED, // floats of every width and integers, bool: min max abs compare
    KC_DOMAIN_SIGNED,  // the same but f8e8m0, which has no sign: neg
    KC_DOMAIN_INTEGER,
    KC_DOMAIN_BOOL,    // bool, and integers bitwise
    KC_DOMAIN_NONE,
} kc_domain;

typedef struct {
    const char *name;     // in text
    int levels;
    const char *operands; // segments: "a b", "inputs*", "buffer base* local* mask?"
    const char *attrs;    // "axis dtype?" names from attrs.def, ? optional
    kc_type_rule rule;
    kc_domain domain;
    int traits;
    const char *meaning;  // one line
} kc_op_info;

extern const kc_op_info kc_op_table[KC_OP_COUNT];
extern const struct kc_attr_info { const char *name; kc_attr_kind kind; const char *meaning; } kc_attr_table[KC_ATTR_COUNT];

static inline const kc_op_info *kc_op_row(const kc_op *op) { return &kc_op_table[op->code]; }
static inline bool kc_op_has(const kc_op *op, int traits) { return (kc_op_table[op->code].traits & traits) == traits; } // all of them
static inline bool kc_op_has_any(const kc_op *op, int traits) { return (kc_op_table[op->code].traits & traits) != 0; }
kc_opcode kc_opcode_find(const char *name); // KC_OP_COUNT when unknown
kc_attr_key kc_attr_find(const char *name); // KC_ATTR_COUNT when unknown

// The operand segments of a row, parsed.
typedef enum { KC_SEGMENT_ONE, KC_SEGMENT_ANY, KC_SEGMENT_OPTIONAL } kc_segment_mode;
typedef struct { const char *name; int length; kc_segment_mode mode; } kc_segment; // name is not terminated
int kc_op_segments(kc_opcode, kc_segment segments[KC_MAX_SEGMENTS]);
// 0: the row does not have the attribute, 1: it may, 2: it must. Rows list their attributes in order of printing.
int kc_op_attr_need(kc_opcode, kc_attr_key);
int kc_op_attr_keys(kc_opcode, kc_attr_key keys[KC_MAX_ATTRS]);

// ---- types: construction and questions -------------------------------------------------------------------------

kc_type kc_type_tensor(kc_dtype, int rank, const kc_expr *const *shape);
kc_type kc_type_import(kc_expr_pool *to, const kc_expr_pool *from, const kc_type *);
kc_type kc_type_tile(kc_dtype, int rank, const int64_t *extents);
kc_type kc_type_scalar(kc_dtype); // rank-0 tile
kc_type kc_type_shared(kc_dtype, int rank, const int64_t *extents);
kc_type kc_type_token(void);                       // of a group
kc_type kc_type_copy(const kc_type *tile);         // token of a copy of that tile, by the threads of its layout
bool kc_type_is_group(const kc_type *);            // the token of a group
bool kc_type_equal(kc_expr_pool *, const kc_type *, const kc_type *); // shapes proved equal; layouts identical
bool kc_type_same_shape(kc_expr_pool *, const kc_type *, const kc_type *);
int64_t kc_tile_elements(const kc_type *);
// Stride of dimension d in elements (contiguous if none given); TENSOR only.
const kc_expr *kc_type_stride(kc_expr_pool *, const kc_type *, int d);
// The last dimension whose stride is 1, of more than one element where there is such; -1: none. TENSOR only
int kc_type_unit_stride(kc_expr_pool *, const kc_type *);
const kc_expr *kc_type_elements(kc_expr_pool *, const kc_type *);
const kc_expr *kc_type_bytes(kc_expr_pool *, const kc_type *); // of a contiguous tensor
// Why a tensor in memory cannot have that type: 4-bit elements are packed along a last dimension, which is even and has
// stride 1; other strides are even. NULL: it can. Values inside a kernel have any shape.
const char *kc_type_packing(kc_expr_pool *, const kc_type *);

// ---- building and rewriting --------------------------------------------------------------------------------------

kc_module *kc_module_create(kc_arena *, const char *name);
const kc_layout *kc_module_layout(kc_module *, const kc_layout *);   // a copy in the module's arena; equal ones are one pointer
kc_expr_pool *kc_pool_create(kc_module *);                           // owned by the module's arena
kc_expr_pool *kc_pool_copy(kc_module *, const kc_expr_pool *);       // the same symbols in the same order, with their facts

// Ops are inserted before `before`, or at the end of `block` when it is NULL, with location `loc`.
typedef struct {
    kc_module *module;
    kc_block *block;
    kc_op *before;
    kc_loc loc;
} kc_builder;

kc_builder kc_builder_at_end(kc_module *, kc_block *, kc_loc);
kc_builder kc_builder_before(kc_module *, kc_op *); // takes that op's location

// Operands in segment order; for a row with more than one variadic or optional segment call kc_op_set_segments after.
// A VARIANT gets a copy of the pool around it; strengthen its facts before expressions are imported into it.
kc_op *kc_build(kc_builder *, kc_opcode, int n_operands, kc_value *const *operands, int n_results, const kc_type *types);
// One count for each name of the row: {1, 1, rank, rank, 1} for a store with a mask.
void kc_op_set_segments(kc_op *, const int *counts);
// Operand range of a segment by its index in the row.
kc_use *kc_op_segment(const kc_op *, int segment, int *count);
static inline kc_value *kc_operand(const kc_op *op, int i) { return op->operands[i].value; }
static inline kc_value *kc_result(const kc_op *op, int i) { return op->results[i]; }
kc_value *kc_build_1(kc_builder *, kc_opcode, kc_type, int n_operands, kc_value *const *operands); // one result
// Elementwise by the row's rule: operand types must agree already (dtype and shape; tile operands may be scalars
// or have extent 1 where the others are larger, and the result takes the larger extents).
kc_value *kc_build_elementwise(kc_builder *, kc_opcode, int n, kc_value *const *operands);
kc_value *kc_build_unary(kc_builder *, kc_opcode, kc_value *);
kc_value *kc_build_binary(kc_builder *, kc_opcode, kc_value *, kc_value *);
kc_value *kc_build_cast(kc_builder *, kc_value *, kc_dtype);              // no op when it has that type already
kc_value *kc_build_const(kc_builder *, kc_type, double);                  // floats, bool and small integers
kc_value *kc_build_const_int(kc_builder *, kc_type, int64_t);
// A CONST has attribute `value` when its type is a float, and `integer` when it is an integer or bool. These read either.
double kc_const_number(const kc_op *);
int64_t kc_const_int(const kc_op *);
kc_value *kc_build_sym(kc_builder *, kc_type scalar, const kc_expr *);

void kc_attr_set_int(kc_op *, kc_attr_key, int64_t);
void kc_attr_set_float(kc_op *, kc_attr_key, double);
void kc_attr_set_string(kc_module *, kc_op *, kc_attr_key, const char *);
void kc_attr_set_dtype(kc_op *, kc_attr_key, kc_dtype);
void kc_attr_set_expr(kc_op *, kc_attr_key, const kc_expr *);
void kc_attr_set_ints(kc_module *, kc_op *, kc_attr_key, int count, const int64_t *);
void kc_attr_set_exprs(kc_module *, kc_op *, kc_attr_key, int count, const kc_expr *const *);
void kc_attr_set_floats(kc_module *, kc_op *, kc_attr_key, int count, const double *);
void kc_attr_set_strings(kc_module *, kc_op *, kc_attr_key, int count, const char *const *);
void kc_attr_remove(kc_op *, kc_attr_key);
const kc_attr *kc_attr_get(const kc_op *, kc_attr_key);                     // NULL when absent
int64_t kc_attr_int(const kc_op *, kc_attr_key, int64_t otherwise);
double kc_attr_float(const kc_op *, kc_attr_key, double otherwise);
const char *kc_attr_string(const kc_op *, kc_attr_key, const char *otherwise);
const kc_expr *kc_attr_expr(const kc_op *, kc_attr_key);                    // NULL when absent

kc_block *kc_op_add_body(kc_module *, kc_op *);
kc_value *kc_block_add_arg(kc_module *, kc_block *, kc_type, const char *name);
void kc_block_drop_args(kc_block *); // nothing may use them
void kc_op_set_operand(kc_op *, int index, kc_value *);
void kc_op_add_operand(kc_module *, kc_op *, kc_value *); // at the end, growing the last segment
void kc_value_replace(kc_value *old, kc_value *by);        // every use
bool kc_value_unused(const kc_value *);
bool kc_op_unused(const kc_op *); // none of its results is used
void kc_op_erase(kc_op *);                                 // results must be unused; its region goes with it
// `by` takes the place of op's one result, and its name when it has none; op is erased.
void kc_op_replace(kc_op *, kc_value *by);
void kc_op_move_before(kc_op *, kc_op *before);
void kc_block_renumber(kc_block *);

// A deep copy at the builder's place. map, keyed by value->data, is done inside: operands defined outside the copied
// op stay as they are unless they were mapped with kc_clone_map. Expressions are imported when the pool differs.
typedef struct kc_clone kc_clone;
kc_clone *kc_clone_begin(kc_module *, const kc_expr_pool *from, kc_expr_pool *to);
void kc_clone_map(kc_clone *, kc_value *from, kc_value *to);
kc_value *kc_clone_value(kc_clone *, kc_value *);          // what it was mapped to, else itself
kc_op *kc_clone_op(kc_clone *, kc_builder *, kc_op *);
void kc_clone_block_into(kc_clone *, kc_builder *, kc_block *from); // its ops, not its arguments
kc_module *kc_module_clone(kc_arena *, const kc_module *);  // the whole module into another arena
void kc_clone_end(kc_clone *);

// ---- functions ---------------------------------------------------------------------------------------------------

// FUNC: body arguments are the inputs, in order, with names; behind them stand its constants, which no caller passes. Outputs
// are described by attributes and the RETURN op.
// An output that is an alias of the input of its own name is an *inout*: one tensor, whose old contents are the input and
// whose new ones are the output, always in the same memory. Inouts are the last inputs and the first outputs, in one order.
typedef struct {
    const char *name;
    kc_type type;        // with strides where the model gives them
    const char *alias;   // input it may overlap, or NULL
    kc_loc loc;
} kc_output;

// What a caller passes, in order: inputs, inouts, outputs.
typedef enum { KC_INPUT, KC_INOUT, KC_OUTPUT } kc_direction;
typedef struct {
    kc_direction direction;
    const char *name;
    const kc_type *type;
    const char *alias; // of an OUTPUT, or NULL
} kc_func_arg;

kc_op *kc_func_create(kc_module *, const char *name, kc_loc); // with an empty body and a fresh pool
kc_op *kc_func_find(const kc_module *, const char *name);
const char *kc_func_name(const kc_op *func);
void kc_func_add_output(kc_module *, kc_op *func, const kc_output *);
int kc_func_outputs(const kc_op *func, const kc_output **); // borrowed array
// A constant: a tensor of fixed shape, contiguous, rank 1 or more. After all inputs.
kc_value *kc_func_add_constant(kc_module *, kc_op *func, kc_type, const char *name, const char *sha256);
int kc_func_constants(const kc_op *func);
const char *kc_constant_hash(const kc_value *); // of an argument of a function that is a constant; else NULL
void kc_module_add_constant(kc_module *, const kc_constant *);           // where its content is not there yet
const kc_constant *kc_module_find_constant(const kc_module *, const char *sha256); // NULL: it is not there
bool kc_output_is_inout(const kc_output *);
// Whether a variant is in tensor form: its body computes the function. Else its body is the steps that `plan` made of it.
bool kc_variant_computes(const kc_op *variant);
// Whether its region sees only its own arguments: that of a variant in tensor form does.
bool kc_op_is_isolated(const kc_op *);
int kc_func_inouts(const kc_op *func);
int kc_func_arg_count(const kc_op *func);
kc_func_arg kc_func_arg_at(const kc_op *func, int i);
void kc_func_set_doc(kc_module *, kc_op *func, const char *);
const char *kc_func_doc(const kc_op *func);
kc_expr_pool *kc_op_pool(const kc_op *); // nearest FUNC or VARIANT, itself included; NULL outside functions
// The pool that an attribute's expressions belong to: that of kc_op_pool(op), but `when` of a variant speaks of the facts
// around it (inside, it is true).
kc_expr_pool *kc_attr_pool(const kc_op *, kc_attr_key);
kc_op *kc_op_parent(const kc_op *);      // the op whose region holds it, or NULL
kc_op *kc_op_ancestor(const kc_op *, kc_opcode);

// ---- text and checking ---------------------------------------------------------------------------------------------

void kc_module_print(const kc_module *, FILE *);
char *kc_module_to_text(const kc_module *, size_t *size); // malloc'd
// NULL after errors, which are in the sink. Never crashes on any bytes; nesting and sizes are limited.
kc_module *kc_module_parse(kc_arena *, const char *text, size_t size, kc_diag *);
// Structure, dominance, op table (levels, operands, attributes, type rules), op-specific facts. Reports every violation.
bool kc_module_verify(const kc_module *, int level, kc_diag *);

#define KC_FOR_OPS(op, block_) for (kc_op *op = (block_)->first, *op##_next = op ? op->next : NULL; op; op = op##_next, op##_next = op ? op->next : NULL)

#endif
