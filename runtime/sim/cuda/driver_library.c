/* Libraries: modules that belong to no context. The image is kept as PTX and loaded into each
 * context when something of it is first used there; a kernel is a name in a library. The real
 * driver accepts a kernel wherever a function is wanted, and so does driver_function_resolve. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

struct CUkern_st {
    driver_object object;
    CUlibrary library;
    char *name;
};

typedef struct loaded {
    CUcontext context;
    CUmodule module;
} loaded;

struct CUlib_st {
    driver_object object;
    char *ptx;
    loaded *modules; /* one a context */
    size_t module_count;
    CUkernel *kernels;
    size_t kernel_count;
    CUlibrary next;
};

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static CUlibrary libraries;

static CUresult check(CUlibrary library) {
    return driver_handle_check(library, DRIVER_LIBRARY, CUDA_ERROR_INVALID_HANDLE);
}

/* ---- modules of a library -------------------------------------------------------------------- */

/* With the library lock held. */
static CUresult module_in_locked(CUlibrary library, CUcontext context, CUmodule *out) {
    for (size_t i = 0; i < library->module_count; i++)
        if (library->modules[i].context == context) {
            *out = library->modules[i].module;
            return CUDA_SUCCESS;
        }
    void *larger =
        realloc(library->modules, (library->module_count + 1) * sizeof *library->modules);
    if (larger == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    library->modules = larger;
    char log[1024];
    CUresult result = driver_module_create(context, library->ptx, SIZE_MAX, log, sizeof log, out);
    if (result != CUDA_SUCCESS) return result;
    (*out)->of_library = true;
    library->modules[library->module_count++] = (loaded){context, *out};
    return CUDA_SUCCESS;
}

static CUresult module_in(CUlibrary library, CUcontext context, CUmodule *out) {
    pthread_mutex_lock(&library_lock);
    CUresult result = module_in_locked(library, context, out);
    pthread_mutex_unlock(&library_lock);
    return result;
}

void driver_library_drop_context(CUcontext context) {
    pthread_mutex_lock(&library_lock);
    for (CUlibrary library = libraries; library != NULL; library = library->next)
        for (size_t i = 0; i < library->module_count; i++)
            if (library->modules[i].context == context) {
                library->modules[i] = library->modules[--library->module_count];
                break;
            }
    pthread_mutex_unlock(&library_lock); /* the modules go with the context's objects */
}

static void destroy(CUlibrary library) {
    pthread_mutex_lock(&library_lock);
    CUlibrary *link = &libraries;
    while (*link != NULL && *link != library)
        link = &(*link)->next;
    if (*link != NULL) *link = library->next;
    pthread_mutex_unlock(&library_lock);
    driver_object_remove(&library->object);
    for (size_t i = 0; i < library->module_count; i++)
        driver_module_destroy(library->modules[i].module);
    for (size_t i = 0; i < library->kernel_count; i++) {
        driver_object_remove(&library->kernels[i]->object);
        free(library->kernels[i]->name);
        free(library->kernels[i]);
    }
    free(library->kernels);
    free(library->modules);
    free(library->ptx);
    free(library);
}

/* ---- loading --------------------------------------------------------------------------------- */

static CUresult add_kernel(CUlibrary library, const char *name) {
    CUkernel kernel = calloc(1, sizeof *kernel);
    char *copy = kernel != NULL ? strdup(name) : NULL;
    if (copy == NULL || !driver_object_add(&kernel->object, DRIVER_KERNEL, NULL)) {
        free(copy);
        free(kernel);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    kernel->library = library;
    kernel->name = copy;
    library->kernels[library->kernel_count++] = kernel;
    return CUDA_SUCCESS;
}

static CUresult add_kernels(CUlibrary library, CUmodule module) {
    library->kernels = calloc(module->function_count + 1, sizeof(CUkernel));
    if (library->kernels == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < module->function_count; i++) {
        CUresult result = add_kernel(library, module->functions[i].info.name);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

/* The current context checks the image; without one the primary context of the first device would
 * be needed, which the real driver avoids by loading lazily. Here a context is wanted. */
static CUresult create(CUlibrary *out, const void *image, size_t limit) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = driver_unsafe_call();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || image == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUlibrary library = calloc(1, sizeof *library);
    if (library == NULL || !driver_object_add(&library->object, DRIVER_LIBRARY, NULL)) {
        free(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    char why[256] = "";
    CUmodule module;
    result = driver_image_ptx(image, limit, context->device->arch, &library->ptx, why, sizeof why);
    if (result != CUDA_SUCCESS) driver_log("an image was refused: %s", why);
    if (result == CUDA_SUCCESS) result = module_in(library, context, &module);
    if (result == CUDA_SUCCESS) result = add_kernels(library, module);
    if (result != CUDA_SUCCESS) {
        destroy(library);
        return result;
    }
    pthread_mutex_lock(&library_lock);
    library->next = libraries;
    libraries = library;
    pthread_mutex_unlock(&library_lock);
    *out = library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit_options,
                           void **jit_values, unsigned jit_count, CUlibraryOption *options,
                           void **values, unsigned count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return create(out, image, SIZE_MAX);
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit_options,
                               void **jit_values, unsigned jit_count, CUlibraryOption *options,
                               void **values, unsigned count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (path == NULL) return CUDA_ERROR_INVALID_VALUE;
    char *image;
    size_t size;
    result = driver_image_read(path, &image, &size);
    if (result != CUDA_SUCCESS) return result;
    result = create(out, image, size);
    free(image);
    return result;
}

CUresult cuLibraryUnload(CUlibrary library) {
    CUresult result = check(library);
    if (result == CUDA_SUCCESS) destroy(library);
    return result;
}

/* ---- what is in one -------------------------------------------------------------------------- */

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name) {
    CUresult result = check(library);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < library->kernel_count; i++)
        if (strcmp(library->kernels[i]->name, name) == 0) {
            *out = library->kernels[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
    CUresult result = check(library);
    if (result != CUDA_SUCCESS) return result;
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)library->kernel_count;
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned count, CUlibrary library) {
    CUresult result = check(library);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && i < library->kernel_count; i++)
        out[i] = library->kernels[i];
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library) {
    CUcontext context;
    CUresult result = check(library);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : module_in(library, context, out);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name) {
    CUmodule module;
    CUresult result = cuLibraryGetModule(&module, library);
    return result != CUDA_SUCCESS ? result : cuModuleGetGlobal_v2(address, bytes, module, name);
}

/* A variable that is .attribute(.managed), in the current context. */
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                             const char *name) {
    CUdeviceptr at;
    CUcontext context;
    CUresult result = cuLibraryGetGlobal(&at, bytes, library, name);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (!kcsim_mem_is_shared(context->device->machine, at)) return CUDA_ERROR_NOT_FOUND;
    if (address != NULL) *address = at;
    return CUDA_SUCCESS;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static CUresult check_kernel(CUkernel kernel) {
    return driver_handle_check(kernel, DRIVER_KERNEL, CUDA_ERROR_INVALID_HANDLE);
}

CUresult driver_kernel_function(CUkernel kernel, CUcontext context, CUfunction *out) {
    CUmodule module;
    CUresult result = module_in(kernel->library, context, &module);
    if (result != CUDA_SUCCESS) return result;
    *out = driver_module_find(module, kernel->name);
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
    CUcontext context;
    CUresult result = check_kernel(kernel);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : driver_kernel_function(kernel, context, out);
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) {
    CUresult result = check_kernel(kernel);
    if (result != CUDA_SUCCESS) return result;
    if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
    *name = kernel->name;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel) {
    CUresult result = check_kernel(kernel);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = kernel->library;
    return CUDA_SUCCESS;
}

/* A kernel's attributes are a device's: those of its function in the current context there. */
static CUresult function_on(CUkernel kernel, CUdevice ordinal, CUfunction *out) {
    CUcontext context;
    CUresult result = check_kernel(kernel);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    driver_device *device = driver_device_at(ordinal);
    if (device == NULL) return CUDA_ERROR_INVALID_DEVICE;
    if (context->device != device)
        return driver_unsupported("attributes of kernels on other devices than the current");
    return driver_kernel_function(kernel, context, out);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
    CUfunction function;
    CUresult result = function_on(kernel, device, &function);
    return result != CUDA_SUCCESS ? result : cuFuncGetAttribute(value, attribute, function);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
    CUfunction function;
    CUresult result = function_on(kernel, device, &function);
    return result != CUDA_SUCCESS ? result : cuFuncSetAttribute(function, attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
    CUfunction function;
    CUresult result = function_on(kernel, device, &function);
    return result != CUDA_SUCCESS ? result : cuFuncSetCacheConfig(function, config);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    CUfunction function;
    CUresult result = cuKernelGetFunction(&function, kernel);
    return result != CUDA_SUCCESS ? result : cuFuncGetParamInfo(function, index, offset, size);
}
