/* Executable graphs: instantiate, update, launch. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

static CUresult instantiate(CUgraphExec *out, CUgraph graph, uint64_t flags) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    enum { AUTO_FREE = 1, UPLOAD = 2, DEVICE_LAUNCH = 4, NODE_PRIORITY = 8 };
    if (out == NULL || !driver_handle_is(graph, DRIVER_GRAPH) ||
        (flags & ~(uint64_t)(AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & DEVICE_LAUNCH) != 0) return driver_unsupported("graphs launched by the device");
    CUgraphExec exec = calloc(1, sizeof *exec);
    if (exec == NULL || !driver_object_add(&exec->object, DRIVER_EXEC, NULL)) {
        free(exec);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->flags = flags;
    result = driver_graph_clone(graph, &exec->graph);
    if (result == CUDA_SUCCESS) result = driver_graph_sort(exec->graph);
    if (result == CUDA_SUCCESS) {
        *out = exec;
        return result;
    }
    driver_object_remove(&exec->object);
    driver_graph_destroy(exec->graph);
    free(exec);
    return result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags) {
    return instantiate(out, graph, flags);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error, char *log,
                               size_t size) {
    if (error != NULL) *error = NULL;
    if (log != NULL && size > 0) log[0] = 0;
    return instantiate(out, graph, 0);
}
DRIVER_ALIAS(cuGraphInstantiate, cuGraphInstantiate_v2);

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph, driver_instantiate *params) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    result = instantiate(out, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = result == CUDA_SUCCESS ? 0 : 1; /* success, or "an error" */
    return result;
}
DRIVER_ALIAS(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams);

static CUresult check(CUgraphExec exec) {
    return driver_handle_check(exec, DRIVER_EXEC, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    CUresult result = check(exec);
    if (result != CUDA_SUCCESS) return result;
    driver_object_remove(&exec->object);
    driver_graph_destroy(exec->graph);
    free(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, unsigned long long *flags) {
    CUresult result = check(exec);
    if (result != CUDA_SUCCESS) return result;
    if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

/* Launching into a captured stream makes a child graph node of it. */
CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
    CUstream stream;
    CUresult result = check(exec);
    if (result == CUDA_SUCCESS) result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .context = stream->object.context};
    op.u.graph = exec->graph;
    return driver_stream_submit(stream, &op);
}
DRIVER_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch);

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle) {
    CUstream stream;
    CUresult result = check(exec);
    return result != CUDA_SUCCESS ? result : driver_stream_enter(handle, &stream);
}
DRIVER_ALIAS(cuGraphUpload_ptsz, cuGraphUpload);

/* ---- update ---------------------------------------------------------------------------------- */

/* Nodes correspond by their place in the order; what precedes a node must too. */
static int compare(CUgraph old, CUgraph new_graph, CUgraphNode *error) {
    *error = NULL;
    if (old->nodes.count != new_graph->nodes.count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < old->nodes.count; i++)
        old->nodes.items[i]->index = new_graph->nodes.items[i]->index = i;
    for (size_t i = 0; i < old->nodes.count; i++) {
        CUgraphNode a = old->nodes.items[i], b = new_graph->nodes.items[i];
        *error = b;
        if (a->op.type != b->op.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (a->dependencies.count != b->dependencies.count)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t k = 0; k < a->dependencies.count; k++)
            if (a->dependencies.items[k]->index != b->dependencies.items[k]->index)
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    *error = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, driver_update_result *out) {
    CUresult result = check(exec);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || !driver_handle_is(graph, DRIVER_GRAPH)) return CUDA_ERROR_INVALID_VALUE;
    *out = (driver_update_result){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUgraph fresh;
    result = driver_graph_clone(graph, &fresh);
    if (result != CUDA_SUCCESS) return result;
    result = driver_graph_sort(fresh);
    CUgraphNode error = NULL;
    if (result == CUDA_SUCCESS) out->result = compare(exec->graph, fresh, &error);
    if (result == CUDA_SUCCESS && out->result == CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        CUgraph before = exec->graph;
        exec->graph = fresh;
        driver_graph_destroy(before);
        return CUDA_SUCCESS;
    }
    out->errorNode = error != NULL ? error->original : NULL;
    driver_graph_destroy(fresh);
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error, int *answer) {
    driver_update_result out = {0};
    CUresult result = cuGraphExecUpdate_v2(exec, graph, &out);
    if (error != NULL) *error = out.errorNode;
    if (answer != NULL) *answer = out.result;
    return result;
}
