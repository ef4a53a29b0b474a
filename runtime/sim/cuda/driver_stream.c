/* Streams. Work runs when it is submitted, so a stream is always finished: querying and waiting
 * succeed at once, and every order that a program may count on holds. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

void driver_stream_init(CUstream stream, unsigned flags, int priority) {
    stream->flags = flags;
    stream->priority = priority;
    driver_lock();
    stream->id = driver_next_id();
    driver_unlock();
    stream->capture = NULL;
    memset(&stream->tail, 0, sizeof stream->tail);
}

void driver_stream_destroy(CUstream stream) {
    driver_capture_forget(stream);
    driver_nodes_clear(&stream->tail);
    driver_object_remove(&stream->object);
    free(stream);
}

/* The stream that a handle means; of the special handles, the current context's. */
static CUresult resolve(CUstream handle, CUcontext current, CUstream *out) {
    if (handle == NULL || handle == CU_STREAM_LEGACY) *out = &current->legacy;
    else if (handle == CU_STREAM_PER_THREAD) *out = &current->per_thread;
    else if (driver_handle_is(handle, DRIVER_STREAM)) *out = handle;
    else return CUDA_ERROR_INVALID_HANDLE;
    return (*out)->object.context->fault;
}

CUresult driver_stream_enter(CUstream handle, CUstream *out) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    return result != CUDA_SUCCESS ? result : resolve(handle, context, out);
}

/* ---- life ------------------------------------------------------------------------------------ */

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUstream stream = calloc(1, sizeof *stream);
    if (stream == NULL || !driver_object_add(&stream->object, DRIVER_STREAM, context)) {
        free(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    int lowest = 0, highest = -5; /* cuCtxGetStreamPriorityRange; others are clamped */
    priority = priority > lowest ? lowest : priority < highest ? highest : priority;
    driver_stream_init(stream, flags, priority);
    *out = stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *out, unsigned flags) {
    return cuStreamCreateWithPriority(out, flags, 0);
}

/* Destroying works in a poisoned context too, so that programs can clean up. */
CUresult cuStreamDestroy_v2(CUstream stream) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(stream, DRIVER_STREAM)) return CUDA_ERROR_INVALID_HANDLE;
    CUcontext owner = stream->object.context;
    if (stream == &owner->legacy || stream == &owner->per_thread) return CUDA_ERROR_INVALID_HANDLE;
    driver_stream_destroy(stream);
    return owner->fault;
}

/* ---- waiting --------------------------------------------------------------------------------- */

CUresult cuStreamSynchronize(CUstream handle) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result == CUDA_SUCCESS) result = driver_stream_must_not_capture(stream);
    if (result != CUDA_SUCCESS) return result;
    driver_settle(stream->object.context->device);
    driver_report_flush();
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);

CUresult cuStreamQuery(CUstream handle) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result == CUDA_SUCCESS) result = driver_stream_must_not_capture(stream);
    if (result == CUDA_SUCCESS) driver_settle(stream->object.context->device);
    return result;
}
DRIVER_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);

/* ---- host functions -------------------------------------------------------------------------- */

CUresult cuLaunchHostFunc(CUstream handle, driver_host_function function, void *data) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (function == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_HOST, .context = stream->object.context};
    op.u.host = (driver_host_call){function, data};
    return driver_stream_submit(stream, &op);
}
DRIVER_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);

CUresult cuStreamAddCallback(CUstream handle, driver_stream_callback callback, void *data,
                             unsigned flags) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (callback == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    result = driver_stream_must_not_capture(stream);
    if (result != CUDA_SUCCESS) return result;
    driver_call_host(true);
    callback(handle, CUDA_SUCCESS, data);
    driver_call_host(false);
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback);

/* ---- what is known of a stream --------------------------------------------------------------- */

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = stream->object.context;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);

CUresult cuStreamGetDevice(CUstream handle, CUdevice *out) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = stream->object.context->device->ordinal;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice);

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (priority == NULL) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (id == NULL) return CUDA_ERROR_INVALID_VALUE;
    *id = stream->id;
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuStreamGetId_ptsz, cuStreamGetId);
