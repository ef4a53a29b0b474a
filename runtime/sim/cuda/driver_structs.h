/* Structures that callers of the driver interface pass by pointer. Field names and layout are the
 * vendor's; the type names are ours, so that a test can include both headers and compare them. */
#ifndef KCSIM_CUDA_DRIVER_STRUCTS_H
#define KCSIM_CUDA_DRIVER_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUkern_st *CUkernel;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

typedef void (*driver_host_function)(void *data);
typedef size_t (*driver_block_to_shared)(int block_size);
typedef void (*driver_stream_callback)(CUstream stream, int result, void *data);

typedef struct driver_uuid {
    char bytes[16];
} driver_uuid;

typedef struct driver_properties { /* CUdevprop */
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int sharedMemPerBlock;
    int totalConstantMemory;
    int SIMDWidth;
    int memPitch;
    int regsPerBlock;
    int clockRate;
    int textureAlign;
} driver_properties;

typedef struct driver_memcpy2d { /* CUDA_MEMCPY2D */
    size_t srcXInBytes, srcY;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} driver_memcpy2d;

typedef struct driver_memcpy3d { /* CUDA_MEMCPY3D; of CUDA_MEMCPY3D_PEER the reserved fields are the
                                    contexts */
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} driver_memcpy3d;

typedef union driver_launch_value { /* CUlaunchAttributeValue */
    char pad[64];
    int cooperative;
    int programmaticStreamSerializationAllowed;
    struct {
        unsigned x, y, z;
    } clusterDim;
    struct {
        CUevent event;
        int flags;
    } launchCompletionEvent;
    struct {
        CUevent event;
        int flags;
        int triggerAtBlockStart;
    } programmaticEvent;
} driver_launch_value;

typedef struct driver_launch_attribute { /* CUlaunchAttribute */
    unsigned id;
    char pad[4];
    driver_launch_value value;
} driver_launch_attribute;

typedef struct driver_launch_config { /* CUlaunchConfig */
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    driver_launch_attribute *attrs;
    unsigned numAttrs;
} driver_launch_config;

typedef struct driver_location { /* CUmemLocation */
    int type;
    int id;
} driver_location;

typedef struct driver_access { /* CUmemAccessDesc */
    driver_location location;
    int flags;
} driver_access;

typedef struct driver_generic_properties { /* CUmemAllocationProp */
    int type;
    int requestedHandleTypes;
    driver_location location;
    void *win32HandleMetaData;
    unsigned char allocFlags[8];
} driver_generic_properties;

typedef struct driver_memory_op { /* CUstreamBatchMemOpParams */
    int operation;
    CUdeviceptr address;
    uint64_t value64; /* or its first half: the machine is little-endian */
    unsigned flags;
    CUdeviceptr alias;
    uint64_t padding;
} driver_memory_op;

typedef struct driver_pool_properties { /* CUmemPoolProps */
    int allocType;
    int handleTypes;
    driver_location location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} driver_pool_properties;

typedef struct driver_kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2; _v1 ends before `kern` */
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
} driver_kernel_node;

typedef struct driver_memset_node { /* CUDA_MEMSET_NODE_PARAMS */
    CUdeviceptr dst;
    size_t pitch;
    unsigned value;
    unsigned elementSize;
    size_t width, height;
} driver_memset_node;

typedef struct driver_host_node { /* CUDA_HOST_NODE_PARAMS */
    driver_host_function fn;
    void *userData;
} driver_host_node;

typedef struct driver_instantiate { /* CUDA_GRAPH_INSTANTIATE_PARAMS */
    uint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    int result_out;
} driver_instantiate;

typedef struct driver_update_result { /* CUgraphExecUpdateResultInfo */
    int result;
    CUgraphNode errorNode;
    CUgraphNode errorFromNode;
} driver_update_result;

typedef struct driver_edge { /* CUgraphEdgeData */
    unsigned char from_port, to_port, type;
    unsigned char reserved[5];
} driver_edge;

#endif
