/* Operations: the one form of all work. A call builds one, driver_stream_submit runs it at once or
 * records it, a graph launch runs recorded ones again. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

CUresult driver_op_run(const driver_op *op) {
    CUcontext context = op->context;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context->fault != CUDA_SUCCESS) return context->fault;
    bool works = op->type == CU_GRAPH_NODE_TYPE_MEMCPY || op->type == CU_GRAPH_NODE_TYPE_MEMSET ||
                 op->type == CU_GRAPH_NODE_TYPE_HOST;
    if (works) driver_settle(context->device);
    switch (op->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return driver_kernel_run(context, &op->u.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return driver_copy_run(context, &op->u.copy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return driver_fill_run(context, &op->u.fill);
    case CU_GRAPH_NODE_TYPE_HOST:
        driver_call_host(true);
        op->u.host.function(op->u.host.data);
        driver_call_host(false);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: return driver_graph_run(op->u.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (driver_handle_is(op->u.event, DRIVER_EVENT)) driver_event_stamp(op->u.event);
        return CUDA_SUCCESS;
    default: /* empty nodes, and waits: everything before has run */ return CUDA_SUCCESS;
    }
}

/* The parameter block and the pointers into it are one piece of memory. */
static CUresult copy_params(driver_kernel *to, const driver_kernel *from) {
    const kcsim_function_info *info = &from->function->info;
    size_t table = info->param_count * sizeof(void *);
    to->pointers = malloc(table + from->bytes + 1);
    if (to->pointers == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    to->params = (char *)to->pointers + table;
    if (from->bytes > 0) memcpy(to->params, from->params, from->bytes);
    for (size_t i = 0; i < info->param_count; i++)
        to->pointers[i] = (char *)to->params + info->params[i].offset;
    return CUDA_SUCCESS;
}

CUresult driver_op_copy(driver_op *to, const driver_op *from) {
    *to = *from;
    if (from->type == CU_GRAPH_NODE_TYPE_KERNEL) return copy_params(&to->u.kernel, &from->u.kernel);
    if (from->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return driver_graph_clone(from->u.graph, &to->u.graph);
    return CUDA_SUCCESS;
}

void driver_op_clear(driver_op *op) {
    if (op->type == CU_GRAPH_NODE_TYPE_KERNEL) free(op->u.kernel.pointers);
    if (op->type == CU_GRAPH_NODE_TYPE_GRAPH) driver_graph_destroy(op->u.graph);
    op->type = CU_GRAPH_NODE_TYPE_EMPTY;
}
