/* The linker. Its product is what it was given: PTX texts behind one another, which the machine
 * links when it loads them. So the "cubin" that a program gets is text; it loads as an image does,
 * from memory or from a file that it was kept in. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    driver_object object;
    CUcontext context;
    driver_jit_logs logs;
    char *text;
    size_t length;
};

static CUresult check(CUlinkState state) {
    return driver_handle_check(state, DRIVER_LINK, CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *out) {
    CUcontext context;
    driver_jit_logs logs;
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = driver_jit_read(count, options, values, &logs);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUlinkState state = calloc(1, sizeof *state);
    if (state == NULL || !driver_object_add(&state->object, DRIVER_LINK, NULL)) {
        free(state);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    state->context = context;
    state->logs = logs;
    *out = state;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuLinkCreate, cuLinkCreate_v2);

static CUresult append(CUlinkState state, const char *ptx) {
    size_t more = strlen(ptx);
    char *text = realloc(state->text, state->length + more + 2);
    if (text == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text + state->length, ptx, more);
    memcpy(text + state->length + more, "\n", 2);
    state->text = text;
    state->length += more + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned count, CUjit_option *options, void **values) {
    driver_jit_logs logs;
    CUresult result = check(state);
    if (result == CUDA_SUCCESS) result = driver_jit_read(count, options, values, &logs);
    if (result != CUDA_SUCCESS) return result;
    if (data == NULL || size == 0 || type < CU_JIT_INPUT_CUBIN || type > CU_JIT_INPUT_NVVM)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_LIBRARY || type == CU_JIT_INPUT_NVVM)
        return driver_unsupported("cuLinkAddData of libraries and NVVM IR");
    char why[256] = "", log[400], *ptx;
    const kcsim_arch *arch = state->context->device->arch;
    result = driver_image_ptx(data, size, arch, &ptx, why, sizeof why);
    if (result == CUDA_SUCCESS) result = append(state, ptx);
    free(ptx);
    if (why[0] != 0) {
        snprintf(log, sizeof log, "%.100s: %s", name != NULL ? name : "an input", why);
        driver_jit_write(&state->logs, log);
        driver_log("the linker was given what it cannot take: %s", log);
    }
    return result;
}
DRIVER_ALIAS(cuLinkAddData, cuLinkAddData_v2);

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values) {
    CUresult result = check(state);
    if (result != CUDA_SUCCESS) return result;
    if (path == NULL) return CUDA_ERROR_INVALID_VALUE;
    char *image;
    size_t size;
    result = driver_image_read(path, &image, &size);
    if (result != CUDA_SUCCESS) return result;
    result = cuLinkAddData_v2(state, type, image, size, path, count, options, values);
    free(image);
    return result;
}
DRIVER_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);

/* Loaded once to see what is wrong or missing. */
CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size) {
    CUmodule module;
    char log[1024];
    CUresult result = check(state);
    if (result != CUDA_SUCCESS) return result;
    if (image == NULL || state->text == NULL) return CUDA_ERROR_INVALID_VALUE;
    result = driver_module_create(state->context, state->text, state->length + 1, log, sizeof log,
                                  &module);
    driver_jit_write(&state->logs, result == CUDA_SUCCESS ? "" : log);
    if (result != CUDA_SUCCESS) return result;
    driver_module_destroy(module);
    *image = state->text;
    if (size != NULL) *size = state->length + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
    CUresult result = check(state);
    if (result != CUDA_SUCCESS) return result;
    driver_object_remove(&state->object);
    free(state->text);
    free(state);
    return CUDA_SUCCESS;
}
