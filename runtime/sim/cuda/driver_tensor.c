/* Tensor maps. Two of the newer swizzles, interleaved and packed layouts and im2col are refused by
 * name. */
#include "runtime/sim/cuda/driver_api.h"
#include "runtime/sim/cuda/tensor_map.h"

#include <string.h>

static CUresult refuse(const char *call, const char *why) {
    driver_log("%s: %s", call, why);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult not_built(const char *what) {
    driver_log("cuTensorMapEncodeTiled: %s is not supported by this simulator", what);
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

CUresult cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address,
                                const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave, int swizzle, int promotion,
                                int fill) {
    static const char call[] = "cuTensorMapEncodeTiled";
    CUresult result = check_device(call);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || (uintptr_t)out % 64) return refuse(call, "tensorMap is a multiple of 64");
    if (rank == 0 || rank > KCSIM_TENSOR_RANK) return refuse(call, "tensorRank is from 1 to 5");
    if (dims == NULL || box == NULL || steps == NULL || (rank > 1 && strides == NULL))
        return refuse(call, "an array is missing");
    if (promotion < 0 || promotion > 3) return refuse(call, "l2Promotion is unknown");
    if (fill < 0 || fill > 1) return refuse(call, "oobFill is unknown");
    if (type < 0 || type > 15) return refuse(call, "tensorDataType is unknown");
    if (interleave < 0 || interleave > 2) return refuse(call, "interleave is unknown");
    if (swizzle < 0 || swizzle > 6) return refuse(call, "swizzle is unknown");
    if (type >= KCSIM_TENSOR_TYPE_COUNT) return not_built("a packed type (16U4, 16U6)");
    if (interleave) return not_built("CU_TENSOR_MAP_INTERLEAVE_16B or _32B");
    if (swizzle >= KCSIM_SWIZZLE_COUNT)
        return not_built("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B or _ATOM_64B");
    kcsim_tensor_map map;
    memset(&map, 0, sizeof map);
    map.type = (uint8_t)type;
    map.rank = (uint8_t)rank;
    map.swizzle = (uint8_t)swizzle;
    map.fill_nan = (uint8_t)fill;
    map.address = (uintptr_t)address;
    for (unsigned i = 0; i < KCSIM_TENSOR_RANK; i++) {
        bool used = i < rank;
        map.dims[i] = used ? dims[i] : 1;
        map.box[i] = !used ? 1 : box[i] > 256 ? 0 : (uint16_t)box[i];
        map.steps[i] = !used || i == 0 ? 1 : steps[i] > 8 ? 0 : (uint8_t)steps[i];
        map.strides[i] = i == 0 ? kcsim_tensor_type_bytes(map.type) : used ? strides[i - 1] : 0;
    }
    const char *problem = kcsim_tensor_map_problem(&map);
    if (problem) return refuse(call, problem);
    if (swizzle && map.box[0] * map.strides[0] < (swizzle == 1 ? 32u : swizzle == 2 ? 64u : 128u))
        return not_built("a box whose inner side is shorter than the swizzle");
    kcsim_tensor_map_write(&map, out);
    return CUDA_SUCCESS;
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
