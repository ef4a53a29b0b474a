/* Stream capture: while a stream is captured its work is recorded into a graph instead of run.
 *
 * A stream's `tail` is the set of nodes that its next operation depends on. Recording an event in a
 * capturing stream copies the tail into the event; a stream that waits for such an event joins the
 * capture and adds those nodes to its own tail. The capture may end when everything recorded leads
 * back to the stream where it began.
 *
 * The driver forbids during a capture what would need the work to run (synchronising, querying) or
 * might (allocating, loading a module): the rules are the real ones, because a program that works
 * here must not fail there. All functions take the global lock; helpers named *_locked need it. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

static driver_capture *captures;

bool driver_capture_active(uint64_t id) {
    for (const driver_capture *capture = captures; capture != NULL; capture = capture->next)
        if (capture->id == id) return true;
    return false;
}

static driver_capture *find_locked(uint64_t id) {
    for (driver_capture *capture = captures; capture != NULL; capture = capture->next)
        if (capture->id == id) return capture;
    return NULL;
}

/* ---- what captures forbid -------------------------------------------------------------------- */

CUresult driver_unsafe_call(void) {
    CUstreamCaptureMode mode = *driver_thread_mode();
    CUresult result = CUDA_SUCCESS;
    driver_lock();
    for (driver_capture *capture = captures; capture != NULL; capture = capture->next) {
        bool own = pthread_equal(capture->thread, pthread_self()) != 0;
        bool counts = (own && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                       mode != CU_STREAM_CAPTURE_MODE_RELAXED) ||
                      (mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                       capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
        if (!counts) continue;
        capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    driver_unlock();
    return result;
}

/* The legacy stream waits for every blocking stream of its context, captured ones included. */
static CUresult legacy_locked(CUstream stream, bool invalidate) {
    CUcontext context = stream->object.context;
    CUresult result = CUDA_SUCCESS;
    if (stream != &context->legacy) return result;
    if (context->per_thread.capture != NULL) {
        context->per_thread.capture->invalidated |= invalidate;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    for (driver_object *object = context->objects; object != NULL; object = object->next) {
        CUstream other = (CUstream)object;
        if (object->kind != DRIVER_STREAM || other->capture == NULL) continue;
        if ((other->flags & CU_STREAM_NON_BLOCKING) != 0) continue;
        other->capture->invalidated |= invalidate;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return result;
}

CUresult driver_stream_must_not_capture(CUstream stream) {
    driver_lock();
    CUresult result = legacy_locked(stream, true);
    if (stream->capture != NULL) {
        stream->capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    driver_unlock();
    return result;
}

/* Every stream of every context that takes part leaves. */
static void detach(const driver_capture *capture) {
    for (CUcontext context = driver_context_first(); context != NULL; context = context->older) {
        driver_lock();
        if (context->per_thread.capture == capture) {
            context->per_thread.capture = NULL;
            driver_nodes_clear(&context->per_thread.tail);
        }
        for (driver_object *object = context->objects; object != NULL; object = object->next) {
            CUstream stream = (CUstream)object;
            if (object->kind != DRIVER_STREAM || stream->capture != capture) continue;
            stream->capture = NULL;
            driver_nodes_clear(&stream->tail);
        }
        driver_unlock();
    }
}

void driver_capture_forget(CUstream stream) {
    driver_lock();
    driver_capture *capture = stream->capture;
    if (capture != NULL) {
        capture->invalidated = true;
        if (capture->origin == stream) { /* nobody can end it any more */
            driver_capture **link = &captures;
            while (*link != capture)
                link = &(*link)->next;
            *link = capture->next;
        }
    }
    bool ended = capture != NULL && capture->origin == stream;
    stream->capture = NULL;
    driver_unlock();
    if (!ended) return;
    detach(capture);
    if (capture->owns_graph) driver_graph_destroy(capture->graph);
    free(capture);
}

/* ---- recording ------------------------------------------------------------------------------- */

/* A kernel may begin before the one right in front of it in the stream ends, or before the one
 * whose programmatic event the stream waits for. */
static CUresult run_now(CUstream stream, const driver_op *op) {
    driver_op now = *op;
    bool kernel = op->type == CU_GRAPH_NODE_TYPE_KERNEL;
    uint64_t launched = 0;
    if (kernel) {
        now.u.kernel.config.after = stream->early;
        if (op->u.kernel.programmatic) now.u.kernel.config.after = stream->last_launch;
        now.u.kernel.launched = &launched;
    }
    CUresult result = driver_op_run(&now);
    stream->last_launch = launched;
    stream->early = 0;
    return result;
}

CUresult driver_stream_submit(CUstream stream, const driver_op *op) {
    driver_lock();
    driver_capture *capture = stream->capture;
    CUresult result = legacy_locked(stream, true);
    if (capture != NULL && capture->invalidated) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    driver_unlock();
    if (result != CUDA_SUCCESS) return result;
    if (capture == NULL) return run_now(stream, op);
    CUgraphNode node;
    result = driver_graph_add(capture->graph, &stream->tail, op, &node);
    if (result != CUDA_SUCCESS) return result;
    driver_lock();
    driver_nodes_clear(&stream->tail);
    bool kept = driver_nodes_add(&stream->tail, node);
    if (!kept) capture->invalidated = true;
    driver_unlock();
    return kept ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool add_all(driver_nodes *to, const driver_nodes *from) {
    for (size_t i = 0; i < from->count; i++)
        if (!driver_nodes_add(to, from->items[i])) return false;
    return true;
}

CUresult driver_event_record(CUevent event, CUstream stream, unsigned flags) {
    bool external = (flags & CU_EVENT_RECORD_EXTERNAL) != 0;
    driver_lock();
    driver_capture *capture = stream->capture;
    bool invalid = capture != NULL && capture->invalidated;
    bool inner = capture != NULL && !external && !invalid;
    if (inner) {
        driver_nodes_clear(&event->nodes);
        event->capture_id = capture->id;
        invalid = !add_all(&event->nodes, &stream->tail);
    }
    driver_unlock();
    if (invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (inner) return CUDA_SUCCESS;
    if (external && capture == NULL) return CUDA_ERROR_ILLEGAL_STATE;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .context = stream->object.context};
    op.u.event = event;
    CUresult result = driver_stream_submit(stream, &op);
    if (result == CUDA_SUCCESS && !external) event->capture_id = 0;
    return result;
}

/* The event belongs to a capture that goes on: join it, or stay in it. */
static CUresult wait_inside_locked(CUstream stream, CUevent event, driver_capture *capture) {
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture != NULL && stream->capture != capture) {
        stream->capture->invalidated = capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (stream == &stream->object.context->legacy) {
        capture->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    stream->capture = capture;
    return add_all(&stream->tail, &event->nodes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(event, DRIVER_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0) return CUDA_ERROR_INVALID_VALUE;
    bool external = (flags & CU_EVENT_WAIT_EXTERNAL) != 0;
    driver_lock();
    driver_capture *capture = event->capture_id != 0 ? find_locked(event->capture_id) : NULL;
    if (capture != NULL) {
        result = wait_inside_locked(stream, event, capture);
    } else if (stream->capture != NULL && !external) {
        stream->capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    } else {
        result = legacy_locked(stream, true);
        stream->last_launch = 0;
        if (event->object.context->device == stream->object.context->device)
            stream->early = event->early;
    }
    bool record = capture == NULL && stream->capture != NULL && external;
    driver_unlock();
    if (!record) return result;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .context = stream->object.context};
    op.u.event = event;
    return driver_stream_submit(stream, &op);
}
DRIVER_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);

/* ---- begin and end --------------------------------------------------------------------------- */

static CUresult begin(CUstream handle, CUgraph graph, const CUgraphNode *nodes, size_t count,
                      CUstreamCaptureMode mode) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == &stream->object.context->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    driver_capture *capture = calloc(1, sizeof *capture);
    if (capture == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    capture->owns_graph = graph == NULL;
    capture->graph = graph;
    if (graph == NULL) result = driver_graph_create(&capture->graph);
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = pthread_self();
    driver_lock();
    capture->id = driver_next_id();
    if (result == CUDA_SUCCESS && stream->capture != NULL) result = CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (!driver_nodes_add(&stream->tail, nodes[i])) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        capture->next = captures;
        captures = capture;
        stream->capture = capture;
    }
    driver_unlock();
    if (result == CUDA_SUCCESS) return result;
    if (capture->owns_graph && capture->graph != NULL) driver_graph_destroy(capture->graph);
    free(capture);
    return result;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    return begin(stream, NULL, NULL, 0, mode);
}
DRIVER_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2);

CUresult cuStreamBeginCapture(CUstream stream) {
    return begin(stream, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
DRIVER_ALIAS(cuStreamBeginCapture_ptsz, cuStreamBeginCapture);

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                                     const driver_edge *edges, size_t count,
                                     CUstreamCaptureMode mode) {
    (void)edges; /* every edge is a full dependence */
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(graph, DRIVER_GRAPH) || (count > 0 && nodes == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!driver_handle_is(nodes[i], DRIVER_NODE) || nodes[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    return begin(stream, graph, nodes, count, mode);
}
DRIVER_ALIAS(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph);

/* Whether all recorded work leads to the tail of the stream where the capture began. Nodes stand
 * after what they depend on, so one pass from the back reaches every ancestor. */
static bool is_joined(const driver_capture *capture) {
    const driver_nodes *nodes = &capture->graph->nodes, *tail = &capture->origin->tail;
    for (size_t i = 0; i < nodes->count; i++)
        nodes->items[i]->mark = false;
    for (size_t i = 0; i < tail->count; i++)
        tail->items[i]->mark = true;
    bool joined = true;
    for (size_t i = nodes->count; i-- > 0;) {
        const driver_nodes *before = &nodes->items[i]->dependencies;
        joined &= nodes->items[i]->mark;
        for (size_t k = 0; k < before->count; k++)
            before->items[k]->mark |= nodes->items[i]->mark;
    }
    return joined || !capture->owns_graph;
}

static CUresult may_end(CUstream stream, const driver_capture *capture) {
    if (capture == NULL) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        pthread_equal(capture->thread, pthread_self()) == 0)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *out) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    driver_lock();
    driver_capture *capture = stream->capture;
    result = may_end(stream, capture);
    driver_capture **link = &captures;
    while (result == CUDA_SUCCESS && *link != capture)
        link = &(*link)->next;
    if (result == CUDA_SUCCESS) *link = capture->next;
    driver_unlock();
    if (result != CUDA_SUCCESS) return result;
    if (capture->invalidated) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(capture)) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    detach(capture);
    if (result == CUDA_SUCCESS) *out = capture->graph;
    else if (capture->owns_graph) driver_graph_destroy(capture->graph);
    free(capture);
    return result;
}
DRIVER_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture);

/* ---- asking ---------------------------------------------------------------------------------- */

static CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status, unsigned long long *id,
                             CUgraph *graph, const CUgraphNode **nodes, size_t *count) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    result = legacy_locked(stream, false);
    const driver_capture *capture = stream->capture;
    *status = capture == NULL        ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                     : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id != NULL) *id = capture->id;
        if (graph != NULL) *graph = capture->graph;
        if (nodes != NULL) *nodes = stream->tail.items;
        if (count != NULL) *count = stream->tail.count;
    }
    driver_unlock();
    return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return capture_info(stream, status, NULL, NULL, NULL, NULL);
}
DRIVER_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                unsigned long long *id) {
    return capture_info(stream, status, id, NULL, NULL, NULL);
}
DRIVER_ALIAS(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo);

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                   unsigned long long *id, CUgraph *graph,
                                   const CUgraphNode **nodes, size_t *count) {
    return capture_info(stream, status, id, graph, nodes, count);
}
DRIVER_ALIAS(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2);

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status,
                                   unsigned long long *id, CUgraph *graph,
                                   const CUgraphNode **nodes, const driver_edge **edges,
                                   size_t *count) {
    if (edges != NULL) *edges = NULL; /* all edges are ordinary ones */
    return capture_info(stream, status, id, graph, nodes, count);
}
DRIVER_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3);

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (mode == NULL || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL ||
        *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = *driver_thread_mode();
    *driver_thread_mode() = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
