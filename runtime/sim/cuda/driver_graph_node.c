/* Nodes that programs add themselves, and the parameters of nodes. Only the kinds that captures
 * make are here: kernels, copies, fills, host functions, events, child graphs, empty nodes. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

/* ---- adding ---------------------------------------------------------------------------------- */

static CUresult check_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                          size_t count) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || !driver_handle_is(graph, DRIVER_GRAPH) || (count > 0 && before == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!driver_handle_is(before[i], DRIVER_NODE) || before[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                    const driver_op *op) {
    driver_nodes dependencies = {0};
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (!driver_nodes_add(&dependencies, before[i])) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) result = driver_graph_add(graph, &dependencies, op, out);
    driver_nodes_clear(&dependencies);
    return result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                             size_t count) {
    CUcontext context;
    CUresult result = check_add(out, graph, before, count);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_EMPTY, .context = context};
    return add(out, graph, before, count, &op);
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                            size_t count, const driver_host_node *params) {
    CUcontext context;
    CUresult result = check_add(out, graph, before, count);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (params == NULL || params->fn == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_HOST, .context = context};
    op.u.host = (driver_host_call){params->fn, params->userData};
    return add(out, graph, before, count, &op);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                  size_t count, CUgraph child) {
    CUcontext context;
    CUresult result = check_add(out, graph, before, count);
    if (result == CUDA_SUCCESS) result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(child, DRIVER_GRAPH)) return CUDA_ERROR_INVALID_VALUE;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .context = context};
    op.u.graph = child;
    result = driver_graph_sort(child);
    return result != CUDA_SUCCESS ? result : add(out, graph, before, count, &op);
}

static CUresult add_event(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                          CUevent event, CUgraphNodeType type) {
    CUresult result = check_add(out, graph, before, count);
    if (result != CUDA_SUCCESS) return result;
    if (!driver_handle_is(event, DRIVER_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    driver_op op = {.type = type, .context = event->object.context};
    op.u.event = event;
    return add(out, graph, before, count, &op);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                   size_t count, CUevent event) {
    return add_event(out, graph, before, count, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                 size_t count, CUevent event) {
    return add_event(out, graph, before, count, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
}

/* ---- operations from parameters; a kernel's block is malloc'd into *block -------------------- */

static CUresult kernel_op(const driver_kernel_node *params, CUcontext context, driver_op *op,
                          void **block) {
    CUfunction function;
    *block = NULL;
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    const void *handle =
        params->func != NULL ? (const void *)params->func : (const void *)params->kern;
    CUresult result = driver_function_resolve(handle, context, &function);
    if (result != CUDA_SUCCESS) return result;
    *op = (driver_op){.type = CU_GRAPH_NODE_TYPE_KERNEL, .context = function->object.context};
    driver_kernel *kernel = &op->u.kernel;
    kernel->function = function;
    kernel->bytes = driver_kernel_bytes(function);
    kernel->config =
        (kcsim_launch_config){.grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
                              .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
                              .dynamic_shared = params->sharedMemBytes};
    *block = kernel->params = malloc(kernel->bytes + 1);
    if (*block == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    return driver_kernel_pack(function, params->kernelParams, params->extra, *block);
}

static CUresult memcpy_op(const driver_memcpy3d *params, CUcontext context, driver_op *op) {
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = driver_context_check(context);
    if (result != CUDA_SUCCESS) return result;
    *op = (driver_op){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .context = context};
    result = driver_copy_from_3d(params, false, &op->u.copy);
    return result != CUDA_SUCCESS ? result : driver_copy_check(context, &op->u.copy);
}

static CUresult memset_op(const driver_memset_node *params, CUcontext context, driver_op *op) {
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = driver_context_check(context);
    if (result != CUDA_SUCCESS) return result;
    unsigned element = params->elementSize;
    if (element != 1 && element != 2 && element != 4) return CUDA_ERROR_INVALID_VALUE;
    *op = (driver_op){.type = CU_GRAPH_NODE_TYPE_MEMSET, .context = context};
    op->u.fill = (driver_fill){.target = params->dst,
                               .pitch = params->pitch,
                               .width = params->width,
                               .height = params->height,
                               .element = element,
                               .value = params->value};
    return driver_fill_check(context, &op->u.fill);
}

static CUresult current(CUcontext given, CUcontext *context) {
    *context = given;
    return given != NULL ? driver_context_check(given) : driver_enter(context);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                 size_t count, const driver_kernel_node *params) {
    driver_op op;
    CUcontext context;
    void *block = NULL;
    CUresult result = check_add(out, graph, before, count);
    if (result == CUDA_SUCCESS) result = current(params ? params->ctx : NULL, &context);
    if (result == CUDA_SUCCESS) result = kernel_op(params, context, &op, &block);
    if (result == CUDA_SUCCESS) result = add(out, graph, before, count, &op);
    free(block);
    return result;
}

/* The first form of the structure ends before `kern`. */
static driver_kernel_node widen(const driver_kernel_node *first_form) {
    driver_kernel_node wide = {0};
    memcpy(&wide, first_form, offsetof(driver_kernel_node, kern));
    return wide;
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                              size_t count, const driver_kernel_node *params) {
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_kernel_node wide = widen(params);
    return cuGraphAddKernelNode_v2(out, graph, before, count, &wide);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                              size_t count, const driver_memcpy3d *params, CUcontext context) {
    driver_op op;
    CUresult result = check_add(out, graph, before, count);
    if (result == CUDA_SUCCESS) result = memcpy_op(params, context, &op);
    return result != CUDA_SUCCESS ? result : add(out, graph, before, count, &op);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                              size_t count, const driver_memset_node *params, CUcontext context) {
    driver_op op;
    CUresult result = check_add(out, graph, before, count);
    if (result == CUDA_SUCCESS) result = memset_op(params, context, &op);
    return result != CUDA_SUCCESS ? result : add(out, graph, before, count, &op);
}

/* ---- reading parameters ---------------------------------------------------------------------- */

static CUresult check_type(CUgraphNode node, CUgraphNodeType type) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    bool right = driver_handle_is(node, DRIVER_NODE) && node->op.type == type;
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static driver_kernel_node kernel_params(const driver_op *op) {
    const driver_kernel *kernel = &op->u.kernel;
    return (driver_kernel_node){.func = kernel->function,
                                .gridDimX = kernel->config.grid[0],
                                .gridDimY = kernel->config.grid[1],
                                .gridDimZ = kernel->config.grid[2],
                                .blockDimX = kernel->config.block[0],
                                .blockDimY = kernel->config.block[1],
                                .blockDimZ = kernel->config.block[2],
                                .sharedMemBytes = (unsigned)kernel->config.dynamic_shared,
                                .kernelParams = kernel->pointers,
                                .ctx = op->context};
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, driver_kernel_node *params) {
    CUresult result = check_type(node, CU_GRAPH_NODE_TYPE_KERNEL);
    if (result != CUDA_SUCCESS) return result;
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    *params = kernel_params(&node->op);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, driver_kernel_node *params) {
    driver_kernel_node wide;
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuGraphKernelNodeGetParams_v2(node, &wide);
    if (result == CUDA_SUCCESS) memcpy(params, &wide, offsetof(driver_kernel_node, kern));
    return result;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, driver_memset_node *params) {
    CUresult result = check_type(node, CU_GRAPH_NODE_TYPE_MEMSET);
    if (result != CUDA_SUCCESS) return result;
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    const driver_fill *fill = &node->op.u.fill;
    *params = (driver_memset_node){fill->target,  fill->pitch, fill->value,
                                   fill->element, fill->width, fill->height};
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, driver_host_node *params) {
    CUresult result = check_type(node, CU_GRAPH_NODE_TYPE_HOST);
    if (result != CUDA_SUCCESS) return result;
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    *params = (driver_host_node){node->op.u.host.function, node->op.u.host.data};
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out) {
    CUresult result = check_type(node, CU_GRAPH_NODE_TYPE_GRAPH);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = node->op.u.graph;
    return CUDA_SUCCESS;
}

/* ---- changing parameters: of a node, or of its clone in an executable graph ------------------ */

static CUresult target_of(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                          CUgraphNode *out) {
    CUresult result = check_type(node, type);
    if (result != CUDA_SUCCESS) return result;
    *out = node;
    if (exec == NULL) return CUDA_SUCCESS;
    *out = driver_graph_clone_of(exec->graph, node);
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult replace(CUgraphNode node, const driver_op *op) {
    driver_op copy;
    CUresult result = driver_op_copy(&copy, op);
    if (result != CUDA_SUCCESS) return result;
    driver_op_clear(&node->op);
    node->op = copy;
    return CUDA_SUCCESS;
}

static CUresult set_kernel(CUgraphExec exec, CUgraphNode node, const driver_kernel_node *params) {
    driver_op op;
    void *block = NULL;
    CUgraphNode target;
    CUresult result = target_of(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, &target);
    if (result == CUDA_SUCCESS) result = kernel_op(params, target->op.context, &op, &block);
    if (result == CUDA_SUCCESS) {
        op.u.kernel.cooperative = target->op.u.kernel.cooperative;
        memcpy(op.u.kernel.config.cluster, target->op.u.kernel.config.cluster,
               sizeof op.u.kernel.config.cluster);
        result = replace(target, &op);
    }
    free(block);
    return result;
}

static CUresult check_exec(CUgraphExec exec) {
    return driver_handle_check(exec, DRIVER_EXEC, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const driver_kernel_node *params) {
    return set_kernel(NULL, node, params);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const driver_kernel_node *params) {
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_kernel_node wide = widen(params);
    return set_kernel(NULL, node, &wide);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const driver_kernel_node *params) {
    CUresult result = check_exec(exec);
    return result != CUDA_SUCCESS ? result : set_kernel(exec, node, params);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const driver_kernel_node *params) {
    if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_kernel_node wide = widen(params);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &wide);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const driver_memcpy3d *params, CUcontext context) {
    driver_op op;
    CUgraphNode target;
    CUresult result = check_exec(exec);
    if (result == CUDA_SUCCESS) result = target_of(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, &target);
    if (result == CUDA_SUCCESS) result = memcpy_op(params, context, &op);
    return result != CUDA_SUCCESS ? result : replace(target, &op);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const driver_memset_node *params, CUcontext context) {
    driver_op op;
    CUgraphNode target;
    CUresult result = check_exec(exec);
    if (result == CUDA_SUCCESS) result = target_of(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, &target);
    if (result == CUDA_SUCCESS) result = memset_op(params, context, &op);
    return result != CUDA_SUCCESS ? result : replace(target, &op);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const driver_memset_node *params) {
    driver_op op;
    CUresult result = check_type(node, CU_GRAPH_NODE_TYPE_MEMSET);
    if (result == CUDA_SUCCESS) result = memset_op(params, node->op.context, &op);
    return result != CUDA_SUCCESS ? result : replace(node, &op);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const driver_host_node *params) {
    CUresult result = check_type(node, CU_GRAPH_NODE_TYPE_HOST);
    if (result != CUDA_SUCCESS) return result;
    if (params == NULL || params->fn == NULL) return CUDA_ERROR_INVALID_VALUE;
    node->op.u.host = (driver_host_call){params->fn, params->userData};
    return CUDA_SUCCESS;
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const driver_host_node *params) {
    CUgraphNode target;
    CUresult result = check_exec(exec);
    if (result == CUDA_SUCCESS) result = target_of(exec, node, CU_GRAPH_NODE_TYPE_HOST, &target);
    return result != CUDA_SUCCESS ? result : cuGraphHostNodeSetParams(target, params);
}
