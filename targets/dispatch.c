// Paths of shared memory.
#include "targets/dispatch.h"

static bool is_better(const kc_layout_cost *a, const kc_layout_cost *than) {
    return a->wavefronts < than->wavefronts ||
           (a->wavefronts == than->wavefronts && a->instructions < than->instructions);
}

// False: this tile cannot come so from this memory.
static bool plan_matrix(const kc_layout *tile, const kc_layout *memory, int element_bytes,
                        int banks, kc_matrix_order order, kc_shared_plan *plan) {
    kc_layout inside;
    const char *error =
        kc_layout_matrix_rows(&plan->rows, &plan->matrices, tile, element_bytes, order);
    if (error || kc_layout_inside(&inside, &plan->rows, memory) ||
        !kc_layout_rows_in(&inside, memory, element_bytes))
        return false;
    plan->path = order == KC_MATRIX_PLAIN ? KC_PATH_MATRIX : KC_PATH_MATRIX_TRANSPOSED;
    plan->cost = kc_layout_access_cost(&inside, memory, element_bytes, banks);
    return true;
}

kc_shared_plan kc_dispatch_shared_load(const kc_target *target, const kc_layout *tile,
                                       const kc_layout *memory, int element_bytes) {
    int banks = (int)target->attributes.shared_banks;
    kc_shared_plan best = {.path = KC_PATH_PLAIN}, next;
    kc_layout inside;
    if (kc_layout_inside(&inside, tile, memory)) return best;
    best.cost = kc_layout_access_cost(&inside, memory, element_bytes, banks);
    if (!target->attributes.has_matrix_load) return best;
    for (kc_matrix_order order = KC_MATRIX_PLAIN; order <= KC_MATRIX_TRANSPOSED; order++)
        if (plan_matrix(tile, memory, element_bytes, banks, order, &next) &&
            is_better(&next.cost, &best.cost))
            best = next;
    return best;
}

const char *kc_dispatch_choose_memory(kc_layout *out, const kc_target *target,
                                      const kc_layout *writer, const kc_layout *reader, int element_bytes,
                                      int kept) {
    int banks = (int)target->attributes.shared_banks, matrices;
    kc_layout readers[3] = {*reader}, memory;
    int n = 1;
    kc_layout_cost best = {0};
    for (kc_matrix_order order = KC_MATRIX_PLAIN; order <= KC_MATRIX_TRANSPOSED; order++)
        if (target->attributes.has_matrix_load &&
            !kc_layout_matrix_rows(&readers[n], &matrices, reader, element_bytes, order))
            n++;
    for (int i = 0; i < n; i++) {
        const char *error =
            kc_layout_choose_memory(&memory, writer, &readers[i], element_bytes, banks, kept);
        if (error) return error;
        kc_layout_cost cost = kc_dispatch_shared_load(target, reader, &memory, element_bytes).cost,
                       write = kc_layout_access_cost(writer, &memory, element_bytes, banks);
        cost.wavefronts += write.wavefronts;
        cost.instructions += write.instructions;
        if (i == 0 || is_better(&cost, &best)) best = cost, *out = memory;
    }
    return NULL;
}
