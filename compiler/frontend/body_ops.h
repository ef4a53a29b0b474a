// Calls of ops: signatures, arguments by position and keyword, and typed access to them.
#ifndef KC_COMPILER_FRONTEND_BODY_OPS_H
#define KC_COMPILER_FRONTEND_BODY_OPS_H

#include "compiler/frontend/body_types.h"

enum { KC_MAX_PARAMETERS = 6 };

typedef struct kc_call kc_call;

// Mistakes that an op finds in values of its own.
enum { KC_REFUSES_TYPE = 1, KC_REFUSES_RANK = 2, KC_REFUSES_SHAPE = 4 };

// One row of body_ops.def, which says what the columns mean. What only the reference tells is not
// here.
typedef struct {
    const char *name;
    kc_opcode code;
    kc_term (*emit)(kc_call *); // called when no value argument is poison
    int n_values;
    const char *signature;
    int refuses;
} kc_body_op;

extern const kc_body_op kc_body_op_table[];
extern const int kc_body_op_count;

struct kc_call {
    kc_function *fn;
    const kc_ast *ast;
    const kc_body_op *op;
    kc_loc loc;
    int n;
    const char *names[KC_MAX_PARAMETERS];
    bool optional[KC_MAX_PARAMETERS], keyword_only[KC_MAX_PARAMETERS];
    const kc_ast *given[KC_MAX_PARAMETERS]; // NULL: left out
    kc_term values[KC_MAX_PARAMETERS];      // of the first n_values
};

#define KC_CALL_ERROR(call, loc_, ...) kc_report((call)->fn->diag, KC_ERROR, (loc_), __VA_ARGS__)

// The form of every message about one argument: "'axis' of sum must be EXPECTED, not SEEN: HINT"
// ("" for no hint). `seen` is what kc_call_seen says of the argument, or of a part of it.
void kc_call_refuse(kc_call *, int i, const char *expected, const char *seen, const char *hint);
void kc_call_refuse_at(kc_call *, int i, kc_loc, const char *expected, const char *seen,
                       const char *hint);
const char *kc_call_seen(kc_call *, const kc_ast *);
// The value of an expression that stands where argument i wants one: lists and strings are refused.
kc_term kc_call_value(kc_call *, int i, const kc_ast *);

// Access to argument i. Each reports what is wrong and returns false or NULL; an argument left out
// gives the default.
kc_loc kc_call_loc(const kc_call *, int i);  // of the argument, else of the call
kc_value *kc_call_tensor(kc_call *, int i);  // a value with a type: literals are refused
kc_value *kc_call_ranked(kc_call *, int i);  // the same, of rank 1 or more
bool kc_call_bool(kc_call *, int i, bool *); // default false
bool kc_call_number(kc_call *, int i, double otherwise, double *);
const char *kc_call_string(kc_call *, int i, const char *otherwise);
bool kc_call_int(kc_call *, const kc_ast *, const char *what, int64_t *); // a constant
// A dimension of `type`: an integer (negative: from the end) or a dimension's name.
bool kc_call_axis(kc_call *, const kc_ast *, const kc_type *type, int *axis);
bool kc_call_axis_or(kc_call *, int i, const kc_type *type, int otherwise, int *axis);
const kc_ast *kc_call_list(kc_call *, int i, const char *what,
                           int max); // NULL: not a list, or too long
bool kc_call_dims(kc_call *, int i, const char *what, int *n, const kc_expr *dims[KC_MAX_RANK]);

// Of contractions (body_contract.c): is the type of operand i one that is multiplied; have the two
// operands one type; what products are summed in.
bool kc_contract_operand(kc_call *, int i, const kc_value *);
bool kc_contract_same_type(kc_call *, const kc_value *, const kc_value *);
kc_dtype kc_contract_result(kc_dtype);

// Emitters.
kc_term kc_call_unary(kc_call *);
kc_term kc_call_binary(kc_call *);
kc_term kc_call_clamp(kc_call *);
kc_term kc_call_where(kc_call *);
kc_term kc_call_cast(kc_call *);
kc_term kc_call_reduce(kc_call *); // body_reduce.c
kc_term kc_call_cumsum(kc_call *); // body_scan.c
kc_term kc_call_softmax(kc_call *);
kc_term kc_call_norm(kc_call *);
kc_term kc_call_matmul(kc_call *);    // body_contract.c
kc_term kc_call_conv2d(kc_call *);    // body_conv.c
kc_term kc_call_transpose(kc_call *); // body_movement.c
kc_term kc_call_reshape(kc_call *);
kc_term kc_call_broadcast(kc_call *);
kc_term kc_call_concat(kc_call *);
kc_term kc_call_pad(kc_call *);
kc_term kc_call_gather(kc_call *);
kc_term kc_call_iota(kc_call *);
kc_term kc_call_slice(kc_call *); // body_slice.c
kc_term kc_call_rope(kc_call *);  // body_scale.c
kc_term kc_call_quantize(kc_call *);
kc_term kc_call_dequantize(kc_call *);

#endif
