/* What the tests of the simulated driver share: the environment, a context of device 0 around a
 * test, and saxpy. Two devices are there, sm_90a (asked for as sm_90) and sm_80, each a slice of 7
 * multiprocessors with 256 MiB. */
#ifndef TEST_DRIVER_FIXTURE_H
#define TEST_DRIVER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/sim/cuda/driver_api.h"
#include "runtime/sim/kcsim.h"

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)
#define FAILS(result, call) assert_int_equal((call), CUDA_ERROR_##result)
/* A test program need not use everything here. */
#define SHARED __attribute__((unused)) static

SHARED char log_path[64], report_path[64];

SHARED const char saxpy_ptx[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".global .align 4 .b8 table[16];\n"
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .f32 %f<5>;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .b64 %rd<8>;\n"
    "  ld.param.u64 %rd1, [x];\n"
    "  ld.param.u64 %rd2, [y];\n"
    "  ld.param.f32 %f1, [a];\n"
    "  ld.param.u32 %r2, [n];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r1, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p1, %r1, %r2;\n"
    "  @%p1 bra DONE;\n"
    "  cvta.to.global.u64 %rd3, %rd1;\n"
    "  cvta.to.global.u64 %rd4, %rd2;\n"
    "  mul.wide.u32 %rd5, %r1, 4;\n"
    "  add.s64 %rd6, %rd3, %rd5;\n"
    "  add.s64 %rd7, %rd4, %rd5;\n"
    "  ld.global.f32 %f2, [%rd6];\n"
    "  ld.global.f32 %f3, [%rd7];\n"
    "  fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "  st.global.f32 [%rd7], %f4;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n";

SHARED void set_environment(void) {
    snprintf(log_path, sizeof log_path, "/tmp/kcsim-test-%ld.log", (long)getpid());
    snprintf(report_path, sizeof report_path, "/tmp/kcsim-test-%ld.json", (long)getpid());
    setenv("KCSIM_LOG", log_path, 1);
    setenv("KCSIM_REPORT", report_path, 1);
    setenv("KCSIM_CUDA_DEVICES", "sm_90,sm_80", 1);
    setenv("KCSIM_MEMORY", "256M", 1);
    setenv("KCSIM_MULTIPROCESSORS", "7", 1);
    unsetenv("KCSIM_CHECKS");
    unsetenv("KCSIM_ON_FINDING");
}

SHARED int clean_up(int failed) {
    unlink(log_path);
    unlink(report_path);
    unsetenv("KCSIM_REPORT"); /* nothing is written on the way out */
    return failed;
}

/* A context of device 0; *state is it. */
SHARED int with_context(void **state) {
    CUcontext context;
    CUresult result = cuCtxCreate_v2(&context, 0, 0);
    *state = context;
    return result == CUDA_SUCCESS ? 0 : -1;
}

SHARED int without_context(void **state) {
    return cuCtxDestroy_v2(*state) == CUDA_SUCCESS ? 0 : -1;
}

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, with_context, without_context)

SHARED bool file_has(const char *path, const char *text) {
    char line[4096];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, text) != NULL;
    if (file != NULL) fclose(file);
    return found;
}

SHARED void count_call(void *data) {
    ++*(int *)data;
}

typedef struct saxpy {
    CUmodule module;
    CUfunction function;
    CUdeviceptr x, y;
    float a;
    uint32_t n;
    void *arguments[4];
} saxpy;

SHARED void saxpy_open(saxpy *s, uint32_t n) {
    float *values = malloc(n * sizeof *values);
    assert_non_null(values);
    OK(cuModuleLoadData(&s->module, saxpy_ptx));
    OK(cuModuleGetFunction(&s->function, s->module, "saxpy"));
    OK(cuMemAlloc_v2(&s->x, n * sizeof *values));
    OK(cuMemAlloc_v2(&s->y, n * sizeof *values));
    for (uint32_t i = 0; i < n; i++)
        values[i] = (float)i;
    OK(cuMemcpyHtoD_v2(s->x, values, n * sizeof *values));
    OK(cuMemsetD32_v2(s->y, 0x3f800000, n)); /* ones */
    s->a = 2;
    s->n = n;
    s->arguments[0] = &s->x;
    s->arguments[1] = &s->y;
    s->arguments[2] = &s->a;
    s->arguments[3] = &s->n;
    free(values);
}

SHARED CUresult saxpy_launch(saxpy *s, CUstream stream) {
    return cuLaunchKernel(s->function, (s->n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, s->arguments,
                          NULL);
}

/* After `times` launches y is 1 + times * 2 * i. */
SHARED void saxpy_check(saxpy *s, int times) {
    float *values = malloc(s->n * sizeof *values);
    assert_non_null(values);
    OK(cuMemcpyDtoH_v2(values, s->y, s->n * sizeof *values));
    for (uint32_t i = 0; i < s->n; i++)
        assert_true(values[i] == 1 + (float)times * 2 * (float)i);
    free(values);
}

SHARED void saxpy_close(saxpy *s) {
    OK(cuMemFree_v2(s->x));
    OK(cuMemFree_v2(s->y));
    OK(cuModuleUnload(s->module));
}

#endif
