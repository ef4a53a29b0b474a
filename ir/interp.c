// The reference interpreter: arguments in, ops one after the other, outputs out.
#include "ir/interp_machine.h"

#include <math.h>

// ---- ops ----------------------------------------------------------------------------------------

// Whether a value goes into a sum, perhaps moved or negated first: an implementation may leave a
// product there unrounded.
static bool reaches_sum(const kc_value *v, int depth) {
    for (const kc_use *use = v->uses; use; use = use->next) {
        switch (use->user->code) {
        case KC_OP_ADD:
        case KC_OP_SUB:
        case KC_OP_REDUCE:
        case KC_OP_SUM:
        case KC_OP_SCAN:
        case KC_OP_CUMSUM:
        case KC_OP_MEAN: return true;
        default: break;
        }
        bool passes_on = kc_op_has(use->user, KC_MOVEMENT) || use->user->code == KC_OP_NEG;
        if (passes_on && depth > 0 && reaches_sum(kc_result(use->user, 0), depth - 1)) return true;
    }
    return false;
}

static bool feeds_sum(const kc_op *op) {
    return op->code == KC_OP_MUL && reaches_sum(kc_result(op, 0), 6);
}

static kc_interp_value *elementwise(kc_interp *m, const kc_op *op) {
    kc_interp_value *operands[3];
    if (op->n_operands < 1 || op->n_operands > 3)
        kc_interp_fail(m, op, "%s: %d operands", kc_op_row(op)->name, op->n_operands);
    for (int i = 0; i < op->n_operands; i++)
        operands[i] = kc_interp_operand(m, op, i);
    if (op->code == KC_OP_CAST)
        return kc_interp_cast(m, op, operands[0], kc_result(op, 0)->type.elem);
    return kc_interp_apply(m, op, op->code, op->n_operands, operands, feeds_sum(op));
}

static kc_interp_op *op_of(const kc_op *op) {
    if (kc_interp_composite_of(op->code)) return kc_interp_composite_of(op->code);
    if (kc_interp_movement_of(op->code)) return kc_interp_movement_of(op->code);
    if (op->code == KC_OP_MATMUL) return kc_interp_matmul;
    if (op->code == KC_OP_CONV2D) return kc_interp_conv2d;
    return kc_op_has(op, KC_ELEMENTWISE) ? elementwise : NULL;
}

static void fusion(kc_interp *m, const kc_op *op, kc_interp_value **results) {
    for (int i = 0; i < op->n_operands; i++)
        kc_interp_set(m, op->body->args[i], kc_interp_hold(kc_interp_operand(m, op, i)));
    kc_interp_block(m, op->body, op->n_results, results);
}

// In a reduction's region a scalar stands for many; only ops that treat elements alike make sense
// there.
static void check_batched(kc_interp *m, const kc_op *op) {
    bool fits = kc_op_has(op, KC_ELEMENTWISE) || op->code == KC_OP_CONST || op->code == KC_OP_SYM;
    if (m->batch && !fits)
        kc_interp_fail(m, op,
                       "%s in the region of a reduction; it combines scalars, element by element",
                       kc_op_row(op)->name);
}

static void run_op(kc_interp *m, const kc_op *op) {
    kc_interp_value *results[KC_MAX_INTERP_RESULTS];
    if (op->code == KC_OP_SCHEDULE) return;
    if (op->n_results > KC_MAX_INTERP_RESULTS)
        kc_interp_fail(m, op, "%s: more than %d results", kc_op_row(op)->name,
                       KC_MAX_INTERP_RESULTS);
    check_batched(m, op);
    kc_interp_op *f = op_of(op);
    if (op->code == KC_OP_FUSION) fusion(m, op, results);
    else if (op->code == KC_OP_REDUCE) kc_interp_reduce(m, op, results);
    else if (op->code == KC_OP_SCAN) kc_interp_scan(m, op, results);
    else if (f) results[0] = f(m, op);
    else kc_interp_fail(m, op, "%s has no meaning in tensor IR", kc_op_row(op)->name);
    for (int i = 0; i < op->n_results; i++)
        kc_interp_set(m, kc_result(op, i), results[i]);
    for (int i = 0; i < op->n_operands; i++)
        kc_interp_used(m, kc_operand(op, i));
}

void kc_interp_block(kc_interp *m, const kc_block *block, int n_results,
                     kc_interp_value **results) {
    const kc_op *last = block->last;
    if (!last || !kc_op_has(last, KC_TERMINATOR) || last->n_operands != n_results)
        kc_interp_fail(m, block->parent, "%s: its region does not give %d values",
                       kc_op_row(block->parent)->name, n_results);
    for (const kc_op *op = block->first; op != last; op = op->next)
        run_op(m, op);
    for (int i = 0; i < n_results; i++)
        results[i] = kc_interp_hold(kc_interp_operand(m, last, i));
    for (int i = 0; i < n_results; i++)
        kc_interp_used(m, kc_operand(last, i));
}

// ---- arguments ----------------------------------------------------------------------------------

// What was a cast's result goes out as the cast's operand, which the output's rounding then rounds.
// Where that is not a matter of distance, the result goes out: types below 16 bits saturate, lack
// NaN (f4e2m1) or a sign (f8e8m0).
static kc_number before_rounding(const kc_interp_value *v, int64_t i, const kc_precision *p) {
    const kc_interp_value *from = v->unrounded ? v->unrounded : v;
    kc_number x = kc_interp_number(from, i);
    bool narrow = from != v && kc_dtype_bits(v->elem) < 16;
    bool far = !isfinite(x.v) || (v->elem == KC_f8e8m0 && x.v - x.e < 0);
    return narrow && far ? kc_number_to_float(x, from->elem, v->elem) : kc_number_in_range(x, p);
}

static void store(const kc_interp_value *v, const kc_interp_array *array, double *values,
                  double *bounds) {
    kc_precision p = kc_number_precision(v->elem);
    kc_interp_cursor c = kc_interp_start(array);
    for (int64_t i = 0; i < v->n; i++, kc_interp_advance(&c)) {
        kc_number x = {0, v->e ? v->e[i] : 0};
        if (v->f) {
            x = before_rounding(v, i, &p);
            double rounded = v->unrounded ? kc_dtype_round(v->elem, x.v) : x.v;
            kc_dtype_put(v->elem, array->data, c.at, rounded);
        } else {
            x.v = (double)v->i[i];
            kc_dtype_put_i64(v->elem, array->data, c.at, v->i[i]);
        }
        if (values) values[i] = x.v;
        if (bounds) bounds[i] = x.e;
    }
}

// ---- one call -----------------------------------------------------------------------------------

void kc_interp_scope(kc_interp *m, const kc_op *scope, const kc_interp_call *call) {
    kc_interp_value **results = kc_interp_alloc(m, scope, call->n_outputs + 1, sizeof *results);
    for (int i = 0; i < call->n_inputs; i++)
        kc_interp_set(m, scope->body->args[i], kc_interp_load(m, scope, &call->inputs[i]));
    kc_interp_block(m, scope->body, call->n_outputs, results);
    for (int i = 0; i < call->n_outputs; i++)
        if (results[i]->n !=
            kc_interp_elements(m, scope, call->outputs[i].rank, call->outputs[i].shape))
            kc_interp_fail(m, scope, "output %d has not the shape that is computed", i);
    for (int i = 0; i < call->n_outputs; i++)
        store(results[i], &call->outputs[i], call->values ? call->values[i] : NULL,
              call->bounds ? call->bounds[i] : NULL);
}

static void run(kc_interp *m, kc_interp_call *call) {
    kc_interp_bind(m, &(kc_interp_arguments){call->inputs, call->outputs, call->n_inputs,
                                             call->n_outputs, call->symbols, call->n_symbols});
    kc_interp_scope(m, m->func, call);
    call->clamped = m->clamped;
}

static bool guarded(kc_interp *m, kc_interp_call *call) {
    if (setjmp(m->trouble)) return false;
    run(m, call);
    return true;
}

bool kc_interp_run(const kc_op *func, kc_interp_call *call, kc_diag *diag) {
    kc_interp m = {.func = func,
                   .pool = func->pool,
                   .max_bytes = call->max_bytes ? call->max_bytes : KC_INTERP_MEMORY};
    call->clamped = 0;
    bool ok = guarded(&m, call);
    kc_interp_close(&m);
    if (!ok) kc_report(diag, KC_ERROR, m.loc, "@%s: %s", kc_func_name(func), m.text);
    return ok;
}
