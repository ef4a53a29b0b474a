/* Lane kernels for any host, and the choice between the two sets. */
#include "runtime/sim/cuda/lanes.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#define LANES_TABLE kcsim_lanes_base
#define LANES_NAME "base"
#include "runtime/sim/cuda/lanes_impl.h"

#if defined(__x86_64__)
/* Not __builtin_cpu_supports: clang learnt this name after version 14. */
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

static const kcsim_lane_table *choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        return &kcsim_lanes_avx2;
#endif
    return &kcsim_lanes_base;
}

/* Asked at every access; cpuid takes microseconds on a virtual machine. */
const kcsim_lane_table *kcsim_lanes(void) {
    static const kcsim_lane_table *_Atomic chosen;
    const kcsim_lane_table *table = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (table) return table;
    table = choose();
    atomic_store_explicit(&chosen, table, memory_order_relaxed);
    return table;
}

static ptx_type without_sign(ptx_type type) {
    switch (type) {
    case PTX_B16:
    case PTX_S16: return PTX_U16;
    case PTX_B32:
    case PTX_S32: return PTX_U32;
    case PTX_B64:
    case PTX_S64: return PTX_U64;
    case PTX_S16X2: return PTX_U16X2;
    default: return type;
    }
}

static kcsim_lane_fn find_exactly(kcsim_lane_op op, ptx_type type, bool ftz) {
    const kcsim_lane_table *table = kcsim_lanes();
    for (int i = 0; i < table->row_count; i++)
        if (table->rows[i].op == op && table->rows[i].type == type && table->rows[i].ftz == ftz)
            return table->rows[i].fn;
    return NULL;
}

kcsim_lane_fn kcsim_lane_find(kcsim_lane_op op, ptx_type type, bool ftz) {
    kcsim_lane_fn found = find_exactly(op, type, ftz);
    return found ? found : find_exactly(op, without_sign(type), ftz);
}

kcsim_compare_fn kcsim_compare_find(ptx_modifier compare, ptx_type type, bool ftz) {
    const kcsim_lane_table *table = kcsim_lanes();
    ptx_type wanted = ptx_types[type].kind == PTX_KIND_BITS ? without_sign(type) : type;
    for (int i = 0; i < table->compare_count; i++) {
        const kcsim_compare_row *row = &table->compares[i];
        if (row->compare == compare && row->type == wanted && row->ftz == ftz) return row->fn;
    }
    return NULL;
}
