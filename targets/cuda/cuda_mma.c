// Tensor cores and matrix loads as PTX text: one form for all rows of mma.def.
#include "targets/cuda/cuda_mma.h"

enum { MOST_OPERANDS = 24 };

// "{$3, $4}", counting from *next.
static const char *braces(kc_emit *e, int n, int *next) {
    const char *text = "{";
    for (int i = 0; i < n; i++)
        text = kc_arena_printf(e->arena, "%s%s$%d", text, i ? ", " : "", (*next)++);
    return kc_arena_printf(e->arena, "%s}", text);
}

static const char *repeat(kc_emit *e, const char *list, const char *item, int n) {
    for (int i = 0; i < n; i++)
        list = kc_arena_printf(e->arena, "%s%s%s", list, *list ? "," : "", item);
    return list;
}

static void results(kc_emit *e, LLVMValueRef call, int n, LLVMValueRef *out) {
    for (int i = 0; i < n; i++)
        out[i] = n == 1 ? call : LLVMBuildExtractValue(e->builder, call, (unsigned)i, "");
}

static LLVMTypeRef several(kc_emit *e, LLVMTypeRef one, int n) {
    LLVMTypeRef types[MOST_OPERANDS];
    for (int i = 0; i < n; i++)
        types[i] = one;
    return n == 1 ? one : LLVMStructTypeInContext(e->context, types, (unsigned)n, false);
}

// It must not be moved into code that some lanes skip.
static void all_lanes(kc_emit *e, LLVMValueRef call) {
    unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->context, kind, 0));
}

void kc_cuda_load_matrices(kc_emit *e, LLVMValueRef pointer, int n, bool transposed,
                           LLVMValueRef *words) {
    int next = 0;
    const char *list = braces(e, n, &next);
    const char *text =
        kc_arena_printf(e->arena, "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [$%d];", n,
                        transposed ? ".trans" : "", list, next);
    const char *constraints = kc_arena_printf(e->arena, "%s,r,~{memory}", repeat(e, "", "=r", n));
    LLVMValueRef address = LLVMBuildPtrToInt(e->builder, pointer, e->i32, "");
    LLVMValueRef call =
        kc_emit_assembly(e, true, several(e, e->i32, n), text, constraints, 1, &address);
    all_lanes(e, call);
    results(e, call, n, words);
}

// The accumulator's registers are tied to the result's.
void kc_cuda_multiply_matrices(kc_emit *e, const kc_mma *row, int n_a, const LLVMValueRef *a,
                               int n_b, const LLVMValueRef *b, int n_c, LLVMValueRef *c) {
    bool wide = row->operand == KC_f64;
    const char *in = wide ? "d" : "r", *out = row->accumulator == KC_f64   ? "=d"
                                              : row->accumulator == KC_f32 ? "=f"
                                                                           : "=r";
    LLVMValueRef args[MOST_OPERANDS];
    int n = 0, next = 0;
    for (int i = 0; i < n_a; i++)
        args[n++] = a[i];
    for (int i = 0; i < n_b; i++)
        args[n++] = b[i];
    for (int i = 0; i < n_c; i++)
        args[n++] = c[i];
    const char *d = braces(e, n_c, &next), *list_a = braces(e, n_a, &next),
               *list_b = braces(e, n_b, &next), *list_c = braces(e, n_c, &(int){0});
    const char *text =
        kc_arena_printf(e->arena, "%s %s, %s, %s, %s;", row->text, d, list_a, list_b, list_c);
    const char *constraints = repeat(e, repeat(e, "", out, n_c), in, n_a + n_b);
    for (int i = 0; i < n_c; i++)
        constraints = kc_arena_printf(e->arena, "%s,%d", constraints, i);
    LLVMTypeRef type = several(e, kc_emit_type(e, row->accumulator), n_c);
    LLVMValueRef call = kc_emit_assembly(e, false, type, text, constraints, n, args);
    all_lanes(e, call);
    results(e, call, n_c, c);
}

LLVMValueRef kc_cuda_round_tf32(kc_emit *e, LLVMValueRef x) {
    return kc_emit_assembly(e, false, e->i32, "cvt.rna.tf32.f32 $0, $1;", "=r,f", 1, &x);
}
