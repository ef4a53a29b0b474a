/* Events. What precedes an event has run when it is recorded, so an event is a time. In a capture
 * it is a set of nodes instead: what a stream that waits for it then depends on. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <time.h>

void driver_event_stamp(CUevent event) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    driver_lock();
    event->nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    event->recorded = true;
    event->early = 0;
    driver_unlock();
}

void driver_event_destroy(CUevent event) {
    driver_object_remove(&event->object);
    driver_nodes_clear(&event->nodes);
    free(event);
}

CUresult cuEventCreate(CUevent *out, unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (out == NULL || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return driver_unsupported("interprocess events");
    CUevent event = calloc(1, sizeof *event);
    if (event == NULL || !driver_object_add(&event->object, DRIVER_EVENT, context)) {
        free(event);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->flags = flags;
    *out = event;
    return CUDA_SUCCESS;
}

static CUresult check(CUevent event) {
    return driver_handle_check(event, DRIVER_EVENT, CUDA_ERROR_INVALID_HANDLE);
}

/* Destroying works in a poisoned context too, so that programs can clean up. */
CUresult cuEventDestroy_v2(CUevent event) {
    CUresult result = check(event);
    if (result != CUDA_SUCCESS) return result;
    CUcontext owner = event->object.context;
    driver_event_destroy(event);
    return owner->fault;
}
DRIVER_ALIAS(cuEventDestroy, cuEventDestroy_v2);

CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned flags) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result == CUDA_SUCCESS) result = check(event);
    if (result != CUDA_SUCCESS) return result;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (event->object.context != stream->object.context) return CUDA_ERROR_INVALID_HANDLE;
    return driver_event_record(event, stream, flags);
}
DRIVER_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return cuEventRecordWithFlags(event, stream, 0);
}
DRIVER_ALIAS(cuEventRecord_ptsz, cuEventRecord);

static CUresult ask(CUevent event) {
    CUresult result = check(event);
    if (result != CUDA_SUCCESS) return result;
    driver_lock();
    bool captured = driver_capture_active(event->capture_id);
    driver_unlock();
    return captured ? CUDA_ERROR_CAPTURED_EVENT : event->object.context->fault;
}

CUresult cuEventQuery(CUevent event) {
    CUresult result = ask(event);
    if (result == CUDA_SUCCESS) result = driver_unsafe_call();
    if (result == CUDA_SUCCESS) driver_settle(event->object.context->device);
    return result;
}

CUresult cuEventSynchronize(CUevent event) {
    CUresult result = cuEventQuery(event);
    if (result == CUDA_SUCCESS) driver_report_flush();
    return result;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    CUresult result = ask(start);
    if (result == CUDA_SUCCESS) result = ask(end);
    if (result != CUDA_SUCCESS) return result;
    if (milliseconds == NULL) return CUDA_ERROR_INVALID_VALUE;
    bool timed = ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) == 0;
    if (!timed || !start->recorded || !end->recorded ||
        start->object.context != end->object.context)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(end->nanoseconds - start->nanoseconds) * 1e-6);
    return CUDA_SUCCESS;
}
DRIVER_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2);
