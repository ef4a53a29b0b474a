/* Graphs: nodes that own an operation and depend on other nodes. A graph is kept in an order in
 * which it may run, so launching is running its nodes in that order; an executable graph is a clone
 * whose nodes remember the ones they were made from. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of nodes --------------------------------------------------------------------------- */

static bool has(const driver_nodes *nodes, CUgraphNode node) {
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i] == node) return true;
    return false;
}

static bool append(driver_nodes *nodes, CUgraphNode node) {
    if (nodes->count == nodes->capacity) {
        size_t capacity = nodes->capacity > 0 ? nodes->capacity * 2 : 4;
        void *items = realloc(nodes->items, capacity * sizeof(CUgraphNode));
        if (items == NULL) return false;
        nodes->items = items;
        nodes->capacity = capacity;
    }
    nodes->items[nodes->count++] = node;
    return true;
}

bool driver_nodes_add(driver_nodes *nodes, CUgraphNode node) {
    return has(nodes, node) || append(nodes, node);
}

static void drop(driver_nodes *nodes, CUgraphNode node) {
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i] != node) continue;
        memmove(&nodes->items[i], &nodes->items[i + 1],
                (nodes->count - i - 1) * sizeof(CUgraphNode));
        nodes->count--;
        return;
    }
}

void driver_nodes_clear(driver_nodes *nodes) {
    free(nodes->items);
    *nodes = (driver_nodes){0};
}

/* ---- life ------------------------------------------------------------------------------------ */

CUresult driver_graph_create(CUgraph *out) {
    CUgraph graph = calloc(1, sizeof *graph);
    if (graph == NULL || !driver_object_add(&graph->object, DRIVER_GRAPH, NULL)) {
        free(graph);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = graph;
    return CUDA_SUCCESS;
}

static void free_node(CUgraphNode node) {
    driver_object_remove(&node->object);
    driver_op_clear(&node->op);
    driver_nodes_clear(&node->dependencies);
    free(node);
}

void driver_graph_destroy(CUgraph graph) {
    if (graph == NULL) return;
    driver_object_remove(&graph->object);
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.items[i]);
    driver_nodes_clear(&graph->nodes);
    free(graph);
}

CUresult driver_graph_add(CUgraph graph, const driver_nodes *dependencies, const driver_op *op,
                          CUgraphNode *out) {
    CUgraphNode node = calloc(1, sizeof *node);
    if (node == NULL || !driver_object_add(&node->object, DRIVER_NODE, NULL)) {
        free(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->graph = graph;
    CUresult result = driver_op_copy(&node->op, op);
    if (result != CUDA_SUCCESS) node->op.type = CU_GRAPH_NODE_TYPE_EMPTY;
    for (size_t i = 0; result == CUDA_SUCCESS && i < dependencies->count; i++)
        if (!driver_nodes_add(&node->dependencies, dependencies->items[i]))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    driver_lock();
    if (result == CUDA_SUCCESS && !append(&graph->nodes, node)) result = CUDA_ERROR_OUT_OF_MEMORY;
    driver_unlock();
    if (result != CUDA_SUCCESS) free_node(node);
    else *out = node;
    return result;
}

CUresult driver_graph_clone(CUgraph graph, CUgraph *out) {
    CUgraph clone = NULL;
    CUresult result = driver_graph_create(&clone);
    const driver_nodes none = {0};
    for (size_t i = 0; result == CUDA_SUCCESS && i < graph->nodes.count; i++) {
        CUgraphNode from = graph->nodes.items[i], to;
        result = driver_graph_add(clone, &none, &from->op, &to);
        if (result == CUDA_SUCCESS) to->original = from;
        from->index = i;
    }
    for (size_t i = 0; result == CUDA_SUCCESS && i < graph->nodes.count; i++) {
        const driver_nodes *from = &graph->nodes.items[i]->dependencies;
        for (size_t k = 0; result == CUDA_SUCCESS && k < from->count; k++)
            if (!driver_nodes_add(&clone->nodes.items[i]->dependencies,
                                  clone->nodes.items[from->items[k]->index]))
                result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) *out = clone;
    else driver_graph_destroy(clone);
    return result;
}

CUgraphNode driver_graph_clone_of(CUgraph clone, CUgraphNode original) {
    for (size_t i = 0; i < clone->nodes.count; i++)
        if (clone->nodes.items[i]->original == original) return clone->nodes.items[i];
    return NULL;
}

/* ---- order and running ----------------------------------------------------------------------- */

static bool is_ready(const CUgraphNode node) {
    for (size_t i = 0; i < node->dependencies.count; i++)
        if (!node->dependencies.items[i]->mark) return false;
    return true;
}

/* Stable: nodes keep the order they were added in as far as dependences allow, and one pass is
 * enough for graphs that were built front to back. INVALID_VALUE for a cycle. */
CUresult driver_graph_sort(CUgraph graph) {
    driver_nodes *nodes = &graph->nodes, sorted = {0};
    for (size_t i = 0; i < nodes->count; i++)
        nodes->items[i]->mark = false;
    for (bool progress = true; progress && sorted.count < nodes->count;) {
        progress = false;
        for (size_t i = 0; i < nodes->count; i++) {
            CUgraphNode node = nodes->items[i];
            if (node->mark || !is_ready(node)) continue;
            if (!append(&sorted, node)) {
                driver_nodes_clear(&sorted);
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            node->mark = progress = true;
        }
    }
    if (sorted.count < nodes->count) {
        driver_nodes_clear(&sorted);
        return CUDA_ERROR_INVALID_VALUE;
    }
    driver_nodes_clear(nodes);
    *nodes = sorted;
    return CUDA_SUCCESS;
}

/* A kernel launched programmatically behind a kernel alone, as captures make it. */
static CUresult run_node(CUgraphNode node) {
    const driver_nodes *before = &node->dependencies;
    driver_op op = node->op;
    node->launched = 0;
    if (op.type != CU_GRAPH_NODE_TYPE_KERNEL) return driver_op_run(&op);
    bool programmatic = op.u.kernel.programmatic && before->count == 1;
    op.u.kernel.config.after = programmatic ? before->items[0]->launched : 0;
    op.u.kernel.launched = &node->launched;
    return driver_op_run(&op);
}

CUresult driver_graph_run(CUgraph graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUresult result = run_node(graph->nodes.items[i]);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

/* ---- the calls: graphs ----------------------------------------------------------------------- */

static CUresult check_graph(CUgraph graph) {
    return driver_handle_check(graph, DRIVER_GRAPH, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphCreate(CUgraph *out, unsigned flags) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver_graph_create(out);
}

CUresult cuGraphDestroy(CUgraph graph) {
    CUresult result = check_graph(graph);
    if (result == CUDA_SUCCESS) driver_graph_destroy(graph);
    return result;
}

CUresult cuGraphClone(CUgraph *out, CUgraph graph) {
    CUresult result = check_graph(graph);
    if (result != CUDA_SUCCESS) return result;
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : driver_graph_clone(graph, out);
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone) {
    CUresult result = check_graph(clone);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || original == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out = driver_graph_clone_of(clone, original);
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The protocol of all lists here: with no array the count is answered; otherwise as many as fit,
 * and the rest of the array is cleared. */
static CUresult answer_nodes(const driver_nodes *nodes, CUgraphNode *out, size_t *count) {
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; out != NULL && i < *count; i++)
        out[i] = i < nodes->count ? nodes->items[i] : NULL;
    if (out == NULL || *count > nodes->count) *count = nodes->count;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    CUresult result = check_graph(graph);
    return result != CUDA_SUCCESS ? result : answer_nodes(&graph->nodes, nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    CUresult result = check_graph(graph);
    driver_nodes roots = {0};
    for (size_t i = 0; result == CUDA_SUCCESS && i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        if (node->dependencies.count == 0 && !append(&roots, node))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) result = answer_nodes(&roots, nodes, count);
    driver_nodes_clear(&roots);
    return result;
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, driver_edge *edges,
                            size_t *count) {
    CUresult result = check_graph(graph);
    if (result != CUDA_SUCCESS) return result;
    if (count == NULL || (from == NULL) != (to == NULL)) return CUDA_ERROR_INVALID_VALUE;
    size_t found = 0, room = from != NULL ? *count : 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const driver_nodes *before = &graph->nodes.items[i]->dependencies;
        for (size_t k = 0; k < before->count; k++, found++) {
            if (found >= room) continue;
            from[found] = before->items[k];
            to[found] = graph->nodes.items[i];
            if (edges != NULL) edges[found] = (driver_edge){0};
        }
    }
    if (from == NULL || *count > found) *count = found;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

static CUresult change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                             size_t count, bool add) {
    CUresult result = check_graph(graph);
    if (result != CUDA_SUCCESS) return result;
    if (count > 0 && (from == NULL || to == NULL)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!has(&graph->nodes, from[i]) || !has(&graph->nodes, to[i]))
            return CUDA_ERROR_INVALID_VALUE;
        if (has(&to[i]->dependencies, from[i]) == add || from[i] == to[i])
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        if (!add) drop(&to[i]->dependencies, from[i]);
        else if (!driver_nodes_add(&to[i]->dependencies, from[i])) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const driver_edge *edges, size_t count) {
    (void)edges; /* every edge is a full dependence, which implies the weaker kinds */
    return change_edges(graph, from, to, count, true);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count) {
    return change_edges(graph, from, to, count, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const driver_edge *edges, size_t count) {
    (void)edges;
    return change_edges(graph, from, to, count, false);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count) {
    return change_edges(graph, from, to, count, false);
}

/* ---- the calls: nodes of a graph ------------------------------------------------------------- */

static CUresult check_node(CUgraphNode node) {
    return driver_handle_check(node, DRIVER_NODE, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
    CUresult result = check_node(node);
    if (result != CUDA_SUCCESS) return result;
    driver_nodes *nodes = &node->graph->nodes;
    for (size_t i = 0; i < nodes->count; i++)
        drop(&nodes->items[i]->dependencies, node);
    drop(nodes, node);
    free_node(node);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    CUresult result = check_node(node);
    if (result != CUDA_SUCCESS) return result;
    if (type == NULL) return CUDA_ERROR_INVALID_VALUE;
    *type = node->op.type;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    CUresult result = check_node(node);
    return result != CUDA_SUCCESS ? result : answer_nodes(&node->dependencies, nodes, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, driver_edge *edges,
                                       size_t *count) {
    CUresult result = cuGraphNodeGetDependencies(node, nodes, count);
    if (result == CUDA_SUCCESS && edges != NULL && nodes != NULL)
        memset(edges, 0, *count * sizeof *edges);
    return result;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, size_t *count) {
    CUresult result = check_node(node);
    driver_nodes after = {0};
    for (size_t i = 0; result == CUDA_SUCCESS && i < node->graph->nodes.count; i++) {
        CUgraphNode other = node->graph->nodes.items[i];
        if (has(&other->dependencies, node) && !append(&after, other))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) result = answer_nodes(&after, out, count);
    driver_nodes_clear(&after);
    return result;
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *out, driver_edge *edges,
                                         size_t *count) {
    CUresult result = cuGraphNodeGetDependentNodes(node, out, count);
    if (result == CUDA_SUCCESS && edges != NULL && out != NULL)
        memset(edges, 0, *count * sizeof *edges);
    return result;
}
