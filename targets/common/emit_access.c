// Groups of elements as one memory access: packing, unpacking, and masked access by a branch.
#include "targets/common/emit.h"

enum { WORD_BYTES = 4 };

// The integer or vector of integers of `bytes` in all: what an access moves.
static LLVMTypeRef access_type(const kc_emit *e, int element_bytes, int bytes) {
    LLVMTypeRef word = element_bytes == 8 ? e->i64 : e->i32;
    int words = bytes / (element_bytes == 8 ? 8 : 4);
    if (bytes == 1) return e->i8;
    if (bytes == 2) return e->i16;
    return words == 1 ? word : LLVMVectorType(word, (unsigned)words);
}

LLVMTypeRef kc_emit_access_type(const kc_emit *e, kc_dtype dtype, int n) {
    int bytes = kc_dtype_unit(dtype);
    return access_type(e, bytes, bytes * n);
}

// Elements of a word or more, or of one word at most.
static LLVMValueRef pack_flat(kc_emit *e, kc_dtype dtype, const LLVMValueRef *elements, int n) {
    LLVMTypeRef element = kc_emit_memory_type(e, dtype);
    if (n == 1) return kc_emit_to_memory(e, dtype, elements[0]);
    LLVMValueRef vector = LLVMGetPoison(LLVMVectorType(element, (unsigned)n));
    for (int i = 0; i < n; i++)
        vector = LLVMBuildInsertElement(
            e->builder, vector, kc_emit_to_memory(e, dtype, elements[i]), kc_emit_i32(e, i), "");
    return LLVMBuildBitCast(e->builder, vector, kc_emit_access_type(e, dtype, n), "");
}

static void unpack_flat(kc_emit *e, kc_dtype dtype, LLVMValueRef value, LLVMValueRef *elements,
                        int n) {
    LLVMTypeRef element = kc_emit_memory_type(e, dtype);
    if (n > 1)
        value = LLVMBuildBitCast(e->builder, value, LLVMVectorType(element, (unsigned)n), "");
    for (int i = 0; i < n; i++) {
        LLVMValueRef x =
            n == 1 ? value : LLVMBuildExtractElement(e->builder, value, kc_emit_i32(e, i), "");
        elements[i] = kc_emit_from_memory(e, dtype, x);
    }
}

int kc_emit_in_word(kc_dtype dtype) {
    int bytes = kc_dtype_unit(dtype);
    return bytes < WORD_BYTES ? WORD_BYTES / bytes : 1;
}

// Word by word, so that LLVM sees that words which are taken apart and put together again are the
// same.
LLVMValueRef kc_emit_pack(kc_emit *e, kc_dtype dtype, const LLVMValueRef *elements, int n) {
    int in_word = kc_emit_in_word(dtype);
    if (in_word == 1 || n <= in_word) return pack_flat(e, dtype, elements, n);
    LLVMValueRef words = LLVMGetPoison(kc_emit_access_type(e, dtype, n));
    for (int i = 0; i < n; i += in_word)
        words =
            LLVMBuildInsertElement(e->builder, words, pack_flat(e, dtype, elements + i, in_word),
                                   kc_emit_i32(e, i / in_word), "");
    return words;
}

void kc_emit_unpack(kc_emit *e, kc_dtype dtype, LLVMValueRef value, LLVMValueRef *elements, int n) {
    int in_word = kc_emit_in_word(dtype);
    if (in_word == 1 || n <= in_word) {
        unpack_flat(e, dtype, value, elements, n);
        return;
    }
    for (int i = 0; i < n; i += in_word) {
        LLVMValueRef word =
            LLVMBuildExtractElement(e->builder, value, kc_emit_i32(e, i / in_word), "");
        unpack_flat(e, dtype, word, elements + i, in_word);
    }
}

// ---- elements of 4 bits ---------------------------------------------------------------------

enum { NIBBLES_A_WORD = 8 };

static LLVMValueRef pack_word(kc_emit *e, const LLVMValueRef *elements, int n) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = access_type(e, 1, n / 2);
    LLVMValueRef word = LLVMConstInt(type, 0, false);
    for (int i = 0; i < n; i++) {
        LLVMValueRef x = kc_emit_convert_int(e, elements[i], type, false);
        x = LLVMBuildAnd(b, x, LLVMConstInt(type, 15, false), "");
        x = LLVMBuildShl(b, x, LLVMConstInt(type, 4u * (unsigned)i, false), "");
        word = LLVMBuildOr(b, word, x, "");
    }
    return word;
}

LLVMValueRef kc_emit_pack_nibbles(kc_emit *e, const LLVMValueRef *elements, int n) {
    if (n <= NIBBLES_A_WORD) return pack_word(e, elements, n);
    LLVMValueRef words = LLVMGetPoison(access_type(e, 1, n / 2));
    for (int i = 0; i < n / NIBBLES_A_WORD; i++) {
        LLVMValueRef word = pack_word(e, &elements[i * NIBBLES_A_WORD], NIBBLES_A_WORD);
        words = LLVMBuildInsertElement(e->builder, words, word, kc_emit_i32(e, i), "");
    }
    return words;
}

LLVMValueRef kc_emit_from_nibble(kc_emit *e, kc_dtype dtype, LLVMValueRef byte) {
    if (dtype == KC_i4) return kc_emit_wrap(e, dtype, byte);
    return LLVMBuildAnd(e->builder, byte, LLVMConstInt(e->i8, 15, false), "");
}

void kc_emit_unpack_nibbles(kc_emit *e, kc_dtype dtype, LLVMValueRef value, LLVMValueRef *elements,
                            int n) {
    LLVMBuilderRef b = e->builder;
    for (int i = 0; i < n; i++) {
        LLVMValueRef word = value;
        if (n > NIBBLES_A_WORD)
            word = LLVMBuildExtractElement(b, value, kc_emit_i32(e, i / NIBBLES_A_WORD), "");
        LLVMValueRef shift =
            LLVMConstInt(LLVMTypeOf(word), 4u * (unsigned)(i % NIBBLES_A_WORD), false);
        LLVMValueRef low = kc_emit_convert_int(e, LLVMBuildLShr(b, word, shift, ""), e->i8, false);
        elements[i] = kc_emit_from_nibble(e, dtype, low);
    }
}

// ---- accesses -------------------------------------------------------------------------------

static unsigned bytes_of(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        return LLVMGetVectorSize(type) * LLVMGetIntTypeWidth(LLVMGetElementType(type)) / 8;
    return LLVMGetIntTypeWidth(type) / 8;
}

LLVMValueRef kc_emit_plain_load(kc_emit *e, LLVMTypeRef type, LLVMValueRef pointer,
                                bool read_only) {
    LLVMValueRef load = LLVMBuildLoad2(e->builder, type, pointer, "");
    LLVMSetAlignment(load, bytes_of(type));
    if (read_only) {
        unsigned kind = LLVMGetMDKindIDInContext(e->context, "invariant.load", 14);
        LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, NULL, 0);
        LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->context, node));
    }
    return load;
}

void kc_emit_plain_store(kc_emit *e, LLVMValueRef value, LLVMValueRef pointer) {
    LLVMSetAlignment(LLVMBuildStore(e->builder, value, pointer), bytes_of(LLVMTypeOf(value)));
}

LLVMValueRef kc_emit_load_by_branch(kc_emit *e, LLVMValueRef pointer, LLVMValueRef mask,
                                    LLVMValueRef otherwise, bool read_only) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef load = kc_emit_new_block(e, "load"), end = kc_emit_new_block(e, "loaded");
    LLVMBuildCondBr(e->builder, mask, load, end);
    kc_emit_enter(e, load);
    LLVMValueRef value = kc_emit_plain_load(e, LLVMTypeOf(otherwise), pointer, read_only);
    LLVMBuildBr(e->builder, end);
    kc_emit_enter(e, end);
    LLVMValueRef result = LLVMBuildPhi(e->builder, LLVMTypeOf(otherwise), "");
    LLVMAddIncoming(result, (LLVMValueRef[]){otherwise, value}, (LLVMBasicBlockRef[]){before, load},
                    2);
    return result;
}

void kc_emit_store_by_branch(kc_emit *e, LLVMValueRef pointer, LLVMValueRef mask,
                             LLVMValueRef value) {
    LLVMBasicBlockRef store = kc_emit_new_block(e, "store"), end = kc_emit_new_block(e, "stored");
    LLVMBuildCondBr(e->builder, mask, store, end);
    kc_emit_enter(e, store);
    kc_emit_plain_store(e, value, pointer);
    LLVMBuildBr(e->builder, end);
    kc_emit_enter(e, end);
}
