/* The table behind cuGetProcAddress: name, toolkit version that introduced the symbol, symbol, the
 * symbol for programs whose default stream is per thread. */
#ifndef KCSIM_CUDA_DRIVER_ENTRIES_H
#define KCSIM_CUDA_DRIVER_ENTRIES_H

/* clang-format off */
#define DRIVER_ENTRIES(X) \
    X(cuArray3DCreate, 2000, cuArray3DCreate, cuArray3DCreate) \
    X(cuArray3DCreate, 3020, cuArray3DCreate_v2, cuArray3DCreate_v2) \
    X(cuArray3DGetDescriptor, 2000, cuArray3DGetDescriptor, cuArray3DGetDescriptor) \
    X(cuArray3DGetDescriptor, 3020, cuArray3DGetDescriptor_v2, cuArray3DGetDescriptor_v2) \
    X(cuArrayCreate, 2000, cuArrayCreate, cuArrayCreate) \
    X(cuArrayCreate, 3020, cuArrayCreate_v2, cuArrayCreate_v2) \
    X(cuArrayDestroy, 2000, cuArrayDestroy, cuArrayDestroy) \
    X(cuArrayGetDescriptor, 2000, cuArrayGetDescriptor, cuArrayGetDescriptor) \
    X(cuArrayGetDescriptor, 3020, cuArrayGetDescriptor_v2, cuArrayGetDescriptor_v2) \
    X(cuArrayGetMemoryRequirements, 11060, cuArrayGetMemoryRequirements, \
      cuArrayGetMemoryRequirements) \
    X(cuArrayGetPlane, 11020, cuArrayGetPlane, cuArrayGetPlane) \
    X(cuArrayGetSparseProperties, 11010, cuArrayGetSparseProperties, cuArrayGetSparseProperties) \
    X(cuCheckpointProcessCheckpoint, 12080, cuCheckpointProcessCheckpoint, \
      cuCheckpointProcessCheckpoint) \
    X(cuCheckpointProcessGetRestoreThreadId, 12080, cuCheckpointProcessGetRestoreThreadId, \
      cuCheckpointProcessGetRestoreThreadId) \
    X(cuCheckpointProcessGetState, 12080, cuCheckpointProcessGetState, \
      cuCheckpointProcessGetState) \
    X(cuCheckpointProcessLock, 12080, cuCheckpointProcessLock, cuCheckpointProcessLock) \
    X(cuCheckpointProcessRestore, 12080, cuCheckpointProcessRestore, cuCheckpointProcessRestore) \
    X(cuCheckpointProcessUnlock, 12080, cuCheckpointProcessUnlock, cuCheckpointProcessUnlock) \
    X(cuCoredumpGetAttribute, 12010, cuCoredumpGetAttribute, cuCoredumpGetAttribute) \
    X(cuCoredumpGetAttributeGlobal, 12010, cuCoredumpGetAttributeGlobal, \
      cuCoredumpGetAttributeGlobal) \
    X(cuCoredumpSetAttribute, 12010, cuCoredumpSetAttribute, cuCoredumpSetAttribute) \
    X(cuCoredumpSetAttributeGlobal, 12010, cuCoredumpSetAttributeGlobal, \
      cuCoredumpSetAttributeGlobal) \
    X(cuCtxAttach, 2000, cuCtxAttach, cuCtxAttach) \
    X(cuCtxCreate, 2000, cuCtxCreate, cuCtxCreate) \
    X(cuCtxCreate, 3020, cuCtxCreate_v2, cuCtxCreate_v2) \
    X(cuCtxCreate, 11040, cuCtxCreate_v3, cuCtxCreate_v3) \
    X(cuCtxCreate, 12050, cuCtxCreate_v4, cuCtxCreate_v4) \
    X(cuCtxDestroy, 2000, cuCtxDestroy, cuCtxDestroy) \
    X(cuCtxDestroy, 4000, cuCtxDestroy_v2, cuCtxDestroy_v2) \
    X(cuCtxDetach, 2000, cuCtxDetach, cuCtxDetach) \
    X(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess, cuCtxDisablePeerAccess) \
    X(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess, cuCtxEnablePeerAccess) \
    X(cuCtxFromGreenCtx, 12040, cuCtxFromGreenCtx, cuCtxFromGreenCtx) \
    X(cuCtxGetApiVersion, 3020, cuCtxGetApiVersion, cuCtxGetApiVersion) \
    X(cuCtxGetCacheConfig, 3020, cuCtxGetCacheConfig, cuCtxGetCacheConfig) \
    X(cuCtxGetCurrent, 4000, cuCtxGetCurrent, cuCtxGetCurrent) \
    X(cuCtxGetDevResource, 12040, cuCtxGetDevResource, cuCtxGetDevResource) \
    X(cuCtxGetDevice, 2000, cuCtxGetDevice, cuCtxGetDevice) \
    X(cuCtxGetDevice, 13000, cuCtxGetDevice_v2, cuCtxGetDevice_v2) \
    X(cuCtxGetExecAffinity, 11040, cuCtxGetExecAffinity, cuCtxGetExecAffinity) \
    X(cuCtxGetFlags, 7000, cuCtxGetFlags, cuCtxGetFlags) \
    X(cuCtxGetId, 12000, cuCtxGetId, cuCtxGetId) \
    X(cuCtxGetLimit, 3010, cuCtxGetLimit, cuCtxGetLimit) \
    X(cuCtxGetSharedMemConfig, 4020, cuCtxGetSharedMemConfig, cuCtxGetSharedMemConfig) \
    X(cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange) \
    X(cuCtxPopCurrent, 2000, cuCtxPopCurrent, cuCtxPopCurrent) \
    X(cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2, cuCtxPopCurrent_v2) \
    X(cuCtxPushCurrent, 2000, cuCtxPushCurrent, cuCtxPushCurrent) \
    X(cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2, cuCtxPushCurrent_v2) \
    X(cuCtxRecordEvent, 12050, cuCtxRecordEvent, cuCtxRecordEvent) \
    X(cuCtxResetPersistingL2Cache, 11000, cuCtxResetPersistingL2Cache, \
      cuCtxResetPersistingL2Cache) \
    X(cuCtxSetCacheConfig, 3020, cuCtxSetCacheConfig, cuCtxSetCacheConfig) \
    X(cuCtxSetCurrent, 4000, cuCtxSetCurrent, cuCtxSetCurrent) \
    X(cuCtxSetFlags, 12010, cuCtxSetFlags, cuCtxSetFlags) \
    X(cuCtxSetLimit, 3010, cuCtxSetLimit, cuCtxSetLimit) \
    X(cuCtxSetSharedMemConfig, 4020, cuCtxSetSharedMemConfig, cuCtxSetSharedMemConfig) \
    X(cuCtxSynchronize, 2000, cuCtxSynchronize, cuCtxSynchronize) \
    X(cuCtxSynchronize, 13000, cuCtxSynchronize_v2, cuCtxSynchronize_v2) \
    X(cuCtxWaitEvent, 12050, cuCtxWaitEvent, cuCtxWaitEvent) \
    X(cuDestroyExternalMemory, 10000, cuDestroyExternalMemory, cuDestroyExternalMemory) \
    X(cuDestroyExternalSemaphore, 10000, cuDestroyExternalSemaphore, cuDestroyExternalSemaphore) \
    X(cuDevResourceGenerateDesc, 12040, cuDevResourceGenerateDesc, cuDevResourceGenerateDesc) \
    X(cuDevSmResourceSplitByCount, 12040, cuDevSmResourceSplitByCount, \
      cuDevSmResourceSplitByCount) \
    X(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer, cuDeviceCanAccessPeer) \
    X(cuDeviceComputeCapability, 2000, cuDeviceComputeCapability, cuDeviceComputeCapability) \
    X(cuDeviceGet, 2000, cuDeviceGet, cuDeviceGet) \
    X(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute, cuDeviceGetAttribute) \
    X(cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId, cuDeviceGetByPCIBusId) \
    X(cuDeviceGetCount, 2000, cuDeviceGetCount, cuDeviceGetCount) \
    X(cuDeviceGetDefaultMemPool, 11020, cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool) \
    X(cuDeviceGetDevResource, 12040, cuDeviceGetDevResource, cuDeviceGetDevResource) \
    X(cuDeviceGetExecAffinitySupport, 11040, cuDeviceGetExecAffinitySupport, \
      cuDeviceGetExecAffinitySupport) \
    X(cuDeviceGetGraphMemAttribute, 11040, cuDeviceGetGraphMemAttribute, \
      cuDeviceGetGraphMemAttribute) \
    X(cuDeviceGetHostAtomicCapabilities, 13000, cuDeviceGetHostAtomicCapabilities, \
      cuDeviceGetHostAtomicCapabilities) \
    X(cuDeviceGetLuid, 10000, cuDeviceGetLuid, cuDeviceGetLuid) \
    X(cuDeviceGetMemPool, 11020, cuDeviceGetMemPool, cuDeviceGetMemPool) \
    X(cuDeviceGetName, 2000, cuDeviceGetName, cuDeviceGetName) \
    X(cuDeviceGetNvSciSyncAttributes, 10020, cuDeviceGetNvSciSyncAttributes, \
      cuDeviceGetNvSciSyncAttributes) \
    X(cuDeviceGetP2PAtomicCapabilities, 13000, cuDeviceGetP2PAtomicCapabilities, \
      cuDeviceGetP2PAtomicCapabilities) \
    X(cuDeviceGetP2PAttribute, 8000, cuDeviceGetP2PAttribute, cuDeviceGetP2PAttribute) \
    X(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId, cuDeviceGetPCIBusId) \
    X(cuDeviceGetProperties, 2000, cuDeviceGetProperties, cuDeviceGetProperties) \
    X(cuDeviceGetTexture1DLinearMaxWidth, 11010, cuDeviceGetTexture1DLinearMaxWidth, \
      cuDeviceGetTexture1DLinearMaxWidth) \
    X(cuDeviceGetUuid, 9020, cuDeviceGetUuid, cuDeviceGetUuid) \
    X(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2, cuDeviceGetUuid_v2) \
    X(cuDeviceGraphMemTrim, 11040, cuDeviceGraphMemTrim, cuDeviceGraphMemTrim) \
    X(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState) \
    X(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease) \
    X(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2, \
      cuDevicePrimaryCtxRelease_v2) \
    X(cuDevicePrimaryCtxReset, 7000, cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset) \
    X(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset_v2) \
    X(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
    X(cuDevicePrimaryCtxSetFlags, 7000, cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags) \
    X(cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2, \
      cuDevicePrimaryCtxSetFlags_v2) \
    X(cuDeviceRegisterAsyncNotification, 12040, cuDeviceRegisterAsyncNotification, \
      cuDeviceRegisterAsyncNotification) \
    X(cuDeviceSetGraphMemAttribute, 11040, cuDeviceSetGraphMemAttribute, \
      cuDeviceSetGraphMemAttribute) \
    X(cuDeviceSetMemPool, 11020, cuDeviceSetMemPool, cuDeviceSetMemPool) \
    X(cuDeviceTotalMem, 2000, cuDeviceTotalMem, cuDeviceTotalMem) \
    X(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2, cuDeviceTotalMem_v2) \
    X(cuDeviceUnregisterAsyncNotification, 12040, cuDeviceUnregisterAsyncNotification, \
      cuDeviceUnregisterAsyncNotification) \
    X(cuDriverGetVersion, 2020, cuDriverGetVersion, cuDriverGetVersion) \
    X(cuEventCreate, 2000, cuEventCreate, cuEventCreate) \
    X(cuEventDestroy, 2000, cuEventDestroy, cuEventDestroy) \
    X(cuEventDestroy, 4000, cuEventDestroy_v2, cuEventDestroy_v2) \
    X(cuEventElapsedTime, 2000, cuEventElapsedTime, cuEventElapsedTime) \
    X(cuEventElapsedTime, 12080, cuEventElapsedTime_v2, cuEventElapsedTime_v2) \
    X(cuEventQuery, 2000, cuEventQuery, cuEventQuery) \
    X(cuEventRecord, 7000, cuEventRecord, cuEventRecord_ptsz) \
    X(cuEventRecordWithFlags, 11010, cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz) \
    X(cuEventSynchronize, 2000, cuEventSynchronize, cuEventSynchronize) \
    X(cuExternalMemoryGetMappedBuffer, 10000, cuExternalMemoryGetMappedBuffer, \
      cuExternalMemoryGetMappedBuffer) \
    X(cuExternalMemoryGetMappedMipmappedArray, 10000, cuExternalMemoryGetMappedMipmappedArray, \
      cuExternalMemoryGetMappedMipmappedArray) \
    X(cuFlushGPUDirectRDMAWrites, 11030, cuFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites) \
    X(cuFuncGetAttribute, 2020, cuFuncGetAttribute, cuFuncGetAttribute) \
    X(cuFuncGetModule, 11000, cuFuncGetModule, cuFuncGetModule) \
    X(cuFuncGetName, 12030, cuFuncGetName, cuFuncGetName) \
    X(cuFuncGetParamInfo, 12040, cuFuncGetParamInfo, cuFuncGetParamInfo) \
    X(cuFuncIsLoaded, 12040, cuFuncIsLoaded, cuFuncIsLoaded) \
    X(cuFuncLoad, 12040, cuFuncLoad, cuFuncLoad) \
    X(cuFuncSetAttribute, 9000, cuFuncSetAttribute, cuFuncSetAttribute) \
    X(cuFuncSetBlockShape, 2000, cuFuncSetBlockShape, cuFuncSetBlockShape) \
    X(cuFuncSetCacheConfig, 3000, cuFuncSetCacheConfig, cuFuncSetCacheConfig) \
    X(cuFuncSetSharedMemConfig, 4020, cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig) \
    X(cuFuncSetSharedSize, 2000, cuFuncSetSharedSize, cuFuncSetSharedSize) \
    X(cuGetErrorName, 6000, cuGetErrorName, cuGetErrorName) \
    X(cuGetErrorString, 6000, cuGetErrorString, cuGetErrorString) \
    X(cuGetExportTable, 3000, cuGetExportTable, cuGetExportTable) \
    X(cuGetProcAddress, 11030, cuGetProcAddress, cuGetProcAddress) \
    X(cuGetProcAddress, 12000, cuGetProcAddress_v2, cuGetProcAddress_v2) \
    X(cuGraphAddBatchMemOpNode, 11070, cuGraphAddBatchMemOpNode, cuGraphAddBatchMemOpNode) \
    X(cuGraphAddChildGraphNode, 10000, cuGraphAddChildGraphNode, cuGraphAddChildGraphNode) \
    X(cuGraphAddDependencies, 10000, cuGraphAddDependencies, cuGraphAddDependencies) \
    X(cuGraphAddDependencies, 12030, cuGraphAddDependencies_v2, cuGraphAddDependencies_v2) \
    X(cuGraphAddEmptyNode, 10000, cuGraphAddEmptyNode, cuGraphAddEmptyNode) \
    X(cuGraphAddEventRecordNode, 11010, cuGraphAddEventRecordNode, cuGraphAddEventRecordNode) \
    X(cuGraphAddEventWaitNode, 11010, cuGraphAddEventWaitNode, cuGraphAddEventWaitNode) \
    X(cuGraphAddExternalSemaphoresSignalNode, 11020, cuGraphAddExternalSemaphoresSignalNode, \
      cuGraphAddExternalSemaphoresSignalNode) \
    X(cuGraphAddExternalSemaphoresWaitNode, 11020, cuGraphAddExternalSemaphoresWaitNode, \
      cuGraphAddExternalSemaphoresWaitNode) \
    X(cuGraphAddHostNode, 10000, cuGraphAddHostNode, cuGraphAddHostNode) \
    X(cuGraphAddKernelNode, 10000, cuGraphAddKernelNode, cuGraphAddKernelNode) \
    X(cuGraphAddKernelNode, 12000, cuGraphAddKernelNode_v2, cuGraphAddKernelNode_v2) \
    X(cuGraphAddMemAllocNode, 11040, cuGraphAddMemAllocNode, cuGraphAddMemAllocNode) \
    X(cuGraphAddMemFreeNode, 11040, cuGraphAddMemFreeNode, cuGraphAddMemFreeNode) \
    X(cuGraphAddMemcpyNode, 10000, cuGraphAddMemcpyNode, cuGraphAddMemcpyNode) \
    X(cuGraphAddMemsetNode, 10000, cuGraphAddMemsetNode, cuGraphAddMemsetNode) \
    X(cuGraphAddNode, 12020, cuGraphAddNode, cuGraphAddNode) \
    X(cuGraphAddNode, 12030, cuGraphAddNode_v2, cuGraphAddNode_v2) \
    X(cuGraphBatchMemOpNodeGetParams, 11070, cuGraphBatchMemOpNodeGetParams, \
      cuGraphBatchMemOpNodeGetParams) \
    X(cuGraphBatchMemOpNodeSetParams, 11070, cuGraphBatchMemOpNodeSetParams, \
      cuGraphBatchMemOpNodeSetParams) \
    X(cuGraphChildGraphNodeGetGraph, 10000, cuGraphChildGraphNodeGetGraph, \
      cuGraphChildGraphNodeGetGraph) \
    X(cuGraphClone, 10000, cuGraphClone, cuGraphClone) \
    X(cuGraphConditionalHandleCreate, 12030, cuGraphConditionalHandleCreate, \
      cuGraphConditionalHandleCreate) \
    X(cuGraphCreate, 10000, cuGraphCreate, cuGraphCreate) \
    X(cuGraphDebugDotPrint, 11030, cuGraphDebugDotPrint, cuGraphDebugDotPrint) \
    X(cuGraphDestroy, 10000, cuGraphDestroy, cuGraphDestroy) \
    X(cuGraphDestroyNode, 10000, cuGraphDestroyNode, cuGraphDestroyNode) \
    X(cuGraphEventRecordNodeGetEvent, 11010, cuGraphEventRecordNodeGetEvent, \
      cuGraphEventRecordNodeGetEvent) \
    X(cuGraphEventRecordNodeSetEvent, 11010, cuGraphEventRecordNodeSetEvent, \
      cuGraphEventRecordNodeSetEvent) \
    X(cuGraphEventWaitNodeGetEvent, 11010, cuGraphEventWaitNodeGetEvent, \
      cuGraphEventWaitNodeGetEvent) \
    X(cuGraphEventWaitNodeSetEvent, 11010, cuGraphEventWaitNodeSetEvent, \
      cuGraphEventWaitNodeSetEvent) \
    X(cuGraphExecBatchMemOpNodeSetParams, 11070, cuGraphExecBatchMemOpNodeSetParams, \
      cuGraphExecBatchMemOpNodeSetParams) \
    X(cuGraphExecChildGraphNodeSetParams, 11010, cuGraphExecChildGraphNodeSetParams, \
      cuGraphExecChildGraphNodeSetParams) \
    X(cuGraphExecDestroy, 10000, cuGraphExecDestroy, cuGraphExecDestroy) \
    X(cuGraphExecEventRecordNodeSetEvent, 11010, cuGraphExecEventRecordNodeSetEvent, \
      cuGraphExecEventRecordNodeSetEvent) \
    X(cuGraphExecEventWaitNodeSetEvent, 11010, cuGraphExecEventWaitNodeSetEvent, \
      cuGraphExecEventWaitNodeSetEvent) \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, cuGraphExecExternalSemaphoresSignalNodeSetParams, \
      cuGraphExecExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, cuGraphExecExternalSemaphoresWaitNodeSetParams, \
      cuGraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphExecGetFlags, 12000, cuGraphExecGetFlags, cuGraphExecGetFlags) \
    X(cuGraphExecHostNodeSetParams, 10020, cuGraphExecHostNodeSetParams, \
      cuGraphExecHostNodeSetParams) \
    X(cuGraphExecKernelNodeSetParams, 10010, cuGraphExecKernelNodeSetParams, \
      cuGraphExecKernelNodeSetParams) \
    X(cuGraphExecKernelNodeSetParams, 12000, cuGraphExecKernelNodeSetParams_v2, \
      cuGraphExecKernelNodeSetParams_v2) \
    X(cuGraphExecMemcpyNodeSetParams, 10020, cuGraphExecMemcpyNodeSetParams, \
      cuGraphExecMemcpyNodeSetParams) \
    X(cuGraphExecMemsetNodeSetParams, 10020, cuGraphExecMemsetNodeSetParams, \
      cuGraphExecMemsetNodeSetParams) \
    X(cuGraphExecNodeSetParams, 12020, cuGraphExecNodeSetParams, cuGraphExecNodeSetParams) \
    X(cuGraphExecUpdate, 10020, cuGraphExecUpdate, cuGraphExecUpdate) \
    X(cuGraphExecUpdate, 12000, cuGraphExecUpdate_v2, cuGraphExecUpdate_v2) \
    X(cuGraphExternalSemaphoresSignalNodeGetParams, 11020, cuGraphExternalSemaphoresSignalNodeGetParams, \
      cuGraphExternalSemaphoresSignalNodeGetParams) \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, 11020, cuGraphExternalSemaphoresSignalNodeSetParams, \
      cuGraphExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExternalSemaphoresWaitNodeGetParams, 11020, cuGraphExternalSemaphoresWaitNodeGetParams, \
      cuGraphExternalSemaphoresWaitNodeGetParams) \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, 11020, cuGraphExternalSemaphoresWaitNodeSetParams, \
      cuGraphExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphGetEdges, 10000, cuGraphGetEdges, cuGraphGetEdges) \
    X(cuGraphGetEdges, 12030, cuGraphGetEdges_v2, cuGraphGetEdges_v2) \
    X(cuGraphGetNodes, 10000, cuGraphGetNodes, cuGraphGetNodes) \
    X(cuGraphGetRootNodes, 10000, cuGraphGetRootNodes, cuGraphGetRootNodes) \
    X(cuGraphHostNodeGetParams, 10000, cuGraphHostNodeGetParams, cuGraphHostNodeGetParams) \
    X(cuGraphHostNodeSetParams, 10000, cuGraphHostNodeSetParams, cuGraphHostNodeSetParams) \
    X(cuGraphInstantiate, 10000, cuGraphInstantiate, cuGraphInstantiate) \
    X(cuGraphInstantiate, 11000, cuGraphInstantiate_v2, cuGraphInstantiate_v2) \
    X(cuGraphInstantiate, 12000, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags) \
    X(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags, \
      cuGraphInstantiateWithFlags) \
    X(cuGraphInstantiateWithParams, 12000, cuGraphInstantiateWithParams, \
      cuGraphInstantiateWithParams_ptsz) \
    X(cuGraphKernelNodeCopyAttributes, 11000, cuGraphKernelNodeCopyAttributes, \
      cuGraphKernelNodeCopyAttributes) \
    X(cuGraphKernelNodeGetAttribute, 11000, cuGraphKernelNodeGetAttribute, \
      cuGraphKernelNodeGetAttribute) \
    X(cuGraphKernelNodeGetParams, 10000, cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams) \
    X(cuGraphKernelNodeGetParams, 12000, cuGraphKernelNodeGetParams_v2, \
      cuGraphKernelNodeGetParams_v2) \
    X(cuGraphKernelNodeSetAttribute, 11000, cuGraphKernelNodeSetAttribute, \
      cuGraphKernelNodeSetAttribute) \
    X(cuGraphKernelNodeSetParams, 10000, cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams) \
    X(cuGraphKernelNodeSetParams, 12000, cuGraphKernelNodeSetParams_v2, \
      cuGraphKernelNodeSetParams_v2) \
    X(cuGraphLaunch, 10000, cuGraphLaunch, cuGraphLaunch_ptsz) \
    X(cuGraphMemAllocNodeGetParams, 11040, cuGraphMemAllocNodeGetParams, \
      cuGraphMemAllocNodeGetParams) \
    X(cuGraphMemFreeNodeGetParams, 11040, cuGraphMemFreeNodeGetParams, \
      cuGraphMemFreeNodeGetParams) \
    X(cuGraphMemcpyNodeGetParams, 10000, cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams) \
    X(cuGraphMemcpyNodeSetParams, 10000, cuGraphMemcpyNodeSetParams, cuGraphMemcpyNodeSetParams) \
    X(cuGraphMemsetNodeGetParams, 10000, cuGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams) \
    X(cuGraphMemsetNodeSetParams, 10000, cuGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams) \
    X(cuGraphNodeFindInClone, 10000, cuGraphNodeFindInClone, cuGraphNodeFindInClone) \
    X(cuGraphNodeGetDependencies, 10000, cuGraphNodeGetDependencies, cuGraphNodeGetDependencies) \
    X(cuGraphNodeGetDependencies, 12030, cuGraphNodeGetDependencies_v2, \
      cuGraphNodeGetDependencies_v2) \
    X(cuGraphNodeGetDependentNodes, 10000, cuGraphNodeGetDependentNodes, \
      cuGraphNodeGetDependentNodes) \
    X(cuGraphNodeGetDependentNodes, 12030, cuGraphNodeGetDependentNodes_v2, \
      cuGraphNodeGetDependentNodes_v2) \
    X(cuGraphNodeGetEnabled, 11060, cuGraphNodeGetEnabled, cuGraphNodeGetEnabled) \
    X(cuGraphNodeGetType, 10000, cuGraphNodeGetType, cuGraphNodeGetType) \
    X(cuGraphNodeSetEnabled, 11060, cuGraphNodeSetEnabled, cuGraphNodeSetEnabled) \
    X(cuGraphNodeSetParams, 12020, cuGraphNodeSetParams, cuGraphNodeSetParams) \
    X(cuGraphReleaseUserObject, 11030, cuGraphReleaseUserObject, cuGraphReleaseUserObject) \
    X(cuGraphRemoveDependencies, 10000, cuGraphRemoveDependencies, cuGraphRemoveDependencies) \
    X(cuGraphRemoveDependencies, 12030, cuGraphRemoveDependencies_v2, \
      cuGraphRemoveDependencies_v2) \
    X(cuGraphRetainUserObject, 11030, cuGraphRetainUserObject, cuGraphRetainUserObject) \
    X(cuGraphUpload, 11010, cuGraphUpload, cuGraphUpload_ptsz) \
    X(cuGraphicsMapResources, 7000, cuGraphicsMapResources, cuGraphicsMapResources_ptsz) \
    X(cuGraphicsResourceGetMappedMipmappedArray, 5000, cuGraphicsResourceGetMappedMipmappedArray, \
      cuGraphicsResourceGetMappedMipmappedArray) \
    X(cuGraphicsResourceGetMappedPointer, 3000, cuGraphicsResourceGetMappedPointer, \
      cuGraphicsResourceGetMappedPointer) \
    X(cuGraphicsResourceGetMappedPointer, 3020, cuGraphicsResourceGetMappedPointer_v2, \
      cuGraphicsResourceGetMappedPointer_v2) \
    X(cuGraphicsResourceSetMapFlags, 3000, cuGraphicsResourceSetMapFlags, \
      cuGraphicsResourceSetMapFlags) \
    X(cuGraphicsResourceSetMapFlags, 6050, cuGraphicsResourceSetMapFlags_v2, \
      cuGraphicsResourceSetMapFlags_v2) \
    X(cuGraphicsSubResourceGetMappedArray, 3000, cuGraphicsSubResourceGetMappedArray, \
      cuGraphicsSubResourceGetMappedArray) \
    X(cuGraphicsUnmapResources, 7000, cuGraphicsUnmapResources, cuGraphicsUnmapResources_ptsz) \
    X(cuGraphicsUnregisterResource, 3000, cuGraphicsUnregisterResource, \
      cuGraphicsUnregisterResource) \
    X(cuGreenCtxCreate, 12040, cuGreenCtxCreate, cuGreenCtxCreate) \
    X(cuGreenCtxDestroy, 12040, cuGreenCtxDestroy, cuGreenCtxDestroy) \
    X(cuGreenCtxGetDevResource, 12040, cuGreenCtxGetDevResource, cuGreenCtxGetDevResource) \
    X(cuGreenCtxGetId, 12090, cuGreenCtxGetId, cuGreenCtxGetId) \
    X(cuGreenCtxRecordEvent, 12040, cuGreenCtxRecordEvent, cuGreenCtxRecordEvent) \
    X(cuGreenCtxStreamCreate, 12050, cuGreenCtxStreamCreate, cuGreenCtxStreamCreate) \
    X(cuGreenCtxWaitEvent, 12040, cuGreenCtxWaitEvent, cuGreenCtxWaitEvent) \
    X(cuImportExternalMemory, 10000, cuImportExternalMemory, cuImportExternalMemory) \
    X(cuImportExternalSemaphore, 10000, cuImportExternalSemaphore, cuImportExternalSemaphore) \
    X(cuInit, 2000, cuInit, cuInit) \
    X(cuIpcCloseMemHandle, 4010, cuIpcCloseMemHandle, cuIpcCloseMemHandle) \
    X(cuIpcGetEventHandle, 4010, cuIpcGetEventHandle, cuIpcGetEventHandle) \
    X(cuIpcGetMemHandle, 4010, cuIpcGetMemHandle, cuIpcGetMemHandle) \
    X(cuIpcOpenEventHandle, 4010, cuIpcOpenEventHandle, cuIpcOpenEventHandle) \
    X(cuIpcOpenMemHandle, 4010, cuIpcOpenMemHandle, cuIpcOpenMemHandle) \
    X(cuIpcOpenMemHandle, 11000, cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle_v2) \
    X(cuKernelGetAttribute, 12000, cuKernelGetAttribute, cuKernelGetAttribute) \
    X(cuKernelGetFunction, 12000, cuKernelGetFunction, cuKernelGetFunction) \
    X(cuKernelGetLibrary, 12050, cuKernelGetLibrary, cuKernelGetLibrary) \
    X(cuKernelGetName, 12030, cuKernelGetName, cuKernelGetName) \
    X(cuKernelGetParamInfo, 12040, cuKernelGetParamInfo, cuKernelGetParamInfo) \
    X(cuKernelSetAttribute, 12000, cuKernelSetAttribute, cuKernelSetAttribute) \
    X(cuKernelSetCacheConfig, 12000, cuKernelSetCacheConfig, cuKernelSetCacheConfig) \
    X(cuLaunch, 2000, cuLaunch, cuLaunch) \
    X(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz) \
    X(cuLaunchCooperativeKernelMultiDevice, 9000, cuLaunchCooperativeKernelMultiDevice, \
      cuLaunchCooperativeKernelMultiDevice) \
    X(cuLaunchGrid, 2000, cuLaunchGrid, cuLaunchGrid) \
    X(cuLaunchGridAsync, 2000, cuLaunchGridAsync, cuLaunchGridAsync) \
    X(cuLaunchHostFunc, 10000, cuLaunchHostFunc, cuLaunchHostFunc_ptsz) \
    X(cuLaunchKernel, 7000, cuLaunchKernel, cuLaunchKernel_ptsz) \
    X(cuLaunchKernelEx, 11060, cuLaunchKernelEx, cuLaunchKernelEx_ptsz) \
    X(cuLibraryEnumerateKernels, 12040, cuLibraryEnumerateKernels, cuLibraryEnumerateKernels) \
    X(cuLibraryGetGlobal, 12000, cuLibraryGetGlobal, cuLibraryGetGlobal) \
    X(cuLibraryGetKernel, 12000, cuLibraryGetKernel, cuLibraryGetKernel) \
    X(cuLibraryGetKernelCount, 12040, cuLibraryGetKernelCount, cuLibraryGetKernelCount) \
    X(cuLibraryGetManaged, 12000, cuLibraryGetManaged, cuLibraryGetManaged) \
    X(cuLibraryGetModule, 12000, cuLibraryGetModule, cuLibraryGetModule) \
    X(cuLibraryGetUnifiedFunction, 12000, cuLibraryGetUnifiedFunction, \
      cuLibraryGetUnifiedFunction) \
    X(cuLibraryLoadData, 12000, cuLibraryLoadData, cuLibraryLoadData) \
    X(cuLibraryLoadFromFile, 12000, cuLibraryLoadFromFile, cuLibraryLoadFromFile) \
    X(cuLibraryUnload, 12000, cuLibraryUnload, cuLibraryUnload) \
    X(cuLinkAddData, 5050, cuLinkAddData, cuLinkAddData) \
    X(cuLinkAddData, 6050, cuLinkAddData_v2, cuLinkAddData_v2) \
    X(cuLinkAddFile, 5050, cuLinkAddFile, cuLinkAddFile) \
    X(cuLinkAddFile, 6050, cuLinkAddFile_v2, cuLinkAddFile_v2) \
    X(cuLinkComplete, 5050, cuLinkComplete, cuLinkComplete) \
    X(cuLinkCreate, 5050, cuLinkCreate, cuLinkCreate) \
    X(cuLinkCreate, 6050, cuLinkCreate_v2, cuLinkCreate_v2) \
    X(cuLinkDestroy, 5050, cuLinkDestroy, cuLinkDestroy) \
    X(cuLogsCurrent, 12090, cuLogsCurrent, cuLogsCurrent) \
    X(cuLogsDumpToFile, 12090, cuLogsDumpToFile, cuLogsDumpToFile) \
    X(cuLogsDumpToMemory, 12090, cuLogsDumpToMemory, cuLogsDumpToMemory) \
    X(cuLogsRegisterCallback, 12090, cuLogsRegisterCallback, cuLogsRegisterCallback) \
    X(cuLogsUnregisterCallback, 12090, cuLogsUnregisterCallback, cuLogsUnregisterCallback) \
    X(cuMemAddressFree, 10020, cuMemAddressFree, cuMemAddressFree) \
    X(cuMemAddressReserve, 10020, cuMemAddressReserve, cuMemAddressReserve) \
    X(cuMemAdvise, 8000, cuMemAdvise, cuMemAdvise) \
    X(cuMemAdvise, 12020, cuMemAdvise_v2, cuMemAdvise_v2) \
    X(cuMemAlloc, 2000, cuMemAlloc, cuMemAlloc) \
    X(cuMemAlloc, 3020, cuMemAlloc_v2, cuMemAlloc_v2) \
    X(cuMemAllocAsync, 11020, cuMemAllocAsync, cuMemAllocAsync_ptsz) \
    X(cuMemAllocFromPoolAsync, 11020, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz) \
    X(cuMemAllocHost, 2000, cuMemAllocHost, cuMemAllocHost) \
    X(cuMemAllocHost, 3020, cuMemAllocHost_v2, cuMemAllocHost_v2) \
    X(cuMemAllocManaged, 6000, cuMemAllocManaged, cuMemAllocManaged) \
    X(cuMemAllocPitch, 2000, cuMemAllocPitch, cuMemAllocPitch) \
    X(cuMemAllocPitch, 3020, cuMemAllocPitch_v2, cuMemAllocPitch_v2) \
    X(cuMemBatchDecompressAsync, 12060, cuMemBatchDecompressAsync, cuMemBatchDecompressAsync_ptsz) \
    X(cuMemCreate, 10020, cuMemCreate, cuMemCreate) \
    X(cuMemDiscardAndPrefetchBatchAsync, 13000, cuMemDiscardAndPrefetchBatchAsync, \
      cuMemDiscardAndPrefetchBatchAsync_ptsz) \
    X(cuMemDiscardBatchAsync, 13000, cuMemDiscardBatchAsync, cuMemDiscardBatchAsync_ptsz) \
    X(cuMemExportToShareableHandle, 10020, cuMemExportToShareableHandle, \
      cuMemExportToShareableHandle) \
    X(cuMemFree, 2000, cuMemFree, cuMemFree) \
    X(cuMemFree, 3020, cuMemFree_v2, cuMemFree_v2) \
    X(cuMemFreeAsync, 11020, cuMemFreeAsync, cuMemFreeAsync_ptsz) \
    X(cuMemFreeHost, 2000, cuMemFreeHost, cuMemFreeHost) \
    X(cuMemGetAccess, 10020, cuMemGetAccess, cuMemGetAccess) \
    X(cuMemGetAddressRange, 2000, cuMemGetAddressRange, cuMemGetAddressRange) \
    X(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2, cuMemGetAddressRange_v2) \
    X(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity, \
      cuMemGetAllocationGranularity) \
    X(cuMemGetAllocationPropertiesFromHandle, 10020, cuMemGetAllocationPropertiesFromHandle, \
      cuMemGetAllocationPropertiesFromHandle) \
    X(cuMemGetDefaultMemPool, 13000, cuMemGetDefaultMemPool, cuMemGetDefaultMemPool) \
    X(cuMemGetHandleForAddressRange, 11070, cuMemGetHandleForAddressRange, \
      cuMemGetHandleForAddressRange) \
    X(cuMemGetInfo, 2000, cuMemGetInfo, cuMemGetInfo) \
    X(cuMemGetInfo, 3020, cuMemGetInfo_v2, cuMemGetInfo_v2) \
    X(cuMemGetMemPool, 13000, cuMemGetMemPool, cuMemGetMemPool) \
    X(cuMemHostAlloc, 2020, cuMemHostAlloc, cuMemHostAlloc) \
    X(cuMemHostGetDevicePointer, 2020, cuMemHostGetDevicePointer, cuMemHostGetDevicePointer) \
    X(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer_v2) \
    X(cuMemHostGetFlags, 2030, cuMemHostGetFlags, cuMemHostGetFlags) \
    X(cuMemHostRegister, 4000, cuMemHostRegister, cuMemHostRegister) \
    X(cuMemHostRegister, 6050, cuMemHostRegister_v2, cuMemHostRegister_v2) \
    X(cuMemHostUnregister, 4000, cuMemHostUnregister, cuMemHostUnregister) \
    X(cuMemImportFromShareableHandle, 10020, cuMemImportFromShareableHandle, \
      cuMemImportFromShareableHandle) \
    X(cuMemMap, 10020, cuMemMap, cuMemMap) \
    X(cuMemMapArrayAsync, 11010, cuMemMapArrayAsync, cuMemMapArrayAsync_ptsz) \
    X(cuMemPoolCreate, 11020, cuMemPoolCreate, cuMemPoolCreate) \
    X(cuMemPoolDestroy, 11020, cuMemPoolDestroy, cuMemPoolDestroy) \
    X(cuMemPoolExportPointer, 11020, cuMemPoolExportPointer, cuMemPoolExportPointer) \
    X(cuMemPoolExportToShareableHandle, 11020, cuMemPoolExportToShareableHandle, \
      cuMemPoolExportToShareableHandle) \
    X(cuMemPoolGetAccess, 11020, cuMemPoolGetAccess, cuMemPoolGetAccess) \
    X(cuMemPoolGetAttribute, 11020, cuMemPoolGetAttribute, cuMemPoolGetAttribute) \
    X(cuMemPoolImportFromShareableHandle, 11020, cuMemPoolImportFromShareableHandle, \
      cuMemPoolImportFromShareableHandle) \
    X(cuMemPoolImportPointer, 11020, cuMemPoolImportPointer, cuMemPoolImportPointer) \
    X(cuMemPoolSetAccess, 11020, cuMemPoolSetAccess, cuMemPoolSetAccess) \
    X(cuMemPoolSetAttribute, 11020, cuMemPoolSetAttribute, cuMemPoolSetAttribute) \
    X(cuMemPoolTrimTo, 11020, cuMemPoolTrimTo, cuMemPoolTrimTo) \
    X(cuMemPrefetchAsync, 8000, cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz) \
    X(cuMemPrefetchAsync, 12020, cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz) \
    X(cuMemPrefetchBatchAsync, 13000, cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz) \
    X(cuMemRangeGetAttribute, 8000, cuMemRangeGetAttribute, cuMemRangeGetAttribute) \
    X(cuMemRangeGetAttributes, 8000, cuMemRangeGetAttributes, cuMemRangeGetAttributes) \
    X(cuMemRelease, 10020, cuMemRelease, cuMemRelease) \
    X(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle, \
      cuMemRetainAllocationHandle) \
    X(cuMemSetAccess, 10020, cuMemSetAccess, cuMemSetAccess) \
    X(cuMemSetMemPool, 13000, cuMemSetMemPool, cuMemSetMemPool) \
    X(cuMemUnmap, 10020, cuMemUnmap, cuMemUnmap) \
    X(cuMemcpy, 7000, cuMemcpy, cuMemcpy_ptds) \
    X(cuMemcpy2D, 3020, cuMemcpy2D, cuMemcpy2D) \
    X(cuMemcpy2D, 7000, cuMemcpy2D_v2, cuMemcpy2D_v2_ptds) \
    X(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync, cuMemcpy2DAsync) \
    X(cuMemcpy2DAsync, 7000, cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz) \
    X(cuMemcpy2DUnaligned, 3020, cuMemcpy2DUnaligned, cuMemcpy2DUnaligned) \
    X(cuMemcpy2DUnaligned, 7000, cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds) \
    X(cuMemcpy3D, 3020, cuMemcpy3D, cuMemcpy3D) \
    X(cuMemcpy3D, 7000, cuMemcpy3D_v2, cuMemcpy3D_v2_ptds) \
    X(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync, cuMemcpy3DAsync) \
    X(cuMemcpy3DAsync, 7000, cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz) \
    X(cuMemcpy3DBatchAsync, 12080, cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_ptsz) \
    X(cuMemcpy3DBatchAsync, 13000, cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2_ptsz) \
    X(cuMemcpy3DPeer, 7000, cuMemcpy3DPeer, cuMemcpy3DPeer_ptds) \
    X(cuMemcpy3DPeerAsync, 7000, cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz) \
    X(cuMemcpyAsync, 7000, cuMemcpyAsync, cuMemcpyAsync_ptsz) \
    X(cuMemcpyAtoA, 3020, cuMemcpyAtoA, cuMemcpyAtoA) \
    X(cuMemcpyAtoA, 7000, cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds) \
    X(cuMemcpyAtoD, 3020, cuMemcpyAtoD, cuMemcpyAtoD) \
    X(cuMemcpyAtoD, 7000, cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds) \
    X(cuMemcpyAtoH, 3020, cuMemcpyAtoH, cuMemcpyAtoH) \
    X(cuMemcpyAtoH, 7000, cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds) \
    X(cuMemcpyAtoHAsync, 3020, cuMemcpyAtoHAsync, cuMemcpyAtoHAsync) \
    X(cuMemcpyAtoHAsync, 7000, cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz) \
    X(cuMemcpyBatchAsync, 12080, cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz) \
    X(cuMemcpyBatchAsync, 13000, cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz) \
    X(cuMemcpyDtoA, 3020, cuMemcpyDtoA, cuMemcpyDtoA) \
    X(cuMemcpyDtoA, 7000, cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds) \
    X(cuMemcpyDtoD, 3020, cuMemcpyDtoD, cuMemcpyDtoD) \
    X(cuMemcpyDtoD, 7000, cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds) \
    X(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync, cuMemcpyDtoDAsync) \
    X(cuMemcpyDtoDAsync, 7000, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz) \
    X(cuMemcpyDtoH, 3020, cuMemcpyDtoH, cuMemcpyDtoH) \
    X(cuMemcpyDtoH, 7000, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds) \
    X(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync, cuMemcpyDtoHAsync) \
    X(cuMemcpyDtoHAsync, 7000, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz) \
    X(cuMemcpyHtoA, 3020, cuMemcpyHtoA, cuMemcpyHtoA) \
    X(cuMemcpyHtoA, 7000, cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds) \
    X(cuMemcpyHtoAAsync, 3020, cuMemcpyHtoAAsync, cuMemcpyHtoAAsync) \
    X(cuMemcpyHtoAAsync, 7000, cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz) \
    X(cuMemcpyHtoD, 3020, cuMemcpyHtoD, cuMemcpyHtoD) \
    X(cuMemcpyHtoD, 7000, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds) \
    X(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync, cuMemcpyHtoDAsync) \
    X(cuMemcpyHtoDAsync, 7000, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz) \
    X(cuMemcpyPeer, 7000, cuMemcpyPeer, cuMemcpyPeer_ptds) \
    X(cuMemcpyPeerAsync, 7000, cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz) \
    X(cuMemsetD16, 3020, cuMemsetD16, cuMemsetD16) \
    X(cuMemsetD16, 7000, cuMemsetD16_v2, cuMemsetD16_v2_ptds) \
    X(cuMemsetD16Async, 7000, cuMemsetD16Async, cuMemsetD16Async_ptsz) \
    X(cuMemsetD2D16, 3020, cuMemsetD2D16, cuMemsetD2D16) \
    X(cuMemsetD2D16, 7000, cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds) \
    X(cuMemsetD2D16Async, 7000, cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz) \
    X(cuMemsetD2D32, 3020, cuMemsetD2D32, cuMemsetD2D32) \
    X(cuMemsetD2D32, 7000, cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds) \
    X(cuMemsetD2D32Async, 7000, cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz) \
    X(cuMemsetD2D8, 3020, cuMemsetD2D8, cuMemsetD2D8) \
    X(cuMemsetD2D8, 7000, cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds) \
    X(cuMemsetD2D8Async, 7000, cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz) \
    X(cuMemsetD32, 3020, cuMemsetD32, cuMemsetD32) \
    X(cuMemsetD32, 7000, cuMemsetD32_v2, cuMemsetD32_v2_ptds) \
    X(cuMemsetD32Async, 7000, cuMemsetD32Async, cuMemsetD32Async_ptsz) \
    X(cuMemsetD8, 3020, cuMemsetD8, cuMemsetD8) \
    X(cuMemsetD8, 7000, cuMemsetD8_v2, cuMemsetD8_v2_ptds) \
    X(cuMemsetD8Async, 7000, cuMemsetD8Async, cuMemsetD8Async_ptsz) \
    X(cuMipmappedArrayCreate, 5000, cuMipmappedArrayCreate, cuMipmappedArrayCreate) \
    X(cuMipmappedArrayDestroy, 5000, cuMipmappedArrayDestroy, cuMipmappedArrayDestroy) \
    X(cuMipmappedArrayGetLevel, 5000, cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel) \
    X(cuMipmappedArrayGetMemoryRequirements, 11060, cuMipmappedArrayGetMemoryRequirements, \
      cuMipmappedArrayGetMemoryRequirements) \
    X(cuMipmappedArrayGetSparseProperties, 11010, cuMipmappedArrayGetSparseProperties, \
      cuMipmappedArrayGetSparseProperties) \
    X(cuModuleEnumerateFunctions, 12040, cuModuleEnumerateFunctions, cuModuleEnumerateFunctions) \
    X(cuModuleGetFunction, 2000, cuModuleGetFunction, cuModuleGetFunction) \
    X(cuModuleGetFunctionCount, 12040, cuModuleGetFunctionCount, cuModuleGetFunctionCount) \
    X(cuModuleGetGlobal, 2000, cuModuleGetGlobal, cuModuleGetGlobal) \
    X(cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2, cuModuleGetGlobal_v2) \
    X(cuModuleGetLoadingMode, 11070, cuModuleGetLoadingMode, cuModuleGetLoadingMode) \
    X(cuModuleGetSurfRef, 3000, cuModuleGetSurfRef, cuModuleGetSurfRef) \
    X(cuModuleGetTexRef, 2000, cuModuleGetTexRef, cuModuleGetTexRef) \
    X(cuModuleLoad, 2000, cuModuleLoad, cuModuleLoad) \
    X(cuModuleLoadData, 2000, cuModuleLoadData, cuModuleLoadData) \
    X(cuModuleLoadDataEx, 2010, cuModuleLoadDataEx, cuModuleLoadDataEx) \
    X(cuModuleLoadFatBinary, 2000, cuModuleLoadFatBinary, cuModuleLoadFatBinary) \
    X(cuModuleUnload, 2000, cuModuleUnload, cuModuleUnload) \
    X(cuMulticastAddDevice, 12010, cuMulticastAddDevice, cuMulticastAddDevice) \
    X(cuMulticastBindAddr, 12010, cuMulticastBindAddr, cuMulticastBindAddr) \
    X(cuMulticastBindMem, 12010, cuMulticastBindMem, cuMulticastBindMem) \
    X(cuMulticastCreate, 12010, cuMulticastCreate, cuMulticastCreate) \
    X(cuMulticastGetGranularity, 12010, cuMulticastGetGranularity, cuMulticastGetGranularity) \
    X(cuMulticastUnbind, 12010, cuMulticastUnbind, cuMulticastUnbind) \
    X(cuOccupancyAvailableDynamicSMemPerBlock, 10020, cuOccupancyAvailableDynamicSMemPerBlock, \
      cuOccupancyAvailableDynamicSMemPerBlock) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, cuOccupancyMaxActiveBlocksPerMultiprocessor, \
      cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, \
      cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
    X(cuOccupancyMaxActiveClusters, 11070, cuOccupancyMaxActiveClusters, \
      cuOccupancyMaxActiveClusters) \
    X(cuOccupancyMaxPotentialBlockSize, 6050, cuOccupancyMaxPotentialBlockSize, \
      cuOccupancyMaxPotentialBlockSize) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, cuOccupancyMaxPotentialBlockSizeWithFlags, \
      cuOccupancyMaxPotentialBlockSizeWithFlags) \
    X(cuOccupancyMaxPotentialClusterSize, 11070, cuOccupancyMaxPotentialClusterSize, \
      cuOccupancyMaxPotentialClusterSize) \
    X(cuParamSetSize, 2000, cuParamSetSize, cuParamSetSize) \
    X(cuParamSetTexRef, 2000, cuParamSetTexRef, cuParamSetTexRef) \
    X(cuParamSetf, 2000, cuParamSetf, cuParamSetf) \
    X(cuParamSeti, 2000, cuParamSeti, cuParamSeti) \
    X(cuParamSetv, 2000, cuParamSetv, cuParamSetv) \
    X(cuPointerGetAttribute, 4000, cuPointerGetAttribute, cuPointerGetAttribute) \
    X(cuPointerGetAttributes, 7000, cuPointerGetAttributes, cuPointerGetAttributes) \
    X(cuPointerSetAttribute, 6000, cuPointerSetAttribute, cuPointerSetAttribute) \
    X(cuProfilerInitialize, 4000, cuProfilerInitialize, cuProfilerInitialize) \
    X(cuProfilerStart, 4000, cuProfilerStart, cuProfilerStart) \
    X(cuProfilerStop, 4000, cuProfilerStop, cuProfilerStop) \
    X(cuSignalExternalSemaphoresAsync, 10000, cuSignalExternalSemaphoresAsync, \
      cuSignalExternalSemaphoresAsync_ptsz) \
    X(cuStreamAddCallback, 7000, cuStreamAddCallback, cuStreamAddCallback_ptsz) \
    X(cuStreamAttachMemAsync, 7000, cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz) \
    X(cuStreamBatchMemOp, 8000, cuStreamBatchMemOp, cuStreamBatchMemOp_ptsz) \
    X(cuStreamBatchMemOp, 11070, cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz) \
    X(cuStreamBeginCapture, 10000, cuStreamBeginCapture, cuStreamBeginCapture_ptsz) \
    X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz) \
    X(cuStreamBeginCaptureToGraph, 12030, cuStreamBeginCaptureToGraph, \
      cuStreamBeginCaptureToGraph_ptsz) \
    X(cuStreamCopyAttributes, 11000, cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz) \
    X(cuStreamCreate, 2000, cuStreamCreate, cuStreamCreate) \
    X(cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority, cuStreamCreateWithPriority) \
    X(cuStreamDestroy, 2000, cuStreamDestroy, cuStreamDestroy) \
    X(cuStreamDestroy, 4000, cuStreamDestroy_v2, cuStreamDestroy_v2) \
    X(cuStreamEndCapture, 10000, cuStreamEndCapture, cuStreamEndCapture_ptsz) \
    X(cuStreamGetAttribute, 11000, cuStreamGetAttribute, cuStreamGetAttribute_ptsz) \
    X(cuStreamGetCaptureInfo, 10010, cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz) \
    X(cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz) \
    X(cuStreamGetCaptureInfo, 12030, cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz) \
    X(cuStreamGetCtx, 9020, cuStreamGetCtx, cuStreamGetCtx_ptsz) \
    X(cuStreamGetCtx, 12050, cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz) \
    X(cuStreamGetDevice, 12080, cuStreamGetDevice, cuStreamGetDevice_ptsz) \
    X(cuStreamGetFlags, 7000, cuStreamGetFlags, cuStreamGetFlags_ptsz) \
    X(cuStreamGetGreenCtx, 12040, cuStreamGetGreenCtx, cuStreamGetGreenCtx) \
    X(cuStreamGetId, 12000, cuStreamGetId, cuStreamGetId_ptsz) \
    X(cuStreamGetPriority, 7000, cuStreamGetPriority, cuStreamGetPriority_ptsz) \
    X(cuStreamIsCapturing, 10000, cuStreamIsCapturing, cuStreamIsCapturing_ptsz) \
    X(cuStreamQuery, 7000, cuStreamQuery, cuStreamQuery_ptsz) \
    X(cuStreamSetAttribute, 11000, cuStreamSetAttribute, cuStreamSetAttribute_ptsz) \
    X(cuStreamSynchronize, 7000, cuStreamSynchronize, cuStreamSynchronize_ptsz) \
    X(cuStreamUpdateCaptureDependencies, 11030, cuStreamUpdateCaptureDependencies, \
      cuStreamUpdateCaptureDependencies_ptsz) \
    X(cuStreamUpdateCaptureDependencies, 12030, cuStreamUpdateCaptureDependencies_v2, \
      cuStreamUpdateCaptureDependencies_v2_ptsz) \
    X(cuStreamWaitEvent, 7000, cuStreamWaitEvent, cuStreamWaitEvent_ptsz) \
    X(cuStreamWaitValue32, 8000, cuStreamWaitValue32, cuStreamWaitValue32_ptsz) \
    X(cuStreamWaitValue32, 11070, cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz) \
    X(cuStreamWaitValue64, 9000, cuStreamWaitValue64, cuStreamWaitValue64_ptsz) \
    X(cuStreamWaitValue64, 11070, cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz) \
    X(cuStreamWriteValue32, 8000, cuStreamWriteValue32, cuStreamWriteValue32_ptsz) \
    X(cuStreamWriteValue32, 11070, cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz) \
    X(cuStreamWriteValue64, 9000, cuStreamWriteValue64, cuStreamWriteValue64_ptsz) \
    X(cuStreamWriteValue64, 11070, cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz) \
    X(cuSurfObjectCreate, 5000, cuSurfObjectCreate, cuSurfObjectCreate) \
    X(cuSurfObjectDestroy, 5000, cuSurfObjectDestroy, cuSurfObjectDestroy) \
    X(cuSurfObjectGetResourceDesc, 5000, cuSurfObjectGetResourceDesc, cuSurfObjectGetResourceDesc) \
    X(cuSurfRefGetArray, 3000, cuSurfRefGetArray, cuSurfRefGetArray) \
    X(cuSurfRefSetArray, 3000, cuSurfRefSetArray, cuSurfRefSetArray) \
    X(cuTensorMapEncodeIm2col, 12000, cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col) \
    X(cuTensorMapEncodeIm2colWide, 12080, cuTensorMapEncodeIm2colWide, \
      cuTensorMapEncodeIm2colWide) \
    X(cuTensorMapEncodeTiled, 12000, cuTensorMapEncodeTiled, cuTensorMapEncodeTiled) \
    X(cuTensorMapReplaceAddress, 12000, cuTensorMapReplaceAddress, cuTensorMapReplaceAddress) \
    X(cuTexObjectCreate, 5000, cuTexObjectCreate, cuTexObjectCreate) \
    X(cuTexObjectDestroy, 5000, cuTexObjectDestroy, cuTexObjectDestroy) \
    X(cuTexObjectGetResourceDesc, 5000, cuTexObjectGetResourceDesc, cuTexObjectGetResourceDesc) \
    X(cuTexObjectGetResourceViewDesc, 5000, cuTexObjectGetResourceViewDesc, \
      cuTexObjectGetResourceViewDesc) \
    X(cuTexObjectGetTextureDesc, 5000, cuTexObjectGetTextureDesc, cuTexObjectGetTextureDesc) \
    X(cuTexRefCreate, 2000, cuTexRefCreate, cuTexRefCreate) \
    X(cuTexRefDestroy, 2000, cuTexRefDestroy, cuTexRefDestroy) \
    X(cuTexRefGetAddress, 2000, cuTexRefGetAddress, cuTexRefGetAddress) \
    X(cuTexRefGetAddress, 3020, cuTexRefGetAddress_v2, cuTexRefGetAddress_v2) \
    X(cuTexRefGetAddressMode, 2000, cuTexRefGetAddressMode, cuTexRefGetAddressMode) \
    X(cuTexRefGetArray, 2000, cuTexRefGetArray, cuTexRefGetArray) \
    X(cuTexRefGetBorderColor, 8000, cuTexRefGetBorderColor, cuTexRefGetBorderColor) \
    X(cuTexRefGetFilterMode, 2000, cuTexRefGetFilterMode, cuTexRefGetFilterMode) \
    X(cuTexRefGetFlags, 2000, cuTexRefGetFlags, cuTexRefGetFlags) \
    X(cuTexRefGetFormat, 2000, cuTexRefGetFormat, cuTexRefGetFormat) \
    X(cuTexRefGetMaxAnisotropy, 5000, cuTexRefGetMaxAnisotropy, cuTexRefGetMaxAnisotropy) \
    X(cuTexRefGetMipmapFilterMode, 5000, cuTexRefGetMipmapFilterMode, cuTexRefGetMipmapFilterMode) \
    X(cuTexRefGetMipmapLevelBias, 5000, cuTexRefGetMipmapLevelBias, cuTexRefGetMipmapLevelBias) \
    X(cuTexRefGetMipmapLevelClamp, 5000, cuTexRefGetMipmapLevelClamp, cuTexRefGetMipmapLevelClamp) \
    X(cuTexRefGetMipmappedArray, 5000, cuTexRefGetMipmappedArray, cuTexRefGetMipmappedArray) \
    X(cuTexRefSetAddress, 2000, cuTexRefSetAddress, cuTexRefSetAddress) \
    X(cuTexRefSetAddress, 3020, cuTexRefSetAddress_v2, cuTexRefSetAddress_v2) \
    X(cuTexRefSetAddress2D, 2020, cuTexRefSetAddress2D, cuTexRefSetAddress2D) \
    X(cuTexRefSetAddress2D, 3020, cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v2) \
    X(cuTexRefSetAddress2D, 4010, cuTexRefSetAddress2D_v3, cuTexRefSetAddress2D_v3) \
    X(cuTexRefSetAddressMode, 2000, cuTexRefSetAddressMode, cuTexRefSetAddressMode) \
    X(cuTexRefSetArray, 2000, cuTexRefSetArray, cuTexRefSetArray) \
    X(cuTexRefSetBorderColor, 8000, cuTexRefSetBorderColor, cuTexRefSetBorderColor) \
    X(cuTexRefSetFilterMode, 2000, cuTexRefSetFilterMode, cuTexRefSetFilterMode) \
    X(cuTexRefSetFlags, 2000, cuTexRefSetFlags, cuTexRefSetFlags) \
    X(cuTexRefSetFormat, 2000, cuTexRefSetFormat, cuTexRefSetFormat) \
    X(cuTexRefSetMaxAnisotropy, 5000, cuTexRefSetMaxAnisotropy, cuTexRefSetMaxAnisotropy) \
    X(cuTexRefSetMipmapFilterMode, 5000, cuTexRefSetMipmapFilterMode, cuTexRefSetMipmapFilterMode) \
    X(cuTexRefSetMipmapLevelBias, 5000, cuTexRefSetMipmapLevelBias, cuTexRefSetMipmapLevelBias) \
    X(cuTexRefSetMipmapLevelClamp, 5000, cuTexRefSetMipmapLevelClamp, cuTexRefSetMipmapLevelClamp) \
    X(cuTexRefSetMipmappedArray, 5000, cuTexRefSetMipmappedArray, cuTexRefSetMipmappedArray) \
    X(cuThreadExchangeStreamCaptureMode, 10010, cuThreadExchangeStreamCaptureMode, \
      cuThreadExchangeStreamCaptureMode) \
    X(cuUserObjectCreate, 11030, cuUserObjectCreate, cuUserObjectCreate) \
    X(cuUserObjectRelease, 11030, cuUserObjectRelease, cuUserObjectRelease) \
    X(cuUserObjectRetain, 11030, cuUserObjectRetain, cuUserObjectRetain) \
    X(cuWaitExternalSemaphoresAsync, 10000, cuWaitExternalSemaphoresAsync, \
      cuWaitExternalSemaphoresAsync_ptsz)
/* clang-format on */

#endif
