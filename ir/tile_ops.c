// The ops inside a kernel: control, elementwise ops, values from nowhere.
#include "ir/tile_machine.h"

#include <stdarg.h>
#include <stdio.h>

void kc_tile_fail(kc_tile_machine *t, const kc_op *op, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kc_interp_fail(t->m, op, "kernel %s, program %lld: %s: %s",
                   kc_attr_string(t->kernel, KC_ATTR_NAME, ""), (long long)t->program,
                   kc_op_row(op)->name, text);
}

// The machine holds no more than its type can.
static kc_interp_value *rounded(kc_tile_machine *t, kc_interp_value *v) {
    kc_interp_free(t->m, v->e);
    v->e = NULL;
    kc_interp_drop(t->m, v->unrounded);
    v->unrounded = NULL;
    if (v->elem == KC_f32)
        for (int64_t i = 0; i < v->n; i++)
            v->f[i] = (double)(float)v->f[i];
    else if (v->f)
        for (int64_t i = 0; i < v->n; i++)
            v->f[i] = kc_dtype_represent(v->elem, v->f[i]);
    return v;
}

kc_interp_value *kc_tile_spread(kc_tile_machine *t, const kc_op *op, kc_interp_value *v,
                                const kc_type *type) {
    int64_t n = kc_tile_elements(type);
    if (v->rank == type->rank && v->n == n) return kc_interp_hold(v);
    return kc_interp_broadcast(t->m, op, v, type->rank, type->tile);
}

static kc_interp_value *elementwise(kc_tile_machine *t, const kc_op *op) {
    kc_interp_value *operands[3], *r;
    const kc_type *type = &kc_result(op, 0)->type;
    if (op->n_operands < 1 || op->n_operands > 3)
        kc_tile_fail(t, op, "%d operands", op->n_operands);
    for (int i = 0; i < op->n_operands; i++) {
        kc_interp_value *v = kc_interp_operand(t->m, op, i);
        operands[i] = t->m->batch || v->n == 1 ? kc_interp_hold(v) : kc_tile_spread(t, op, v, type);
    }
    if (op->code == KC_OP_CAST) r = kc_interp_cast(t->m, op, operands[0], type->elem);
    else r = kc_interp_apply(t->m, op, op->code, op->n_operands, operands, false);
    if (!t->m->batch && r->n == kc_tile_elements(type)) {
        r->rank = type->rank;
        for (int d = 0; d < type->rank; d++)
            r->shape[d] = type->tile[d];
    } else if (!t->m->batch) { // all operands were scalars
        kc_interp_value *wide = kc_interp_broadcast(t->m, op, r, type->rank, type->tile);
        kc_interp_drop(t->m, r);
        r = wide;
    }
    for (int i = 0; i < op->n_operands; i++)
        kc_interp_drop(t->m, operands[i]);
    return rounded(t, r);
}

// ---- control ------------------------------------------------------------------------------------

static kc_interp_value *number(kc_tile_machine *t, const kc_op *op, kc_dtype elem, int64_t v) {
    return kc_interp_count(t->m, op, elem, v);
}

static void run_for(kc_tile_machine *t, const kc_op *op, kc_interp_value **carried) {
    int64_t lower = kc_interp_operand(t->m, op, 0)->i[0],
            upper = kc_interp_operand(t->m, op, 1)->i[0];
    int64_t step = kc_attr_int(op, KC_ATTR_STEP, 1);
    int n = op->n_operands - 2;
    for (int i = 0; i < n; i++)
        carried[i] = kc_interp_hold(kc_interp_operand(t->m, op, i + 2));
    for (int64_t k = lower; k < upper;) {
        kc_interp_set(t->m, op->body->args[0], number(t, op, KC_i64, k));
        for (int i = 0; i < n; i++)
            kc_interp_set(t->m, op->body->args[i + 1], carried[i]);
        kc_tile_block(t, op->body, n, carried);
        if (__builtin_add_overflow(k, step, &k)) break;
    }
}

// ---- dispatch -----------------------------------------------------------------------------------

static kc_interp_value *one_result(kc_tile_machine *t, const kc_op *op) {
    switch (op->code) {
    case KC_OP_PROGRAM_ID: return number(t, op, KC_i64, t->program);
    case KC_OP_CONVERT: return kc_interp_hold(kc_interp_operand(t->m, op, 0));
    case KC_OP_LOAD: return kc_tile_load(t, op);
    case KC_OP_SHARED_LOAD: return kc_tile_shared_load(t, op);
    case KC_OP_ASYNC_COPY: return kc_tile_async_copy(t, op);
    case KC_OP_ASYNC_COMMIT: return kc_tile_async_commit(t, op);
    case KC_OP_DOT: return kc_tile_dot(t, op);
    case KC_OP_CONST:
    case KC_OP_SYM:
    case KC_OP_IOTA: return rounded(t, kc_interp_movement_of(op->code)(t->m, op));
    default: break;
    }
    if (kc_op_has(op, KC_ELEMENTWISE) && !(kc_op_row(op)->levels == KC_LEVEL_COMPOSITE))
        return elementwise(t, op);
    kc_tile_fail(t, op, "the op has no meaning in tile IR");
}

static void run_op(kc_tile_machine *t, const kc_op *op) {
    kc_interp_value *results[KC_MAX_INTERP_RESULTS];
    if (op->n_results > KC_MAX_INTERP_RESULTS)
        kc_tile_fail(t, op, "more than %d results", KC_MAX_INTERP_RESULTS);
    switch (op->code) {
    case KC_OP_STORE: kc_tile_store(t, op); break;
    case KC_OP_SHARED_STORE: kc_tile_shared_store(t, op); break;
    case KC_OP_SHARED_ALLOC: return; // found before
    case KC_OP_ASYNC_WAIT: kc_tile_async_wait(t, op); break;
    case KC_OP_BARRIER: t->shared.interval++; break;
    case KC_OP_FOR: run_for(t, op, results); break;
    case KC_OP_IF:
        if (kc_interp_operand(t->m, op, 0)->i[0]) kc_tile_block(t, op->body, 0, NULL);
        break;
    case KC_OP_REDUCE: kc_tile_reduce(t, op, results); break;
    case KC_OP_SCAN: kc_tile_scan(t, op, results); break;
    case KC_OP_SCAN_CARRY: kc_tile_scan_carry(t, op, results); break;
    default: results[0] = one_result(t, op);
    }
    for (int i = 0; i < op->n_results; i++)
        kc_interp_set(t->m, kc_result(op, i), results[i]);
}

void kc_tile_block(kc_tile_machine *t, const kc_block *block, int n_results,
                   kc_interp_value **results) {
    const kc_op *last = block->last && kc_op_has(block->last, KC_TERMINATOR) ? block->last : NULL;
    if ((last ? last->n_operands : 0) != n_results)
        kc_tile_fail(t, block->parent, "its region does not give %d values", n_results);
    for (const kc_op *op = block->first; op && op != last; op = op->next)
        run_op(t, op);
    for (int i = 0; i < n_results; i++)
        results[i] = kc_interp_hold(kc_interp_operand(t->m, last, i));
}
