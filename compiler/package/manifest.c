// Only what the model and the workers say goes in: no dates, paths or hosts.
#include "compiler/package/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/frontend/binding.h"
#include "runtime/sha256.h"

// ---- signatures ---------------------------------------------------------------------------------

static void write_facts(kc_json *j, const kc_expr_pool *pool, int symbol) {
    kc_expr_facts facts = kc_expr_get_facts(pool, symbol);
    kc_json_open(j, '{');
    kc_json_put_string(j, "name", kc_expr_symbol_name(pool, symbol));
    kc_json_put_int(j, "min", facts.min);
    kc_json_put_int(j, "max", facts.max);
    kc_json_put_int(j, "multiple_of", facts.multiple_of);
    kc_json_close(j, '}');
}

// Symbols with dots (align.x, dev.*) are not the model's.
static bool is_dim(const kc_expr_pool *pool, const kc_bound *bound, int symbol) {
    return !strchr(kc_expr_symbol_name(pool, symbol), '.') && bound[symbol] != KC_BOUND_STRIDE;
}

static void write_dims(kc_json *j, const kc_expr_pool *pool, const kc_bound *bound, int n) {
    bool strides = false;
    kc_json_key(j, "dims");
    kc_json_open(j, '[');
    for (int i = 0; i < n; i++) {
        strides = strides || bound[i] == KC_BOUND_STRIDE;
        if (is_dim(pool, bound, i)) write_facts(j, pool, i);
    }
    kc_json_close(j, ']');
    if (!strides) return;
    kc_json_key(j, "strides");
    kc_json_open(j, '[');
    for (int i = 0; i < n; i++)
        if (bound[i] == KC_BOUND_STRIDE) write_facts(j, pool, i);
    kc_json_close(j, ']');
}

static void write_exprs(kc_json *j, const char *key, const kc_expr_pool *pool, int n,
                        const kc_expr *const *exprs) {
    kc_json_key(j, key);
    kc_json_open(j, '[');
    for (int i = 0; i < n; i++)
        kc_json_expr(j, pool, exprs[i]);
    kc_json_close(j, ']');
}

static void write_argument(kc_json *j, const kc_expr_pool *pool, const kc_func_arg *arg) {
    static const char *const directions[] = {"input", "inout", "output"};
    const kc_type *type = arg->type;
    kc_json_open(j, '{');
    kc_json_put_string(j, "name", arg->name);
    kc_json_put_string(j, "direction", directions[arg->direction]);
    kc_json_put_string(j, "kind",
                       type->rank == 0 && arg->direction == KC_INPUT ? "scalar" : "tensor");
    kc_json_put_string(j, "type", kc_dtype_name(type->elem));
    write_exprs(j, "shape", pool, type->rank, type->shape);
    if (type->rank && type->strides[0]) write_exprs(j, "strides", pool, type->rank, type->strides);
    if (arg->alias) kc_json_put_string(j, "alias", arg->alias);
    kc_json_close(j, '}');
}

static void write_arguments(kc_json *j, const kc_op *func) {
    kc_json_key(j, "args");
    kc_json_open(j, '[');
    for (int i = 0; i < kc_func_arg_count(func); i++) {
        kc_func_arg arg = kc_func_arg_at(func, i);
        write_argument(j, func->pool, &arg);
    }
    kc_json_close(j, ']');
}

void kc_constant_name(const char *sha256, char name[KC_CONSTANT_NAME]) {
    snprintf(name, KC_CONSTANT_NAME, "c_%.32s", sha256);
}

static void write_constant_uses(kc_json *j, const kc_op *func) {
    int n = func->body->n_args, first = n - kc_func_constants(func);
    char name[KC_CONSTANT_NAME];
    if (first == n) return;
    kc_json_key(j, "constants");
    kc_json_open(j, '[');
    for (int i = first; i < n; i++) {
        const kc_value *v = func->body->args[i];
        kc_constant_name(kc_constant_hash(v), name);
        kc_json_open(j, '{');
        kc_json_put_string(j, "name", v->name);
        kc_json_put_string(j, "type", kc_dtype_name(v->type.elem));
        write_exprs(j, "shape", func->pool, v->type.rank, v->type.shape);
        kc_json_put_string(j, "constant", name);
        kc_json_close(j, '}');
    }
    kc_json_close(j, ']');
}

static void write_unbound(kc_json *j, const kc_expr_pool *pool, const kc_bound *bound, int n) {
    int passed = 0;
    for (int i = 0; i < n; i++)
        passed += bound[i] == KC_BOUND_PASSED;
    if (!passed) return;
    kc_json_key(j, "unbound");
    kc_json_open(j, '[');
    for (int i = 0; i < n; i++)
        if (bound[i] == KC_BOUND_PASSED) kc_json_string(j, kc_expr_symbol_name(pool, i));
    kc_json_close(j, ']');
}

// Object keys of a function that the model gives: name, doc, dims, strides, args, constants, unbound.
static void write_signature(kc_json *j, const kc_op *func) {
    int n = kc_expr_symbol_count(func->pool);
    kc_bound *bound = malloc(sizeof *bound * (size_t)(n + 1));
    if (!bound) kc_bug("out of memory");
    kc_func_bindings(func, bound);
    kc_json_put_string(j, "name", kc_func_name(func));
    if (kc_func_doc(func)) kc_json_put_string(j, "doc", kc_func_doc(func));
    write_dims(j, func->pool, bound, n);
    write_arguments(j, func);
    write_constant_uses(j, func);
    write_unbound(j, func->pool, bound, n);
    free(bound);
}

// ---- the manifest -------------------------------------------------------------------------------

static void write_image(kc_json *j, const kc_offload_image *image) {
    char hash[65];
    kcrt_sha256_hex(image->data, image->size, hash);
    kc_json_open(j, '{');
    kc_json_put_string(j, "triple", image->triple);
    kc_json_put_string(j, "arch", image->arch);
    kc_json_put_string(j, "role", image->role);
    kc_json_put_string(j, "sha256", hash);
    kc_json_put_int(j, "size", (int64_t)image->size);
    kc_json_close(j, '}');
}

static void write_target(kc_json *j, const kc_package_target *t) {
    kc_json_open(j, '{');
    kc_json_put_string(j, "triple", t->triple);
    kc_json_put_string(j, "arch", t->arch);
    kc_json_key(j, "images");
    kc_json_open(j, '[');
    for (int i = 0; i < t->n_images; i++)
        kc_json_int(j, t->images[i]);
    kc_json_close(j, ']');
    if (t->attributes) {
        kc_json_key(j, "attributes");
        kc_json_raw(j, t->attributes);
    }
    kc_json_key(j, "variants");
    kc_json_raw(j, t->variants);
    kc_json_close(j, '}');
}

static void write_function(kc_json *j, const kc_package_function *f) {
    kc_json_open(j, '{');
    write_signature(j, f->func);
    if (f->ir >= 0) kc_json_put_int(j, "ir", f->ir);
    kc_json_key(j, "targets");
    kc_json_open(j, '[');
    for (int i = 0; i < f->n_targets; i++)
        write_target(j, &f->targets[i]);
    kc_json_close(j, ']');
    kc_json_close(j, '}');
}

static void write_constants(kc_json *j, const kc_package *p) {
    char name[KC_CONSTANT_NAME];
    if (!p->n_constants) return;
    kc_json_key(j, "constants");
    kc_json_open(j, '[');
    for (int i = 0; i < p->n_constants; i++) {
        kc_constant_name(p->constants[i].sha256, name);
        kc_json_open(j, '{');
        kc_json_put_string(j, "name", name);
        kc_json_put_int(j, "image", p->constants[i].image);
        kc_json_put_int(j, "offset", 0);
        kc_json_put_int(j, "bytes", (int64_t)p->constants[i].bytes);
        kc_json_close(j, '}');
    }
    kc_json_close(j, ']');
}

static void write_manifest(FILE *out, const kc_package *p) {
    enum { OUTLINE_LEVELS = 3 };
    kc_json j = kc_json_to(out, OUTLINE_LEVELS);
    kc_json_open(&j, '{');
    kc_json_put_int(&j, "format", 1);
    kc_json_put_string(&j, "module", p->module);
    kc_json_key(&j, "tools");
    kc_json_open(&j, '{');
    kc_json_put_string(&j, "kc", p->kc);
    kc_json_put_string(&j, "llvm", p->llvm);
    kc_json_key(&j, "ptxas");
    kc_json_string_or_null(&j, p->ptxas);
    kc_json_close(&j, '}');
    if (p->note) kc_json_put_string(&j, "note", p->note);
    kc_json_key(&j, "images");
    kc_json_open(&j, '[');
    for (int i = 0; i < p->n_images; i++)
        write_image(&j, &p->images[i]);
    kc_json_close(&j, ']');
    write_constants(&j, p);
    kc_json_key(&j, "functions");
    kc_json_open(&j, '[');
    for (int i = 0; i < p->n_functions; i++)
        write_function(&j, &p->functions[i]);
    kc_json_close(&j, ']');
    kc_json_close(&j, '}');
    fputc('\n', out);
}

void kc_package_write(FILE *out, const kc_package *p) {
    char *text = NULL;
    size_t size = 0;
    FILE *manifest = open_memstream(&text, &size);
    if (!manifest) kc_bug("out of memory");
    write_manifest(manifest, p);
    fclose(manifest);
    kc_offload_write(out, &(kc_offload_image){"kc", "manifest", "manifest", text, size});
    for (int i = 0; i < p->n_images; i++)
        kc_offload_write(out, &p->images[i]);
    free(text);
}
