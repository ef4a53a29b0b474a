#include "passes/schedule.h"

#include <string.h>

bool kc_schedule_matches(const kc_target *target, const kc_op *schedule) {
    const char *wanted = kc_attr_string(schedule, KC_ATTR_TARGET, NULL);
    if (!wanted) return true;
    if (!target) return false;
    size_t length = strlen(target->kind->name);
    if (strncmp(wanted, target->kind->name, length) != 0) return false;
    return wanted[length] == 0 ||
           (wanted[length] == ':' && strcmp(wanted + length + 1, target->arch->name) == 0);
}

static bool gives(const kc_op *op, const char *name) {
    for (int i = 0; i < op->n_results; i++)
        if (kc_result(op, i)->name && strcmp(kc_result(op, i)->name, name) == 0) return true;
    return false;
}

bool kc_schedule_computes(const kc_block *block, const char *name) {
    KC_FOR_OPS(op, block)
        if (gives(op, name)) return true;
    return false;
}

static bool heavy(const kc_op *op) {
    return kc_op_has_any(op, KC_REDUCTION | KC_CONTRACTION);
}

static bool above(const kc_op *op, const char *name, bool *seen) {
    for (int i = 0; i < op->n_operands; i++) {
        const kc_op *def = kc_operand(op, i)->def;
        if (!def || heavy(def) || seen[def->order]) continue;
        seen[def->order] = true;
        if (gives(def, name) || above(def, name, seen)) return true;
    }
    return false;
}

static bool below(const kc_op *op, const char *name, bool *seen) {
    for (int i = 0; i < op->n_results; i++)
        for (const kc_use *use = kc_result(op, i)->uses; use; use = use->next) {
            const kc_op *user = use->user;
            if (heavy(user) || user->block != op->block || seen[user->order]) continue;
            seen[user->order] = true;
            if (gives(user, name) || below(user, name, seen)) return true;
        }
    return false;
}

kc_op *kc_schedule_entry(const kc_target *target, kc_arena *scratch, kc_op *scope, kc_op *op) {
    kc_block_renumber(scope->body);
    KC_FOR_OPS(schedule, scope->body) {
        if (schedule->code != KC_OP_SCHEDULE || !kc_schedule_matches(target, schedule)) continue;
        const char *name = kc_attr_string(schedule, KC_ATTR_KERNEL, NULL);
        if (!name || gives(op, name)) return schedule;
        bool *seen = KC_NEW_ARRAY(scratch, bool, scope->body->last->order + 1);
        if (above(op, name, seen) || below(op, name, seen)) return schedule;
    }
    return NULL;
}
