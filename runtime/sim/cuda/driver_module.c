/* Modules: loading images, the log buffers of the JIT options, functions and variables by name. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

static CUresult result_of(kcsim_status status) {
    switch (status) {
    case KCSIM_OK: return CUDA_SUCCESS;
    case KCSIM_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    case KCSIM_WRONG_TARGET: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case KCSIM_PTX_VERSION: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case KCSIM_NOT_PTX: return CUDA_ERROR_INVALID_IMAGE;
    default: return CUDA_ERROR_INVALID_PTX;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool add_functions(CUmodule module, CUcontext context) {
    size_t count = kcsim_module_function_count(module->module);
    module->functions = calloc(count + 1, sizeof *module->functions);
    if (module->functions == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        CUfunction function = &module->functions[i];
        if (!driver_object_add(&function->object, DRIVER_FUNCTION, NULL)) return false;
        function->object.context = context;
        function->module = module;
        function->function = kcsim_module_function_at(module->module, i);
        function->info = kcsim_function_describe(function->function);
        function->max_dynamic_shared = -1;
        function->carveout = -1;
        module->function_count++;
    }
    return true;
}

void driver_module_destroy(CUmodule module) {
    driver_device *device = module->object.context->device;
    driver_object_remove(&module->object);
    for (size_t i = 0; i < module->function_count; i++) {
        module->functions[i].object.context = NULL; /* functions are in no context's list */
        driver_object_remove(&module->functions[i].object);
    }
    pthread_mutex_lock(&device->lock);
    kcsim_module_unload(device->machine, module->module);
    pthread_mutex_unlock(&device->lock);
    free(module->functions);
    free(module);
}

static CUresult load_ptx(CUcontext context, const char *ptx, char *log, size_t log_size,
                         CUmodule *out) {
    driver_device *device = context->device;
    kcsim_module *loaded;
    pthread_mutex_lock(&device->lock);
    kcsim_status status =
        kcsim_module_load(device->machine, ptx, strlen(ptx), log, log_size, &loaded);
    pthread_mutex_unlock(&device->lock);
    if (status != KCSIM_OK) return result_of(status);
    CUmodule module = calloc(1, sizeof *module);
    if (module == NULL || !driver_object_add(&module->object, DRIVER_MODULE, context)) {
        free(module);
        kcsim_module_unload(device->machine, loaded);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->module = loaded;
    if (!add_functions(module, context)) {
        driver_module_destroy(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = module;
    return CUDA_SUCCESS;
}

CUresult driver_module_create(CUcontext context, const void *image, size_t limit, char *log,
                              size_t log_size, CUmodule *out) {
    char *ptx;
    log[0] = 0;
    CUresult result = driver_image_ptx(image, limit, context->device->arch, &ptx, log, log_size);
    if (result == CUDA_SUCCESS) result = load_ptx(context, ptx, log, log_size, out);
    free(ptx);
    if (result != CUDA_SUCCESS) driver_log("an image was refused: %s", log);
    return result;
}

CUfunction driver_module_find(CUmodule module, const char *name) {
    for (size_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].info.name, name) == 0) return &module->functions[i];
    return NULL;
}

/* ---- the JIT options ------------------------------------------------------------------------- */

/* Values are numbers in pointers, except buffers. Options that tune a compiler have nothing to tune
 * here. */
CUresult driver_jit_read(unsigned count, const CUjit_option *options, void **values,
                         driver_jit_logs *logs) {
    *logs = (driver_jit_logs){0};
    if (count > 0 && (options == NULL || values == NULL)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        switch ((int)options[i]) {
        case CU_JIT_INFO_LOG_BUFFER: logs->info = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            logs->info_size = (size_t)(uintptr_t)values[i];
            logs->info_used = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER: logs->error = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            logs->error_size = (size_t)(uintptr_t)values[i];
            logs->error_used = &values[i];
            break;
        default:
            if ((unsigned)options[i] >= DRIVER_JIT_OPTION_COUNT) return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* The size goes back as the driver does it: bytes written, the ending NUL among them. */
static void write_log(char *buffer, size_t size, void **used, const char *text) {
    size_t written = 0;
    if (buffer != NULL && size > 0) {
        written = strlen(text);
        if (written >= size) written = size - 1;
        memcpy(buffer, text, written);
        buffer[written++] = 0;
    }
    if (used != NULL) *used = (void *)(uintptr_t)written;
}

void driver_jit_write(const driver_jit_logs *logs, const char *error) {
    write_log(logs->info, logs->info_size, logs->info_used, "");
    write_log(logs->error, logs->error_size, logs->error_used, error);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static CUresult load(const void *image, size_t limit, unsigned count, const CUjit_option *options,
                     void **values, CUmodule *out) {
    CUcontext context;
    driver_jit_logs logs;
    char log[1024];
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = driver_unsafe_call();
    if (result == CUDA_SUCCESS) result = driver_jit_read(count, options, values, &logs);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || image == NULL) return CUDA_ERROR_INVALID_VALUE;
    result = driver_module_create(context, image, limit, log, sizeof log, out);
    driver_jit_write(&logs, result != CUDA_SUCCESS ? log : "");
    return result;
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options,
                            void **values) {
    return load(image, SIZE_MAX, count, options, values, out);
}

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    return load(image, SIZE_MAX, 0, NULL, NULL, out);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    return load(image, SIZE_MAX, 0, NULL, NULL, out);
}

CUresult cuModuleLoad(CUmodule *out, const char *path) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || path == NULL) return CUDA_ERROR_INVALID_VALUE;
    char *image;
    size_t size;
    result = driver_image_read(path, &image, &size);
    if (result != CUDA_SUCCESS) return result;
    result = load(image, size, 0, NULL, NULL, out);
    free(image);
    return result;
}

static CUresult check(CUmodule module) {
    return driver_handle_check(module, DRIVER_MODULE, CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuModuleUnload(CUmodule module) {
    CUresult result = check(module);
    if (result == CUDA_SUCCESS) result = driver_unsafe_call();
    if (result != CUDA_SUCCESS) return result;
    if (module->of_library) return CUDA_ERROR_NOT_PERMITTED;
    driver_module_destroy(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
    CUresult result = check(module);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUfunction found = driver_module_find(module, name);
    if (found == NULL) return CUDA_ERROR_NOT_FOUND;
    *out = found;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
    CUresult result = check(module);
    if (result != CUDA_SUCCESS) return result;
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)module->function_count;
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned count, CUmodule module) {
    CUresult result = check(module);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && i < module->function_count; i++)
        out[i] = &module->functions[i];
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                              const char *name) {
    CUresult result = check(module);
    if (result != CUDA_SUCCESS) return result;
    if (name == NULL || (address == NULL && bytes == NULL)) return CUDA_ERROR_INVALID_VALUE;
    uint64_t at;
    size_t size;
    if (kcsim_module_find_global(module->module, name, &at, &size) != KCSIM_OK)
        return CUDA_ERROR_NOT_FOUND;
    if (address != NULL) *address = at;
    if (bytes != NULL) *bytes = size;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (mode == NULL) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}
