// The model's schedule entries: which one applies to a kernel, and which wishes cannot be met.
#include "passes/plan.h"
#include "passes/schedule.h"

#include <string.h>

enum { MOST_STAGES = 16 };

static bool refuse(kc_pass_context *pass, const kc_op *schedule, const char *key,
                   const char *what) {
    kc_report(pass->diag, KC_ERROR, schedule->loc, "schedule key '%s': %s", key, what);
    return false;
}

static bool check(kc_pass_context *pass, const kc_op *schedule) {
    const kc_target_attributes *limits = &pass->target->attributes;
    const char *raster = kc_attr_string(schedule, KC_ATTR_RASTER, "row");
    int64_t warps = kc_attr_int(schedule, KC_ATTR_WARPS, 1);
    bool ok = true;
    if (strcmp(raster, "row") != 0 && strncmp(raster, "grouped:", 8) != 0)
        ok = refuse(
            pass, schedule, "raster",
            kc_arena_printf(pass->scratch, "'%s' is not built yet; use row or grouped:N", raster));
    if (kc_attr_int(schedule, KC_ATTR_STAGES, 1) > MOST_STAGES)
        ok = refuse(pass, schedule, "stages",
                    kc_arena_printf(pass->scratch, "at most %d are built", MOST_STAGES));
    if (warps & (warps - 1))
        ok = refuse(pass, schedule, "warps", "the warps of a block are a power of two");
    if (warps * limits->warp_size > limits->max_num_threads) {
        const char *text = kc_arena_printf(
            pass->scratch,
            "%lld warps of %lld threads exceed the %lld threads that a block of %s may have",
            (long long)warps, (long long)limits->warp_size, (long long)limits->max_num_threads,
            pass->target->arch->name);
        ok = refuse(pass, schedule, "warps", text);
    }
    return ok;
}

static bool multiplies(const kc_block *body) {
    KC_FOR_OPS(op, body)
        if (kc_op_has(op, KC_CONTRACTION) || (op->code == KC_OP_FUSION && multiplies(op->body)))
            return true;
    return false;
}

// An entry for all statements that can only mean products (a tile of three extents, a split) says
// nothing about the reductions beside them: those that sum the parts of a product, for one.
static bool means_others(const kc_op *variant, const kc_op *kernel, const kc_op *schedule) {
    const kc_attr *tile = kc_attr_get(schedule, KC_ATTR_TILE);
    bool of_products = kc_attr_int(schedule, KC_ATTR_SPLIT, 1) != 1 || (tile && tile->count == 3);
    if (!of_products || multiplies(kernel->body)) return false;
    KC_FOR_OPS(op, kernel->body)
        if (kc_op_has(op, KC_REDUCTION)) return multiplies(variant->body);
    return false;
}

void kc_plan_schedule(kc_pass_context *pass, const kc_op *variant, kc_op *kernel) {
    KC_FOR_OPS(schedule, variant->body) {
        if (schedule->code != KC_OP_SCHEDULE || !kc_schedule_matches(pass->target, schedule))
            continue;
        const char *statement = kc_attr_string(schedule, KC_ATTR_KERNEL, NULL);
        if (statement ? !kc_schedule_computes(kernel->body, statement)
                      : means_others(variant, kernel, schedule))
            continue;
        for (int i = 0; i < schedule->n_attrs; i++) {
            kc_attr attr = schedule->attrs[i];
            if (attr.key == KC_ATTR_TARGET || attr.key == KC_ATTR_KERNEL) continue;
            kc_attr_remove(kernel, attr.key);
            kernel->attrs[kernel->n_attrs++] = attr;
        }
        kernel->loc = schedule->loc; // what cannot be built is the schedule's doing
        return;
    }
}

static bool names_a_statement(kc_pass_context *pass, const kc_op *variant, const kc_op *schedule) {
    const char *statement = kc_attr_string(schedule, KC_ATTR_KERNEL, NULL);
    if (!statement) return true;
    KC_FOR_OPS(fusion, variant->body)
        if (fusion->code == KC_OP_FUSION && kc_schedule_computes(fusion->body, statement))
            return true;
    kc_report(pass->diag, KC_ERROR, schedule->loc,
              "schedule for '%s': no statement of function %s has that name (or nothing uses it)",
              statement, kc_func_name(kc_op_parent(variant)));
    return false;
}

bool kc_plan_check_schedules(kc_pass_context *pass, const kc_op *variant) {
    bool ok = true;
    KC_FOR_OPS(op, variant->body) {
        if (op->code != KC_OP_SCHEDULE) continue;
        ok = names_a_statement(pass, variant, op) && ok;
        if (kc_schedule_matches(pass->target, op)) ok = check(pass, op) && ok;
    }
    return ok;
}
