/* Launches, faults and reports on the simulated driver. */
#include <fcntl.h>

#include "tests/unit/sim/driver_fixture.h"

/* ---- launches -------------------------------------------------------------------------------- */

static void launches(void **state) {
    (void)state;
    saxpy s;
    saxpy_open(&s, 1000);
    OK(saxpy_launch(&s, NULL));
    saxpy_check(&s, 1);
    struct {
        CUdeviceptr x, y;
        float a;
        uint32_t n;
    } block = {s.x, s.y, s.a, s.n};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(s.function, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    saxpy_check(&s, 2);
    driver_launch_attribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    driver_launch_config config = {8, 1, 1, 128, 1, 1, 0, NULL, &priority, 1};
    OK(cuLaunchKernelEx(&config, s.function, s.arguments, NULL));
    saxpy_check(&s, 3);
    OK(cuLaunchCooperativeKernel(s.function, 8, 1, 1, 128, 1, 1, 0, NULL, s.arguments));
    saxpy_check(&s, 4);
    FAILS(COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchCooperativeKernel(s.function, 1000, 1, 1, 1024, 1, 1, 0, NULL, s.arguments));
    saxpy_close(&s);
}

/* out[block] = rank * 100 + blocks of the cluster */
static const char cluster_ptx[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry free_size(.param .u64 out)\n{\n"
#define CLUSTER_BODY                                                                               \
    ".reg .b32 %r<5>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\n"     \
    "mov.u32 %r2, %cluster_ctarank;\nmov.u32 %r3, %cluster_nctarank;\n"                            \
    "mad.lo.u32 %r4, %r2, 100, %r3;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"      \
    "st.global.u32 [%rd3], %r4;\nret;\n}\n"
    CLUSTER_BODY
    ".visible .entry own_size(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1\n"
    "{\n" CLUSTER_BODY
    ".visible .entry of_clusters(.param .u64 out) .blocksareclusters .reqntid 32 "
    ".reqnctapercluster 2\n{\n" CLUSTER_BODY
    ".visible .entry any_size(.param .u64 out) .explicitcluster .maxclusterrank 4\n"
    "{\n" CLUSTER_BODY;

static CUresult launch_clusters(CUfunction function, CUdeviceptr out, uint32_t grid,
                                uint32_t cluster) {
    void *arguments[] = {&out};
    driver_launch_attribute attributes[2] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION}};
    attributes[0].value.clusterDim.x = cluster;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = cluster ? 1 : 0;
    driver_launch_config config = {grid, 1, 1, 32, 1, 1, 0, NULL, attributes, 2};
    OK(cuMemsetD32_v2(out, 0, 64));
    return cuLaunchKernelEx(&config, function, arguments, NULL);
}

/* A grid of 32 blocks, or of 32 clusters. */
static void ranks(CUfunction function, CUdeviceptr out, uint32_t asked, uint32_t cluster) {
    uint32_t values[32];
    OK(launch_clusters(function, out, 32, asked));
    OK(cuMemcpyDtoH_v2(values, out, sizeof values));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i % cluster * 100 + cluster);
}

static void clusters(void **state) {
    (void)state;
    CUmodule module;
    CUfunction free_size, own_size, any_size, of_clusters;
    CUdeviceptr out;
    int value;
    OK(cuModuleLoadData(&module, cluster_ptx));
    OK(cuModuleGetFunction(&free_size, module, "free_size"));
    OK(cuModuleGetFunction(&own_size, module, "own_size"));
    OK(cuModuleGetFunction(&any_size, module, "any_size"));
    OK(cuModuleGetFunction(&of_clusters, module, "of_clusters"));
    OK(cuMemAlloc_v2(&out, 256));
    ranks(free_size, out, 0, 1);
    ranks(free_size, out, 8, 8);
    ranks(own_size, out, 0, 2);
    ranks(own_size, out, 2, 2);
    ranks(any_size, out, 4, 4);
    ranks(of_clusters, out, 0, 2);
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(free_size, out, 30, 4));
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(own_size, out, 32, 4));
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(own_size, out, 31, 0));
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(any_size, out, 32, 0));
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(any_size, out, 32, 8));
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(free_size, out, 32, 16));
    OK(cuFuncSetAttribute(free_size, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    ranks(free_size, out, 16, 16);
    FAILS(INVALID_CLUSTER_SIZE, launch_clusters(free_size, out, 32, 32));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, any_size));
    assert_int_equal(value, 1);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, own_size));
    assert_int_equal(value, 0);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, own_size));
    assert_int_equal(value, 2);
    OK(cuMemFree_v2(out));
    OK(cuModuleUnload(module));
}

/* Seven multiprocessors of 2048 threads. */
static void cluster_occupancy(void **state) {
    (void)state;
    CUmodule module;
    CUfunction function;
    int value;
    OK(cuModuleLoadData(&module, cluster_ptx));
    OK(cuModuleGetFunction(&function, module, "free_size"));
    driver_launch_attribute size = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    size.value.clusterDim.x = 4;
    size.value.clusterDim.y = size.value.clusterDim.z = 1;
    driver_launch_config config = {32, 1, 1, 1024, 1, 1, 0, NULL, &size, 1};
    OK(cuOccupancyMaxActiveClusters(&value, function, &config));
    assert_int_equal(value, 3); /* 14 blocks */
    config.numAttrs = 0;
    OK(cuOccupancyMaxActiveClusters(&value, function, &config));
    assert_int_equal(value, 14);
    OK(cuOccupancyMaxPotentialClusterSize(&value, function, &config));
    assert_int_equal(value, 8);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuOccupancyMaxPotentialClusterSize(&value, function, &config));
    assert_int_equal(value, 8); /* 16 would not fit */
    config.blockDimX = 128;
    OK(cuOccupancyMaxPotentialClusterSize(&value, function, &config));
    assert_int_equal(value, 16);
    FAILS(INVALID_VALUE, cuOccupancyMaxPotentialClusterSize(NULL, function, &config));
    size.value.clusterDim.x = 3;
    config.numAttrs = 1;
    FAILS(INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&value, function, &config));
    OK(cuModuleUnload(module));
}

/* make: out[thread] = thread. hasty: out[thread]++. patient: the same, behind griddepcontrol.wait. */
static const char early_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
#define EARLY(name, wait, load)                                                                    \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n"          \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"               \
    "add.u64 %rd3, %rd1, %rd2;\n" wait load "add.u32 %r1, %r1, 1;\nst.global.u32 [%rd3], %r1;\n"  \
    "ret;\n}\n"
    EARLY("make", "griddepcontrol.launch_dependents;\n", "")
    EARLY("hasty", "", "ld.global.u32 %r1, [%rd3];\n")
    EARLY("patient", "griddepcontrol.wait;\n", "ld.global.u32 %r1, [%rd3];\n");

typedef struct early {
    CUmodule module;
    CUfunction make, hasty, patient;
    CUdeviceptr out;
    CUstream stream, other;
    CUevent event;
} early;

static CUresult launch_early(const early *on, CUfunction function, CUstream stream, unsigned id) {
    driver_launch_attribute attribute = {.id = id};
    void *arguments[] = {(void *)(uintptr_t)&on->out};
    attribute.value.programmaticStreamSerializationAllowed = 1;
    if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
        attribute.value.programmaticEvent.event = on->event;
    driver_launch_config config = {1, 1, 1, 32, 1, 1, 0, stream, &attribute, id != 0};
    return cuLaunchKernelEx(&config, function, arguments, NULL);
}

#define EARLY_BEHIND CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

/* In a graph that a capture made. */
static CUresult capture_early(const early *on, CUfunction function) {
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture_v2(on->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(launch_early(on, on->make, on->stream, 0));
    OK(launch_early(on, function, on->stream, EARLY_BEHIND));
    OK(cuStreamEndCapture(on->stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUresult result = cuGraphLaunch(exec, on->stream);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    return result;
}

/* What the kernel in front writes is nobody's before griddepcontrol.wait, or before somebody waits for that
 * kernel. */
static void early_launches(void **state) {
    (void)state;
    early on;
    OK(cuModuleLoadData(&on.module, early_ptx));
    OK(cuModuleGetFunction(&on.make, on.module, "make"));
    OK(cuModuleGetFunction(&on.hasty, on.module, "hasty"));
    OK(cuModuleGetFunction(&on.patient, on.module, "patient"));
    OK(cuMemAlloc_v2(&on.out, 256));
    OK(cuStreamCreate(&on.stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&on.other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&on.event, CU_EVENT_DISABLE_TIMING));
    OK(launch_early(&on, on.make, on.stream, 0));
    FAILS(LAUNCH_FAILED, launch_early(&on, on.hasty, on.stream, EARLY_BEHIND));
    OK(launch_early(&on, on.make, on.stream, 0));
    OK(launch_early(&on, on.patient, on.stream, EARLY_BEHIND));
    OK(launch_early(&on, on.make, on.stream, 0));
    OK(launch_early(&on, on.hasty, on.stream, 0));
    OK(launch_early(&on, on.make, on.stream, 0));
    OK(cuStreamSynchronize(on.stream));
    OK(launch_early(&on, on.hasty, on.stream, EARLY_BEHIND));
    OK(launch_early(&on, on.make, on.stream, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT));
    OK(cuStreamWaitEvent(on.other, on.event, 0));
    FAILS(LAUNCH_FAILED, launch_early(&on, on.hasty, on.other, 0));
    OK(launch_early(&on, on.make, on.stream, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT));
    OK(cuStreamWaitEvent(on.other, on.event, 0));
    OK(launch_early(&on, on.patient, on.other, 0));
    FAILS(LAUNCH_FAILED, capture_early(&on, on.hasty));
    OK(capture_early(&on, on.patient));
    OK(cuEventDestroy_v2(on.event));
    OK(cuStreamDestroy_v2(on.stream));
    OK(cuStreamDestroy_v2(on.other));
    OK(cuMemFree_v2(on.out));
    OK(cuModuleUnload(on.module));
}

static void bad_launches(void **state) {
    (void)state;
    saxpy s;
    CUcontext other;
    saxpy_open(&s, 1000);
    void **arguments = s.arguments, *extra[] = {CU_LAUNCH_PARAM_END};
    CUfunction f = s.function;
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, extra));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 65536, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 128, 0, NULL, arguments, NULL));
    FAILS(INVALID_HANDLE,
          cuLaunchKernel((CUfunction)&s, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    /* More than 48 KiB of shared memory has to be asked for. */
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 65536, NULL, arguments, NULL));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    OK(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 65536, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 65540, NULL, arguments, NULL));
    saxpy_check(&s, 1); /* only one of them ran */
    OK(cuCtxCreate_v2(&other, 0, 1));
    FAILS(INVALID_HANDLE, saxpy_launch(&s, NULL)); /* a function of another context */
    OK(cuCtxDestroy_v2(other));
    saxpy_close(&s);
}

/* What aligns the launch's part of shared memory counts as static: 1024 bytes, as ptxas has it, not
 * 48. Where there is no such part, or nothing before it, nothing is added. What the attribute lets
 * through, a launch takes. */
static void shared_limits(void **state) {
    (void)state;
    static const char head[] = ".version 8.0\n.target sm_90a\n.address_size 64\n";
    static const char dynamic[] = ".extern .shared .align 1024 .b8 dyn[];\n";
    static const char before[] = ".visible .entry k() { .reg .b32 %r; .shared .align 2 .b8 a[50]; "
                                 "mov.u32 %r, a; ret; }\n";
    static const char alone[] = ".visible .entry k() { .reg .b32 %r; mov.u32 %r, dyn; ret; }\n";
    const struct {
        const char *dynamic, *kernel;
        int bytes;
    } cases[] = {{dynamic, before, 1024},
                 {".extern .shared .align 4 .b8 dyn[];\n", before, 64},
                 {"", before, 50},
                 {dynamic, alone, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char ptx[512];
        snprintf(ptx, sizeof ptx, "%s%s%s", head, cases[i].dynamic, cases[i].kernel);
        CUmodule module;
        CUfunction f;
        int bytes, most = 232448 - cases[i].bytes;
        unsigned launch;
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleGetFunction(&f, module, "k"));
        OK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
        assert_int_equal(bytes, cases[i].bytes);
        launch = (unsigned)(49152 - bytes);
        OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, launch, NULL, NULL, NULL));
        FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, launch + 1, NULL, NULL, NULL));
        FAILS(INVALID_VALUE,
              cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1));
        for (int limit = 57344; limit <= most; limit += most - 57344) {
            launch = (unsigned)limit;
            OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit));
            OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, launch, NULL, NULL, NULL));
            FAILS(INVALID_VALUE,
                  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, launch + 1, NULL, NULL, NULL));
        }
        OK(cuModuleUnload(module));
    }
}

static void occupancy(void **state) {
    (void)state;
    saxpy s;
    int blocks, grid, block;
    saxpy_open(&s, 100);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s.function, 1024, 0));
    assert_int_equal(blocks, 2);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, s.function, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 2 * 7);
    FAILS(INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s.function, 0, 0));
    saxpy_close(&s);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void faults_poison_the_context(void **state) {
    (void)state;
    CUcontext context, fresh;
    saxpy s;
    CUdeviceptr pointer;
    CUstream stream;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&stream, 0));
    saxpy_open(&s, 100);
    uint32_t honest = s.n;
    s.n = 101; /* one past the end */
    FAILS(ILLEGAL_ADDRESS, saxpy_launch(&s, stream));
    s.n = honest;
    FAILS(ILLEGAL_ADDRESS, saxpy_launch(&s, stream));
    FAILS(ILLEGAL_ADDRESS, cuCtxSynchronize());
    FAILS(ILLEGAL_ADDRESS, cuMemAlloc_v2(&pointer, 4));
    FAILS(ILLEGAL_ADDRESS, cuMemFree_v2(s.x));
    FAILS(ILLEGAL_ADDRESS, cuStreamQuery(stream));
    char *text = kcsim_fault_text(0);
    assert_non_null(text);
    assert_non_null(strstr(text, "saxpy"));
    free(text);
    char *json = kcsim_report_json(0);
    assert_non_null(json);
    assert_non_null(strstr(json, "out_of_bounds"));
    assert_non_null(strstr(json, "\"lines\": [{\"line\": "));
    free(json);
    text = kcsim_report_table(0);
    assert_non_null(text);
    assert_non_null(strstr(text, "finding: out_of_bounds in kernel saxpy"));
    free(text);
    OK(cuCtxDestroy_v2(context));
    kcsim_report_reset(0);
    json = kcsim_report_json(0);
    assert_non_null(json);
    assert_null(strstr(json, "out_of_bounds"));
    free(json);
    OK(cuCtxCreate_v2(&fresh, 0, 0)); /* the device goes on */
    saxpy_open(&s, 100);
    OK(saxpy_launch(&s, NULL));
    saxpy_check(&s, 1);
    saxpy_close(&s);
    OK(cuCtxDestroy_v2(fresh));
}

static void misaligned_addresses(void **state) {
    (void)state;
    CUcontext context;
    saxpy s;
    OK(cuCtxCreate_v2(&context, 0, 0));
    saxpy_open(&s, 100);
    s.x += 2;
    s.n = 50;
    FAILS(MISALIGNED_ADDRESS, saxpy_launch(&s, NULL));
    FAILS(MISALIGNED_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
    kcsim_report_reset(0);
}

/* Hardware would not notice a value that nobody wrote: the launch fails, the context lives. */
static void other_findings_do_not_poison(void **state) {
    (void)state;
    static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry branch(.param .u64 p)\n{\n"
                              "  .reg .pred %p<2>;\n  .reg .b32 %r<2>;\n  .reg .b64 %rd<2>;\n"
                              "  ld.param.u64 %rd1, [p];\n"
                              "  ld.global.u32 %r1, [%rd1];\n"
                              "  setp.eq.u32 %p1, %r1, 0;\n"
                              "  @%p1 bra OUT;\n"
                              "  st.global.u32 [%rd1], 1;\n"
                              "OUT:\n  ret;\n}\n";
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "branch"));
    OK(cuMemAlloc_v2(&p, 4));
    void *arguments[] = {&p};
    FAILS(LAUNCH_FAILED, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemsetD32_v2(p, 0, 1));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxDestroy_v2(context));
    kcsim_report_reset(0);
}

static void reports(void **state) {
    (void)state;
    CUcontext context;
    saxpy s;
    OK(cuCtxCreate_v2(&context, 0, 0));
    saxpy_open(&s, 10);
    assert_int_equal(kcsim_set_seed(42), 0);
    OK(saxpy_launch(&s, NULL));
    saxpy_check(&s, 1);
    OK(cuCtxSynchronize());
    assert_true(file_has(report_path, "\"kernels\""));
    assert_true(file_has(report_path, "saxpy"));
    /* One that cannot be written is told, on standard error where there is no log. */
    int error = dup(STDERR_FILENO), log = open(log_path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(error >= 0 && log >= 0 && dup2(log, STDERR_FILENO) >= 0);
    setenv("KCSIM_REPORT", "/nonexistent/report", 1);
    unsetenv("KCSIM_LOG");
    OK(saxpy_launch(&s, NULL));
    OK(cuCtxSynchronize());
    setenv("KCSIM_REPORT", report_path, 1);
    setenv("KCSIM_LOG", log_path, 1);
    dup2(error, STDERR_FILENO);
    close(error);
    close(log);
    assert_true(file_has(log_path, "cannot write the report '/nonexistent/report'"));
    OK(cuCtxDestroy_v2(context));
}

int main(void) {
    set_environment();
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(launches),
        IN_CONTEXT(bad_launches),
        IN_CONTEXT(shared_limits),
        IN_CONTEXT(occupancy),
        IN_CONTEXT(clusters),
        IN_CONTEXT(cluster_occupancy),
        IN_CONTEXT(early_launches),
        cmocka_unit_test(faults_poison_the_context),
        cmocka_unit_test(misaligned_addresses),
        cmocka_unit_test(other_findings_do_not_poison),
        cmocka_unit_test(reports),
    };
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
