// The table of ops and how a call's arguments are matched with a row's parameters.
#include "compiler/frontend/body_ops.h"

#include <string.h>

const kc_body_op kc_body_op_table[] = {
#define OP(CODE, NAME, EMITTER, VALUES, SIGNATURE, REFUSES, TYPES, EXTENTS, MEANING, BOUND)        \
    {NAME, KC_OP_##CODE, kc_call_##EMITTER, VALUES, SIGNATURE, REFUSES},
#include "compiler/frontend/body_ops.def"
};

const int kc_body_op_count = sizeof kc_body_op_table / sizeof *kc_body_op_table;

static const char *const not_built[] = {"attention"};

// Names that other array languages use for ops of ours.
static const char *const foreign[][2] = {{"dot", "matmul"},
                                         {"einsum", "matmul"},
                                         {"conv", "conv2d"},
                                         {"convolution", "conv2d"},
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

// Keywords of other array languages and what ops of ours call these.
static const char *const foreign_keywords[][2] = {
    {"dim", "axis"},     {"axes", "axis"},        {"dim", "perm"},    {"axes", "perm"},
    {"dims", "perm"},    {"dim", "axes"},         {"dims", "shape"},  {"size", "shape"},
    {"sizes", "shape"},  {"keepdim", "keepdims"}, {"epsilon", "eps"}, {"weight", "scale"},
    {"gamma", "scale"},  {"beta", "bias"},        {"min", "lo"},      {"max", "hi"},
    {"fill", "value"},   {"type", "dtype"},       {"to", "dtype"},    {"exponent", "y"},
    {"condition", "c"},  {"other", "b"},          {"input", "x"},     {"index", "indices"},
    {"pads", "amounts"}, {"padding", "amounts"}};

static int count_positional(const kc_ast *ast) {
    int n = 0;
    while (n < ast->count && !ast->args[n].keyword)
        n++;
    return n;
}

// Of the rows of one name, that with most operands among those that fit: max(x) reduces, max(a, b)
// compares.
static const kc_body_op *find_op(const kc_ast *ast) {
    const kc_body_op *best = NULL;
    int n = count_positional(ast);
    for (int i = 0; i < kc_body_op_count; i++) {
        const kc_body_op *op = &kc_body_op_table[i];
        if (strcmp(op->name, ast->text) != 0) continue;
        bool more = best && op->n_values > best->n_values;
        if (!best || (more ? op->n_values <= n : best->n_values > n)) best = op;
    }
    return best;
}

const char *kc_body_op_signature(const char *name) {
    for (int i = 0; i < kc_body_op_count; i++)
        if (!strcmp(kc_body_op_table[i].name, name)) return kc_body_op_table[i].signature;
    return NULL;
}

static void unknown_op(kc_function *fn, const kc_ast *ast) {
    size_t length = strlen(ast->text);
    if (kc_map_get_text(fn->names, ast->text, length) ||
        kc_map_get_text(fn->dim_map, ast->text, length)) {
        KC_FN_ERROR(
            fn, ast->loc,
            "'%s' is a value, not an op: products are written with '*', parts are taken with "
            "slice",
            ast->text);
        return;
    }
    if (kc_dtype_find(ast->text, length) != KC_DTYPE_NONE) {
        KC_FN_ERROR(fn, ast->loc, "'%s' is an element type, not an op: write cast(x, \"%s\")",
                    ast->text, ast->text);
        return;
    }
    for (size_t i = 0; i < sizeof not_built / sizeof *not_built; i++)
        if (!strcmp(not_built[i], ast->text)) {
            KC_FN_ERROR(fn, ast->loc, "op '%s' is not built yet", ast->text);
            return;
        }
    kc_suggest suggest;
    kc_suggest_start(&suggest, ast->text);
    for (int i = 0; i < kc_body_op_count; i++)
        kc_suggest_offer(&suggest, kc_body_op_table[i].name);
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

// Ends with how the op is called; ops that share a name are all shown.
static bool signature_error(kc_call *call, kc_loc loc, const char *text) {
    const char *signatures = "";
    for (int i = 0; i < kc_body_op_count; i++) {
        const kc_body_op *op = &kc_body_op_table[i];
        if (strcmp(op->name, call->op->name) != 0) continue;
        signatures = kc_arena_printf(call->fn->arena, "%s%s%s(%s)", signatures,
                                     *signatures ? " or " : "", op->name, op->signature);
    }
    KC_CALL_ERROR(call, loc, "%s: %s", text, signatures);
    return false;
}

// Extents and bounds that were written without brackets are the usual reason for too many
// arguments.
static bool too_many(kc_call *call, const kc_ast_arg *arg) {
    static const char *const lists = " tensors perm shape starts ends amounts ";
    kc_arena *arena = call->fn->arena;
    for (int i = 0; i < call->n; i++) {
        const char *name = kc_arena_printf(arena, " %s ", call->names[i]);
        if (!call->given[i] || call->given[i]->kind == KC_AST_LIST || !strstr(lists, name))
            continue;
        return signature_error(call, arg->loc,
                               kc_arena_printf(arena,
                                               "too many arguments: '%s' is a list, which "
                                               "stands in brackets",
                                               call->names[i]));
    }
    return signature_error(call, arg->loc,
                           kc_arena_printf(arena,
                                           "too many arguments, %d seen, at most %d expected",
                                           call->ast->count, call->n));
}

static bool bind_one(kc_call *call, const kc_ast_arg *arg, int position) {
    kc_arena *arena = call->fn->arena;
    if (!arg->keyword && (position >= call->n || call->keyword_only[position])) {
        if (position < call->n)
            return signature_error(call, arg->loc,
                                   kc_arena_printf(arena,
                                                   "'%s' is passed by keyword, such as %s=...",
                                                   call->names[position], call->names[position]));
        return too_many(call, arg);
    }
    int i = arg->keyword ? find_parameter(call, arg->keyword) : position;
    if (i < 0) {
        kc_suggest suggest;
        kc_suggest_start(&suggest, arg->keyword);
        for (int j = 0; j < call->n; j++)
            kc_suggest_offer(&suggest, call->names[j]);
        for (size_t j = 0; j < sizeof foreign_keywords / sizeof *foreign_keywords; j++)
            if (!suggest.best && !strcmp(foreign_keywords[j][0], arg->keyword) &&
                find_parameter(call, foreign_keywords[j][1]) >= 0)
                suggest.best = foreign_keywords[j][1];
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
        call.values[i] = kc_call_value(&call, i, call.given[i]);
    if (kc_term_any_poison(call.op->n_values, call.values)) return kc_term_poison(ast->loc);
    fn->builder.loc = ast->loc;
    return call.op->emit(&call);
}
