// kcrt.h and kcrt_device.h compile alone, in C11 and C++, strictly, also after the standard's own
// dlpack.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compile(const char *compiler, const char *source) {
    char command[2000];
    snprintf(command, sizeof command,
             "printf '%%s' '%s' | %s -I. -Wall -Wextra -Werror -Wpedantic -fsyntax-only - 2>&1",
             source, compiler);
    return system(command);
}

static void both(const char *source) {
    static const char *const compilers[] = {"cc -std=c11 -x c", "c++ -std=c++11 -x c++",
                                            "c++ -std=c++20 -x c++"};
    for (int i = 0; i < 3; i++)
        if (compile(compilers[i], source)) fail_msg("%s does not accept: %s", compilers[i], source);
}

static void test_alone(void **state) {
    (void)state;
    if (compile("cc -std=c11 -x c", "int x;\n") || compile("c++ -std=c++11 -x c++", "int x;\n")) {
        fprintf(stderr, "skipped: cc or c++ is not installed here\n");
        skip();
    }
    both("#include \"runtime/kcrt.h\"\nint main(void) { return kcrt_version() == 0; }\n");
    both("#include \"runtime/kcrt_device.h\"\n#include \"runtime/kcrt.h\"\nkcrt_device_api api;\n");
    both("#include \"runtime/kcrt.h\"\nDLTensor f(DLDevice d, float *p, int64_t *s) { return "
         "kcrt_tensor(d, p, kcrt_dtype(2, 32), 1, s, 0); }\n");
}

// What dlpack.h version 1 declares, and the fields that programs of ours use.
static void test_after_dlpack(void **state) {
    (void)state;
    if (compile("cc -std=c11 -x c", "int x;\n") || compile("c++ -std=c++11 -x c++", "int x;\n"))
        skip();
    both("#define DLPACK_DLPACK_H_\n#include <stdint.h>\n"
         "typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;\n"
         "typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;\n"
         "typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;\n"
         "typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t "
         "*shape, *strides; uint64_t byte_offset; } DLTensor;\n"
         "#include \"runtime/kcrt.h\"\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone),
                                       cmocka_unit_test(test_after_dlpack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
