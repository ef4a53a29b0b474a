/* cuTensorMapEncodeTiled and cuTensorMapReplaceAddress: what they take and refuse, with a reason in the log. */
#include "tests/unit/sim/driver_fixture.h"

#include "runtime/sim/cuda/tensor_map.h"

typedef struct request {
    int type;
    unsigned rank;
    uint64_t address, dims[5], strides[4];
    uint32_t box[5], steps[5];
    int interleave, swizzle, promotion, fill;
} request;

static _Alignas(64) uint8_t map[192];
static const request good = {6, 2, 4096, {128, 64, 8, 8, 8}, {256, 16384, 131072, 1048576}, {64, 16, 1, 1, 1}, {1, 1, 1, 1, 1}, 0, 3, 2, 0};

static CUresult encode(void *out, const request *r) {
    return cuTensorMapEncodeTiled(out, r->type, r->rank, (void *)(uintptr_t)r->address, r->dims, r->strides, r->box, r->steps,
                                  r->interleave, r->swizzle, r->promotion, r->fill);
}

static bool log_has(const char *text) {
    static char all[1 << 16];
    FILE *file = fopen(log_path, "r");
    if (!file) return false;
    all[fread(all, 1, sizeof all - 1, file)] = 0;
    fclose(file);
    return strstr(all, text) != NULL;
}

#define BAD(change, result, reason)                                                                \
    do {                                                                                           \
        request r = good;                                                                          \
        r.change;                                                                                  \
        FAILS(result, encode(map, &r));                                                            \
        assert_true(log_has(reason));                                                              \
    } while (0)

static void encodes(void **state) {
    (void)state;
    request r = good;
    kcsim_tensor_map read;
    OK(encode(map, &r));
    assert_true(kcsim_tensor_map_read(&read, map));
    assert_int_equal(read.address, 4096);
    assert_int_equal(kcsim_tensor_map_box_bytes(&read), 64 * 16 * 2);
    OK(cuTensorMapReplaceAddress(map, (void *)8192));
    assert_true(kcsim_tensor_map_read(&read, map));
    assert_int_equal(read.address, 8192);
    FAILS(INVALID_VALUE, cuTensorMapReplaceAddress(map, (void *)8200));
    map[20] ^= 1;
    FAILS(INVALID_VALUE, cuTensorMapReplaceAddress(map, (void *)8192));
    assert_true(log_has("no tensor map"));
    FAILS(INVALID_VALUE, encode(map + 16, &r));
    assert_true(log_has("tensorMap is a multiple of 64"));
    for (int type = 0; type < KCSIM_TENSOR_TYPE_COUNT; type++)
        for (unsigned rank = 1; rank <= 5; rank++) {
            r = good, r.type = type, r.rank = rank, r.swizzle = 0;
            OK(encode(map, &r));
        }
}

static void refuses(void **state) {
    (void)state;
    BAD(address = 4104, INVALID_VALUE, "globalAddress is a multiple of 16");
    BAD(rank = 0, INVALID_VALUE, "tensorRank");
    BAD(rank = 6, INVALID_VALUE, "tensorRank");
    BAD(dims[1] = 0, INVALID_VALUE, "globalDim");
    BAD(dims[1] = ((uint64_t)1 << 32) + 1, INVALID_VALUE, "globalDim");
    BAD(strides[0] = 264, INVALID_VALUE, "multiples of 16");
    BAD(strides[0] = (uint64_t)1 << 40, INVALID_VALUE, "2^40");
    BAD(box[1] = 257, INVALID_VALUE, "boxDim");
    BAD(box[1] = 65536 + 16, INVALID_VALUE, "boxDim");
    BAD(box[0] = 68, INVALID_VALUE, "multiple of 16 bytes");
    BAD(box[0] = 128, INVALID_VALUE, "longer than the swizzle");
    BAD(steps[1] = 9, INVALID_VALUE, "elementStrides");
    BAD(fill = 2, INVALID_VALUE, "oobFill is unknown");
    BAD(type = 99, INVALID_VALUE, "tensorDataType");
    BAD(swizzle = 7, INVALID_VALUE, "swizzle is unknown");
    BAD(promotion = 4, INVALID_VALUE, "l2Promotion");
    BAD(interleave = 1, INVALID_VALUE, "interleaved tensors have 3 to 5 dimensions");
    BAD(type = 13, NOT_SUPPORTED, "a packed type");
    BAD(swizzle = 5, NOT_SUPPORTED, "FLIP_8B");
    BAD(box[0] = 32, NOT_SUPPORTED, "shorter than the swizzle");
    request r = good;
    r.type = 2, r.fill = 1, r.box[0] = 32;
    FAILS(INVALID_VALUE, encode(map, &r));
    assert_true(log_has("NaN is for floating-point"));
}

static CUresult columns(const request *r, int lower, int upper, uint32_t channels, uint32_t pixels) {
    const int low[3] = {lower, lower, lower}, high[3] = {upper, upper, upper};
    return cuTensorMapEncodeIm2col(map, r->type, r->rank, (void *)(uintptr_t)r->address, r->dims, r->strides, low, high, channels, pixels,
                                   r->steps, r->interleave, r->swizzle, r->promotion, r->fill);
}

static void im2col(void **state) {
    request r = good;
    kcsim_tensor_map read;
    (void)state;
    r.rank = 4;
    OK(columns(&r, -1, 1, 64, 1024));
    assert_true(kcsim_tensor_map_read(&read, map));
    assert_true(read.im2col && read.lower[1] == -1 && read.upper[0] == 1);
    assert_int_equal(kcsim_tensor_map_box_bytes(&read), 64 * 1024 * 2);
    FAILS(INVALID_VALUE, columns(&r, -129, 0, 64, 64));
    assert_true(log_has("out of their range"));
    FAILS(INVALID_VALUE, columns(&r, 0, -8, 64, 64));
    assert_true(log_has("bounding box is empty"));
    FAILS(INVALID_VALUE, columns(&r, 0, 0, 64, 1025));
    assert_true(log_has("pixelsPerColumn"));
    FAILS(INVALID_VALUE, columns(&r, 0, 0, 257, 64));
    assert_true(log_has("channelsPerPixel"));
    FAILS(INVALID_VALUE, columns(&r, 0, 0, 128, 64));
    assert_true(log_has("longer than the swizzle"));
    r.rank = 2;
    FAILS(INVALID_VALUE, columns(&r, 0, 0, 64, 64));
    assert_true(log_has("im2col needs 3 to 5 dimensions"));
    r.rank = 3;
    OK(columns(&r, -32768, 32767, 64, 64));
    FAILS(INVALID_VALUE, columns(&r, -32769, 0, 64, 64));
    r.interleave = 1;
    FAILS(NOT_SUPPORTED, columns(&r, 0, 0, 64, 64));
    assert_true(log_has("cuTensorMapEncodeIm2col: CU_TENSOR_MAP_INTERLEAVE_16B"));
    r.interleave = 2;
    FAILS(INVALID_VALUE, columns(&r, 0, 0, 64, 64));
    assert_true(log_has("goes with SWIZZLE_32B"));
    r.swizzle = 1;
    FAILS(NOT_SUPPORTED, columns(&r, 0, 0, 64, 64));
    r.address += 16;
    FAILS(INVALID_VALUE, columns(&r, 0, 0, 64, 64));
    assert_true(log_has("globalAddress is a multiple of 32"));
}

int main(void) {
    set_environment();
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    const struct CMUnitTest tests[] = {IN_CONTEXT(encodes), IN_CONTEXT(refuses), IN_CONTEXT(im2col)};
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
