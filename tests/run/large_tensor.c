// Tensors of more than 2^31 bytes and 2^31 elements apart: only the bytes that matter are ever touched, so it is quick.
// usage: large_tensor PACKAGE DEVICE
#include "runtime/kcrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void require(kcrt_status status, const char *what) {
    if (status == KCRT_OK) return;
    fprintf(stderr, "%s: %s\n", what, kcrt_last_error());
    exit(1);
}

static void result(const char *name, int ok) {
    printf("%s %s\n", ok ? "ok" : "not ok", name);
    failed |= !ok;
}

static DLTensor tensor(kcrt_device *device, void *base, int64_t *shape, int64_t *strides, int rank, int code, int bits) {
    DLTensor t;
    memset(&t, 0, sizeof t);
    t.data = base;
    t.device = kcrt_device_dl(device);
    t.ndim = rank;
    t.dtype.code = (uint8_t)code, t.dtype.bits = (uint8_t)bits, t.dtype.lanes = 1;
    t.shape = shape, t.strides = strides;
    return t;
}

// The last 1000 bytes of a tensor of 5e9 bytes.
static void tail(kcrt_device *device, kcrt_module *module) {
    enum { TAKEN = 1000 };
    int64_t n = 5000000000, taken = TAKEN;
    unsigned char in[TAKEN], out[TAKEN];
    void *x, *y;
    kcrt_function *f;
    for (int i = 0; i < TAKEN; i++) in[i] = (unsigned char)(i % 251);
    require(kcrt_alloc(device, (size_t)n, &x), "x");
    require(kcrt_alloc(device, TAKEN, &y), "y");
    require(kcrt_copy((kcrt_place){device, x, (uint64_t)(n - TAKEN)}, (kcrt_place){NULL, in, 0}, TAKEN, NULL), "copy in");
    require(kcrt_function_get(module, "tail", &f), "tail");
    DLTensor tx = tensor(device, x, &n, NULL, 1, 1, 8), ty = tensor(device, y, &taken, NULL, 1, 1, 8);
    require(kcrt_launch(f, NULL, (void *[]){&tx, &ty}, 2, NULL, 0), "launch tail");
    require(kcrt_copy((kcrt_place){NULL, out, 0}, (kcrt_place){device, y, 0}, TAKEN, NULL), "copy out");
    result("the end of 5e9 bytes", memcmp(in, out, TAKEN) == 0);
    kcrt_free(device, x), kcrt_free(device, y);
}

// Two rows 2^30 + 16 elements apart.
static void rows(kcrt_device *device, kcrt_module *module) {
    enum { COLUMNS = 37 };
    int64_t shape[2] = {2, COLUMNS}, strides[2] = {(INT64_C(1) << 30) + 16, 1}, plain[2] = {COLUMNS, 1};
    float in[2][COLUMNS], out[2][COLUMNS];
    void *x, *y;
    kcrt_function *f;
    require(kcrt_alloc(device, (size_t)(strides[0] + COLUMNS) * 4, &x), "x");
    require(kcrt_alloc(device, sizeof out, &y), "y");
    for (int r = 0; r < 2; r++) {
        for (int c = 0; c < COLUMNS; c++) in[r][c] = (float)(100 * r + c);
        kcrt_place row = {device, x, (uint64_t)(r * strides[0] * 4)};
        require(kcrt_copy(row, (kcrt_place){NULL, in[r], 0}, sizeof in[r], NULL), "copy in");
    }
    require(kcrt_function_get(module, "rows", &f), "rows");
    DLTensor tx = tensor(device, x, shape, strides, 2, 2, 32), ty = tensor(device, y, shape, plain, 2, 2, 32);
    require(kcrt_launch(f, NULL, (void *[]){&tx, &ty}, 2, NULL, 0), "launch rows");
    require(kcrt_copy((kcrt_place){NULL, out, 0}, (kcrt_place){device, y, 0}, sizeof out, NULL), "copy out");
    int same = 1;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < COLUMNS; c++) same &= out[r][c] == 2 * in[r][c];
    result("rows 2^32 bytes apart", same);
    kcrt_free(device, x), kcrt_free(device, y);
}

int main(int argc, char **argv) {
    kcrt_device *device;
    kcrt_module *module;
    if (argc != 3) return 2;
    require(kcrt_device_open(argv[2], &device), argv[2]);
    require(kcrt_module_load_file(device, argv[1], NULL, &module), argv[1]);
    tail(device, module);
    rows(device, module);
    kcrt_module_unload(module);
    kcrt_device_close(device);
    return failed;
}
