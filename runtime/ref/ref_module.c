// A module: tensor IR, read and verified, so that nothing in it can lead the interpreter astray.
#include "runtime/ref/ref.h"

#include <string.h>

#define MODULE_BYTES ((size_t)1 << 30)

typedef struct {
    kc_arena *arena;
    kc_module *module;
} ref_module;

typedef struct {
    kc_arena *arena;
    const char *text;
    size_t size;
    void *loaded;
} loading;

static bool has_variants(const kc_module *module) {
    KC_FOR_OPS (func, module->body)
        for (const kc_op *op = func->body->first; op; op = op->next)
            if (op->code == KC_OP_VARIANT) return true;
    return false;
}

// What `decompose` has been through or not: both can be run.
static bool verified(const kc_module *module, kc_arena *arena, kc_diag *diag) {
    kc_diag *ignored = kc_diag_create(arena, "ir", NULL, 0);
    return kc_module_verify(module, KC_LEVEL_TENSOR, ignored) ||
           kc_module_verify(module, KC_LEVEL_COMPOSITE, diag);
}

static kcrt_status load(void *context) {
    loading *l = context;
    char why[400];
    l->arena = kc_arena_create();
    kc_arena_set_cap(l->arena, MODULE_BYTES);
    kc_diag *diag = kc_diag_create(l->arena, "ir", NULL, 0);
    ref_module *m = KC_NEW(l->arena, ref_module);
    *m = (ref_module){l->arena, kc_module_parse(l->arena, l->text, l->size, diag)};
    l->loaded = m;
    if (m->module && verified(m->module, l->arena, diag)) {
        if (!has_variants(m->module)) return KCRT_OK;
        return ref_fail(KCRT_BAD_PACKAGE, "The package's tensor IR is planned into kernels "
                                          "already; the reference runs functions.");
    }
    ref_first_error(diag, why, sizeof why);
    return ref_fail(KCRT_BAD_PACKAGE, "The package's tensor IR cannot be used: %s.", why);
}

kcrt_status ref_module_load(void *device, const char *role, const void *image, size_t size,
                            void **module) {
    (void)device;
    if (strcmp(role, "ir"))
        return ref_fail(KCRT_NO_IMAGE, "The reference runs images of role `ir`, not `%.40s`.",
                        role);
    while (size && ((const char *)image)[size - 1] == 0)
        size--;
    loading l = {NULL, image, size, NULL};
    kcrt_status status = ref_guard(load, &l);
    if (status) kc_arena_destroy(l.arena);
    else *module = l.loaded;
    return status;
}

void ref_module_unload(void *device, void *module) {
    (void)device;
    if (module) kc_arena_destroy(((ref_module *)module)->arena);
}

kc_op *ref_module_function(void *module, const char *function) {
    return kc_func_find(((ref_module *)module)->module, function);
}

kcrt_status ref_function_check(void *device, void *module, const char *function) {
    (void)device;
    if (ref_module_function(module, function)) return KCRT_OK;
    return ref_fail(KCRT_BAD_PACKAGE,
                    "The package's tensor IR does not define the function `%.64s`.", function);
}
