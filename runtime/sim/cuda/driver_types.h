/* Handles and enums of the CUDA driver interface, in our own declarations: nothing of the vendor's
 * is needed to build. Names and values are the vendor's, because programs compiled against the
 * vendor's header call us; a unit test compares them where that header is installed. */
#ifndef KCSIM_CUDA_DRIVER_TYPES_H
#define KCSIM_CUDA_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/cuda/driver_structs.h"
#include "runtime/sim/cuda/driver_values.h"

#define DRIVER_ENUMERATOR(name, value, ...) name = value,

typedef enum CUresult { DRIVER_RESULTS(DRIVER_ENUMERATOR) } CUresult;
typedef enum CUdevice_attribute { DRIVER_DEVICE_ATTRIBUTES(DRIVER_ENUMERATOR) } CUdevice_attribute;
typedef enum CUfunction_attribute {
    DRIVER_FUNCTION_ATTRIBUTES(DRIVER_ENUMERATOR)
} CUfunction_attribute;
typedef enum CUpointer_attribute {
    DRIVER_POINTER_ATTRIBUTES(DRIVER_ENUMERATOR)
} CUpointer_attribute;
typedef enum CUmemPool_attribute { DRIVER_POOL_ATTRIBUTES(DRIVER_ENUMERATOR) } CUmemPool_attribute;
typedef enum CUjit_option { DRIVER_JIT_OPTIONS(DRIVER_ENUMERATOR) } CUjit_option;
typedef enum CUlimit { DRIVER_LIMITS(DRIVER_ENUMERATOR) } CUlimit;
typedef enum CUlaunchAttributeID {
    DRIVER_LAUNCH_ATTRIBUTES(DRIVER_ENUMERATOR)
} CUlaunchAttributeID;
typedef enum CUgraphNodeType { DRIVER_NODE_TYPES(DRIVER_ENUMERATOR) } CUgraphNodeType;
enum { DRIVER_MISC_VALUES(DRIVER_ENUMERATOR) };
enum {
    DRIVER_JIT_OPTION_COUNT = CU_JIT_SPLIT_COMPILE + 1,
    DRIVER_LIMIT_COUNT = CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED + 1
};

/* Enums of which the callers' integers are only compared. */
typedef int CUstreamCaptureMode, CUstreamCaptureStatus, CUfunc_cache, CUsharedconfig;
typedef int CUmoduleLoadingMode, CUfunctionLoadingState, CUdriverProcAddressQueryResult;
typedef int CUdevice_P2PAttribute, CUmemAllocationType, CUmem_advise, CUlibraryOption;
typedef int CUjitInputType, CUmemAccess_flags, CUmem_range_attribute;

/* Entry points of the legacy default stream and of the per-thread one. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)
#define CU_LAUNCH_PARAM_END ((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define CU_DEVICE_CPU ((CUdevice)-1)

#endif
