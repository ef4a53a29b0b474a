// A model in memory, compiled up to the manifest without LLVM.
#ifndef KC_TESTS_UNIT_COMPILER_FIXTURE_H
#define KC_TESTS_UNIT_COMPILER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/frontend/frontend.h"
#include "compiler/package/manifest.h"
#include "compiler/package/reader.h"
#include "compiler/package/variants.h"
#include "passes/pass.h"

static inline kc_module *load_model(kc_arena *arena, const char *text) {
    kc_diag *diag = kc_diag_create(arena, "model.yaml", text, strlen(text));
    kc_module *module = kc_frontend_load(arena, "model.yaml", text, strlen(text), diag);
    if (!module) kc_diag_print(diag, stderr);
    assert_non_null(module);
    return module;
}

static inline const kc_target *target_of(kc_arena *arena, const char *text) {
    const char *error;
    const kc_target *target = kc_target_parse_one(arena, text, &error);
    assert_non_null(target);
    return target;
}

// The variants of a model's first function for a target.
static inline char *variants_of(kc_arena *arena, const char *model, const char *target,
                                const kc_images *images) {
    kc_module *module = load_model(arena, model);
    kc_diag *diag = kc_diag_create(arena, "model.yaml", NULL, 0);
    kc_pipeline_options options = {0};
    assert_true(kc_pipeline_run(kc_pipeline, module, target_of(arena, target), diag, &options));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    kc_variants_write(out, module->body->first, target_of(arena, target), images);
    fclose(out);
    char *copy = kc_arena_strdup(arena, text);
    free(text);
    return copy;
}

// A package of a model's first function with a stand-in for the PTX.
static inline char *package_of(kc_arena *arena, const char *model, const char *ptx, size_t *size) {
    kc_module *module = load_model(arena, model);
    size_t ir_size;
    char *ir = kc_module_to_text(module, &ir_size);
    kc_offload_image images[] = {{"cuda", "sm_80", "ptx", ptx, strlen(ptx) + 1},
                                 {"kc", "ir", "ir", ir, ir_size}};
    kc_package_target target = {"cuda", "sm_80", NULL,
                                {0},    1,       variants_of(arena, model, "cuda:sm_80", NULL)};
    kc_package_function function = {module->body->first, 1, &target, 1};
    kc_package package = {.module = module->name,
                          .kc = "1",
                          .llvm = "2",
                          .images = images,
                          .n_images = 2,
                          .functions = &function,
                          .n_functions = 1};
    char *data = NULL;
    FILE *out = open_memstream(&data, size);
    kc_package_write(out, &package);
    fclose(out);
    free(ir);
    char *copy = kc_arena_strndup(arena, data, *size);
    free(data);
    return copy;
}

#endif
