// Arena, diagnostics, the op table, building, rewriting, cloning, kernel parameters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ir.h"
#include "ir/kernel_params.h"

typedef struct {
    kc_arena *arena;
    kc_module *module;
    kc_op *func;
    kc_builder build;
    kc_value *x, *y; // f32[M, N]
} fixture;

static fixture start(void) {
    fixture f = {.arena = kc_arena_create()};
    f.module = kc_module_create(f.arena, "m");
    f.func = kc_func_create(f.module, "f", (kc_loc){3, 5});
    kc_expr_pool *pool = f.func->pool;
    kc_expr_symbol_index(pool, "M", 1);
    kc_expr_set_facts(pool, 0, (kc_expr_facts){0, 1000, 1});
    kc_expr_symbol_index(pool, "N", 1);
    kc_expr_set_facts(pool, 1, (kc_expr_facts){0, 1000, 8});
    const kc_expr *shape[] = {kc_expr_symbol(pool, "M"), kc_expr_symbol(pool, "N")};
    kc_type type = kc_type_tensor(KC_f32, 2, shape);
    f.x = kc_block_add_arg(f.module, f.func->body, type, "x");
    f.y = kc_block_add_arg(f.module, f.func->body, type, "y");
    kc_func_add_output(f.module, f.func, &(kc_output){.name = "z", .type = type});
    f.build = kc_builder_at_end(f.module, f.func->body, (kc_loc){7, 9});
    return f;
}

static void end(fixture *f) {
    kc_arena_destroy(f->arena);
}

static void finish(fixture *f, kc_value *result) {
    kc_build(&f->build, KC_OP_RETURN, 1, &result, 0, NULL);
}

static void assert_verifies(fixture *f) {
    kc_diag *diag = kc_diag_create(f->arena, "test", NULL, 0);
    bool good = kc_module_verify(f->module, KC_LEVEL_COMPOSITE, diag);
    if (!good) kc_diag_print(diag, stderr);
    assert_true(good);
}

static int uses_of(const kc_value *value) {
    int n = 0;
    for (const kc_use *use = value->uses; use; use = use->next)
        n++;
    return n;
}

// ---- arena

static void arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    for (size_t bytes = 0; bytes < 70000; bytes = bytes * 3 + 1) {
        unsigned char *at = kc_arena_alloc(arena, bytes);
        assert_int_equal((uintptr_t)at % 16, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(at[i], 0);
        memset(at, 0xFF, bytes);
    }
    assert_string_equal(kc_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(kc_arena_strndup(arena, "abcdef", 3), "abc");
    kc_arena_destroy(arena);
    kc_arena_destroy(NULL);
}

static jmp_buf out;

static void jump_out(void *context) {
    ++*(int *)context;
    longjmp(out, 1);
}

static void arena_calls_the_hook_past_its_cap(void **state) {
    (void)state;
    static int calls;
    kc_arena *arena = kc_arena_create();
    kc_arena_on_out_of_memory(jump_out, &calls);
    kc_arena_set_cap(arena, 100000);
    assert_non_null(kc_arena_alloc(arena, 90000));
    if (!setjmp(out)) {
        kc_arena_alloc(arena, 20000);
        fail();
    }
    if (!setjmp(out)) {
        kc_arena_alloc(arena, SIZE_MAX);
        fail();
    }
    assert_int_equal(calls, 2);
    kc_arena_on_out_of_memory(NULL, NULL);
    kc_arena_destroy(arena);
}

static char order[8];

static void note(void *object) {
    strcat(order, object);
}

static void arena_releases_what_was_deferred(void **state) {
    (void)state;
    order[0] = 0;
    kc_arena *arena = kc_arena_create();
    kc_arena_defer(arena, note, "a");
    kc_arena_defer(arena, note, "b");
    kc_arena_destroy(arena);
    assert_string_equal(order, "ba");
}

// ---- diagnostics

static char *printed(const kc_diag *diag, void (*print)(const kc_diag *, FILE *)) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    print(diag, file);
    fclose(file);
    return text;
}

static const char source[] = "one: 1\ntwo: \xC3\xA4\xC3\xB6 x\n\tthree\xFF: 3\n";

static kc_diag *some_diagnostics(kc_arena *arena) {
    kc_diag *diag = kc_diag_create(arena, "f.yaml", source, sizeof source - 1);
    kc_report(diag, KC_ERROR, (kc_loc){3, 2}, "third");
    kc_report(diag, KC_NOTE, (kc_loc){1, 1}, "a note to the third");
    kc_report(diag, KC_WARNING, (kc_loc){2, 9}, "second \"%s\"", "q");
    kc_report(diag, KC_ERROR, (kc_loc){0, 0}, "nowhere");
    return diag;
}

static const char expected_text[] = "f.yaml:2:9: warning: second \"q\"\n"
                                    "  two: \xC3\xA4\xC3\xB6 x\n"
                                    "          ^\n"
                                    "f.yaml:3:2: error: third\n"
                                    "   three?: 3\n"
                                    "   ^\n"
                                    "f.yaml:1:1: note: a note to the third\n"
                                    "  one: 1\n"
                                    "  ^\n"
                                    "f.yaml: error: nowhere\n";

static void diagnostics_print_in_source_order(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    char *text = printed(some_diagnostics(arena), kc_diag_print);
    assert_string_equal(text, expected_text);
    free(text);
    char *json = printed(some_diagnostics(arena), kc_diag_print_json);
    assert_non_null(strstr(json, "{\"file\": \"f.yaml\", \"line\": 2, \"column\": 9, \"severity\": "
                                 "\"warning\", \"text\": \"second \\\"q\\\"\"}"));
    free(json);
    kc_arena_destroy(arena);
}

static void diagnostics_keep_a_hundred_errors(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, NULL, NULL, 0);
    for (int i = 0; i < 250; i++)
        kc_report(diag, KC_ERROR, (kc_loc){1, 1}, "no %d", i);
    assert_int_equal(kc_diag_errors(diag), 250);
    char *text = printed(diag, kc_diag_print);
    assert_non_null(strstr(text, "no 99\n"));
    assert_null(strstr(text, "no 100\n"));
    assert_non_null(strstr(text, "150 further"));
    free(text);
    kc_arena_destroy(arena);
}

// ---- the op table

static void rows_are_well_formed(void **state) {
    (void)state;
    for (int i = 0; i < KC_OP_COUNT; i++) {
        kc_attr_key keys[KC_MAX_ATTRS];
        kc_segment segments[KC_MAX_SEGMENTS];
        int n_keys = kc_op_attr_keys((kc_opcode)i, keys),
            n = kc_op_segments((kc_opcode)i, segments), words = 0;
        for (int k = 0; k < n_keys; k++)
            assert_true(keys[k] < KC_ATTR_COUNT);
        for (const char *at = kc_op_table[i].operands; *at; at++)
            words += *at != ' ' && (at[1] == ' ' || !at[1]);
        assert_int_equal(words, n); // KC_MAX_SEGMENTS is enough
        assert_int_equal(kc_opcode_find(kc_op_table[i].name), i);
        assert_non_null(kc_op_table[i].meaning);
    }
    assert_int_equal(kc_opcode_find("nonesuch"), KC_OP_COUNT);
    assert_int_equal(kc_op_attr_need(KC_OP_CAST, KC_ATTR_DTYPE), 2);
    assert_int_equal(kc_op_attr_need(KC_OP_CONST, KC_ATTR_VALUE), 1);
    assert_int_equal(kc_op_attr_need(KC_OP_CONST, KC_ATTR_AXIS), 0);
}

// ---- building and rewriting

static void elementwise_results_follow_the_rules(void **state) {
    (void)state;
    fixture f = start();
    kc_value *sum = kc_build_binary(&f.build, KC_OP_ADD, f.x, f.y);
    kc_value *more = kc_build_binary(&f.build, KC_OP_GT, f.x, sum);
    kc_value *chosen =
        kc_build_elementwise(&f.build, KC_OP_SELECT, 3, (kc_value *[]){more, sum, f.x});
    kc_value *half = kc_build_cast(&f.build, chosen, KC_f16);
    assert_int_equal(sum->type.elem, KC_f32);
    assert_int_equal(more->type.elem, KC_bool);
    assert_int_equal(chosen->type.elem, KC_f32);
    assert_int_equal(half->type.elem, KC_f16);
    assert_ptr_equal(kc_build_cast(&f.build, half, KC_f16), half);
    assert_true(kc_type_same_shape(f.func->pool, &half->type, &f.x->type));
    assert_int_equal(half->def->loc.line, 7);
    assert_int_equal(uses_of(f.x), 3);
    finish(&f, sum);
    assert_verifies(&f);
    end(&f);
}

static void tiles_broadcast(void **state) {
    (void)state;
    fixture f = start();
    kc_value *row = kc_build_const(&f.build, kc_type_tile(KC_f32, 2, (int64_t[]){1, 32}), 1);
    kc_value *column = kc_build_const(&f.build, kc_type_tile(KC_f32, 2, (int64_t[]){16, 1}), 2);
    kc_value *scalar = kc_build_const(&f.build, kc_type_scalar(KC_f32), 3);
    kc_value *both = kc_build_binary(&f.build, KC_OP_MUL, row, column);
    assert_int_equal(both->type.tile[0], 16);
    assert_int_equal(both->type.tile[1], 32);
    assert_int_equal(kc_tile_elements(&both->type), 512);
    kc_value *wide = kc_build_binary(&f.build, KC_OP_MUL, scalar, both);
    assert_true(kc_type_equal(NULL, &wide->type, &both->type));
    end(&f);
}

static void constants_know_their_kind(void **state) {
    (void)state;
    fixture f = start();
    kc_value *number = kc_build_const(&f.build, kc_type_scalar(KC_f32), 0.1);
    kc_value *integer = kc_build_const(&f.build, kc_type_scalar(KC_i32), 5);
    kc_value *large = kc_build_const_int(&f.build, kc_type_scalar(KC_i64), INT64_MIN);
    kc_value *converted = kc_build_const_int(&f.build, kc_type_scalar(KC_f32), 4);
    assert_true(kc_attr_float(number->def, KC_ATTR_VALUE, 0) == 0.1);
    assert_int_equal(kc_attr_int(integer->def, KC_ATTR_INTEGER, 0), 5);
    assert_true(kc_const_int(large->def) == INT64_MIN);
    assert_true(kc_const_number(converted->def) == 4.0);
    assert_null(kc_attr_get(converted->def, KC_ATTR_INTEGER));
    end(&f);
}

static void attributes_are_set_replaced_and_removed(void **state) {
    (void)state;
    fixture f = start();
    kc_op *op = kc_build(&f.build, KC_OP_SCHEDULE, 0, NULL, 0, NULL);
    kc_attr_set_int(op, KC_ATTR_WARPS, 4);
    kc_attr_set_ints(f.module, op, KC_ATTR_TILE, 2, (int64_t[]){64, 32});
    kc_attr_set_int(op, KC_ATTR_WARPS, 8);
    assert_int_equal(op->n_attrs, 2);
    assert_int_equal(kc_attr_int(op, KC_ATTR_WARPS, 1), 8);
    kc_attr_remove(op, KC_ATTR_WARPS);
    kc_attr_remove(op, KC_ATTR_WARPS);
    assert_int_equal(kc_attr_int(op, KC_ATTR_WARPS, 1), 1);
    assert_int_equal(kc_attr_get(op, KC_ATTR_TILE)->integers[1], 32);
    assert_string_equal(kc_attr_string(op, KC_ATTR_UNIT, "none"), "none");
    end(&f);
}

static void uses_follow_rewrites(void **state) {
    (void)state;
    fixture f = start();
    kc_value *a = kc_build_binary(&f.build, KC_OP_ADD, f.x, f.x);
    kc_value *b = kc_build_binary(&f.build, KC_OP_MUL, a, f.y);
    finish(&f, b);
    assert_int_equal(uses_of(f.x), 2);
    kc_builder before = kc_builder_before(f.module, b->def);
    kc_value *c = kc_build_unary(&before, KC_OP_NEG, f.y);
    kc_value_replace(a, c);
    assert_true(kc_value_unused(a));
    assert_ptr_equal(kc_operand(b->def, 0), c);
    kc_op_erase(a->def);
    assert_int_equal(uses_of(f.x), 0);
    kc_op_set_operand(b->def, 1, f.x);
    assert_int_equal(uses_of(f.y), 1);
    assert_verifies(&f);
    kc_block_renumber(f.func->body);
    assert_int_equal(c->def->order, 0);
    assert_int_equal(b->def->order, 1);
    end(&f);
}

static void operands_may_be_added(void **state) {
    (void)state;
    fixture f = start();
    kc_op *ret = kc_build(&f.build, KC_OP_RETURN, 0, NULL, 0, NULL);
    for (int i = 0; i < 9; i++)
        kc_op_add_operand(f.module, ret, i % 2 ? f.x : f.y);
    assert_int_equal(ret->segments[0], 9);
    assert_int_equal(uses_of(f.x), 4);
    assert_int_equal(uses_of(f.y), 5);
    for (int i = 0; i < 9; i++)
        assert_ptr_equal(kc_operand(ret, i), i % 2 ? f.x : f.y);
    for (const kc_use *use = f.y->uses; use; use = use->next)
        assert_ptr_equal(&ret->operands[use->index], use);
    end(&f);
}

static void segments_give_their_operands(void **state) {
    (void)state;
    fixture f = start();
    kc_value *zero = kc_build_const_int(&f.build, kc_type_scalar(KC_i64), 0);
    kc_value *at = kc_build_const_int(&f.build, kc_type_scalar(KC_i32), 0);
    kc_value *one = kc_build_const(&f.build, kc_type_scalar(KC_f32), 1);
    kc_op *store =
        kc_build(&f.build, KC_OP_STORE, 6, (kc_value *[]){f.x, one, zero, zero, at, at}, 0, NULL);
    kc_op_set_segments(store, (int[]){1, 1, 2, 2, 0});
    int n;
    assert_ptr_equal(kc_op_segment(store, 3, &n)->value, at);
    assert_int_equal(n, 2);
    kc_op_segment(store, 4, &n);
    assert_int_equal(n, 0);
    end(&f);
}

static void erasing_takes_the_region_along(void **state) {
    (void)state;
    fixture f = start();
    kc_value *condition = kc_build_const_int(&f.build, kc_type_scalar(KC_bool), 1);
    kc_op *branch = kc_build(&f.build, KC_OP_IF, 1, &condition, 0, NULL);
    kc_builder inner = kc_builder_at_end(f.module, kc_op_add_body(f.module, branch), (kc_loc){0});
    kc_build_binary(&inner, KC_OP_ADD, f.x, f.y);
    assert_int_equal(uses_of(f.x), 1);
    kc_op_erase(branch);
    assert_int_equal(uses_of(f.x), 0);
    assert_true(kc_value_unused(condition));
    end(&f);
}

static void moving_keeps_the_list_whole(void **state) {
    (void)state;
    fixture f = start();
    kc_op *a = kc_build_unary(&f.build, KC_OP_NEG, f.x)->def,
          *b = kc_build_unary(&f.build, KC_OP_ABS, f.x)->def;
    kc_op *c = kc_build_unary(&f.build, KC_OP_EXP, f.x)->def;
    kc_op_move_before(c, a);
    assert_ptr_equal(f.func->body->first, c);
    assert_ptr_equal(f.func->body->last, b);
    assert_ptr_equal(a->previous, c);
    finish(&f, b->results[0]);
    assert_verifies(&f);
    end(&f);
}

// ---- types

static void strides_are_computed_or_given(void **state) {
    (void)state;
    fixture f = start();
    kc_expr_pool *pool = f.func->pool;
    assert_ptr_equal(kc_type_stride(pool, &f.x->type, 0), kc_expr_symbol(pool, "N"));
    assert_true(kc_expr_is_const(kc_type_stride(pool, &f.x->type, 1), NULL));
    kc_type strided = f.x->type;
    strided.strides[0] = kc_expr_symbol(pool, "N");
    strided.strides[1] = kc_expr_const(pool, 1);
    assert_true(kc_type_equal(pool, &strided, &f.x->type));
    strided.strides[0] = kc_expr_symbol(pool, "M");
    assert_false(kc_type_equal(pool, &strided, &f.x->type));
    assert_true(kc_type_same_shape(pool, &strided, &f.x->type));
    end(&f);
}

// ---- cloning

static char *text_of(const kc_module *module) {
    return kc_module_to_text(module, NULL);
}

static void cloning_maps_what_it_copies(void **state) {
    (void)state;
    fixture f = start();
    kc_value *a = kc_build_binary(&f.build, KC_OP_ADD, f.x, f.x);
    kc_value *b = kc_build_binary(&f.build, KC_OP_MUL, a, f.y);
    a->name = "a";
    kc_clone *clone = kc_clone_begin(f.module, f.func->pool, f.func->pool);
    kc_clone_map(clone, f.x, f.y);
    kc_op *a2 = kc_clone_op(clone, &f.build, a->def), *b2 = kc_clone_op(clone, &f.build, b->def);
    assert_ptr_equal(kc_operand(a2, 0), f.y);
    assert_ptr_equal(kc_operand(b2, 0), a2->results[0]);
    assert_ptr_equal(kc_operand(b2, 1), f.y);
    assert_ptr_equal(kc_clone_value(clone, b), b2->results[0]);
    assert_string_equal(a2->results[0]->name, "a");
    kc_clone_end(clone);
    end(&f);
}

static void a_module_is_cloned_whole(void **state) {
    (void)state;
    fixture f = start();
    kc_func_set_doc(f.module, f.func, "doc");
    kc_op *variant = kc_build(&f.build, KC_OP_VARIANT, 0, NULL, 0, NULL);
    kc_op_add_body(f.module, variant);
    kc_expr_set_facts(variant->pool, 1, (kc_expr_facts){0, 64, 16});
    kc_expr_pool *pool = f.func->pool;
    kc_attr_set_expr(
        variant, KC_ATTR_WHEN,
        kc_expr_binary(pool, KC_EXPR_LE, kc_expr_symbol(pool, "N"), kc_expr_const(pool, 64)));
    char *text = text_of(f.module);
    kc_arena *other = kc_arena_create();
    kc_module *copy = kc_module_clone(other, f.module);
    end(&f); // nothing of the copy lies in the first arena
    char *copied = text_of(copy);
    assert_string_equal(text, copied);
    assert_non_null(strstr(text, "when = N <= 64"));
    assert_non_null(strstr(text, "dims {N: 0..64 multiple 16}"));
    free(text);
    free(copied);
    kc_arena_destroy(other);
}

// ---- kernels

static void kernel_parameters_have_one_order(void **state) {
    (void)state;
    fixture f = start();
    kc_value *operands[] = {f.x, f.y};
    kc_op *kernel = kc_build(&f.build, KC_OP_KERNEL, 2, operands, 0, NULL);
    kc_op_set_segments(kernel, (int[]){1, 1});
    kc_op_add_body(f.module, kernel);
    kc_type vector =
        kc_type_tensor(KC_f32, 1, (const kc_expr *[]){kc_expr_symbol(f.func->pool, "N")});
    kc_block_add_arg(f.module, kernel->body, kc_type_scalar(KC_f32), "x");
    kc_block_add_arg(f.module, kernel->body, vector, "y");
    kc_param *params;
    assert_int_equal(kc_kernel_params(f.arena, kernel, &params), 3);
    assert_int_equal(params[0].kind, KC_PARAM_SCALAR);
    assert_ptr_equal(params[0].operand, f.x);
    assert_int_equal(params[1].kind, KC_PARAM_POINTER);
    assert_true(params[1].written);
    assert_int_equal(params[2].kind, KC_PARAM_SYMBOL);
    assert_int_equal(params[2].symbol, 1);
    kc_attr_set_expr(kernel, KC_ATTR_GRID, kc_expr_symbol(f.func->pool, "M"));
    assert_int_equal(kc_kernel_params(f.arena, kernel, &params), 4);
    assert_int_equal(params[2].symbol, 0);
    end(&f);
}

static void ops_know_what_surrounds_them(void **state) {
    (void)state;
    fixture f = start();
    kc_op *variant = kc_build(&f.build, KC_OP_VARIANT, 0, NULL, 0, NULL);
    kc_builder inner = kc_builder_at_end(f.module, kc_op_add_body(f.module, variant), (kc_loc){0});
    kc_op *buffer = kc_build(&inner, KC_OP_BUFFER, 0, NULL, 1, &f.x->type);
    assert_ptr_equal(kc_op_parent(buffer), variant);
    assert_ptr_equal(kc_op_ancestor(buffer, KC_OP_FUNC), f.func);
    assert_null(kc_op_ancestor(f.func, KC_OP_FUNC));
    assert_ptr_equal(kc_op_pool(buffer), variant->pool);
    assert_ptr_not_equal(variant->pool, f.func->pool);
    assert_int_equal(kc_expr_get_facts(variant->pool, 1).multiple_of, 8);
    assert_ptr_equal(kc_attr_pool(variant, KC_ATTR_WHEN), f.func->pool);
    assert_ptr_equal(kc_attr_pool(variant, KC_ATTR_WORKSPACE), variant->pool);
    assert_ptr_equal(kc_func_find(f.module, "f"), f.func);
    assert_null(kc_func_find(f.module, "g"));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_calls_the_hook_past_its_cap),
        cmocka_unit_test(arena_releases_what_was_deferred),
        cmocka_unit_test(diagnostics_print_in_source_order),
        cmocka_unit_test(diagnostics_keep_a_hundred_errors),
        cmocka_unit_test(rows_are_well_formed),
        cmocka_unit_test(elementwise_results_follow_the_rules),
        cmocka_unit_test(tiles_broadcast),
        cmocka_unit_test(constants_know_their_kind),
        cmocka_unit_test(attributes_are_set_replaced_and_removed),
        cmocka_unit_test(uses_follow_rewrites),
        cmocka_unit_test(operands_may_be_added),
        cmocka_unit_test(segments_give_their_operands),
        cmocka_unit_test(erasing_takes_the_region_along),
        cmocka_unit_test(moving_keeps_the_list_whole),
        cmocka_unit_test(strides_are_computed_or_given),
        cmocka_unit_test(cloning_maps_what_it_copies),
        cmocka_unit_test(a_module_is_cloned_whole),
        cmocka_unit_test(kernel_parameters_have_one_order),
        cmocka_unit_test(ops_know_what_surrounds_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
