/* A kernel ready to run: one decoded instruction a statement, registers assigned to slots,
 * constants spread over lanes.
 *
 * A slot is a register of all 32 lanes: 64, 128, 256 or 512 bytes, or one mask for a predicate.
 * Registers of PTX that are never live together share a slot, so that a warp's registers stay in
 * the host's cache. */
#ifndef KCSIM_CODE_H
#define KCSIM_CODE_H

#include "runtime/sim/counters.h"
#include "runtime/sim/cuda/convert.h"
#include "runtime/sim/cuda/lanes.h"
#include "runtime/sim/cuda/ptx.h"
#include "runtime/sim/machine.h"

/* Where an operand lies. Slot 0 stands for everything that is always defined: constants and absent
 * operands. */
typedef struct kcsim_ref {
    uint32_t at;   /* bytes into the warp's registers, or with KCSIM_CONSTANT set into the kernel's
                      constants */
    uint32_t slot; /* index of its definedness */
} kcsim_ref;

#define KCSIM_CONSTANT 0x80000000u

typedef enum kcsim_kind {
    KCSIM_DO_LANES,        /* d = fn(a, b, c, e) */
    KCSIM_DO_CARRY,        /* add.cc and its kin */
    KCSIM_DO_COMPARE,      /* setp */
    KCSIM_DO_COMPARE_PAIR, /* setp of two halves: d and d2 */
    KCSIM_DO_LOGIC_TEST,   /* lop3.and, lop3.or: the table is `part`, d2 whether d is not 0, with e */
    KCSIM_DO_SET,
    KCSIM_DO_SELECT, /* selp, slct */
    KCSIM_DO_TESTP,
    KCSIM_DO_MOVE,      /* bytes */
    KCSIM_DO_PREDICATE, /* and.pred and its kin: imm is the truth table of (a, b) */
    KCSIM_DO_PACK,
    KCSIM_DO_UNPACK,
    KCSIM_DO_SPECIAL,
    KCSIM_DO_CONVERT,
    KCSIM_DO_WINDOW, /* cvta: add imm (a wrap-around) to a */
    KCSIM_DO_ISSPACE,
    KCSIM_DO_MAP_ADDRESS, /* mapa: a into the window of block b */
    KCSIM_DO_BLOCK_RANK,  /* getctarank */
    KCSIM_DO_LOAD,
    KCSIM_DO_STORE,
    KCSIM_DO_ATOMIC,
    KCSIM_DO_COPY_ASYNC,
    KCSIM_DO_BULK,       /* fn.bulk */
    KCSIM_DO_MAP_FIELD,  /* tensormap.replace: mode's field, number `target`, becomes b */
    KCSIM_DO_MAP_COPY,   /* of a map at b in shared memory to a in global memory */
    KCSIM_DO_MAP_FENCE,  /* extend: acquires the map at a; else releases */
    KCSIM_DO_COPY_GROUP, /* commit and wait; imm: groups that may stay in flight */
    KCSIM_DO_EARLY_WAIT, /* griddepcontrol.wait */
    KCSIM_DO_EARLY_TRIGGER,
    KCSIM_DO_NOTHING,
    KCSIM_DO_BRANCH,
    KCSIM_DO_BRANCH_INDEX,
    KCSIM_DO_EXIT,
    KCSIM_DO_TRAP,
    KCSIM_DO_ENDLESS, /* loops.c: no way leads from here to an exit; imm: where the loop ends */
    KCSIM_DO_SYSTEM, /* mode: kcsim_system_call; list: where arguments lie; imm: the result or -1 */
    KCSIM_DO_BARRIER,
    KCSIM_DO_CLUSTER_BARRIER, /* mode: KCSIM_BARRIER_ARRIVE, or SYNC for the wait */
    KCSIM_DO_REGISTERS,       /* setmaxnreg: imm registers; extend: more of them */
    KCSIM_DO_FENCE,
    KCSIM_DO_MBARRIER, /* mode: kcsim_mbarrier_op */
    KCSIM_DO_WARP_BARRIER,
    KCSIM_DO_SHUFFLE,
    KCSIM_DO_VOTE,
    KCSIM_DO_MATCH,
    KCSIM_DO_REDUCE,
    KCSIM_DO_ACTIVE_MASK,
    KCSIM_DO_ELECT,
    KCSIM_DO_LOAD_MATRIX,
    KCSIM_DO_STORE_MATRIX,
    KCSIM_DO_LOAD_BYTES,  /* count: matrices; extend: of 16 rows, transposed; part: bits of an
                             element in memory */
    KCSIM_DO_STORE_BYTES, /* count: matrices of 8 columns, each 16 bytes in memory */
    KCSIM_DO_MOVE_MATRIX,
    KCSIM_DO_MMA,          /* fn.mma; so has */
    KCSIM_DO_MMA_SECTIONS,
    KCSIM_DO_MMA_QUADS,
    KCSIM_DO_WMMA_LOAD, /* decode_matrix.c says what the fields hold */
    KCSIM_DO_WMMA_STORE,
    KCSIM_DO_WMMA,
    KCSIM_DO_WGMMA, /* list: D, then A where it is in registers; a, b: descriptors; c: scale-d */
    KCSIM_DO_WGMMA_FENCE,
    KCSIM_DO_WGMMA_GROUP, /* commit (imm < 0), or wait until imm groups are left */
    KCSIM_DO_PROXY_FENCE
} kcsim_kind;

/* Functions that no PTX defines; ptx_statement's first operand names one in a flat CALL. */
typedef enum kcsim_system_call {
    KCSIM_SYSTEM_PRINT,
    KCSIM_SYSTEM_ASSERT,
    KCSIM_SYSTEM_ALLOCATE,
    KCSIM_SYSTEM_FREE
} kcsim_system_call;

/* Why a trap that the flattener made is reached; an operand of it. */
typedef enum kcsim_trap_reason {
    KCSIM_TRAP_ASKED, /* by the program */
    KCSIM_TRAP_POINTER,
    KCSIM_TRAP_STACK
} kcsim_trap_reason;

/* What an mbarrier instruction does; kcsim_insn.extend is .expect_tx of an arrival. */
typedef enum kcsim_mbarrier_op {
    KCSIM_MBARRIER_INIT,
    KCSIM_MBARRIER_INVALIDATE,
    KCSIM_MBARRIER_EXPECT,
    KCSIM_MBARRIER_COMPLETE,
    KCSIM_MBARRIER_ARRIVE,
    KCSIM_MBARRIER_DROP,
    KCSIM_MBARRIER_TEST,
    KCSIM_MBARRIER_TRY,
    KCSIM_MBARRIER_PENDING,
    KCSIM_MBARRIER_COPIES, /* cp.async.mbarrier.arrive */
    KCSIM_MBARRIER_COPIES_NOINC
} kcsim_mbarrier_op;

typedef enum kcsim_barrier_mode {
    KCSIM_BARRIER_SYNC,
    KCSIM_BARRIER_ARRIVE,
    KCSIM_BARRIER_REDUCE
} kcsim_barrier_mode;

/* What becomes of undefined bits: exec_define.c. */
typedef enum kcsim_define_rule {
    KCSIM_DEFINE_PARTS,    /* any in `part` bytes of a source spoil those of the result; 0: all */
    KCSIM_DEFINE_UPWARD,   /* sums and products: the lowest spoils itself and all above it */
    KCSIM_DEFINE_LOGIC,    /* bit by bit: `part` is the truth table of (a, b, c) as lop3 has it */
    KCSIM_DEFINE_MOVED,    /* they go where the bits go: the first `part` sources (of `element`
                              bytes) are moved, the others say where to */
    KCSIM_DEFINE_SELECTED, /* a or b */
    KCSIM_DEFINE_CONVERTED /* those of the number, or of each of a pair */
} kcsim_define_rule;

typedef struct kcsim_insn {
    uint8_t kind;    /* kcsim_kind */
    uint8_t class;   /* kcsim_class */
    uint8_t bytes;   /* of a lane: the destination's, or one memory element's in memory */
    uint8_t count;   /* elements of a vector access */
    uint8_t space;   /* ptx_space */
    uint8_t mode;    /* a ptx_modifier or what the kind says */
    uint8_t round;   /* PTX_M_RZ, _RM, _RP where the host has to round otherwise than to nearest */
    uint8_t element; /* bytes a memory element takes in its register */
    uint8_t define, part; /* kcsim_define_rule and its detail */
    bool is_slow;  /* more than the lane kernel: rounding, flushing, saturating, widening, no result
                    */
    bool in_place; /* the destination is also a source */
    bool negate_c, negate_guard;
    bool extend;  /* sign-extend what is loaded */
    bool aligned; /* a barrier that all lanes of the warp must reach together */
    uint32_t line;
    uint32_t guard; /* slot, 0 when there is none */
    uint32_t guard_at;
    uint32_t target;
    kcsim_ref d, d2, a, b, c, e;
    int64_t imm;
    union {
        kcsim_lane_fn lanes;
        kcsim_compare_fn compare;
        const kcsim_conversion *conversion;
        const struct kcsim_wgmma_form *wgmma; /* wgmma.h */
        const struct kcsim_bulk *bulk;
        const struct kcsim_mma_form *mma; /* mma.h */
    } fn;
    /* Beside the kernel: halves are flushed before and after; results are saturated after; and in
     * mixed precision the first operands are widened before (`widened` of them). */
    kcsim_lane_fn flush, post, widen;
    uint8_t widened;
    bool cluster;    /* an address of shared memory may be another block's */
    bool strong;     /* it may order warps through shared memory */
    bool seen;       /* a strong load or store, which others may see: where interleavings differ */
    bool relaxed;    /* .relaxed: it orders nothing but by fences */
    bool parity;     /* of a wait: c is a phase's parity, not a state */
    kcsim_ref *list; /* vector elements, matrix fragments, branch targets (in .at) */
    uint32_t list_count;
    const ptx_statement *source;
} kcsim_insn;

typedef struct kcsim_slot {
    uint32_t at;
    uint8_t bytes; /* of a lane; 0 for a predicate */
} kcsim_slot;

typedef struct kcsim_code {
    kcsim_insn *insns;
    uint32_t insn_count;
    kcsim_slot *slots;
    uint32_t slot_count;
    uint32_t register_bytes; /* of one warp */
    uint8_t *constants;
    uint32_t constant_bytes;
    uint64_t shared_bytes; /* of static variables */
    uint64_t local_bytes;  /* of one thread */
    uint32_t dynamic_shared_at; /* what counts as static: the variables and what aligns the rest */
    int registers;            /* 32-bit registers live at once, rounded as the hardware allocates */
    bool talks_across_blocks; /* atomics or polling on global memory: blocks run in one fixed order
                               */
    bool narrow_scopes;       /* .cta or .cluster on something that may order global memory */
    bool arrives;             /* barriers that some arrive at without waiting */
    bool system_calls;        /* blocks run in one order, for what they print */
    bool wgmma;               /* warpgroups multiply matrices */
    bool copies;              /* asynchronous copies to shared memory */
    bool bulk;                /* bulk copies, or fences for them */
    bool orders; /* by more than the block's barriers: mbarriers, the cluster's barrier */
    bool flags; /* strong accesses to shared memory order warps: they say so, or by fences */
    bool strong_shared, fences;
    bool triggers; /* griddepcontrol.launch_dependents */
    bool mbarriers;
    bool uses_shared_window; /* addresses of shared memory may appear as generic ones */
} kcsim_code;

struct kcsim_function {
    const char *name;
    ptx_routine *routine;
    kcsim_module *module;
    kcsim_code code;
    kcsim_param *params;
    struct kcsim_function *next;
};

struct kcsim_module {
    ptx_module ptx;
    kcsim_function *functions;
    size_t function_count;
    uint64_t *allocations; /* addresses of its variables */
    size_t allocation_count, allocation_capacity;
    uint64_t const_bytes;
    struct kcsim_module *next;
};

/* ---- flatten.c: the routine with every call replaced by the callee's body ---- */
typedef struct kcsim_flat {
    ptx_statement *statements;
    size_t count, capacity;
    ptx_register *registers;
    size_t register_count, register_capacity;
    uint64_t local_bytes;
} kcsim_flat;

/* Branch targets become indices: LABEL operands hold theirs in `integer`, a list of targets in its
 * elements. False with module->error set. The arrays are malloc'd; what they point to lives in the
 * module's arena. */
bool kcsim_flatten(ptx_module *module, ptx_routine *entry, kcsim_flat *flat);

/* ---- loops.c: where a loop begins that has no way out, KCSIM_DO_ENDLESS takes the place of the
 * instruction. False when the host is out of memory. ---- */
bool kcsim_find_endless(kcsim_code *code);

/* ---- registers.c ---- */
/* One slot number (from 1) a register, and the slots. False when the host is out of memory. */
bool kcsim_assign_slots(ptx_module *module, const kcsim_flat *flat, uint32_t *slot_of,
                        kcsim_code *code);
/* Calls `visit` for every register of a statement. */
void kcsim_visit_registers(ptx_statement *statement,
                           void (*visit)(void *context, uint32_t *reg, bool is_written),
                           void *context);

/* ---- decode.c ---- */
bool kcsim_decode_kernel(ptx_module *module, ptx_routine *entry, kcsim_code *code);

#endif
