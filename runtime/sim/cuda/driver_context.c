/* Contexts: the primary one of each device, those a program creates, and the stack of current ones
 * each thread has.
 *
 * A destroyed context's structure stays in memory (on the list of all contexts): other threads may
 * still have it current and must be answered CONTEXT_IS_DESTROYED. A primary context keeps its
 * structure from one retain to the next.
 *
 * After a fault (an illegal address, a trap, a deadlock) a context is poisoned as on hardware:
 * every call on it answers the fault until it is destroyed or the primary context is reset. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    CUcontext stack[DRIVER_MAX_CURRENT];
    int depth;
    CUstreamCaptureMode mode;
} thread;

static CUcontext newest;

CUstreamCaptureMode *driver_thread_mode(void) {
    return &thread.mode;
}

CUcontext driver_context_first(void) {
    driver_lock();
    CUcontext first = newest;
    driver_unlock();
    return first;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static CUcontext top(void) {
    return thread.depth > 0 ? thread.stack[thread.depth - 1] : NULL;
}

CUresult driver_current(CUcontext *context) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    *context = top();
    if (*context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return (*context)->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult driver_enter(CUcontext *context) {
    CUresult result = driver_current(context);
    return result != CUDA_SUCCESS ? result : (*context)->fault;
}

CUresult driver_context_check(CUcontext context) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(context, DRIVER_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    return context->alive ? context->fault : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* NULL stands for the current context. */
static CUresult context_or_current(CUcontext given, CUcontext *out) {
    if (given == NULL) return driver_current(out);
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    *out = given;
    return driver_handle_is(given, DRIVER_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void init_limits(CUcontext context) {
    memset(context->limits, 0, sizeof context->limits);
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

static CUresult wake(CUcontext context, unsigned flags) {
    if (driver_device_machine(context->device) == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    context->flags = flags;
    context->fault = CUDA_SUCCESS;
    context->api_version = DRIVER_VERSION;
    init_limits(context);
    if (!driver_object_add(&context->legacy.object, DRIVER_STREAM, NULL) ||
        !driver_object_add(&context->per_thread.object, DRIVER_STREAM, NULL)) {
        driver_object_remove(&context->legacy.object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->legacy.object.context = context->per_thread.object.context = context;
    driver_stream_init(&context->legacy, CU_STREAM_DEFAULT, 0);
    driver_stream_init(&context->per_thread, CU_STREAM_DEFAULT, 0);
    driver_lock();
    context->id = driver_next_id();
    driver_unlock();
    context->alive = true;
    return CUDA_SUCCESS;
}

static CUresult create(driver_device *device, bool primary, unsigned flags, CUcontext *out) {
    CUcontext context = calloc(1, sizeof *context);
    if (context == NULL || !driver_object_add(&context->object, DRIVER_CONTEXT, NULL)) {
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->device = device;
    context->primary = primary;
    CUresult result = wake(context, flags);
    if (result != CUDA_SUCCESS) {
        driver_object_remove(&context->object);
        free(context);
        return result;
    }
    driver_lock();
    context->older = newest;
    newest = context;
    driver_unlock();
    *out = context;
    return CUDA_SUCCESS;
}

/* Everything of the context goes; what is left says only that it is destroyed. */
static void put_to_sleep(CUcontext context) {
    context->alive = false;
    driver_library_drop_context(context);
    while (context->objects != NULL)
        driver_object_destroy(context->objects);
    driver_capture_forget(&context->per_thread);
    context->legacy.object.context = context->per_thread.object.context = NULL;
    driver_object_remove(&context->legacy.object);
    driver_object_remove(&context->per_thread.object);
    driver_nodes_clear(&context->legacy.tail);
    driver_nodes_clear(&context->per_thread.tail);
    driver_release_context(context);
}

void driver_object_destroy(driver_object *object) {
    switch (object->kind) {
    case DRIVER_MODULE: driver_module_destroy((CUmodule)object); break;
    case DRIVER_STREAM: driver_stream_destroy((CUstream)object); break;
    case DRIVER_EVENT: driver_event_destroy((CUevent)object); break;
    default: /* nothing else is in a context's list */ driver_object_remove(object); break;
    }
}

/* ---- the current context --------------------------------------------------------------------- */

static CUresult push(CUcontext context) {
    if (thread.depth == DRIVER_MAX_CURRENT) return CUDA_ERROR_OUT_OF_MEMORY;
    thread.stack[thread.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(context, DRIVER_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return push(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (thread.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext context = thread.stack[--thread.depth];
    if (out != NULL) *out = context;
    return CUDA_SUCCESS;
}

DRIVER_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);
DRIVER_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);

CUresult cuCtxSetCurrent(CUcontext context) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (context == NULL) {
        if (thread.depth > 0) thread.depth--;
        return CUDA_SUCCESS;
    }
    if (!driver_handle_is(context, DRIVER_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (thread.depth == 0) return push(context);
    thread.stack[thread.depth - 1] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = top();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *out) {
    CUcontext context;
    CUresult result = driver_current(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext given) {
    CUcontext context;
    CUresult result = context_or_current(given, &context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = context->device->ordinal;
    return CUDA_SUCCESS;
}

/* ---- contexts a program creates -------------------------------------------------------------- */

CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice ordinal) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || (flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) return CUDA_ERROR_INVALID_VALUE;
    driver_device *device = driver_device_at(ordinal);
    if (device == NULL) return CUDA_ERROR_INVALID_DEVICE;
    CUcontext context;
    result = create(device, false, flags, &context);
    if (result != CUDA_SUCCESS) return result;
    result = push(context);
    if (result != CUDA_SUCCESS) {
        cuCtxDestroy_v2(context);
        return result;
    }
    *out = context;
    return CUDA_SUCCESS;
}

DRIVER_ALIAS(cuCtxCreate, cuCtxCreate_v2);

/* Affinity and graphics parameters have nothing to act on here. */
CUresult cuCtxCreate_v3(CUcontext *out, void *affinity, int count, unsigned flags,
                        CUdevice device) {
    if (affinity != NULL || count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *out, void *parameters, unsigned flags, CUdevice device) {
    if (parameters != NULL) {
        static const unsigned char none[24];
        if (memcmp(parameters, none, sizeof none) != 0)
            return driver_unsupported("cuCtxCreate_v4 with parameters");
    }
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(context, DRIVER_CONTEXT) || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    put_to_sleep(context);
    if (top() == context) thread.depth--;
    driver_report_flush();
    return CUDA_SUCCESS;
}

DRIVER_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);

/* ---- the primary context --------------------------------------------------------------------- */

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult primary_device(CUdevice ordinal, driver_device **device) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    *device = driver_device_at(ordinal);
    return *device != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal) {
    driver_device *device;
    CUresult result = primary_device(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primary_lock);
    if (device->primary == NULL)
        result = create(device, true, device->primary_flags, &device->primary);
    else if (!device->primary->alive) result = wake(device->primary, device->primary_flags);
    if (result == CUDA_SUCCESS) {
        device->primary_uses++;
        *out = device->primary;
    }
    pthread_mutex_unlock(&primary_lock);
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    driver_device *device;
    CUresult result = primary_device(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&primary_lock);
    if (device->primary_uses == 0) result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--device->primary_uses == 0 && device->primary->alive) put_to_sleep(device->primary);
    pthread_mutex_unlock(&primary_lock);
    driver_report_flush();
    return result;
}
DRIVER_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

/* Uses are kept: a retained context comes back to life with the next call that retains it. The real
 * driver revives it at the next use; programs call cuDevicePrimaryCtxRetain there. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    driver_device *device;
    CUresult result = primary_device(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&primary_lock);
    if (device->primary != NULL && device->primary->alive) put_to_sleep(device->primary);
    device->primary_flags = 0;
    pthread_mutex_unlock(&primary_lock);
    driver_report_flush();
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
    driver_device *device;
    CUresult result = primary_device(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primary_lock);
    device->primary_flags = flags;
    if (device->primary != NULL) device->primary->flags = flags;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active) {
    driver_device *device;
    CUresult result = primary_device(ordinal, &device);
    if (result != CUDA_SUCCESS) return result;
    if (flags == NULL || active == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primary_lock);
    *flags = device->primary_flags;
    *active = device->primary != NULL && device->primary->alive;
    pthread_mutex_unlock(&primary_lock);
    return CUDA_SUCCESS;
}

/* ---- synchronising --------------------------------------------------------------------------- */

static CUresult synchronize(CUcontext context) {
    CUresult result = driver_unsafe_call();
    if (result != CUDA_SUCCESS) return result;
    driver_settle(context->device);
    driver_report_flush();
    return context->fault;
}

CUresult cuCtxSynchronize(void) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    return result != CUDA_SUCCESS ? result : synchronize(context);
}

CUresult cuCtxSynchronize_v2(CUcontext given) {
    CUcontext context;
    CUresult result = context_or_current(given, &context);
    if (result == CUDA_SUCCESS) result = driver_context_check(context);
    return result != CUDA_SUCCESS ? result : synchronize(context);
}
