// The table of ops and how a call's arguments are matched with a row's parameters.
#include "compiler/frontend/body_ops.h"

#include <string.h>

// clang-format off
static const kc_body_op ops[] = {
    {"abs", KC_OP_ABS, kc_call_unary, 1, "x"},
    {"neg", KC_OP_NEG, kc_call_unary, 1, "x"},
    {"sqrt", KC_OP_SQRT, kc_call_unary, 1, "x"},
    {"rsqrt", KC_OP_RSQRT, kc_call_unary, 1, "x"},
    {"exp", KC_OP_EXP, kc_call_unary, 1, "x"},
    {"exp2", KC_OP_EXP2, kc_call_unary, 1, "x"},
    {"log", KC_OP_LOG, kc_call_unary, 1, "x"},
    {"log2", KC_OP_LOG2, kc_call_unary, 1, "x"},
    {"sin", KC_OP_SIN, kc_call_unary, 1, "x"},
    {"cos", KC_OP_COS, kc_call_unary, 1, "x"},
    {"tanh", KC_OP_TANH, kc_call_unary, 1, "x"},
    {"erf", KC_OP_ERF, kc_call_unary, 1, "x"},
    {"floor", KC_OP_FLOOR, kc_call_unary, 1, "x"},
    {"ceil", KC_OP_CEIL, kc_call_unary, 1, "x"},
    {"round", KC_OP_ROUND, kc_call_unary, 1, "x"},
    {"sigmoid", KC_OP_SIGMOID, kc_call_unary, 1, "x"},
    {"relu", KC_OP_RELU, kc_call_unary, 1, "x"},
    {"gelu", KC_OP_GELU, kc_call_unary, 1, "x"},
    {"gelu_tanh", KC_OP_GELU_TANH, kc_call_unary, 1, "x"},
    {"silu", KC_OP_SILU, kc_call_unary, 1, "x"},
    {"pow", KC_OP_POW, kc_call_binary, 2, "x, y"},
    {"clamp", KC_OP_CLAMP, kc_call_clamp, 3, "x, lo, hi"},
    {"where", KC_OP_SELECT, kc_call_where, 3, "c, a, b"},
    {"cast", KC_OP_CAST, kc_call_cast, 1, "x, dtype"},
    // One operand is a reduction, two are elementwise: the reduction stands first, see find_op.
    {"min", KC_OP_AMIN, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"min", KC_OP_MIN, kc_call_binary, 2, "a, b"},
    {"max", KC_OP_AMAX, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"max", KC_OP_MAX, kc_call_binary, 2, "a, b"},
    {"sum", KC_OP_SUM, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"mean", KC_OP_MEAN, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"prod", KC_OP_PROD, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"argmax", KC_OP_ARGMAX, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"argmin", KC_OP_ARGMIN, kc_call_reduce, 1, "x, *, axis=, keepdims=false"},
    {"matmul", KC_OP_MATMUL, kc_call_matmul, 2, "a, b, transpose_a=false, transpose_b=false, precision=\"ieee\""},
    {"transpose", KC_OP_TRANSPOSE, kc_call_transpose, 1, "x, perm"},
    {"reshape", KC_OP_RESHAPE, kc_call_reshape, 1, "x, shape"},
    {"broadcast", KC_OP_BROADCAST, kc_call_broadcast, 1, "x, shape"},
    {"slice", KC_OP_SLICE, kc_call_slice, 1, "x, starts, ends, axes=, steps="},
    {"concat", KC_OP_CONCAT, kc_call_concat, 0, "tensors, axis"},
    {"pad", KC_OP_PAD, kc_call_pad, 1, "x, amounts, value=0"},
    {"gather", KC_OP_GATHER, kc_call_gather, 2, "x, indices, axis=0"},
    {"iota", KC_OP_IOTA, kc_call_iota, 0, "shape, axis=0, dtype=\"i64\""},
    {"softmax", KC_OP_SOFTMAX, kc_call_softmax, 1, "x, axis=-1"},
    {"log_softmax", KC_OP_LOG_SOFTMAX, kc_call_softmax, 1, "x, axis=-1"},
    {"layernorm", KC_OP_LAYERNORM, kc_call_norm, 3, "x, scale, bias, axis=-1, eps=1e-5"},
    {"rmsnorm", KC_OP_RMSNORM, kc_call_norm, 2, "x, scale, axis=-1, eps=1e-6"},
};
// clang-format on

enum { N_OPS = sizeof ops / sizeof *ops };

static const char *const not_built[] = {"cumsum",    "conv2d",   "rope",
                                        "attention", "quantize", "dequantize"};

// Names that other array languages use for ops of ours.
static const char *const foreign[][2] = {{"dot", "matmul"},
                                         {"einsum", "matmul"},
                                         {"concatenate", "concat"},
                                         {"cat", "concat"},
                                         {"permute", "transpose"},
                                         {"expand", "broadcast"},
                                         {"broadcast_to", "broadcast"},
                                         {"arange", "iota"},
                                         {"astype", "cast"},
                                         {"select", "where"},
                                         {"clip", "clamp"},
                                         {"maximum", "max"},
                                         {"minimum", "min"},
                                         {"take", "gather"},
                                         {"view", "reshape"},
                                         {"power", "pow"},
                                         {"full", "broadcast"},
                                         {"layer_norm", "layernorm"},
                                         {"rms_norm", "rmsnorm"},
                                         {"swish", "silu"}};

static int count_positional(const kc_ast *ast) {
    int n = 0;
    for (int i = 0; i < ast->count; i++)
        n += !ast->args[i].keyword;
    return n;
}

static const kc_body_op *find_op(const kc_ast *ast) {
    for (int i = 0; i < N_OPS; i++) {
        if (strcmp(ops[i].name, ast->text) != 0) continue;
        bool second =
            i + 1 < N_OPS && !strcmp(ops[i + 1].name, ast->text) && count_positional(ast) >= 2;
        return &ops[i + second];
    }
    return NULL;
}

static void unknown_op(kc_function *fn, const kc_ast *ast) {
    for (size_t i = 0; i < sizeof not_built / sizeof *not_built; i++)
        if (!strcmp(not_built[i], ast->text)) {
            KC_FN_ERROR(fn, ast->loc, "op '%s' is not built yet", ast->text);
            return;
        }
    kc_suggest suggest;
    kc_suggest_start(&suggest, ast->text);
    for (int i = 0; i < N_OPS; i++)
        kc_suggest_offer(&suggest, ops[i].name);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!strcmp(foreign[i][0], ast->text)) suggest.best = foreign[i][1];
    KC_FN_ERROR(fn, ast->loc, "there is no op '%s'%s", ast->text,
                kc_suggest_text(&suggest, fn->arena));
}

// ---- parameters

static void read_signature(kc_call *call) {
    char *text = kc_arena_strdup(call->fn->arena, call->op->signature), *state = NULL;
    bool keyword_only = false;
    for (char *one = strtok_r(text, ", ", &state); one; one = strtok_r(NULL, ", ", &state)) {
        if (!strcmp(one, "*")) {
            keyword_only = true;
            continue;
        }
        char *equals = strchr(one, '=');
        if (equals) *equals = 0;
        call->names[call->n] = one;
        call->optional[call->n] = equals != NULL;
        call->keyword_only[call->n++] = keyword_only;
    }
}

static int find_parameter(const kc_call *call, const char *keyword) {
    for (int i = 0; i < call->n; i++)
        if (!strcmp(call->names[i], keyword)) return i;
    return -1;
}

static bool signature_error(kc_call *call, kc_loc loc, const char *text) {
    KC_CALL_ERROR(call, loc, "%s: %s(%s)", text, call->op->name, call->op->signature);
    return false;
}

static bool bind_one(kc_call *call, const kc_ast_arg *arg, int position) {
    kc_arena *arena = call->fn->arena;
    if (!arg->keyword && (position >= call->n || call->keyword_only[position])) {
        if (position < call->n)
            return signature_error(call, arg->loc,
                                   kc_arena_printf(arena,
                                                   "'%s' is passed by keyword, such as %s=...",
                                                   call->names[position], call->names[position]));
        return signature_error(call, arg->loc,
                               kc_arena_printf(arena, "too many arguments, expected %d", call->n));
    }
    int i = arg->keyword ? find_parameter(call, arg->keyword) : position;
    if (i < 0) {
        kc_suggest suggest;
        kc_suggest_start(&suggest, arg->keyword);
        for (int j = 0; j < call->n; j++)
            kc_suggest_offer(&suggest, call->names[j]);
        return signature_error(call, arg->loc,
                               kc_arena_printf(arena, "there is no parameter '%s'%s", arg->keyword,
                                               kc_suggest_text(&suggest, arena)));
    }
    if (call->given[i])
        return signature_error(call, arg->loc,
                               kc_arena_printf(arena, "'%s' is given twice", call->names[i]));
    call->given[i] = arg->value;
    return true;
}

static bool bind(kc_call *call) {
    int position = 0;
    bool good = true, keyword_seen = false;
    for (int i = 0; i < call->ast->count; i++) {
        const kc_ast_arg *arg = &call->ast->args[i];
        if (!arg->keyword && keyword_seen)
            return signature_error(call, arg->loc,
                                   "an argument without keyword follows one with keyword");
        keyword_seen = keyword_seen || arg->keyword;
        good = bind_one(call, arg, arg->keyword ? 0 : position++) && good;
    }
    for (int i = 0; good && i < call->n; i++)
        if (!call->given[i] && !call->optional[i])
            good = signature_error(
                call, call->loc,
                kc_arena_printf(call->fn->arena, "'%s' is missing", call->names[i]));
    return good;
}

// After a bad call, its arguments are still read: for their own errors, and so that names count as
// used.
static kc_term give_up(kc_call *call) {
    for (int i = 0; i < call->ast->count; i++) {
        const kc_ast *value = call->ast->args[i].value;
        if (value->kind != KC_AST_LIST && value->kind != KC_AST_STRING &&
            !call->ast->args[i].keyword)
            kc_body_eval(call->fn, value);
    }
    return kc_term_poison(call->loc);
}

kc_term kc_body_call(kc_function *fn, const kc_ast *ast) {
    kc_call call = {.fn = fn, .ast = ast, .op = find_op(ast), .loc = ast->loc};
    if (!call.op) {
        unknown_op(fn, ast);
        return give_up(&call);
    }
    read_signature(&call);
    if (!bind(&call)) return give_up(&call);
    for (int i = 0; i < call.op->n_values; i++)
        call.values[i] = kc_body_eval(fn, call.given[i]);
    if (kc_term_any_poison(call.op->n_values, call.values)) return kc_term_poison(ast->loc);
    fn->builder.loc = ast->loc;
    return call.op->emit(&call);
}
