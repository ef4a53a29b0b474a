// Linking means parsing the embedded bitcode lazily, dropping every function the module does not
// declare before its body is read, and moving the rest over. Each function is whole by itself
// (math.mk compiles the helpers inline), so that what a module declares is what it needs.

#include "targets/common/math/math_link.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

#include "targets/common/math/math_bitcode.h"

#define PREFIX "kc_math_"

static const char *name_of(LLVMValueRef function) {
    size_t length;
    return LLVMGetValueName2(function, &length);
}

static bool has_prefix(LLVMValueRef function) {
    return strncmp(name_of(function), PREFIX, strlen(PREFIX)) == 0;
}

static bool is_wanted(LLVMValueRef function) {
    return has_prefix(function) && LLVMIsDeclaration(function);
}

static bool fail(char **error, const char *format, const char *name) {
    char text[256];
    snprintf(text, sizeof text, format, name);
    *error = LLVMCreateMessage(text);
    return false;
}

// Whether everything the module asks for exists in the library with that type.
static bool check_wanted(LLVMModuleRef module, LLVMModuleRef library, char **error) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (!is_wanted(f)) continue;
        LLVMValueRef definition = LLVMGetNamedFunction(library, name_of(f));
        if (!definition) return fail(error, "there is no mathematical function %s", name_of(f));
        if (LLVMGlobalGetValueType(definition) != LLVMGlobalGetValueType(f)) {
            return fail(error, "%s is declared with another type than it has", name_of(f));
        }
    }
    return true;
}

static bool has_wanted(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (is_wanted(f)) return true;
    }
    return false;
}

// Leaves in the library only what the module declares.
static void drop_unwanted(LLVMModuleRef module, LLVMModuleRef library) {
    for (LLVMValueRef f = LLVMGetFirstFunction(library), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        LLVMValueRef wanted = LLVMGetNamedFunction(module, name_of(f));
        if (has_prefix(f) && !(wanted && LLVMIsDeclaration(wanted))) LLVMDeleteFunction(f);
    }
}

static LLVMModuleRef open_library(LLVMContextRef context) {
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
        (const char *)kc_math_bitcode, kc_math_bitcode_size, "kc_math", 0);
    LLVMModuleRef library = NULL;
    return LLVMGetBitcodeModuleInContext2(context, buffer, &library) ? NULL : library;
}

// After the link: until then the definitions must be visible to the declarations they answer.
static void make_inline(LLVMModuleRef module) {
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (!has_prefix(f) || LLVMIsDeclaration(f)) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
    }
}

bool kc_math_link(LLVMModuleRef module, char **error) {
    *error = NULL;
    if (!has_wanted(module)) return true;
    LLVMModuleRef library = open_library(LLVMGetModuleContext(module));
    if (!library)
        return fail(error, "the embedded mathematical functions (%s) cannot be read", PREFIX "*");
    if (!check_wanted(module, library, error)) {
        LLVMDisposeModule(library);
        return false;
    }
    drop_unwanted(module, library);
    LLVMSetTarget(library, LLVMGetTarget(module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(module));
    if (LLVMLinkModules2(module, library))
        return fail(error, "linking the mathematical functions (%s) failed", PREFIX "*");
    make_inline(module);
    return true;
}
