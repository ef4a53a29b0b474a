/* Our declarations of the driver interface against the vendor's header, where it is installed: all
 * numbers, and size and fields of all structures. The comparisons are made by the compiler; the
 * program then says that they were made, or that they could not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/sim/cuda/driver_structs.h"
#include "runtime/sim/cuda/driver_values.h"

#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_HEADER 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define HAVE_HEADER 1
#endif
#endif

/* Numbers that were added to the interface later are compared only with a header that has them. */
#if defined(HAVE_HEADER) && CUDA_VERSION >= 13000

#define SAME_VALUE(name, value, ...)                                                               \
    _Static_assert((int)(name) == (value), #name " differs from the vendor's header");
DRIVER_RESULTS(SAME_VALUE)
DRIVER_DEVICE_ATTRIBUTES(SAME_VALUE)
DRIVER_FUNCTION_ATTRIBUTES(SAME_VALUE)
DRIVER_POINTER_ATTRIBUTES(SAME_VALUE)
DRIVER_POOL_ATTRIBUTES(SAME_VALUE)
DRIVER_JIT_OPTIONS(SAME_VALUE)
DRIVER_LIMITS(SAME_VALUE)
DRIVER_LAUNCH_ATTRIBUTES(SAME_VALUE)
DRIVER_NODE_TYPES(SAME_VALUE)
DRIVER_MISC_VALUES(SAME_VALUE)

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #theirs " has another size");
#define SAME_FIELD(ours, theirs, field)                                                            \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, field) &&                             \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->field),                 \
                   #theirs "." #field " is elsewhere");

SAME_SIZE(CUdeviceptr, unsigned long long)
SAME_SIZE(CUdevice, int)
SAME_SIZE(driver_uuid, CUuuid)

#define PROPERTIES(field) SAME_FIELD(driver_properties, CUdevprop, field)
SAME_SIZE(driver_properties, CUdevprop)
PROPERTIES(maxThreadsPerBlock)
PROPERTIES(maxThreadsDim)
PROPERTIES(maxGridSize)
PROPERTIES(sharedMemPerBlock)
PROPERTIES(totalConstantMemory)
PROPERTIES(SIMDWidth)
PROPERTIES(memPitch)
PROPERTIES(regsPerBlock)
PROPERTIES(clockRate)
PROPERTIES(textureAlign)

#define COPY2(field) SAME_FIELD(driver_memcpy2d, CUDA_MEMCPY2D, field)
SAME_SIZE(driver_memcpy2d, CUDA_MEMCPY2D)
COPY2(srcXInBytes)
COPY2(srcY)
COPY2(srcMemoryType)
COPY2(srcHost)
COPY2(srcDevice)
COPY2(srcArray)
COPY2(srcPitch)
COPY2(dstXInBytes)
COPY2(dstY)
COPY2(dstMemoryType)
COPY2(dstHost)
COPY2(dstDevice)
COPY2(dstArray)
COPY2(dstPitch)
COPY2(WidthInBytes)
COPY2(Height)

#define COPY3(field)                                                                               \
    SAME_FIELD(driver_memcpy3d, CUDA_MEMCPY3D, field)                                              \
    SAME_FIELD(driver_memcpy3d, CUDA_MEMCPY3D_PEER, field)
SAME_SIZE(driver_memcpy3d, CUDA_MEMCPY3D)
SAME_SIZE(driver_memcpy3d, CUDA_MEMCPY3D_PEER)
COPY3(srcXInBytes)
COPY3(srcY)
COPY3(srcZ)
COPY3(srcLOD)
COPY3(srcMemoryType)
COPY3(srcHost)
COPY3(srcDevice)
COPY3(srcArray)
COPY3(srcPitch)
COPY3(srcHeight)
COPY3(dstXInBytes)
COPY3(dstY)
COPY3(dstZ)
COPY3(dstLOD)
COPY3(dstMemoryType)
COPY3(dstHost)
COPY3(dstDevice)
COPY3(dstArray)
COPY3(dstPitch)
COPY3(dstHeight)
COPY3(WidthInBytes)
COPY3(Height)
COPY3(Depth)
SAME_FIELD(driver_memcpy3d, CUDA_MEMCPY3D, reserved0)
SAME_FIELD(driver_memcpy3d, CUDA_MEMCPY3D, reserved1)
_Static_assert(offsetof(driver_memcpy3d, reserved0) == offsetof(CUDA_MEMCPY3D_PEER, srcContext),
               "the peer form's source context is elsewhere");
_Static_assert(offsetof(driver_memcpy3d, reserved1) == offsetof(CUDA_MEMCPY3D_PEER, dstContext),
               "the peer form's destination context is elsewhere");

#define VALUE(field) SAME_FIELD(driver_launch_value, CUlaunchAttributeValue, field)
SAME_SIZE(driver_launch_value, CUlaunchAttributeValue)
VALUE(cooperative)
VALUE(programmaticStreamSerializationAllowed)
VALUE(clusterDim.x)
VALUE(clusterDim.z)
VALUE(launchCompletionEvent.event)
VALUE(programmaticEvent.event)
VALUE(programmaticEvent.triggerAtBlockStart)
SAME_SIZE(driver_launch_attribute, CUlaunchAttribute)
SAME_FIELD(driver_launch_attribute, CUlaunchAttribute, id)
SAME_FIELD(driver_launch_attribute, CUlaunchAttribute, value)

#define CONFIG(field) SAME_FIELD(driver_launch_config, CUlaunchConfig, field)
SAME_SIZE(driver_launch_config, CUlaunchConfig)
CONFIG(gridDimX)
CONFIG(gridDimZ)
CONFIG(blockDimX)
CONFIG(blockDimZ)
CONFIG(sharedMemBytes)
CONFIG(hStream)
CONFIG(attrs)
CONFIG(numAttrs)

SAME_SIZE(driver_location, CUmemLocation)
SAME_FIELD(driver_location, CUmemLocation, type)
SAME_FIELD(driver_location, CUmemLocation, id)
SAME_SIZE(driver_access, CUmemAccessDesc)
SAME_FIELD(driver_access, CUmemAccessDesc, flags)
SAME_SIZE(driver_generic_properties, CUmemAllocationProp)
SAME_FIELD(driver_generic_properties, CUmemAllocationProp, type)
SAME_FIELD(driver_generic_properties, CUmemAllocationProp, requestedHandleTypes)
SAME_FIELD(driver_generic_properties, CUmemAllocationProp, location)
SAME_FIELD(driver_generic_properties, CUmemAllocationProp, win32HandleMetaData)
SAME_FIELD(driver_generic_properties, CUmemAllocationProp, allocFlags)
SAME_SIZE(driver_memory_op, CUstreamBatchMemOpParams)
_Static_assert(offsetof(driver_memory_op, address) ==
                       offsetof(CUstreamBatchMemOpParams, waitValue.address) &&
                   offsetof(driver_memory_op, value64) ==
                       offsetof(CUstreamBatchMemOpParams, waitValue.value64) &&
                   offsetof(driver_memory_op, flags) ==
                       offsetof(CUstreamBatchMemOpParams, writeValue.flags),
               "operations of streams on memory are laid out differently");
SAME_SIZE(driver_pool_properties, CUmemPoolProps)
SAME_FIELD(driver_pool_properties, CUmemPoolProps, handleTypes)
SAME_FIELD(driver_pool_properties, CUmemPoolProps, location)
SAME_FIELD(driver_pool_properties, CUmemPoolProps, maxSize)

#define KERNEL(field) SAME_FIELD(driver_kernel_node, CUDA_KERNEL_NODE_PARAMS, field)
SAME_SIZE(driver_kernel_node, CUDA_KERNEL_NODE_PARAMS)
KERNEL(func)
KERNEL(gridDimX)
KERNEL(blockDimZ)
KERNEL(sharedMemBytes)
KERNEL(kernelParams)
KERNEL(extra)
KERNEL(kern)
KERNEL(ctx)
_Static_assert(offsetof(driver_kernel_node, kern) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1),
               "the first form of the kernel node ends elsewhere");

#define FILL(field) SAME_FIELD(driver_memset_node, CUDA_MEMSET_NODE_PARAMS, field)
SAME_SIZE(driver_memset_node, CUDA_MEMSET_NODE_PARAMS)
FILL(dst)
FILL(pitch)
FILL(value)
FILL(elementSize)
FILL(width)
FILL(height)

SAME_SIZE(driver_host_node, CUDA_HOST_NODE_PARAMS)
SAME_FIELD(driver_host_node, CUDA_HOST_NODE_PARAMS, userData)
SAME_SIZE(driver_instantiate, CUDA_GRAPH_INSTANTIATE_PARAMS)
SAME_FIELD(driver_instantiate, CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out)
SAME_FIELD(driver_instantiate, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out)
SAME_SIZE(driver_update_result, CUgraphExecUpdateResultInfo)
SAME_FIELD(driver_update_result, CUgraphExecUpdateResultInfo, errorNode)
SAME_SIZE(driver_edge, CUgraphEdgeData)

static void compared(void **state) {
    (void)state;
    print_message("compared with CUDA %d\n", CUDA_VERSION);
}

#else

static void compared(void **state) {
    (void)state;
    print_message("no cuda.h of CUDA 13 or later: not compared\n");
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
