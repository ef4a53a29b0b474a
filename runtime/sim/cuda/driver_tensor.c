/* Tensor maps. One of the newer swizzles, interleaved and packed layouts are refused by name. */
#include "runtime/sim/cuda/driver_api.h"
#include "runtime/sim/cuda/tensor_map.h"

#include <string.h>

static CUresult refuse(const char *call, const char *why) {
    driver_log("%s: %s", call, why);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult not_built(const char *call, const char *what) {
    driver_log("%s: %s is not supported by this simulator", call, what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Tensor maps need compute capability 9.0. */
static CUresult check_device(const char *call) {
    CUcontext context = NULL;
    int major = 0, minor = 0;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL) return CUDA_SUCCESS;
    cuDeviceComputeCapability(&major, &minor, context->device->ordinal);
    if (major >= 9) return CUDA_SUCCESS;
    driver_log("%s: the device has compute capability %d.%d, tensor maps need 9.0", call, major,
               minor);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* What both ways to encode a map ask for. */
typedef struct request {
    const char *call;
    void *out;
    int type;
    unsigned rank;
    void *address;
    const uint64_t *dims, *strides;
    const uint32_t *steps;
    int interleave, swizzle, promotion, fill;
} request;

static CUresult check_request(const request *from, bool arrays) {
    const char *call = from->call;
    if (from->out == NULL || (uintptr_t)from->out % 64)
        return refuse(call, "tensorMap is a multiple of 64");
    if (from->rank == 0 || from->rank > KCSIM_TENSOR_RANK)
        return refuse(call, "tensorRank is from 1 to 5");
    if (!arrays || from->dims == NULL || from->steps == NULL ||
        (from->rank > 1 && from->strides == NULL))
        return refuse(call, "an array is missing");
    if (from->promotion < 0 || from->promotion > 3) return refuse(call, "l2Promotion is unknown");
    if (from->fill < 0 || from->fill > 1) return refuse(call, "oobFill is unknown");
    if (from->type < 0 || from->type > 15) return refuse(call, "tensorDataType is unknown");
    if (from->interleave < 0 || from->interleave > 2) return refuse(call, "interleave is unknown");
    if (from->swizzle < 0 || from->swizzle > 6) return refuse(call, "swizzle is unknown");
    if (from->interleave && from->rank < 3)
        return refuse(call, "tensorRank: interleaved tensors have 3 to 5 dimensions");
    if (from->interleave == 2 && (uintptr_t)from->address % 32)
        return refuse(call, "globalAddress is a multiple of 32 for CU_TENSOR_MAP_INTERLEAVE_32B");
    if (from->interleave == 2 && from->swizzle != KCSIM_SWIZZLE_32)
        return refuse(call, "swizzle: CU_TENSOR_MAP_INTERLEAVE_32B goes with SWIZZLE_32B");
    if (from->type >= KCSIM_TENSOR_TYPE_COUNT) return not_built(call, "a packed type (16U4, 16U6)");
    if (from->interleave) return not_built(call, "CU_TENSOR_MAP_INTERLEAVE_16B or _32B");
    if (from->swizzle == KCSIM_SWIZZLE_128_FLIP)
        return not_built(call, "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B");
    return CUDA_SUCCESS;
}

/* All but the box, of which it is said whether it is there. */
static CUresult begin_map(kcsim_tensor_map *map, const request *from, bool has_box) {
    CUresult result = check_device(from->call);
    if (result == CUDA_SUCCESS) result = check_request(from, has_box);
    if (result != CUDA_SUCCESS) return result;
    memset(map, 0, sizeof *map);
    map->type = (uint8_t)from->type;
    map->rank = (uint8_t)from->rank;
    map->swizzle = (uint8_t)from->swizzle;
    map->fill_nan = (uint8_t)from->fill;
    map->address = (uintptr_t)from->address;
    for (unsigned i = 0; i < KCSIM_TENSOR_RANK; i++) {
        bool used = i < from->rank;
        map->dims[i] = used ? from->dims[i] : 1;
        map->box[i] = 1;
        map->steps[i] = !used || i == 0 ? 1 : from->steps[i] > 8 ? 0 : (uint8_t)from->steps[i];
        map->strides[i] = i == 0 ? kcsim_tensor_type_bytes(map->type)
                          : used ? from->strides[i - 1]
                                 : 0;
    }
    return CUDA_SUCCESS;
}

static CUresult finish_map(kcsim_tensor_map *map, const request *from) {
    static const uint8_t spans[KCSIM_SWIZZLE_COUNT] = {0, 32, 64, 128, 128, 128, 128};
    const char *problem = kcsim_tensor_map_problem(map);
    if (problem) return refuse(from->call, problem);
    if (map->box[0] * map->strides[0] < spans[map->swizzle])
        return not_built(from->call, "a box whose inner side is shorter than the swizzle");
    kcsim_tensor_map_write(map, from->out);
    return CUDA_SUCCESS;
}

/* What both calls have parameters for, of the same names. */
#define REQUEST(call)                                                                              \
    {call,  out,        type,    rank,      address, dims, strides,                                \
     steps, interleave, swizzle, promotion, fill}

CUresult cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address,
                                const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave, int swizzle, int promotion,
                                int fill) {
    const request from = REQUEST("cuTensorMapEncodeTiled");
    kcsim_tensor_map map;
    CUresult result = begin_map(&map, &from, box != NULL);
    if (result != CUDA_SUCCESS) return result;
    for (unsigned i = 0; i < rank; i++)
        map.box[i] = box[i] > 256 ? 0 : (uint16_t)box[i];
    return finish_map(&map, &from);
}

/* The corners have W first, as coordinates do. */
CUresult cuTensorMapEncodeIm2col(void *out, int type, unsigned rank, void *address,
                                 const uint64_t *dims, const uint64_t *strides, const int *lower,
                                 const int *upper, uint32_t channels, uint32_t pixels,
                                 const uint32_t *steps, int interleave, int swizzle, int promotion,
                                 int fill) {
    const request from = REQUEST("cuTensorMapEncodeIm2col");
    kcsim_tensor_map map;
    CUresult result = begin_map(&map, &from, lower != NULL && upper != NULL);
    if (result != CUDA_SUCCESS) return result;
    map.im2col = 1;
    map.box[0] = (uint16_t)(channels > 256 ? 0 : channels);
    map.box[1] = (uint16_t)(pixels > 1024 ? 0 : pixels);
    for (unsigned i = 0; i + 2 < rank; i++) {
        map.lower[i] = (int16_t)lower[i];
        map.upper[i] = (int16_t)upper[i];
        if (map.lower[i] != lower[i] || map.upper[i] != upper[i])
            return refuse(from.call, "a corner has at most 16 bits");
    }
    return finish_map(&map, &from);
}

CUresult cuTensorMapReplaceAddress(void *out, void *address) {
    static const char call[] = "cuTensorMapReplaceAddress";
    CUresult result = check_device(call);
    kcsim_tensor_map map;
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || (uintptr_t)out % 64) return refuse(call, "tensorMap is a multiple of 64");
    if (!kcsim_tensor_map_read(&map, out)) return refuse(call, "these bytes are no tensor map");
    map.address = (uintptr_t)address;
    const char *problem = kcsim_tensor_map_problem(&map);
    if (problem) return refuse(call, problem);
    kcsim_tensor_map_write(&map, out);
    return CUDA_SUCCESS;
}
