// Callers have pointers and sizes; kcrt_launch wants tensors. The generated functions build them on
// the stack. Shapes are computed as the model says; the launch checks everything, so nothing is
// checked twice here.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/frontend/binding.h"
#include "compiler/package/embed.h"

typedef struct {
    FILE *out;
    kc_arena *arena;
    const kc_op *func;
    const kc_expr_pool *pool;
    int n_args, n_symbols;
    kc_bound *bound;
    const char **args;    // names of parameters
    const char **symbols; // likewise; NULL: not one of the model's
} writer;

// ---- names --------------------------------------------------------------------------------------

static const char reserved[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t class compl const "
    "const_cast constexpr continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false "
    "float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private "
    "protected public register reinterpret_cast restrict return short signed sizeof static "
    "static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename typeof union "
    "unsigned using virtual void "
    "volatile wchar_t while xor xor_eq NULL f s linux unix errno "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ";

static bool is_taken(const writer *w, const char *name, int n_args, int n_symbols) {
    size_t n = strlen(name);
    for (const char *at = reserved; (at = strstr(at, name)); at++)
        if (at > reserved && at[-1] == ' ' && at[n] == ' ') return true;
    bool system = name[0] == '_' || !strncmp(name, "kc", 2) || !strncmp(name, "KC", 2) ||
                  !strncmp(name, "DL", 2) || !strncmp(name, "INT", 3) || !strncmp(name, "UINT", 4);
    if (system) return true;
    for (int i = 0; i < n_args; i++)
        if (!strcmp(w->args[i], name)) return true;
    for (int i = 0; i < n_symbols; i++)
        if (w->symbols[i] && !strcmp(w->symbols[i], name)) return true;
    return false;
}

// A parameter name as near to the model's as C and C++ allow.
static const char *free_name(const writer *w, const char *name, int n_args, int n_symbols) {
    if (name[0] == '_' || !strncmp(name, "kc", 2) || !strncmp(name, "KC", 2) ||
        !strncmp(name, "DL", 2) || !strncmp(name, "INT", 3) || !strncmp(name, "UINT", 4))
        name = kc_arena_printf(w->arena, "a%s", name);
    while (is_taken(w, name, n_args, n_symbols))
        name = kc_arena_printf(w->arena, "%s_", name);
    return name;
}

static const kc_type *arg_type(const writer *w, int i) {
    return kc_func_arg_at(w->func, i).type;
}

static bool is_scalar(const writer *w, int i) {
    return kc_func_arg_at(w->func, i).direction == KC_INPUT && arg_type(w, i)->rank == 0;
}

static void choose_names(writer *w) {
    w->args = KC_NEW_ARRAY(w->arena, const char *, w->n_args + 1);
    w->symbols = KC_NEW_ARRAY(w->arena, const char *, w->n_symbols + 1);
    for (int i = 0; i < w->n_args; i++)
        w->args[i] = free_name(w, kc_func_arg_at(w->func, i).name, i, 0);
    for (int i = 0; i < w->n_symbols; i++) {
        const char *name = kc_expr_symbol_name(w->pool, i);
        if (!strchr(name, '.')) w->symbols[i] = free_name(w, name, w->n_args, i);
    }
}

// ---- expressions --------------------------------------------------------------------------------

static void write_expr(const writer *w, const kc_expr *e);

static void write_call(const writer *w, const char *name, const kc_expr *e) {
    fprintf(w->out, "%s(", name);
    write_expr(w, e->a);
    fputs(", ", w->out);
    write_expr(w, e->b);
    fputc(')', w->out);
}

static void write_infix(const writer *w, const char *sign, const kc_expr *e) {
    fputs("(int64_t)(", w->out);
    write_expr(w, e->a);
    fprintf(w->out, " %s ", sign);
    write_expr(w, e->b);
    fputc(')', w->out);
}

static void write_expr(const writer *w, const kc_expr *e) {
    switch (e->kind) {
    case KC_EXPR_CONST:
        if (e->value == INT64_MIN) fputs("INT64_MIN", w->out);
        else
            fprintf(w->out, e->value < 0 ? "-INT64_C(%" PRId64 ")" : "INT64_C(%" PRId64 ")",
                    e->value < 0 ? -e->value : e->value);
        break;
    case KC_EXPR_SYMBOL: fputs(w->symbols[e->symbol], w->out); break;
    case KC_EXPR_ADD: write_call(w, "kc_int_add", e); break;
    case KC_EXPR_SUB: write_call(w, "kc_int_sub", e); break;
    case KC_EXPR_MUL: write_call(w, "kc_int_mul", e); break;
    case KC_EXPR_FLOORDIV:
    case KC_EXPR_DIV: write_call(w, "kc_int_floordiv", e); break;
    case KC_EXPR_MOD: write_call(w, "kc_int_mod", e); break;
    case KC_EXPR_CDIV: write_call(w, "kc_int_cdiv", e); break;
    case KC_EXPR_MIN: write_call(w, "kc_int_min", e); break;
    case KC_EXPR_MAX: write_call(w, "kc_int_max", e); break;
    case KC_EXPR_EQ: write_infix(w, "==", e); break;
    case KC_EXPR_NE: write_infix(w, "!=", e); break;
    case KC_EXPR_LT: write_infix(w, "<", e); break;
    case KC_EXPR_LE: write_infix(w, "<=", e); break;
    case KC_EXPR_GT: write_infix(w, ">", e); break;
    case KC_EXPR_GE: write_infix(w, ">=", e); break;
    case KC_EXPR_AND: write_infix(w, "&&", e); break;
    case KC_EXPR_OR: write_infix(w, "||", e); break;
    case KC_EXPR_NOT:
        fputs("(int64_t)!(", w->out);
        write_expr(w, e->a);
        fputc(')', w->out);
        break;
    }
}

// Sums that leave 64 bits wrap instead of being undefined; the launch then refuses the shape or the
// size.
static const char helpers[] =
    "#ifndef KC_INT_HELPERS\n"
    "#define KC_INT_HELPERS\n"
    "static inline int64_t kc_int_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + "
    "(uint64_t)b); }\n"
    "static inline int64_t kc_int_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - "
    "(uint64_t)b); }\n"
    "static inline int64_t kc_int_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * "
    "(uint64_t)b); }\n"
    "static inline int64_t kc_int_floordiv(int64_t a, int64_t b) {\n"
    "    if (b == 0) return 0;\n"
    "    if (b == -1) return kc_int_sub(0, a);\n"
    "    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n"
    "}\n"
    "static inline int64_t kc_int_mod(int64_t a, int64_t b) { return kc_int_sub(a, "
    "kc_int_mul(kc_int_floordiv(a, b), b)); }\n"
    "static inline int64_t kc_int_cdiv(int64_t a, int64_t b) { return kc_int_sub(0, "
    "kc_int_floordiv(kc_int_sub(0, a), b)); }\n"
    "static inline int64_t kc_int_min(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "static inline int64_t kc_int_max(int64_t a, int64_t b) { return a > b ? a : b; }\n"
    "#endif\n\n";

// ---- functions ----------------------------------------------------------------------------------

static const char *c_type(kc_dtype type) {
    switch (type) {
    case KC_f64: return "double";
    case KC_f32: return "float";
    case KC_f16:
    case KC_bf16: return "uint16_t";
    case KC_i64: return "int64_t";
    case KC_i32: return "int32_t";
    case KC_i16: return "int16_t";
    case KC_i8: return "int8_t";
    case KC_bool: return "bool";
    default: return "uint8_t";
    }
}

static void print_model_expr(const writer *w, const kc_expr *e) {
    char text[512];
    kc_expr_print(w->pool, e, text, sizeof text);
    fputs(text, w->out);
}

static void write_comment_argument(const writer *w, int i) {
    const kc_type *type = arg_type(w, i);
    fprintf(w->out, " *   %s: %s", w->args[i], kc_dtype_name(type->elem));
    if (type->rank) fputc('[', w->out);
    for (int d = 0; d < type->rank; d++) {
        if (d) fputs(", ", w->out);
        print_model_expr(w, type->shape[d]);
    }
    if (type->rank) fputc(']', w->out);
    bool bits = is_scalar(w, i) && kc_dtype_is_float(type->elem) && kc_dtype_bits(type->elem) < 32;
    static const char *const notes[] = {"", ", updated in place", ", written"};
    fprintf(w->out, "%s%s\n", notes[kc_func_arg_at(w->func, i).direction],
            bits ? ", as its bits" : "");
}

// Text of the model inside a comment: it must not end it.
static void write_doc(FILE *out, const char *doc) {
    for (const char *at = doc; *at; at++) {
        if (at[0] == '*' && at[1] == '/') fputs("* ", out);
        else if (*at == '\n' && at[1]) fputs("\n * ", out);
        else if (*at != '\n' && !(at[0] == '/' && at[1] == '*')) fputc(*at, out);
    }
}

static void write_comment(const writer *w) {
    fputs("/* ", w->out);
    write_doc(w->out, kc_func_doc(w->func) ? kc_func_doc(w->func) : kc_func_name(w->func));
    fputc('\n', w->out);
    for (int i = 0; i < w->n_args; i++)
        write_comment_argument(w, i);
    fputs(" */\n", w->out);
}

static void write_parameters(const writer *w) {
    for (int i = 0; i < w->n_args; i++) {
        if (is_scalar(w, i)) fprintf(w->out, ", %s %s", c_type(arg_type(w, i)->elem), w->args[i]);
        else
            fprintf(w->out, ", %svoid *%s",
                    kc_func_arg_at(w->func, i).direction == KC_INPUT ? "const " : "", w->args[i]);
    }
    for (int strides = 0; strides < 2; strides++)
        for (int i = 0; i < w->n_symbols; i++)
            if (w->symbols[i] && (w->bound[i] == KC_BOUND_STRIDE) == strides)
                fprintf(w->out, ", int64_t %s", w->symbols[i]);
}

static void write_numbers(const writer *w, const char *what, int i, int rank,
                          const kc_expr *const *numbers) {
    fprintf(w->out, "    int64_t kc_%s_%d[] = {", what, i);
    for (int d = 0; d < rank; d++) {
        if (d) fputs(", ", w->out);
        write_expr(w, numbers[d]);
    }
    fputs("};\n", w->out);
}

static void write_tensor(const writer *w, int i) {
    const kc_type *type = arg_type(w, i);
    const kc_dtype_info *info = &kc_dtype_table[type->elem];
    bool strided = type->rank && type->strides[0];
    if (type->rank) write_numbers(w, "shape", i, type->rank, type->shape);
    if (strided) write_numbers(w, "strides", i, type->rank, type->strides);
    fprintf(w->out,
            "    DLTensor kc_tensor_%d = kcrt_tensor(kc_device, %s, kcrt_dtype(%d, %d), %d, ", i,
            w->args[i], info->dl_code, info->dl_bits, type->rank);
    if (type->rank) fprintf(w->out, "kc_shape_%d, ", i);
    else fputs("NULL, ", w->out);
    if (strided) fprintf(w->out, "kc_strides_%d);\n", i);
    else fputs("NULL);\n", w->out);
}

static int write_list(const writer *w) {
    int n = 0;
    fputs("    void *kc_args[] = {", w->out);
    for (int i = 0; i < w->n_args; i++) {
        if (n++) fputs(", ", w->out);
        if (is_scalar(w, i)) fprintf(w->out, "&%s", w->args[i]);
        else fprintf(w->out, "&kc_tensor_%d", i);
    }
    for (int i = 0; i < w->n_symbols; i++)
        if (w->symbols[i] && w->bound[i] == KC_BOUND_PASSED)
            fprintf(w->out, "%s&%s", n++ ? ", " : "", w->symbols[i]);
    fputs("};\n", w->out);
    return n;
}

static void write_function(const writer *w, const char *module) {
    write_comment(w);
    fprintf(w->out, "static inline kcrt_status kc_%s_%s(kcrt_function *f, kcrt_stream *s", module,
            kc_func_name(w->func));
    write_parameters(w);
    fputs(") {\n    DLDevice kc_device = kcrt_function_device(f);\n", w->out);
    for (int i = 0; i < w->n_args; i++)
        if (!is_scalar(w, i)) write_tensor(w, i);
    int n = write_list(w);
    fprintf(w->out, "    return kcrt_launch(f, s, kc_args, %d, NULL, 0);\n}\n\n", n);
}

static void write_upper(FILE *out, const char *text) {
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

static void write_top(FILE *out, const char *module) {
    fprintf(out,
            "/* Calls the functions of module %s. Get each kcrt_function from a loaded package "
            "with kcrt_function_get. */\n",
            module);
    fputs("#ifndef KC_", out);
    write_upper(out, module);
    fputs("_H\n#define KC_", out);
    write_upper(out, module);
    fputs("_H\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n#include "
          "\"kcrt.h\"\n\n",
          out);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n", out);
    fprintf(out,
            "/* There when the package was built with --emit c or --emit obj and linked in. */\n");
    fprintf(out, "extern const unsigned char kc_%s_kcb[];\nextern const size_t kc_%s_kcb_size;\n",
            module, module);
    fputs("#ifdef __cplusplus\n}\n#endif\n\n", out);
    fputs(helpers, out);
}

void kc_header_write(FILE *out, const kc_module *module) {
    write_top(out, module->name);
    for (const kc_op *func = module->body->first; func; func = func->next) {
        writer w = {.out = out, .arena = kc_arena_create(), .func = func, .pool = func->pool};
        w.n_args = kc_func_arg_count(func);
        w.n_symbols = kc_expr_symbol_count(w.pool);
        w.bound = KC_NEW_ARRAY(w.arena, kc_bound, w.n_symbols + 1);
        kc_func_bindings(func, w.bound);
        choose_names(&w);
        write_function(&w, module->name);
        kc_arena_destroy(w.arena);
    }
    fputs("#endif\n", out);
}
