/* What can be asked of a context and set in it. Caches, banks and scheduling flags are remembered
 * and change nothing: the machine has one configuration. */
#include "runtime/sim/cuda/driver_api.h"

CUresult cuCtxGetApiVersion(CUcontext given, unsigned *version) {
    CUcontext context = given;
    CUresult result = given != NULL ? driver_context_check(given) : driver_current(&context);
    if (result != CUDA_SUCCESS) return result;
    if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
    *version = context->api_version;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext given, unsigned long long *id) {
    CUcontext context = given;
    CUresult result = given != NULL ? driver_context_check(given) : driver_current(&context);
    if (result != CUDA_SUCCESS) return result;
    if (id == NULL) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (value == NULL || (unsigned)limit >= DRIVER_LIMIT_COUNT) return CUDA_ERROR_INVALID_VALUE;
    if (limit >= CU_LIMIT_SHMEM_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if ((unsigned)limit >= DRIVER_LIMIT_COUNT) return CUDA_ERROR_INVALID_VALUE;
    if (limit >= CU_LIMIT_SHMEM_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context->limits[limit] = value;
    kcsim_machine *machine = context->device->machine; /* of all its contexts */
    if (limit == CU_LIMIT_STACK_SIZE) kcsim_machine_set_stack(machine, value);
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) kcsim_machine_set_heap(machine, value);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    bool known = config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    bool known = config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                 config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (least != NULL) *least = 0;
    if (greatest != NULL) *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void) {
    CUcontext context;
    return driver_enter(&context);
}

/* Machines do not see each other's memory. */
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = driver_context_check(peer);
    if (result != CUDA_SUCCESS) return result;
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = driver_context_check(peer);
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* There is no profiler to start. */
CUresult cuProfilerStart(void) {
    CUcontext context;
    return driver_enter(&context);
}

CUresult cuProfilerStop(void) {
    CUcontext context;
    return driver_enter(&context);
}
