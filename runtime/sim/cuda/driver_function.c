/* Functions: attributes and occupancy. */
#include "runtime/sim/cuda/driver_api.h"

CUresult driver_function_resolve(const void *handle, CUcontext context, CUfunction *out) {
    if (driver_handle_is(handle, DRIVER_FUNCTION)) {
        *out = (CUfunction)(uintptr_t)handle;
        return CUDA_SUCCESS;
    }
    if (!driver_handle_is(handle, DRIVER_KERNEL)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_kernel_function((CUkernel)(uintptr_t)handle, context, out);
}

static CUresult check(CUfunction handle, CUfunction *out) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (driver_handle_is(handle, DRIVER_FUNCTION)) {
        *out = handle;
        return CUDA_SUCCESS;
    }
    CUcontext context;
    result = driver_enter(&context);
    return result != CUDA_SUCCESS ? result : driver_function_resolve(handle, context, out);
}

static const kcsim_arch *arch_of(CUfunction function) {
    return function->object.context->device->arch;
}

/* The dynamic shared memory a launch may ask for: what was set, or what the default limit leaves.
 */
static int dynamic_limit(CUfunction function) {
    if (function->max_dynamic_shared >= 0) return function->max_dynamic_shared;
    int left = arch_of(function)->shared_per_block - (int)function->info.static_shared;
    return left > 0 ? left : 0;
}

static bool get_attribute(CUfunction function, int attribute, int *value) {
    const kcsim_function_info *info = &function->info;
    const kcsim_arch *arch = arch_of(function);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = info->max_threads; return true;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; return true;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info->const_bytes; return true;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; return true;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = info->registers; return true;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = info->target; /* the virtual architecture of the PTX, as the driver answers it */
        return true;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = arch->major * 10 + arch->minor; return true;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; return true;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = dynamic_limit(function);
        return true;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = function->carveout;
        return true;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = info->cluster_must_be_set;
        return true;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = info->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return true;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = function->big_clusters;
        return true;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = function->cluster_policy;
        return true;
    default: return false;
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    bool known = value != NULL && get_attribute(function, (int)attribute, value);
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The rest of the attributes describe the code and cannot be set. */
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
        int most = arch_of(function)->shared_per_block_optin - (int)function->info.static_shared;
        if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
        function->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->big_clusters = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > 2) return CUDA_ERROR_INVALID_VALUE;
        function->cluster_policy = value;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    bool known = config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    bool known = config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                 config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = function->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction handle) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
    *name = function->info.name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (offset == NULL || index >= function->info.param_count) return CUDA_ERROR_INVALID_VALUE;
    *offset = function->info.params[index].offset;
    if (size != NULL) *size = function->info.params[index].size;
    return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (state == NULL) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) {
    CUfunction function;
    return check(handle, &function);
}

/* ---- occupancy ------------------------------------------------------------------------------- */

/* A block may have more shared memory than its function allows only on paper. */
static int blocks_at_once(CUfunction function, int threads, size_t dynamic_shared) {
    size_t most = (size_t)arch_of(function)->shared_per_block,
           of_block = function->info.static_shared;
    if (function->max_dynamic_shared >= 0) most = of_block + (size_t)function->max_dynamic_shared;
    if (dynamic_shared > most || of_block + dynamic_shared > most) return 0;
    return kcsim_occupancy(function->object.context->device->machine, function->function, threads,
                           dynamic_shared);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                              int threads, size_t dynamic_shared,
                                                              unsigned flags) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (blocks == NULL || threads <= 0 ||
        (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = blocks_at_once(function, threads, dynamic_shared);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                dynamic_shared, 0);
}

/* The largest block size, a multiple of the warp, that keeps most threads on a multiprocessor. */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle,
                                                   driver_block_to_shared to_shared,
                                                   size_t dynamic_shared, int limit,
                                                   unsigned flags) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (grid == NULL || block == NULL ||
        (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    int most = function->info.max_threads, best = 0, best_threads = 0, best_blocks = 0;
    if (limit > 0 && limit < most) most = limit;
    for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
        int threads = size < most ? size : most;
        size_t shared = to_shared != NULL ? to_shared(threads) : dynamic_shared;
        int blocks = blocks_at_once(function, threads, shared);
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        best_threads = threads;
        best_blocks = blocks;
    }
    if (best == 0) return CUDA_ERROR_INVALID_VALUE;
    *block = best_threads;
    *grid = best_blocks * function->object.context->device->options.multiprocessors;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          driver_block_to_shared to_shared, size_t dynamic_shared,
                                          int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, to_shared,
                                                     dynamic_shared, limit, 0);
}

/* By bisection: occupancy falls as shared memory grows. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle, int blocks,
                                                 int threads) {
    CUfunction function;
    CUresult result = check(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (bytes == NULL || blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    size_t low = 0, high = (size_t)arch_of(function)->shared_per_block_optin + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (blocks_at_once(function, threads, middle) >= blocks) low = middle;
        else high = middle;
    }
    *bytes = low;
    return CUDA_SUCCESS;
}
