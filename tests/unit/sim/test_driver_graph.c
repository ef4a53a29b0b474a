/* Stream capture and graphs on the simulated driver. */
#include "tests/unit/sim/driver_fixture.h"

/* ---- capture and graphs ---------------------------------------------------------------------- */

static void capture_and_replay(void **state) {
    (void)state;
    CUstream one, two;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    CUdeviceptr a;
    uint32_t words[2] = {0, 0};
    int calls = 0;
    OK(cuMemAlloc_v2(&a, 8));
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamIsCapturing(one, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(a, 5, 2, one));
    OK(cuEventRecord(fork, one));
    FAILS(CAPTURED_EVENT, cuEventQuery(fork));
    OK(cuStreamWaitEvent(two, fork, 0));
    OK(cuMemsetD32Async(a + 4, 6, 1, two));
    OK(cuLaunchHostFunc(one, count_call, &calls));
    OK(cuEventRecord(join, two));
    OK(cuStreamWaitEvent(one, join, 0));
    OK(cuMemcpyDtoHAsync_v2(words, a, 8, one));
    OK(cuStreamEndCapture(one, &graph));
    assert_int_equal(calls, 0);
    assert_int_equal(words[0], 0); /* nothing ran */
    OK(cuStreamIsCapturing(two, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CUgraphNode nodes[8], from[8], to[8];
    CUgraphNodeType type;
    size_t count = 8, edges = 8, roots = 0;
    OK(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 4);
    OK(cuGraphNodeGetType(nodes[3], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    OK(cuGraphGetEdges(graph, from, to, &edges));
    assert_int_equal(edges, 4); /* one fork, one join */
    OK(cuGraphGetRootNodes(graph, NULL, &roots));
    assert_int_equal(roots, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, one));
    assert_int_equal(calls, 3);
    assert_int_equal(words[0], 5);
    assert_int_equal(words[1], 6);
    OK(cuGraphExecDestroy(exec));
    FAILS(INVALID_VALUE, cuGraphLaunch(exec, one));
    OK(cuMemFree_v2(a));
}

/* What captures forbid, and that it invalidates them. */
static void capture_rules(void **state) {
    (void)state;
    CUstream one, two, blocking;
    CUevent event;
    CUgraph graph;
    CUdeviceptr a;
    CUmodule module;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuMemAlloc_v2(&a, 8));
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(NULL, 0));
    FAILS(ILLEGAL_STATE, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(ILLEGAL_STATE, cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuModuleLoadData(&module, saxpy_ptx));
    OK(cuStreamIsCapturing(one, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    FAILS(STREAM_CAPTURE_INVALIDATED, cuMemsetD8Async(a, 0, 8, one));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));
    assert_null(graph);

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CUdeviceptr b;
    OK(cuMemAlloc_v2(&b, 8));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(one));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FAILS(STREAM_CAPTURE_IMPLICIT, cuMemcpyDtoD_v2(a, b, 8));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));

    OK(cuEventRecord(event, two));
    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(one, event, 0));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD8Async(a, 0, 8, one));
    OK(cuEventRecord(event, one));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(cuMemsetD8Async(a, 0, 8, two));
    FAILS(STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(two, &graph));
    FAILS(STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(one, &graph));
    OK(cuMemsetD8Async(a, 0, 8, one)); /* all is as before */
    OK(cuMemFree_v2(a));

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamDestroy_v2(one)); /* takes its capture along */
    OK(cuMemFree_v2(b));
}

static void graphs_by_hand(void **state) {
    CUgraph graph, clone;
    CUgraphNode first, second, third, found;
    CUgraphExec exec;
    CUdeviceptr a;
    uint32_t word = 0;
    int calls = 0;
    OK(cuMemAlloc_v2(&a, 4));
    OK(cuGraphCreate(&graph, 0));
    driver_memcpy3d out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = a,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = &word,
                           .WidthInBytes = 4,
                           .Height = 1,
                           .Depth = 1};
    driver_memset_node fill = {.dst = a, .value = 9, .elementSize = 4, .width = 1, .height = 1};
    driver_host_node call = {count_call, &calls};
    OK(cuGraphAddMemcpyNode(&first, graph, NULL, 0, &out, *state));
    OK(cuGraphAddMemsetNode(&second, graph, NULL, 0, &fill, *state));
    OK(cuGraphAddHostNode(&third, graph, &first, 1, &call));
    FAILS(INVALID_VALUE, cuGraphAddEmptyNode(&found, graph, (CUgraphNode *)&graph, 1));
    OK(cuGraphAddDependencies(graph, &second, &first, 1)); /* the copy comes after the fill */
    FAILS(INVALID_VALUE, cuGraphAddDependencies(graph, &second, &first, 1));
    OK(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word, 9);
    assert_int_equal(calls, 1);
    fill.value = 10;
    OK(cuGraphExecMemsetNodeSetParams(exec, second, &fill, *state));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word, 10);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, third, clone));
    OK(cuGraphDestroyNode(found));
    driver_update_result result;
    FAILS(GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, clone, &result));
    assert_int_equal(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphExecUpdate_v2(exec, graph, &result));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word, 9);
    OK(cuGraphAddDependencies(graph, &first, &second, 1)); /* a cycle */
    CUgraphExec none;
    FAILS(INVALID_VALUE, cuGraphInstantiate_v2(&none, graph, NULL, NULL, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
    FAILS(INVALID_VALUE, cuGraphDestroy(graph));
    OK(cuMemFree_v2(a));
}

static void captured_launches(void **state) {
    (void)state;
    saxpy s;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    size_t one = 1;
    saxpy_open(&s, 300);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(saxpy_launch(&s, stream));
    OK(cuStreamEndCapture(stream, &graph));
    saxpy_check(&s, 0);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    float kept = s.a;
    s.a = 99; /* parameters were copied when they were captured */
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    saxpy_check(&s, 2);
    driver_kernel_node params;
    OK(cuGraphGetNodes(graph, &node, &one));
    OK(cuGraphKernelNodeGetParams_v2(node, &params));
    assert_ptr_equal(params.func, s.function);
    assert_int_equal(params.gridDimX, 3);
    assert_true(*(float *)params.kernelParams[2] == kept);
    s.a = 0; /* now changed on purpose */
    params.kernelParams = s.arguments;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    OK(cuGraphLaunch(exec, stream));
    saxpy_check(&s, 2);
    saxpy_close(&s);
    FAILS(INVALID_HANDLE, cuGraphLaunch(exec, stream)); /* its function went with the module */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(void) {
    set_environment();
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(capture_and_replay),
        IN_CONTEXT(capture_rules),
        IN_CONTEXT(graphs_by_hand),
        IN_CONTEXT(captured_launches),
    };
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
