// Tile IR with layouts to LLVM IR. What the files of this folder share; nothing outside targets/
// includes it.
//
// A tile is one LLVM value a register of its layout; a scalar is one value. f16 and bf16 stay half
// and bfloat in registers, bool is i1; floats of 8 and 4 bits are an i8 with their code
// (emit_small.c), i4 is an i8 with its value. In memory bool is a byte. Two elements of 4 bits share
// a byte in global memory; in shared memory they take one each. The values of an op hang on kc_value.data while its kernel is emitted.
//
// Elementwise ops and iota are emitted late: register r of a tile when something first asks for it.
// So a store computes one register after the other from the loads on, and not one op after the
// other over all registers, which would keep every intermediate tile alive. Some loads are late too
// (emit_memory.c). kc_emit_register is the only way to a register; whoever is about to open a
// region or a conditional block asks first (kc_emit_force), so that what is emitted dominates its
// later uses.
#ifndef KC_TARGETS_COMMON_EMIT_H
#define KC_TARGETS_COMMON_EMIT_H

#include "ir/ir.h"
#include "ir/kernel_params.h"
#include "targets/common/tile_map.h"
#include "targets/mma.h"
#include "targets/target.h"
#include <llvm-c/Core.h>

typedef struct kc_emit kc_emit;

// What differs between vendors.
typedef struct {
    void (*module)(kc_emit *); // flags of the module, once; NULL: none
    void (*kernel)(kc_emit *, LLVMValueRef function,
                   int threads);           // calling convention and attributes
    LLVMValueRef (*thread_id)(kc_emit *);  // i32, in the block
    LLVMValueRef (*program_id)(kc_emit *); // i32, in the grid
    void (*barrier)(kc_emit *);
    // An i32 of the lane whose number differs in the bits of `mask`; of the lane `source` (i32).
    // All lanes take part.
    LLVMValueRef (*shuffle_xor)(kc_emit *, LLVMValueRef value, int mask);
    LLVMValueRef (*shuffle_index)(kc_emit *, LLVMValueRef value, LLVMValueRef source);
    // One access to global memory of a scalar or vector of integers, 1 to 16 bytes and aligned to
    // its size, where mask (i1) holds; elsewhere a load gives `otherwise` and memory is untouched.
    LLVMValueRef (*load_masked)(kc_emit *, LLVMValueRef pointer, LLVMValueRef mask,
                                LLVMValueRef otherwise, bool read_only);
    void (*store_masked)(kc_emit *, LLVMValueRef pointer, LLVMValueRef mask, LLVMValueRef value);
    // A copy of 4, 8 or 16 bytes, aligned to them, from global to shared memory, some time before it
    // is waited for; zeros where mask (i1; NULL: everywhere) is false. A commit makes a group of what
    // this thread copied since the last; a wait leaves its `pending` latest groups on their way.
    // NULL: this target has no such copies.
    void (*async_copy)(kc_emit *, LLVMValueRef shared, LLVMValueRef global, int bytes,
                       LLVMValueRef mask);
    void (*async_commit)(kc_emit *);
    void (*async_wait)(kc_emit *, int pending);
    // Between the code of a small float and f32 by an instruction; NULL: this target has none, or
    // none that means what `cast` means. The hooks may be NULL too.
    LLVMValueRef (*decode)(kc_emit *, kc_dtype, LLVMValueRef code);
    LLVMValueRef (*encode)(kc_emit *, kc_dtype, LLVMValueRef value);
    // Where target attributes say so: one, two or four matrices of 8 x 8 from shared memory, an i32
    // of each; this lane points at a row.
    void (*load_matrices)(kc_emit *, LLVMValueRef pointer, int n, bool transposed,
                          LLVMValueRef *words);
    // Where the kind has rows of instructions: fragments as words of 32 bits (f64: elements). c is
    // the accumulator and becomes the result.
    void (*multiply_matrices)(kc_emit *, const kc_mma *, int n_a, const LLVMValueRef *a, int n_b,
                              const LLVMValueRef *b, int n_c, LLVMValueRef *c);
    // An f32 rounded to tf32: its bits, the low ones 0.
    LLVMValueRef (*round_tf32)(kc_emit *, LLVMValueRef);
} kc_emit_hooks;

extern const kc_emit_hooks kc_emit_hooks_cuda, kc_emit_hooks_hip;

typedef struct {
    int64_t low, high;
} kc_range;

// What kc_value.data points to.
typedef struct {
    LLVMValueRef *regs; // of a tile, NULL where not emitted yet; one for a scalar, for a buffer in
                        // global memory (its address) and in shared memory (its first byte)
    int n;              // 0 for the token of a group
    const kc_tile_map *map;   // tiles of rank > 0, copies
    const kc_op *late;        // the op that gives the registers when they are asked for, else NULL
    int depth;                // late ops in a row
    LLVMValueRef thread_part; // of an iota, once a register was asked for
    struct kc_access *access; // of a late load, likewise
    bool read_only;           // a global buffer that nothing in this kernel writes
    bool range_known;
    kc_range range;
} kc_emitted;

// An intrinsic that was asked for.
typedef struct {
    const char *name;
    LLVMTypeRef first, second; // overloaded types
    LLVMValueRef function;
    LLVMTypeRef type;
} kc_emit_function;

struct kc_emit {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    const kc_target *target;
    const kc_emit_hooks *hooks;
    kc_arena *arena; // scratch, one a kernel
    kc_diag *diag;
    // of the kernel being emitted
    const kc_op *kernel;
    const kc_tile_map **maps; // one a layout seen so far
    int n_maps, maps_capacity;
    LLVMValueRef function;
    kc_expr_pool *pool;
    LLVMValueRef *symbols; // i64 values by symbol index, NULL where not a parameter
    int n_symbols, warps;
    bool loads_much;
    struct kc_emit_round *rounds; // of the loops so far
    LLVMValueRef thread;            // i32
    kc_emit_function functions[32]; // of the module
    LLVMTypeRef i1, i8, i16, i32, i64, f16, bf16, f32, f64, pointer_global, pointer_shared;
};

// Emits every kernel op of `tile` into `module`. false: errors in the sink.
bool kc_emit_module(LLVMModuleRef module, const kc_target *, const kc_emit_hooks *,
                    const kc_module *tile, kc_diag *);

// ---- between the files ----------------------------------------------------------------------

// emit_kernel.c
void kc_emit_block(kc_emit *, const kc_block *);
const kc_emitted *kc_emit_get(const kc_value *); // of an operand: number of registers, map
LLVMValueRef kc_emit_register(kc_emit *, const kc_value *, int r);
void kc_emit_force(kc_emit *, const kc_value *); // all registers
void kc_emit_force_used(kc_emit *,
                        const kc_block *);         // of all values that a region takes from outside
LLVMValueRef kc_emit_scalar(const kc_value *);     // of a scalar operand
kc_emitted *kc_emit_define(kc_emit *, kc_value *); // room for a result's registers, with its map
void kc_emit_bind(kc_emit *, kc_value *, LLVMValueRef scalar);
LLVMBasicBlockRef kc_emit_new_block(kc_emit *, const char *name);
void kc_emit_enter(kc_emit *, LLVMBasicBlockRef);

// emit_scalar.c: types, constants, small arithmetic, calls
LLVMTypeRef kc_emit_type(const kc_emit *, kc_dtype);        // in registers
LLVMTypeRef kc_emit_memory_type(const kc_emit *, kc_dtype); // an integer of whole bytes
LLVMValueRef kc_emit_constant(const kc_emit *, kc_dtype, double);
LLVMValueRef kc_emit_int(const kc_emit *, kc_dtype, int64_t);
LLVMValueRef kc_emit_i32(const kc_emit *, int64_t);
LLVMValueRef kc_emit_i64(const kc_emit *, int64_t);
LLVMValueRef kc_emit_to_memory(kc_emit *, kc_dtype,
                               LLVMValueRef); // register form to the integer in memory
LLVMValueRef kc_emit_from_memory(kc_emit *, kc_dtype, LLVMValueRef);
LLVMValueRef kc_emit_call(kc_emit *, const char *name, LLVMTypeRef result, int n,
                          LLVMValueRef *args);
// An overloaded intrinsic; unknown names are a fault of ours.
LLVMValueRef kc_emit_intrinsic(kc_emit *, const char *name, int n_types, LLVMTypeRef *types, int n,
                               LLVMValueRef *args);
// `effects`: it does more than give a result.
LLVMValueRef kc_emit_assembly(kc_emit *, bool effects, LLVMTypeRef result, const char *text,
                              const char *constraints, int n, LLVMValueRef *args);
void kc_emit_attribute(kc_emit *, LLVMValueRef function, unsigned index, const char *name,
                       uint64_t value);
void kc_emit_text_attribute(kc_emit *, LLVMValueRef function, const char *name, const char *value);
LLVMValueRef kc_emit_convert_int(kc_emit *, LLVMValueRef, LLVMTypeRef, bool is_signed);
LLVMValueRef kc_emit_wrap(kc_emit *, kc_dtype, LLVMValueRef); // of i4: to the value of its low bits

// emit_elementwise.c, emit_cast.c: one element
LLVMValueRef kc_emit_cast_element(kc_emit *, kc_dtype from, kc_dtype to, LLVMValueRef);
LLVMValueRef kc_emit_floordiv_int(kc_emit *, LLVMValueRef a, LLVMValueRef b, bool is_signed,
                                  bool modulo);
// emit_small.c: floats below 16 bits. decode gives an f32 (exact), encode takes one.
bool kc_emit_is_small(kc_dtype);
LLVMValueRef kc_emit_decode(kc_emit *, kc_dtype, LLVMValueRef code);
LLVMValueRef kc_emit_encode(kc_emit *, kc_dtype, LLVMValueRef);
LLVMValueRef kc_emit_small_keeps(kc_emit *, kc_opcode, kc_dtype,
                                 LLVMValueRef *args); // abs neg min max, else NULL
void kc_emit_elementwise(kc_emit *, const kc_op *);
LLVMValueRef kc_emit_elementwise_register(kc_emit *, const kc_op *, int r);
// The register of an operand that holds the element of the result's register r: extents of 1 and
// scalars broadcast.
LLVMValueRef kc_emit_operand_register(kc_emit *, const kc_emitted *result, int r,
                                      const kc_value *operand);

// emit_round.c: remainders that go round with a loop's counter. begin: among the loop's phis; end: in its last block.
void kc_emit_rounds_begin(kc_emit *, const kc_op *loop, LLVMBasicBlockRef before);
void kc_emit_rounds_end(kc_emit *, const kc_op *loop, LLVMBasicBlockRef latch);
LLVMValueRef kc_emit_round(kc_emit *, const kc_op *); // NULL: the op is no such remainder

// helpers.c: functions with loops, in LLVM IR text, added to the module when first asked for
LLVMValueRef kc_emit_helper(kc_emit *, const char *name, kc_dtype, int n, LLVMValueRef *args);

// emit_expr.c
LLVMValueRef kc_emit_expr(kc_emit *, const kc_expr *); // i64
// a // b or a % b of integers with these ranges.
LLVMValueRef kc_emit_divide(kc_emit *, LLVMValueRef a, LLVMValueRef b, kc_range of_a, kc_range of_b,
                            bool modulo);
kc_range kc_emit_range(kc_emit *,
                       const kc_value *); // of an integer scalar or of every element of a tile

// emit_place.c: where threads hold elements
LLVMValueRef
kc_emit_thread_part(kc_emit *, const int64_t *basis,
                    int bits); // i32: XOR of basis[b] over the set bits of the thread id
LLVMValueRef kc_emit_iota_register(kc_emit *, const kc_op *, int r);
// i1 that holds on one of the threads that hold the same elements; NULL when every thread holds its
// own
LLVMValueRef kc_emit_representative(kc_emit *, const kc_tile_map *);
bool kc_emit_is_copy(const kc_tile_map *, int r); // a lower register holds the same; map may be NULL
void kc_emit_convert(kc_emit *, const kc_op *);

// emit_memory.c, emit_shared.c
void kc_emit_load(kc_emit *, const kc_op *);
void kc_emit_load_register(kc_emit *, const kc_op *, int r); // of a late load: its whole vector
bool kc_emit_loads_much(const kc_op *kernel);
void kc_emit_store(kc_emit *, const kc_op *);
void kc_emit_shared_alloc(kc_emit *, const kc_op *);
void kc_emit_shared_load(kc_emit *, const kc_op *);
void kc_emit_shared_store(kc_emit *, const kc_op *);
// Where one access of a tile goes, register by register: what emit_async.c takes from the two.
typedef struct kc_access kc_global_place;
kc_global_place *kc_emit_global_place(kc_emit *, const kc_op *, const kc_value *buffer,
                                      const kc_value *tile, int base_segment);
LLVMValueRef kc_emit_global_address(kc_emit *, const kc_global_place *, int r);
LLVMValueRef kc_emit_global_mask(kc_emit *, const kc_global_place *, int r); // NULL: always
typedef struct kc_shared_place kc_shared_place;
kc_shared_place *kc_emit_shared_place(kc_emit *, const kc_op *, const kc_value *buffer,
                                      const kc_value *tile, int stage_segment);
LLVMValueRef kc_emit_shared_address(kc_emit *, kc_shared_place *, int r);
// emit_async.c
void kc_emit_async_copy(kc_emit *, const kc_op *);
void kc_emit_async_commit(kc_emit *, const kc_op *);
void kc_emit_async_wait(kc_emit *, const kc_op *);
// emit_access.c: n elements as one integer or vector of integers, aligned to its size
LLVMTypeRef kc_emit_access_type(const kc_emit *, kc_dtype, int n);
int kc_emit_in_word(kc_dtype); // elements of 32 bits; 1 for larger ones
LLVMValueRef kc_emit_pack(kc_emit *, kc_dtype, const LLVMValueRef *elements, int n);
void kc_emit_unpack(kc_emit *, kc_dtype, LLVMValueRef, LLVMValueRef *elements, int n);
// The same for elements of 4 bits, two a byte, low one first; n is even.
LLVMValueRef kc_emit_pack_nibbles(kc_emit *, const LLVMValueRef *elements, int n);
void kc_emit_unpack_nibbles(kc_emit *, kc_dtype, LLVMValueRef, LLVMValueRef *elements, int n);
LLVMValueRef kc_emit_from_nibble(kc_emit *, kc_dtype, LLVMValueRef byte); // its low half
LLVMValueRef kc_emit_plain_load(kc_emit *, LLVMTypeRef, LLVMValueRef pointer, bool read_only);
void kc_emit_plain_store(kc_emit *, LLVMValueRef value, LLVMValueRef pointer);
// Masked access by a branch, for hooks that have nothing better.
LLVMValueRef kc_emit_load_by_branch(kc_emit *, LLVMValueRef pointer, LLVMValueRef mask,
                                    LLVMValueRef otherwise, bool read_only);
void kc_emit_store_by_branch(kc_emit *, LLVMValueRef pointer, LLVMValueRef mask,
                             LLVMValueRef value);

// emit_reduce.c, emit_scan.c, emit_dot.c, emit_control.c
void kc_emit_reduce(kc_emit *, const kc_op *);
enum { KC_MAX_PARTS = 8 };
typedef struct {
    LLVMValueRef part[KC_MAX_PARTS];
} kc_emit_tuple; // one element of each component of a reduction
// The region of a reduction of n components, inlined.
kc_emit_tuple kc_emit_combine(kc_emit *, const kc_op *, int n, const kc_emit_tuple *left,
                              const kc_emit_tuple *right);
void kc_emit_scan(kc_emit *, const kc_op *);
void kc_emit_scan_carry(kc_emit *, const kc_op *);
LLVMValueRef kc_emit_shuffle(kc_emit *, LLVMValueRef value, int mask,
                             LLVMValueRef source); // any register type; by xor when source is NULL
void kc_emit_dot(kc_emit *, const kc_op *);
void kc_emit_mma(kc_emit *, const kc_op *, const kc_mma *); // emit_mma.c
void kc_emit_for(kc_emit *, const kc_op *);
void kc_emit_if(kc_emit *, const kc_op *);

#endif
