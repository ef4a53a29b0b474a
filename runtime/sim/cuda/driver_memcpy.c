/* The copy calls: each describes its copy and submits it to a stream. Synchronous ones go to the
 * legacy default stream, which is what makes them fail while a blocking stream is captured. */
#include "runtime/sim/cuda/driver_api.h"

typedef enum sides { DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, ANY_TO_ANY } sides;

static CUresult submit(const driver_copy *copy, CUstream handle) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_MEMCPY, .context = stream->object.context};
    op.u.copy = *copy;
    result = driver_copy_check(op.context, copy);
    return result != CUDA_SUCCESS ? result : driver_stream_submit(stream, &op);
}

static driver_copy row(uint64_t target, uint64_t source, size_t bytes) {
    return (driver_copy){.source = source,
                         .target = target,
                         .source_pitch = bytes,
                         .target_pitch = bytes,
                         .source_height = 1,
                         .target_height = 1,
                         .width = bytes,
                         .height = 1,
                         .depth = 1};
}

static CUresult linear(sides which, uint64_t target, uint64_t source, size_t bytes,
                       CUstream stream) {
    driver_copy copy = row(target, source, bytes);
    copy.source_device = which == DEVICE_TO_DEVICE || which == DEVICE_TO_HOST;
    copy.target_device = which == DEVICE_TO_DEVICE || which == HOST_TO_DEVICE;
    return submit(&copy, stream);
}

static uint64_t host(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

/* ---- one dimension --------------------------------------------------------------------------- */

CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
    return linear(ANY_TO_ANY, target, source, bytes, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpy_ptds, cuMemcpy);

CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
    return linear(ANY_TO_ANY, target, source, bytes, stream);
}
DRIVER_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void *source, size_t bytes) {
    return linear(HOST_TO_DEVICE, target, host(source), bytes, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);

CUresult cuMemcpyDtoH_v2(void *target, CUdeviceptr source, size_t bytes) {
    return linear(DEVICE_TO_HOST, host(target), source, bytes, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);

CUresult cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
    return linear(DEVICE_TO_DEVICE, target, source, bytes, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes,
                              CUstream stream) {
    return linear(HOST_TO_DEVICE, target, host(source), bytes, stream);
}
DRIVER_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);

CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream) {
    return linear(DEVICE_TO_HOST, host(target), source, bytes, stream);
}
DRIVER_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
    return linear(DEVICE_TO_DEVICE, target, source, bytes, stream);
}
DRIVER_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);

/* ---- between contexts ------------------------------------------------------------------------ */

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                           CUcontext source_context, size_t bytes, CUstream stream) {
    CUresult result = driver_context_check(target_context);
    if (result == CUDA_SUCCESS) result = driver_context_check(source_context);
    if (result != CUDA_SUCCESS) return result;
    driver_copy copy = row(target, source, bytes);
    copy.source_device = copy.target_device = true;
    copy.source_context = source_context;
    copy.target_context = target_context;
    return submit(&copy, stream);
}
DRIVER_ALIAS(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync);

CUresult cuMemcpyPeer(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                      CUcontext source_context, size_t bytes) {
    return cuMemcpyPeerAsync(target, target_context, source, source_context, bytes,
                             CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpyPeer_ptds, cuMemcpyPeer);

/* ---- two and three dimensions ---------------------------------------------------------------- */

static CUresult box(const driver_memcpy3d *from, bool peer, CUstream stream) {
    driver_copy copy;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (from == NULL) return CUDA_ERROR_INVALID_VALUE;
    result = driver_copy_from_3d(from, peer, &copy);
    if (result == CUDA_SUCCESS && peer) {
        result = driver_context_check(copy.source_context);
        if (result == CUDA_SUCCESS) result = driver_context_check(copy.target_context);
    }
    return result != CUDA_SUCCESS ? result : submit(&copy, stream);
}

static CUresult plane(const driver_memcpy2d *from, CUstream stream) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (from == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_memcpy3d all = {.srcXInBytes = from->srcXInBytes,
                           .srcY = from->srcY,
                           .srcMemoryType = from->srcMemoryType,
                           .srcHost = from->srcHost,
                           .srcDevice = from->srcDevice,
                           .srcPitch = from->srcPitch,
                           .dstXInBytes = from->dstXInBytes,
                           .dstY = from->dstY,
                           .dstMemoryType = from->dstMemoryType,
                           .dstHost = from->dstHost,
                           .dstDevice = from->dstDevice,
                           .dstPitch = from->dstPitch,
                           .WidthInBytes = from->WidthInBytes,
                           .Height = from->Height,
                           .Depth = 1};
    return box(&all, false, stream);
}

CUresult cuMemcpy2D_v2(const driver_memcpy2d *copy) {
    return plane(copy, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
DRIVER_ALIAS(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2);
DRIVER_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2D_v2);

CUresult cuMemcpy2DAsync_v2(const driver_memcpy2d *copy, CUstream stream) {
    return plane(copy, stream);
}
DRIVER_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2);

CUresult cuMemcpy3D_v2(const driver_memcpy3d *copy) {
    return box(copy, false, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2);

CUresult cuMemcpy3DAsync_v2(const driver_memcpy3d *copy, CUstream stream) {
    return box(copy, false, stream);
}
DRIVER_ALIAS(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2);

CUresult cuMemcpy3DPeer(const driver_memcpy3d *copy) {
    return box(copy, true, CU_STREAM_LEGACY);
}
DRIVER_ALIAS(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer);

CUresult cuMemcpy3DPeerAsync(const driver_memcpy3d *copy, CUstream stream) {
    return box(copy, true, stream);
}
DRIVER_ALIAS(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync);
