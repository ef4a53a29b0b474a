/* Images, modules, libraries and linking on the simulated driver. */
#include "tests/unit/sim/driver_fixture.h"

static void put(unsigned char *at, uint64_t value, size_t bytes) {
    memcpy(at, &value, bytes);
}

/* A fat binary of one entry around `payload`. */
static unsigned char *fatbin(const void *payload, size_t bytes, int kind, int sm, uint64_t flags,
                             size_t expanded) {
    unsigned char *image = calloc(1, 16 + 64 + bytes);
    assert_non_null(image);
    put(image, 0xba55ed50u, 4);
    put(image + 4, 1, 2);
    put(image + 6, 16, 2);
    put(image + 8, 64 + bytes, 8);
    put(image + 16, (uint64_t)kind, 2);
    put(image + 20, 64, 4);
    put(image + 24, bytes, 8);
    put(image + 32, bytes, 4);
    put(image + 44, (uint64_t)sm, 4);
    put(image + 56, flags, 8);
    put(image + 72, expanded, 8);
    memcpy(image + 80, payload, bytes);
    return image;
}

static void refused(CUresult expected, const void *image, const char *part_of_log) {
    char log[256] = "untouched";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)3};
    CUmodule module = (CUmodule)log;
    assert_int_equal(cuModuleLoadDataEx(&module, image, 3, options, values), expected);
    if (strstr(log, part_of_log) == NULL) fail_msg("'%s' lacks '%s'", log, part_of_log);
    assert_int_equal((uintptr_t)values[1], strlen(log) + 1);
}

static void images(void **state) {
    (void)state;
    CUmodule module;
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, "\177ELF\2\1\1\0", "cubin");
    refused(CUDA_ERROR_INVALID_IMAGE, "\1\2\3", "neither");
    refused(CUDA_ERROR_INVALID_IMAGE, "", "neither");
    refused(CUDA_ERROR_INVALID_PTX,
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n  foo.bar;\n}\n",
            "line 5");
    refused(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ".version 99.0\n.target sm_80\n.address_size 64\n",
            "");
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, ".version 8.6\n.target sm_100\n.address_size 64\n", "");
    unsigned char *image = fatbin("\177ELF", 4, 2, 90, 0, 0);
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, image, "no PTX");
    free(image);
    image = fatbin(saxpy_ptx, sizeof saxpy_ptx, 1, 120, 0, 0);
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, image, "newer");
    free(image);
    image = fatbin("\xf0\xff\xff", 3, 1, 80, 0x2000, 100); /* LZ4 that ends too early */
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, image, "decompressed");
    free(image);
    FAILS(INVALID_VALUE, cuModuleLoadData(&module, NULL));
    FAILS(FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent/file.ptx"));
    CUjit_option unknown = (CUjit_option)4000;
    void *value = NULL;
    FAILS(INVALID_VALUE, cuModuleLoadDataEx(&module, saxpy_ptx, 1, &unknown, &value));
}

/* Of several entries the device takes the newest that is for it: one made for another architecture
 * alone does not count, though its number is lower. */
static void images_of_several(void **state) {
    (void)state;
    static const char *const texts[] = {
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry plain() { ret; }\n",
        ".version 8.0\n.target sm_87a\n.address_size 64\n.visible .entry other() { ret; }\n",
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry own() { ret; }\n"};
    static const int archs[] = {80, 87, 90};
    for (int count = 2; count <= 3; count++) {
        unsigned char all[2048] = {0};
        size_t used = 16;
        for (int i = 0; i < count; i++) {
            unsigned char *one = fatbin(texts[i], strlen(texts[i]) + 1, 1, archs[i], 0, 0);
            memcpy(all + used, one + 16, 64 + strlen(texts[i]) + 1);
            used += 64 + strlen(texts[i]) + 1;
            if (i == 0) memcpy(all, one, 16);
            free(one);
        }
        put(all + 8, used - 16, 8);
        CUmodule module;
        CUfunction function;
        OK(cuModuleLoadData(&module, all));
        OK(cuModuleGetFunction(&function, module, count == 2 ? "plain" : "own"));
        OK(cuModuleUnload(module));
    }
}

/* ---- what kernels print and assert ------------------------------------------------------------ */

static void printing_and_asserting(void **state) {
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,"
        " .param .b64 s);\n.global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
        ".visible .entry k(.param .u32 bad)\n{\n.reg .b64 %d; .reg .b32 %r; .reg .pred %p;\n"
        ".param .b64 a; .param .b64 b; .param .b64 c; .param .b32 l;\n"
        "mov.u64 %d, text;\ncvta.global.u64 %d, %d;\nst.param.b64 [a], %d;\n"
        "st.param.b64 [b], %d;\nst.param.b64 [c], 1;\ncall.uni (l), vprintf, (a, b);\n"
        "ld.param.u32 %r, [bad];\nsetp.eq.u32 %p, %r, 0;\n@%p ret;\nst.param.b32 [l], 7;\n"
        "call.uni __assertfail, (a, a, l, a, c);\nret;\n}\n";
    CUcontext context;
    CUmodule module;
    CUfunction function;
    uint32_t bad = 0;
    void *arguments[] = {&bad};
    char path[] = "/tmp/kcsim-test-XXXXXX", out[64] = "";
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "k"));
    int file = mkstemp(path), before = dup(1);
    assert_true(file >= 0 && before >= 0);
    fflush(stdout);
    dup2(file, 1);
    CUresult result = cuLaunchKernel(function, 1, 1, 1, 2, 1, 1, 0, NULL, arguments, NULL);
    fflush(stdout);
    dup2(before, 1);
    close(before);
    OK(result);
    assert_int_equal(pread(file, out, sizeof out - 1, 0), 6);
    assert_string_equal(out, "hi\nhi\n");
    close(file);
    unlink(path);
    bad = 1;
    FAILS(ASSERT, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    FAILS(ASSERT, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
}

/* ---- the linker ------------------------------------------------------------------------------ */

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"

static void linking(void **state) {
    (void)state;
    static char one[] = HEAD ".extern .func (.param .b32 r) five();\n"
                             ".visible .entry k(.param .u64 out) {\n.reg .b32 %r; .reg .b64 %d;\n"
                             ".param .b32 r;\ncall (r), five;\nld.param.b32 %r, [r];\n"
                             "ld.param.u64 %d, [out];\nst.global.u32 [%d], %r;\nret;\n}\n",
                two[] = HEAD ".visible .func (.param .b32 r) five() { st.param.b32 [r], 5; ret; }\n";
    CUlinkState link;
    void *image;
    size_t size;
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    OK(cuLinkCreate_v2(2, options, values, &link));
    FAILS(INVALID_VALUE, cuLinkComplete(link, &image, &size));
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, one, sizeof one, "one", 0, NULL, NULL));
    FAILS(INVALID_PTX, cuLinkComplete(link, &image, &size));
    assert_non_null(strstr(log, "calls 'five', which nothing here defines"));
    unsigned char *second = fatbin(two, sizeof two, 1, 80, 0, 0);
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_FATBINARY, second, 16 + 64 + sizeof two, "two", 0, NULL, NULL));
    free(second);
    FAILS(NO_BINARY_FOR_GPU,
          cuLinkAddData_v2(link, CU_JIT_INPUT_CUBIN, "\177ELF\2\1\1", 7, "three", 0, NULL, NULL));
    assert_non_null(strstr(log, "three: a cubin"));
    FAILS(NOT_SUPPORTED, cuLinkAddData_v2(link, CU_JIT_INPUT_NVVM, one, 4, "four", 0, NULL, NULL));
    FAILS(FILE_NOT_FOUND, cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    uint32_t got = 0;
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link)); /* the image goes with it, the module stays */
    FAILS(INVALID_HANDLE, cuLinkDestroy(link));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuMemAlloc_v2(&out, 4));
    void *arguments[] = {&out};
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH_v2(&got, out, 4));
    assert_int_equal(got, 5);
    OK(cuMemFree_v2(out));
    OK(cuModuleUnload(module));
}

/* LZ4 with literals only, and a match that copies its own output. */
static void compressed_images(void **state) {
    (void)state;
    CUmodule module;
    size_t length = sizeof saxpy_ptx - 1;
    unsigned char *packed = malloc(length + length / 255 + 16), *at = packed;
    assert_non_null(packed);
    *at++ = 0x1f; /* one literal and a long match of blanks, which PTX may start with */
    *at++ = ' ';
    *at++ = 1;
    *at++ = 0;
    *at++ = 100 - 4 - 15;
    *at++ = 0xf0;
    size_t left = length - 15;
    for (; left >= 255; left -= 255)
        *at++ = 255;
    *at++ = (unsigned char)left;
    memcpy(at, saxpy_ptx, length);
    at += length;
    unsigned char *image = fatbin(packed, (size_t)(at - packed), 1, 80, 0x2000, 1 + 100 + length);
    OK(cuModuleLoadFatBinary(&module, image));
    OK(cuModuleUnload(module));
    const void *wrapper[3] = {NULL, image, NULL};
    put((unsigned char *)wrapper, 0x466243b1u, 4);
    OK(cuModuleLoadData(&module, wrapper));
    OK(cuModuleUnload(module));
    free(image);
    free(packed);
}

static void modules(void **state) {
    (void)state;
    CUmodule module, of;
    CUfunction function, none;
    CUdeviceptr table;
    size_t bytes, offset;
    const char *name;
    unsigned count;
    OK(cuModuleLoadData(&module, saxpy_ptx));
    OK(cuModuleGetFunction(&function, module, "saxpy"));
    FAILS(NOT_FOUND, cuModuleGetFunction(&none, module, "daxpy"));
    FAILS(INVALID_HANDLE, cuModuleGetFunction(&none, (CUmodule)function, "saxpy"));
    OK(cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 1);
    OK(cuFuncGetName(&name, function));
    assert_string_equal(name, "saxpy");
    OK(cuFuncGetModule(&of, function));
    assert_ptr_equal(of, module);
    OK(cuFuncGetParamInfo(function, 2, &offset, &bytes));
    assert_int_equal(offset, 16);
    assert_int_equal(bytes, 4);
    FAILS(INVALID_VALUE, cuFuncGetParamInfo(function, 4, &offset, &bytes));
    OK(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
    assert_int_equal(bytes, 16);
    OK(cuMemsetD8_v2(table, 1, 16));
    FAILS(INVALID_VALUE, cuMemsetD8_v2(table, 1, 17));
    FAILS(NOT_FOUND, cuModuleGetGlobal_v2(&table, &bytes, module, "chair"));
    int value;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    assert_int_equal(value, 1024);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
    assert_int_equal(value, 90);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    assert_int_equal(value, 49152);
    FAILS(INVALID_VALUE,
          cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    assert_int_equal(value, 232448);
    FAILS(INVALID_VALUE, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 8));
    OK(cuModuleUnload(module));
    FAILS(INVALID_HANDLE, cuModuleUnload(module));
    FAILS(INVALID_HANDLE, cuFuncGetName(&name, function));
}

static void libraries(void **state) {
    (void)state;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    const char *name;
    OK(cuLibraryLoadData(&library, saxpy_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "saxpy"));
    FAILS(NOT_FOUND, cuLibraryGetKernel(&kernel, library, "daxpy"));
    OK(cuKernelGetName(&name, kernel));
    assert_string_equal(name, "saxpy");
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuLibraryGetModule(&module, library));
    FAILS(NOT_PERMITTED, cuModuleUnload(module));
    OK(cuLibraryUnload(library));
    FAILS(INVALID_HANDLE, cuKernelGetFunction(&function, kernel));
}

int main(void) {
    set_environment();
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(images),
        IN_CONTEXT(images_of_several),
        IN_CONTEXT(linking),
        cmocka_unit_test(printing_and_asserting),
        IN_CONTEXT(compressed_images),
        IN_CONTEXT(modules),
        IN_CONTEXT(libraries),
    };
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
