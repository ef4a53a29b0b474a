/* PTX as text becomes PTX as data: a module of routines, each a list of statements whose names are
 * resolved.
 *
 *     text - ptx_lex - ptx_parse - ptx_module -> flatten (calls inlined) -> registers in slots
 *          -> decode -> kcsim_code
 *
 * Everything of a module lives in its arena. */
#ifndef KCSIM_PTX_H
#define KCSIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/arena.h"
#include "runtime/sim/counters.h"

typedef enum ptx_type {
    PTX_NO_TYPE,
#define TYPE(name, text, bits, kind) PTX_##name,
#include "runtime/sim/cuda/ptx_types.def"
#undef TYPE
    PTX_TYPE_COUNT
} ptx_type;

typedef enum ptx_type_kind {
    PTX_KIND_NONE,
    PTX_KIND_BITS,
    PTX_KIND_UINT,
    PTX_KIND_SINT,
    PTX_KIND_FLOAT,
    PTX_KIND_PACKED,
    PTX_KIND_PRED,
    PTX_KIND_ELEMENT
} ptx_type_kind;

typedef struct ptx_type_info {
    const char *text;
    uint8_t bits;
    ptx_type_kind kind;
} ptx_type_info;

extern const ptx_type_info ptx_types[PTX_TYPE_COUNT];

#define PTX_GROUPS(X)                                                                              \
    X(ROUND)                                                                                       \
    X(FTZ)                                                                                         \
    X(SAT)                                                                                         \
    X(RELU)                                                                                        \
    X(APPROX)                                                                                      \
    X(HALF) X(CC) X(NANMODE) X(XORSIGN) X(ABSMODE) X(NOFTZ) X(COMPARE) X(BOOL) X(SPACE) X(TO)      \
        X(SEMANTICS) X(SCOPE) X(CACHE) X(NC) X(EVICT) X(EVICT2) X(L2HINT) X(L2PREFETCH) X(LEVEL)   \
            X(VECTOR) X(ATOMIC) X(UNI) X(ALIGNED) X(SHUFFLE) X(VOTE) X(DIRECTION) X(WRAP)          \
                X(PERMUTE) X(SHIFTAMT) X(TEST) X(SHAPE) X(MATRICES) X(TRANS) X(LAYOUT_A)           \
                    X(LAYOUT_B) X(PROXY) X(RESTRICT) X(POPC) X(TILE) X(KIND) X(FROM) X(COMPLETION) \
                        X(MULTICAST) X(DIMENSIONS) X(TILE_MODE) X(READ) X(UNPACKED) X(PACKING)     \
                            X(BLOCK_SCALE) X(SCALE_VEC) X(MAP_FIELD) X(MAP_SIZE) X(SYNC) X(CP_MASK)

typedef enum ptx_group {
#define X(name) PTX_GROUP_##name,
    PTX_GROUPS(X)
#undef X
        PTX_GROUP_COUNT
} ptx_group;

typedef enum ptx_modifier {
    PTX_M_NONE,
#define MODIFIER(name, text, group) PTX_M_##name,
#include "runtime/sim/cuda/ptx_modifiers.def"
#undef MODIFIER
    PTX_MODIFIER_COUNT
} ptx_modifier;

typedef enum ptx_op {
#define OP(name, mnemonic, family, dests, least, most, class, groups) PTX_OP_##name,
#include "runtime/sim/cuda/ptx_ops.def"
#undef OP
    PTX_OP_COUNT
} ptx_op;

typedef enum ptx_family {
    PTX_FAMILY_LANES,
    PTX_FAMILY_TESTP,
    PTX_FAMILY_SETP,
    PTX_FAMILY_SET,
    PTX_FAMILY_SELP,
    PTX_FAMILY_SLCT,
    PTX_FAMILY_MOV,
    PTX_FAMILY_CVT,
    PTX_FAMILY_CVTA,
    PTX_FAMILY_ISSPACEP,
    PTX_FAMILY_MAPA,
    PTX_FAMILY_LD,
    PTX_FAMILY_ST,
    PTX_FAMILY_ATOM,
    PTX_FAMILY_RED,
    PTX_FAMILY_NOP,
    PTX_FAMILY_POLICY,
    PTX_FAMILY_CPASYNC,
    PTX_FAMILY_BULK,
    PTX_FAMILY_TENSORMAP,
    PTX_FAMILY_TENSORMAP_COPY,
    PTX_FAMILY_TENSORMAP_FENCE,
    PTX_FAMILY_COPYGROUP,
    PTX_FAMILY_BRA,
    PTX_FAMILY_BRX,
    PTX_FAMILY_CALL,
    PTX_FAMILY_RET,
    PTX_FAMILY_EXIT,
    PTX_FAMILY_TRAP,
    PTX_FAMILY_NANOSLEEP,
    PTX_FAMILY_BAR,
    PTX_FAMILY_BAR_RED,
    PTX_FAMILY_WARPSYNC,
    PTX_FAMILY_SHFL,
    PTX_FAMILY_VOTE,
    PTX_FAMILY_MATCH,
    PTX_FAMILY_REDUX,
    PTX_FAMILY_ACTIVEMASK,
    PTX_FAMILY_ELECT,
    PTX_FAMILY_LDMATRIX,
    PTX_FAMILY_STMATRIX,
    PTX_FAMILY_MOVMATRIX,
    PTX_FAMILY_MMA,
    PTX_FAMILY_MMA_SPARSE,
    PTX_FAMILY_BLOCK_RANK,
    PTX_FAMILY_CLUSTER_BARRIER,
    PTX_FAMILY_SETMAXNREG,
    PTX_FAMILY_MBARRIER,
    PTX_FAMILY_FENCE,
    PTX_FAMILY_WMMA_LOAD,
    PTX_FAMILY_WMMA_STORE,
    PTX_FAMILY_WMMA,
    PTX_FAMILY_WGMMA,
    PTX_FAMILY_WGMMA_FENCE,
    PTX_FAMILY_WGMMA_GROUP,
    PTX_FAMILY_PROXY_FENCE
} ptx_family;

typedef struct ptx_op_info {
    const char *mnemonic;
    ptx_family family;
    uint8_t destinations, least, most;
    kcsim_class class;
    const char *groups;
} ptx_op_info;

extern const ptx_op_info ptx_ops[PTX_OP_COUNT];

/* The group's name stands in the op's list. */
bool ptx_op_takes(ptx_op op, ptx_group group);

typedef enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_CONST,
    PTX_SPACE_REG
} ptx_space;

const char *ptx_space_name(ptx_space space);

/* X and Y or Z of special registers. The rest have one component. */
#define PTX_SPECIALS(X)                                                                            \
    X(TID_X, "%tid.x")                                                                             \
    X(TID_Y, "%tid.y")                                                                             \
    X(TID_Z, "%tid.z")                                                                             \
    X(NTID_X, "%ntid.x")                                                                           \
    X(NTID_Y, "%ntid.y") X(NTID_Z, "%ntid.z") X(CTAID_X, "%ctaid.x") X(CTAID_Y, "%ctaid.y") X(     \
        CTAID_Z, "%ctaid.z") X(NCTAID_X, "%nctaid.x") X(NCTAID_Y, "%nctaid.y")                     \
        X(NCTAID_Z, "%nctaid.z") X(CLUSTERID_X, "%clusterid.x") X(CLUSTERID_Y, "%clusterid.y") X(  \
            CLUSTERID_Z, "%clusterid.z") X(NCLUSTERID_X, "%nclusterid.x") X(NCLUSTERID_Y,          \
                                                                            "%nclusterid.y")       \
            X(NCLUSTERID_Z, "%nclusterid.z") X(CLUSTER_CTAID_X, "%cluster_ctaid.x") X(             \
                CLUSTER_CTAID_Y, "%cluster_ctaid.y") X(CLUSTER_CTAID_Z, "%cluster_ctaid.z")        \
                X(CLUSTER_NCTAID_X, "%cluster_nctaid.x") X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y")  \
                    X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z") X(CLUSTER_CTARANK,                    \
                                                               "%cluster_ctarank")                 \
                        X(CLUSTER_NCTARANK, "%cluster_nctarank") X(LANEID, "%laneid") X(           \
                            WARPID, "%warpid") X(NWARPID, "%nwarpid") X(SMID, "%smid")             \
                            X(NSMID, "%nsmid") X(GRIDID, "%gridid") X(LANEMASK_EQ, "%lanemask_eq") \
                                X(LANEMASK_LE, "%lanemask_le") X(LANEMASK_LT, "%lanemask_lt")      \
                                    X(LANEMASK_GE, "%lanemask_ge") X(LANEMASK_GT, "%lanemask_gt")  \
                                        X(CLOCK, "%clock") X(CLOCK_HI, "%clock_hi")                \
                                            X(CLOCK64, "%clock64") X(GLOBALTIMER, "%globaltimer")  \
                                                X(GLOBALTIMER_LO, "%globaltimer_lo")               \
                                                    X(GLOBALTIMER_HI, "%globaltimer_hi")           \
                                                        X(TOTAL_SMEM, "%total_smem_size")          \
                                                            X(DYNAMIC_SMEM, "%dynamic_smem_size")  \
                                                                X(AGGR_SMEM, "%aggr_smem_size")    \
                                                                    X(IS_EXPLICIT_CLUSTER,         \
                                                                      "%is_explicit_cluster")      \
                                                                        X(ENVREG1, "%envreg1")     \
                                                                            X(ENVREG2, "%envreg2")

typedef enum ptx_special {
#define X(name, text) PTX_SPECIAL_##name,
    PTX_SPECIALS(X)
#undef X
        PTX_SPECIAL_COUNT
} ptx_special;

/* The width classes of registers; the value is the bytes a lane takes (predicates are one mask a
 * warp). */
typedef struct ptx_register {
    uint8_t bytes; /* 0 for a predicate, 2, 4, 8, 16 */
} ptx_register;

/* A place in an initialiser that holds an address. */
typedef struct ptx_relocation {
    uint64_t offset;
    uint8_t bytes;
    bool generic;
    const char *symbol;
    struct ptx_scope *scope; /* in which the symbol is to be found */
    int64_t addend;
    uint32_t line;
    struct ptx_relocation *next;
} ptx_relocation;

typedef struct ptx_variable {
    const char *name;
    ptx_space space;
    uint32_t align, line;
    uint64_t bytes;
    bool external; /* `.extern .shared`: takes what the launch gives */
    bool in_routine;
    bool managed;  /* .attribute(.managed): the host uses it too */
    bool in_frame; /* of a routine that recurses: `address` is an offset in its frame */
    uint8_t *data; /* NULL: zeros (.global, .const) or nothing (the rest) */
    ptx_relocation *relocations;
    uint64_t address; /* .global, .const: where it lives; .param of an entry: its offset */
    struct ptx_variable *next;
} ptx_variable;

typedef struct ptx_label {
    const char *name;
    uint32_t at; /* index of the statement behind it */
    bool defined;
    struct ptx_label **targets; /* of a .branchtargets list */
    uint32_t target_count;
    struct ptx_routine *prototype; /* of a .callprototype: no name, no body */
    struct ptx_routine **routines; /* of a .calltargets list */
    uint32_t routine_count;
} ptx_label;

typedef enum ptx_operand_kind {
    PTX_OPERAND_REGISTER,
    PTX_OPERAND_INTEGER,
    PTX_OPERAND_FLOAT32,
    PTX_OPERAND_FLOAT64,
    PTX_OPERAND_SPECIAL,
    PTX_OPERAND_VARIABLE, /* its address, plus `integer` */
    PTX_OPERAND_LABEL,
    PTX_OPERAND_ROUTINE,
    PTX_OPERAND_VECTOR,
    PTX_OPERAND_MEMORY, /* [base + integer] */
    PTX_OPERAND_PAIR,   /* d|p */
    PTX_OPERAND_LIST,   /* (a, b) of a call */
    PTX_OPERAND_SINK    /* _ */
} ptx_operand_kind;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    ptx_special special;
    uint32_t reg; /* REGISTER, and the base of MEMORY (PTX_NO_REGISTER when it has none) */
    uint32_t element_count : 31;
    uint32_t negated : 1; /* !p */
    int64_t integer;      /* the value; the bits of a float; the offset */
    ptx_variable *variable; /* VARIABLE, and the base of MEMORY */
    ptx_label *label;
    struct ptx_routine *routine;
    struct ptx_operand *elements; /* VECTOR, PAIR, LIST: element_count */
} ptx_operand;

#define PTX_NO_REGISTER UINT32_MAX
#define PTX_MAX_OPERANDS 10
#define PTX_MAX_TYPES 5

typedef struct ptx_statement {
    ptx_op op;
    uint32_t line;
    const char *text, *function; /* function: the routine's name */
    uint32_t guard; /* register, or PTX_NO_REGISTER */
    bool guard_negated;
    uint8_t type_count, operand_count;
    uint16_t tile[3]; /* m n k of a .m64n128k16, where the op takes TILE */
    ptx_type types[PTX_MAX_TYPES];
    uint8_t modifiers[PTX_GROUP_COUNT];
    ptx_operand operands[PTX_MAX_OPERANDS];
} ptx_statement;

typedef struct ptx_routine {
    const char *name;
    uint32_t line;
    bool is_entry, has_body, external;
    struct ptx_routine *alias_of; /* `.alias this, that;` */
    bool address_taken;
    uint64_t address; /* what a pointer to it holds: no memory is there */
    uint32_t mark;    /* of a walk over the calls */
    enum { PTX_RECURSION_UNKNOWN, PTX_RECURSES, PTX_RECURSES_NOT } recursion;
    ptx_variable **parameters; /* of an entry: address is the offset */
    uint32_t parameter_count;
    ptx_variable **results;
    uint32_t result_count;
    uint64_t parameter_bytes;
    uint32_t maxntid[3], reqntid[3], cluster[3], minnctapersm, maxnreg, max_cluster;
    bool explicit_cluster; /* a launch has to give the cluster's size */
    bool blocks_are_clusters; /* a launch's grid counts clusters */
    ptx_register *registers;
    size_t register_count, register_capacity;
    ptx_statement *statements;
    size_t statement_count, statement_capacity;
    struct ptx_routine *next;
} ptx_routine;

typedef struct ptx_module {
    kcsim_arena arena;
    int version; /* major * 10 + minor */
    int target;
    char target_suffix;
    ptx_variable *variables, *last_variable;
    ptx_routine *routines, *last_routine;
    uint32_t marks; /* walks over the calls so far */
    uint64_t stack_bytes; /* of a thread, for what recurses */
    char error[256]; /* "line 3: ..."; "" when it parsed */
    int status;      /* a kcsim_status when error is set */
} ptx_module;

/* Parses text[0..size). True on success; else module->error says what and where. The caller frees
 * the arena, and the statement and register arrays with ptx_module_free. */
bool ptx_parse(ptx_module *module, const char *text, size_t size);
void ptx_module_free(ptx_module *module);

/* Records the first error; later ones are dropped. */
void ptx_error(ptx_module *module, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline ptx_modifier ptx_has(const ptx_statement *statement, ptx_group group) {
    return (ptx_modifier)statement->modifiers[group];
}

#endif
