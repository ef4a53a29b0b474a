// Scans: on an axis that fits one tile, the prefixes of that tile. A longer axis is walked in
// chunks by a loop that carries the total so far: each prefix of a chunk is combined with it, and
// so is the chunk's total for the next turn.
//
// A scan is emitted where it is asked for. So a loop over chunks must know beforehand which scans
// that will be, since it carries their totals; a scan that two loops need is computed in both,
// which costs less than storing it.
#include "passes/tiler.h"

// ---- one tile -----------------------------------------------------------------------------------

// The operands as tiles over all axes, with the identity where the axis has ended.
static void emit_operands(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value **values) {
    unsigned all = kc_tiler_axes(t, true) | kc_tiler_axes(t, false);
    kc_value *mask = kc_tiler_mask(t, kc_tiler_axes(t, true), NULL);
    for (int i = 0; i < op->n_operands; i++) {
        kc_value *v = kc_tiler_emit(t, kc_operand(op, i), c, NULL);
        if (t->rank) v = kc_tiler_widen(t, v, all);
        if (mask) {
            kc_value *none = kc_tiler_identity(t, op, i, kc_type_scalar(v->type.elem));
            v = kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){mask, v, none});
        }
        values[i] = v;
    }
}

// The slot of the axis; -1 where its extent is 1.
static int scanned_slot(const kc_tiler *t) {
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced) return t->axes[a].slot;
    kc_bug("a scan in a kernel without a reduced axis");
}

static void build_scan(kc_tiler *t, kc_op *source, kc_value *const *values, kc_value **prefixes,
                       kc_value **totals) {
    int n = source->n_operands;
    int64_t slot = scanned_slot(t);
    for (int i = 0; i < n; i++)
        prefixes[i] = totals[i] = values[i];
    if (slot < 0) return; // one element
    kc_type types[2 * KC_MAX_RANK] = {{0}};
    for (int i = 0; i < n; i++) {
        types[i] = types[n + i] = values[i]->type;
        types[n + i].tile[slot] = 1;
    }
    kc_op *op = kc_build(&t->build, KC_OP_SCAN, n, values, 2 * n, types);
    kc_attr_set_ints(t->pass->module, op, KC_ATTR_AXES, 1, &slot);
    kc_tiler_build_combiner(t, op, source);
    for (int i = 0; i < n; i++) {
        prefixes[i] = kc_result(op, i), totals[i] = kc_result(op, n + i);
        prefixes[i]->name = kc_result(source, i)->name;
    }
}

static kc_open_scan *open_scan(const kc_tiler *t, const kc_op *op) {
    for (int i = 0; i < t->n_scans; i++)
        if (t->scans[i].op == op) return &t->scans[i];
    return NULL;
}

// What came before this chunk goes in from the left.
static void continue_scan(kc_tiler *t, kc_op *op, const kc_open_scan *scan, kc_value **prefixes,
                          kc_value **totals) {
    kc_value *args[2 * KC_MAX_RANK];
    int n = op->n_operands;
    for (int i = 0; i < n; i++)
        args[i] = scan->carry[i], args[n + i] = prefixes[i];
    kc_tiler_inline(t, op->body, args, prefixes);
    for (int i = 0; i < n; i++)
        args[i] = scan->carry[i], args[n + i] = totals[i];
    kc_tiler_inline(t, op->body, args, scan->next);
    for (int i = 0; i < n; i++)
        scan->next[i] = kc_tiler_widen(t, scan->next[i], kc_tiler_axes(t, false));
}

kc_value *kc_tiler_emit_scan(kc_tiler *t, kc_op *op, int result, const kc_coord *c) {
    kc_value *values[KC_MAX_RANK], *prefixes[KC_MAX_RANK], *totals[KC_MAX_RANK];
    for (int a = 0; a < t->n_axes; a++) {
        kc_coord own = kc_tiler_axis_coord(t, a);
        if (c[a].base != own.base || c[a].local != own.local)
            kc_bug("a scan is used at coordinates other than the kernel's");
    }
    emit_operands(t, op, c, values);
    build_scan(t, op, values, prefixes, totals);
    const kc_open_scan *scan = open_scan(t, op);
    if (scan) continue_scan(t, op, scan, prefixes, totals);
    else if (!t->rows_whole && !t->trial) kc_bug("a scan in a loop that does not carry it");
    for (int i = 0; i < op->n_results; i++)
        kc_tiler_remember(t, kc_result(op, i), c, NULL, prefixes[i]);
    return prefixes[result];
}

// ---- loops over chunks --------------------------------------------------------------------------

// Marks the scans that v needs, not those behind a reduction, whose result is known by now.
static void mark_scans(const kc_value *v, bool *seen, kc_tiler *t) {
    kc_op *op = v->def;
    if (!op || seen[op->order] || (kc_op_has(op, KC_REDUCTION) && !kc_op_has(op, KC_SCAN))) return;
    seen[op->order] = true;
    for (int i = 0; i < op->n_operands; i++)
        mark_scans(kc_operand(op, i), seen, t);
    if (kc_op_has(op, KC_SCAN)) t->scans[t->n_scans++].op = op;
}

static int find_scans(kc_tiler *t, const kc_chunks *chunks) {
    int n_ops = t->source->last->order + 1, n = 0;
    bool *seen = KC_NEW_ARRAY(t->pass->scratch, bool, n_ops);
    t->scans = KC_NEW_ARRAY(t->pass->scratch, kc_open_scan, n_ops);
    for (int i = 0; i < chunks->n_roots; i++)
        mark_scans(chunks->roots[i], seen, t);
    for (int i = 0; i < t->n_scans; i++)
        n += t->scans[i].op->n_operands;
    return n;
}

void kc_tiler_begin_chunks(kc_tiler *t, kc_chunks *chunks, int n, kc_value *const *init) {
    int more = find_scans(t, chunks), at = n;
    kc_value **all = KC_NEW_ARRAY(t->pass->scratch, kc_value *, n + more + 1);
    for (int i = 0; i < n; i++)
        all[i] = init[i];
    for (int k = 0; k < t->n_scans; k++)
        for (int i = 0; i < t->scans[k].op->n_operands; i++) {
            kc_type type =
                kc_tiler_type(t, kc_operand(t->scans[k].op, i)->type.elem, kc_tiler_axes(t, false));
            all[at++] = kc_tiler_identity(t, t->scans[k].op, i, type);
        }
    kc_value *counter = kc_tiler_begin_loop(t, kc_tiler_steps(t, true), at, all, &chunks->loop);
    chunks->scope = kc_tiler_enter(t);
    kc_tiler_open_axes(t, counter, true);
    kc_value **next = KC_NEW_ARRAY(t->pass->scratch, kc_value *, more + 1);
    for (int k = 0, done = 0; k < t->n_scans; k++) {
        t->scans[k].carry = chunks->loop->body->args + 1 + n + done;
        t->scans[k].next = next + done;
        done += t->scans[k].op->n_operands;
    }
}

// Nobody may have asked for it after all: what is kept in place is not computed.
static void keep_going(kc_tiler *t, const kc_open_scan *scan) {
    kc_coord c[KC_MAX_RANK];
    if (scan->next[0]) return;
    for (int a = 0; a < t->n_axes; a++)
        c[a] = kc_tiler_axis_coord(t, a);
    kc_tiler_emit(t, kc_result(scan->op, 0), c, NULL);
}

void kc_tiler_end_chunks(kc_tiler *t, kc_chunks *chunks, int n, kc_value *const *next) {
    int total = chunks->loop->n_results;
    for (int k = 0; k < t->n_scans; k++)
        keep_going(t, &t->scans[k]);
    kc_value **all = KC_NEW_ARRAY(t->pass->scratch, kc_value *, total + 1);
    for (int i = 0; i < n; i++)
        all[i] = next[i];
    for (int i = n; i < total; i++)
        all[i] = t->scans[0].next[i - n];
    kc_tiler_leave(t, chunks->scope);
    kc_tiler_end_loop(t, chunks->loop, total, all);
    t->n_scans = 0;
}
