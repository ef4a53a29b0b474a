// Functions with loops that some element operations need. They are written as LLVM IR text, which
// is parsed and linked into a module when first asked for.
//   fmod: the exact remainder of truncated division (C's fmod), by long division of the mantissas
//   pow:  integer power by squaring, wrapping; a negative exponent gives what truncation would:
//   1/x**n is 0 but for 1 and -1
#include "targets/common/emit.h"
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

// With B bits, M of mantissa: $STEP = B - 1 - M is how many bits a step of the division may shift
// without overflow.
static const char fmod_text[] =
    "define $F @kc_fmod_$F($F %x, $F %y) alwaysinline nounwind {\n"
    "  %ix = bitcast $F %x to $I\n"
    "  %iy = bitcast $F %y to $I\n"
    "  %ax = and $I %ix, $ABS\n"
    "  %ay = and $I %iy, $ABS\n"
    "  %sign = xor $I %ix, %ax\n"
    "  %zero = icmp eq $I %ay, 0\n"
    "  %nany = icmp ugt $I %ay, $INF\n"
    "  %notfinite = icmp uge $I %ax, $INF\n"
    "  %bad1 = or i1 %zero, %nany\n"
    "  %bad = or i1 %bad1, %notfinite\n"
    "  br i1 %bad, label %nan, label %compare\n"
    "nan:\n"
    "  ret $F 0x7FF8000000000000\n"
    "compare:\n"
    "  %small = icmp ult $I %ax, %ay\n"
    "  br i1 %small, label %whole, label %divide\n"
    "whole:\n"
    "  ret $F %x\n"
    "divide:\n" // a value is mantissa * 2^(exponent - 1), denormals having exponent 1
    "  %fx = lshr $I %ax, $M\n"
    "  %fy = lshr $I %ay, $M\n"
    "  %ex = call $I @llvm.umax.$I($I %fx, $I 1)\n"
    "  %ey = call $I @llvm.umax.$I($I %fy, $I 1)\n"
    "  %lowx = and $I %ax, $MASK\n"
    "  %lowy = and $I %ay, $MASK\n"
    "  %fullx = or $I %lowx, $ONE\n"
    "  %fully = or $I %lowy, $ONE\n"
    "  %denx = icmp eq $I %fx, 0\n"
    "  %deny = icmp eq $I %fy, 0\n"
    "  %mx = select i1 %denx, $I %lowx, $I %fullx\n"
    "  %my = select i1 %deny, $I %lowy, $I %fully\n"
    "  %r0 = urem $I %mx, %my\n"
    "  %n0 = sub $I %ex, %ey\n"
    "  br label %loop\n"
    "loop:\n"
    "  %r = phi $I [ %r0, %divide ], [ %r2, %step ]\n"
    "  %n = phi $I [ %n0, %divide ], [ %n2, %step ]\n"
    "  %done = icmp eq $I %n, 0\n"
    "  br i1 %done, label %pack, label %step\n"
    "step:\n"
    "  %s = call $I @llvm.umin.$I($I %n, $I $STEP)\n"
    "  %r1 = shl $I %r, %s\n"
    "  %r2 = urem $I %r1, %my\n"
    "  %n2 = sub $I %n, %s\n"
    "  br label %loop\n"
    "pack:\n"
    "  %zeros = call $I @llvm.ctlz.$I($I %r, i1 false)\n"
    "  %want = sub $I %zeros, $STEP\n"
    "  %most = sub $I %ey, 1\n"
    "  %shift = call $I @llvm.umin.$I($I %want, $I %most)\n"
    "  %none = icmp eq $I %r, 0\n"
    "  %k = select i1 %none, $I %most, $I %shift\n"
    "  %by = select i1 %none, $I 0, $I %shift\n" // the exponent may move further than a shift may
    "  %norm = shl $I %r, %by\n"
    "  %e = sub $I %most, %k\n"
    "  %exp = shl $I %e, $M\n"
    "  %mag = add $I %exp, %norm\n"
    "  %bits = or $I %mag, %sign\n"
    "  %out = bitcast $I %bits to $F\n"
    "  ret $F %out\n"
    "}\n"
    "declare $I @llvm.umax.$I($I, $I)\n"
    "declare $I @llvm.umin.$I($I, $I)\n"
    "declare $I @llvm.ctlz.$I($I, i1)\n";

static const char pow_text[] = "define $I @kc_pow_$I($I %x, $I %n) alwaysinline nounwind {\n"
                               "  %negative = icmp slt $I %n, 0\n"
                               "  br i1 %negative, label %inverse, label %start\n"
                               "inverse:\n"
                               "  %odd = and $I %n, 1\n"
                               "  %one = icmp eq $I %x, 1\n"
                               "  %minus = icmp eq $I %x, -1\n"
                               "  %twice = shl $I %odd, 1\n"
                               "  %sign = sub $I 1, %twice\n"
                               "  %v1 = select i1 %minus, $I %sign, $I 0\n"
                               "  %v2 = select i1 %one, $I 1, $I %v1\n"
                               "  ret $I %v2\n"
                               "start:\n"
                               "  br label %loop\n"
                               "loop:\n"
                               "  %acc = phi $I [ 1, %start ], [ %acc2, %step ]\n"
                               "  %base = phi $I [ %x, %start ], [ %base2, %step ]\n"
                               "  %left = phi $I [ %n, %start ], [ %left2, %step ]\n"
                               "  %done = icmp eq $I %left, 0\n"
                               "  br i1 %done, label %end, label %step\n"
                               "step:\n"
                               "  %bit = trunc $I %left to i1\n"
                               "  %more = mul $I %acc, %base\n"
                               "  %acc2 = select i1 %bit, $I %more, $I %acc\n"
                               "  %base2 = mul $I %base, %base\n"
                               "  %left2 = lshr $I %left, 1\n"
                               "  br label %loop\n"
                               "end:\n"
                               "  ret $I %acc\n"
                               "}\n";

typedef struct {
    const char *key, *narrow, *wide;
} substitution;

static const substitution substitutions[] = {
    {"$ABS", "2147483647", "9223372036854775807"},
    {"$INF", "2139095040", "9218868437227405312"},
    {"$MASK", "8388607", "4503599627370495"},
    {"$ONE", "8388608", "4503599627370496"},
    {"$STEP", "8", "11"},
    {"$M", "23", "52"},
    {"$F", "float", "double"},
    {"$I", "i32", "i64"},
};

static const char *specialize(kc_arena *arena, const char *text, bool wide) {
    char *out = kc_arena_alloc(arena, 2 * strlen(text) + 1), *to = out;
    while (*text) {
        const substitution *hit = NULL;
        for (size_t i = 0; !hit && i < sizeof substitutions / sizeof *substitutions; i++)
            if (!strncmp(text, substitutions[i].key, strlen(substitutions[i].key)))
                hit = &substitutions[i];
        if (!hit) {
            *to++ = *text++;
            continue;
        }
        to = stpcpy(to, wide ? hit->wide : hit->narrow);
        text += strlen(hit->key);
    }
    return out;
}

static void add(kc_emit *e, const char *text, bool wide) {
    const char *ir = specialize(e->arena, text, wide);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(ir, strlen(ir), "helper", true);
    LLVMModuleRef module;
    char *error = NULL;
    if (LLVMParseIRInContext(e->context, buffer, &module, &error))
        kc_bug("helper does not parse: %s", error);
    LLVMSetTarget(module, LLVMGetTarget(e->module));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(e->module));
    size_t length;
    const char *name =
        kc_arena_strdup(e->arena, LLVMGetValueName2(LLVMGetFirstFunction(module), &length));
    if (LLVMLinkModules2(e->module, module)) kc_bug("helper %s does not link", name);
    LLVMSetLinkage(LLVMGetNamedFunction(e->module, name), LLVMInternalLinkage);
}

LLVMValueRef kc_emit_helper(kc_emit *e, const char *name, kc_dtype dtype, int n,
                            LLVMValueRef *args) {
    bool is_float = kc_dtype_is_float(dtype), wide = kc_dtype_table[dtype].bits == 64;
    const char *suffix = is_float ? wide ? "double" : "float" : wide ? "i64" : "i32";
    const char *full = kc_arena_printf(e->arena, "kc_%s_%s", name, suffix);
    if (!LLVMGetNamedFunction(e->module, full)) add(e, is_float ? fmod_text : pow_text, wide);
    return kc_emit_call(e, full, kc_emit_type(e, dtype), n, args);
}
