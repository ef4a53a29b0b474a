/* Prototypes of the calls that are there, file by file. Per-thread names and older names of the
 * same call are aliases beside the definitions; calls that are not there are rows of
 * driver_unsupported.h. */
#ifndef KCSIM_CUDA_DRIVER_API_H
#define KCSIM_CUDA_DRIVER_API_H

#include "runtime/sim/cuda/driver.h"

/* ---- driver_error.c -------------------------------------------------------------------------- */
DRIVER_API CUresult cuGetErrorName(CUresult error, const char **name);
DRIVER_API CUresult cuGetErrorString(CUresult error, const char **text);

/* ---- driver_device.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuInit(unsigned flags);
DRIVER_API CUresult cuDriverGetVersion(int *version);
DRIVER_API CUresult cuDeviceGetCount(int *count);
DRIVER_API CUresult cuDeviceGet(CUdevice *out, int ordinal);
DRIVER_API CUresult cuDeviceGetName(char *name, int size, CUdevice ordinal);
DRIVER_API CUresult cuDeviceGetUuid(driver_uuid *uuid, CUdevice ordinal);
DRIVER_API CUresult cuDeviceGetLuid(char *luid, unsigned *mask, CUdevice ordinal);
DRIVER_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal);
DRIVER_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal);
DRIVER_API CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice ordinal);
DRIVER_API CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *text);
DRIVER_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice ordinal, CUdevice peer);
DRIVER_API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute,
                                            CUdevice from, CUdevice to);
DRIVER_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                         CUdevice ordinal);
DRIVER_API CUresult cuDeviceGetProperties(driver_properties *properties, CUdevice ordinal);

/* ---- driver_context.c ------------------------------------------------------------------------ */
DRIVER_API CUresult cuCtxPushCurrent_v2(CUcontext context);
DRIVER_API CUresult cuCtxPopCurrent_v2(CUcontext *out);
DRIVER_API CUresult cuCtxSetCurrent(CUcontext context);
DRIVER_API CUresult cuCtxGetCurrent(CUcontext *out);
DRIVER_API CUresult cuCtxGetDevice(CUdevice *out);
DRIVER_API CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext given);
DRIVER_API CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice ordinal);
DRIVER_API CUresult cuCtxCreate_v3(CUcontext *out, void *affinity, int count, unsigned flags,
                                   CUdevice device);
DRIVER_API CUresult cuCtxCreate_v4(CUcontext *out, void *parameters, unsigned flags,
                                   CUdevice device);
DRIVER_API CUresult cuCtxDestroy_v2(CUcontext context);
DRIVER_API CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal);
DRIVER_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal);
DRIVER_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal);
DRIVER_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags);
DRIVER_API CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active);
DRIVER_API CUresult cuCtxSynchronize(void);
DRIVER_API CUresult cuCtxSynchronize_v2(CUcontext given);

/* ---- driver_context_state.c ------------------------------------------------------------------ */
DRIVER_API CUresult cuCtxGetApiVersion(CUcontext given, unsigned *version);
DRIVER_API CUresult cuCtxGetId(CUcontext given, unsigned long long *id);
DRIVER_API CUresult cuCtxGetFlags(unsigned *flags);
DRIVER_API CUresult cuCtxSetFlags(unsigned flags);
DRIVER_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
DRIVER_API CUresult cuCtxSetLimit(CUlimit limit, size_t value);
DRIVER_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config);
DRIVER_API CUresult cuCtxSetCacheConfig(CUfunc_cache config);
DRIVER_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config);
DRIVER_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
DRIVER_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
DRIVER_API CUresult cuCtxResetPersistingL2Cache(void);
DRIVER_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
DRIVER_API CUresult cuCtxDisablePeerAccess(CUcontext peer);
DRIVER_API CUresult cuProfilerStart(void);
DRIVER_API CUresult cuProfilerStop(void);

/* ---- driver_memory.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes);
DRIVER_API CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                                       unsigned element);
DRIVER_API CUresult cuMemFree_v2(CUdeviceptr address);
DRIVER_API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
DRIVER_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);

/* ---- driver_host_memory.c -------------------------------------------------------------------- */
DRIVER_API CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
DRIVER_API CUresult cuMemAllocHost_v2(void **out, size_t bytes);
DRIVER_API CUresult cuMemFreeHost(void *pointer);
DRIVER_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer, unsigned flags);
DRIVER_API CUresult cuMemHostGetFlags(unsigned *flags, void *pointer);
DRIVER_API CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
DRIVER_API CUresult cuMemHostUnregister(void *pointer);

/* ---- driver_managed.c ------------------------------------------------------------------------ */
DRIVER_API CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags);
DRIVER_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                CUdevice ordinal);
DRIVER_API CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                   driver_location location);
DRIVER_API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice ordinal,
                                       CUstream stream);
DRIVER_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes,
                                          driver_location location, unsigned flags,
                                          CUstream stream);
DRIVER_API CUresult cuMemRangeGetAttribute(void *data, size_t size,
                                           CUmem_range_attribute attribute, CUdeviceptr address,
                                           size_t bytes);
DRIVER_API CUresult cuMemRangeGetAttributes(void **data, size_t *sizes,
                                            CUmem_range_attribute *attributes, size_t count,
                                            CUdeviceptr address, size_t bytes);
DRIVER_API CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes,
                                           unsigned flags);

/* ---- driver_stream_memory.c ------------------------------------------------------------------ */
DRIVER_API CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                        unsigned flags);
DRIVER_API CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                             unsigned flags);
DRIVER_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                           unsigned flags);
DRIVER_API CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                                unsigned flags);
DRIVER_API CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                        unsigned flags);
DRIVER_API CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                             unsigned flags);
DRIVER_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                           unsigned flags);
DRIVER_API CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                                unsigned flags);
DRIVER_API CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                         unsigned flags);
DRIVER_API CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                              unsigned flags);
DRIVER_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                            unsigned flags);
DRIVER_API CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                                 unsigned flags);
DRIVER_API CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                         unsigned flags);
DRIVER_API CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                              unsigned flags);
DRIVER_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                            unsigned flags);
DRIVER_API CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                                 unsigned flags);
DRIVER_API CUresult cuStreamBatchMemOp(CUstream handle, unsigned count, driver_memory_op *ops,
                                       unsigned flags);
DRIVER_API CUresult cuStreamBatchMemOp_ptsz(CUstream handle, unsigned count, driver_memory_op *ops,
                                            unsigned flags);
DRIVER_API CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned count, driver_memory_op *ops,
                                          unsigned flags);
DRIVER_API CUresult cuStreamBatchMemOp_v2_ptsz(CUstream handle, unsigned count, driver_memory_op *ops,
                                               unsigned flags);

/* ---- driver_link.c ---------------------------------------------------------------------------- */
DRIVER_API CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values,
                                 CUlinkState *out);
DRIVER_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data,
                                  size_t size, const char *name, unsigned count,
                                  CUjit_option *options, void **values);
DRIVER_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                                  unsigned count, CUjit_option *options, void **values);
DRIVER_API CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values,
                                 CUlinkState *out);
DRIVER_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data,
                                  size_t size, const char *name, unsigned count,
                                  CUjit_option *options, void **values);
DRIVER_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                                  unsigned count, CUjit_option *options, void **values);
DRIVER_API CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size);
DRIVER_API CUresult cuLinkDestroy(CUlinkState state);

/* ---- driver_virtual.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuMemGetAllocationGranularity(size_t *out,
                                                  const driver_generic_properties *properties,
                                                  int option);
DRIVER_API CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                                const driver_generic_properties *properties,
                                unsigned long long flags);
DRIVER_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
DRIVER_API CUresult cuMemGetAllocationPropertiesFromHandle(driver_generic_properties *out,
                                                           CUmemGenericAllocationHandle handle);
DRIVER_API CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align,
                                        CUdeviceptr wish, unsigned long long flags);
DRIVER_API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
DRIVER_API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                             CUmemGenericAllocationHandle handle, unsigned long long flags);
DRIVER_API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
DRIVER_API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const driver_access *list,
                                   size_t count);
DRIVER_API CUresult cuMemGetAccess(unsigned long long *flags, const driver_location *location,
                                   CUdeviceptr address);
DRIVER_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address);

/* ---- driver_pool.c --------------------------------------------------------------------------- */
DRIVER_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal);
DRIVER_API CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal);
DRIVER_API CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool);
DRIVER_API CUresult cuMemPoolCreate(CUmemoryPool *out, const driver_pool_properties *properties);
DRIVER_API CUresult cuMemPoolDestroy(CUmemoryPool pool);
DRIVER_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep);
DRIVER_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                          void *value);
DRIVER_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                          void *value);
DRIVER_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool,
                                       driver_location *place);
DRIVER_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const driver_access *map, size_t count);
DRIVER_API CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream);
DRIVER_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                            CUstream stream);
DRIVER_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle);

/* ---- driver_pointer.c ------------------------------------------------------------------------ */
DRIVER_API CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                                          CUdeviceptr address);
DRIVER_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                                           void **data, CUdeviceptr address);
DRIVER_API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                          CUdeviceptr address);

/* ---- driver_memcpy.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes);
DRIVER_API CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                  CUstream stream);
DRIVER_API CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void *source, size_t bytes);
DRIVER_API CUresult cuMemcpyDtoH_v2(void *target, CUdeviceptr source, size_t bytes);
DRIVER_API CUresult cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes);
DRIVER_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes,
                                         CUstream stream);
DRIVER_API CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes,
                                         CUstream stream);
DRIVER_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                         CUstream stream);
DRIVER_API CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context,
                                      CUdeviceptr source, CUcontext source_context, size_t bytes,
                                      CUstream stream);
DRIVER_API CUresult cuMemcpyPeer(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                                 CUcontext source_context, size_t bytes);
DRIVER_API CUresult cuMemcpy2D_v2(const driver_memcpy2d *copy);
DRIVER_API CUresult cuMemcpy2DAsync_v2(const driver_memcpy2d *copy, CUstream stream);
DRIVER_API CUresult cuMemcpy3D_v2(const driver_memcpy3d *copy);
DRIVER_API CUresult cuMemcpy3DAsync_v2(const driver_memcpy3d *copy, CUstream stream);
DRIVER_API CUresult cuMemcpy3DPeer(const driver_memcpy3d *copy);
DRIVER_API CUresult cuMemcpy3DPeerAsync(const driver_memcpy3d *copy, CUstream stream);

/* ---- driver_memset.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t count);
DRIVER_API CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count,
                                    CUstream stream);
DRIVER_API CUresult cuMemsetD2D8_v2(CUdeviceptr target, size_t pitch, unsigned char value,
                                    size_t width, size_t height);
DRIVER_API CUresult cuMemsetD2D8Async(CUdeviceptr target, size_t pitch, unsigned char value,
                                      size_t width, size_t height, CUstream stream);
DRIVER_API CUresult cuMemsetD16_v2(CUdeviceptr target, unsigned short value, size_t count);
DRIVER_API CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count,
                                     CUstream stream);
DRIVER_API CUresult cuMemsetD2D16_v2(CUdeviceptr target, size_t pitch, unsigned short value,
                                     size_t width, size_t height);
DRIVER_API CUresult cuMemsetD2D16Async(CUdeviceptr target, size_t pitch, unsigned short value,
                                       size_t width, size_t height, CUstream stream);
DRIVER_API CUresult cuMemsetD32_v2(CUdeviceptr target, unsigned value, size_t count);
DRIVER_API CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count,
                                     CUstream stream);
DRIVER_API CUresult cuMemsetD2D32_v2(CUdeviceptr target, size_t pitch, unsigned value, size_t width,
                                     size_t height);
DRIVER_API CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value,
                                       size_t width, size_t height, CUstream stream);

/* ---- driver_stream.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority);
DRIVER_API CUresult cuStreamCreate(CUstream *out, unsigned flags);
DRIVER_API CUresult cuStreamDestroy_v2(CUstream stream);
DRIVER_API CUresult cuStreamSynchronize(CUstream handle);
DRIVER_API CUresult cuStreamQuery(CUstream handle);
DRIVER_API CUresult cuLaunchHostFunc(CUstream handle, driver_host_function function, void *data);
DRIVER_API CUresult cuStreamAddCallback(CUstream handle, driver_stream_callback callback,
                                        void *data, unsigned flags);
DRIVER_API CUresult cuStreamGetCtx(CUstream handle, CUcontext *out);
DRIVER_API CUresult cuStreamGetDevice(CUstream handle, CUdevice *out);
DRIVER_API CUresult cuStreamGetFlags(CUstream handle, unsigned *flags);
DRIVER_API CUresult cuStreamGetPriority(CUstream handle, int *priority);
DRIVER_API CUresult cuStreamGetId(CUstream handle, unsigned long long *id);

/* ---- driver_event.c -------------------------------------------------------------------------- */
DRIVER_API CUresult cuEventCreate(CUevent *out, unsigned flags);
DRIVER_API CUresult cuEventDestroy_v2(CUevent event);
DRIVER_API CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned flags);
DRIVER_API CUresult cuEventRecord(CUevent event, CUstream stream);
DRIVER_API CUresult cuEventQuery(CUevent event);
DRIVER_API CUresult cuEventSynchronize(CUevent event);
DRIVER_API CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);

/* ---- driver_capture.c ------------------------------------------------------------------------ */
DRIVER_API CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags);
DRIVER_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
DRIVER_API CUresult cuStreamBeginCapture(CUstream stream);
DRIVER_API CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                                const CUgraphNode *nodes, const driver_edge *edges,
                                                size_t count, CUstreamCaptureMode mode);
DRIVER_API CUresult cuStreamEndCapture(CUstream handle, CUgraph *out);
DRIVER_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
DRIVER_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                           unsigned long long *id);
DRIVER_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                              unsigned long long *id, CUgraph *graph,
                                              const CUgraphNode **nodes, size_t *count);
DRIVER_API CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status,
                                              unsigned long long *id, CUgraph *graph,
                                              const CUgraphNode **nodes, const driver_edge **edges,
                                              size_t *count);
DRIVER_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);

/* ---- driver_graph.c -------------------------------------------------------------------------- */
DRIVER_API CUresult cuGraphCreate(CUgraph *out, unsigned flags);
DRIVER_API CUresult cuGraphDestroy(CUgraph graph);
DRIVER_API CUresult cuGraphClone(CUgraph *out, CUgraph graph);
DRIVER_API CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone);
DRIVER_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
DRIVER_API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
DRIVER_API CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                       driver_edge *edges, size_t *count);
DRIVER_API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                    size_t *count);
DRIVER_API CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                              const CUgraphNode *to, const driver_edge *edges,
                                              size_t count);
DRIVER_API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                           const CUgraphNode *to, size_t count);
DRIVER_API CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                                 const CUgraphNode *to, const driver_edge *edges,
                                                 size_t count);
DRIVER_API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                              const CUgraphNode *to, size_t count);
DRIVER_API CUresult cuGraphDestroyNode(CUgraphNode node);
DRIVER_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type);
DRIVER_API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count);
DRIVER_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes,
                                                  driver_edge *edges, size_t *count);
DRIVER_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, size_t *count);
DRIVER_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *out,
                                                    driver_edge *edges, size_t *count);

/* ---- driver_graph_node.c --------------------------------------------------------------------- */
DRIVER_API CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                        size_t count);
DRIVER_API CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                       size_t count, const driver_host_node *params);
DRIVER_API CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph,
                                             const CUgraphNode *before, size_t count,
                                             CUgraph child);
DRIVER_API CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph,
                                              const CUgraphNode *before, size_t count,
                                              CUevent event);
DRIVER_API CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph,
                                            const CUgraphNode *before, size_t count, CUevent event);
DRIVER_API CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph,
                                            const CUgraphNode *before, size_t count,
                                            const driver_kernel_node *params);
DRIVER_API CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                         size_t count, const driver_kernel_node *params);
DRIVER_API CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                         size_t count, const driver_memcpy3d *params,
                                         CUcontext context);
DRIVER_API CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                                         size_t count, const driver_memset_node *params,
                                         CUcontext context);
DRIVER_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, driver_kernel_node *params);
DRIVER_API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, driver_kernel_node *params);
DRIVER_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, driver_memset_node *params);
DRIVER_API CUresult cuGraphHostNodeGetParams(CUgraphNode node, driver_host_node *params);
DRIVER_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out);
DRIVER_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                  const driver_kernel_node *params);
DRIVER_API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const driver_kernel_node *params);
DRIVER_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                      const driver_kernel_node *params);
DRIVER_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const driver_kernel_node *params);
DRIVER_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const driver_memcpy3d *params,
                                                   CUcontext context);
DRIVER_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const driver_memset_node *params,
                                                   CUcontext context);
DRIVER_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const driver_memset_node *params);
DRIVER_API CUresult cuGraphHostNodeSetParams(CUgraphNode node, const driver_host_node *params);
DRIVER_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                 const driver_host_node *params);

/* ---- driver_graph_exec.c --------------------------------------------------------------------- */
DRIVER_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph,
                                                unsigned long long flags);
DRIVER_API CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error,
                                          char *log, size_t size);
DRIVER_API CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph,
                                                 driver_instantiate *params);
DRIVER_API CUresult cuGraphExecDestroy(CUgraphExec exec);
DRIVER_API CUresult cuGraphExecGetFlags(CUgraphExec exec, unsigned long long *flags);
DRIVER_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle);
DRIVER_API CUresult cuGraphUpload(CUgraphExec exec, CUstream handle);
DRIVER_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                         driver_update_result *out);
DRIVER_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error,
                                      int *answer);

/* ---- driver_module.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count,
                                       CUjit_option *options, void **values);
DRIVER_API CUresult cuModuleLoadData(CUmodule *out, const void *image);
DRIVER_API CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image);
DRIVER_API CUresult cuModuleLoad(CUmodule *out, const char *path);
DRIVER_API CUresult cuModuleUnload(CUmodule module);
DRIVER_API CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name);
DRIVER_API CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module);
DRIVER_API CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned count, CUmodule module);
DRIVER_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                         const char *name);
DRIVER_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);

/* ---- driver_library.c ------------------------------------------------------------------------ */
DRIVER_API CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit_options,
                                      void **jit_values, unsigned jit_count,
                                      CUlibraryOption *options, void **values, unsigned count);
DRIVER_API CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path,
                                          CUjit_option *jit_options, void **jit_values,
                                          unsigned jit_count, CUlibraryOption *options,
                                          void **values, unsigned count);
DRIVER_API CUresult cuLibraryUnload(CUlibrary library);
DRIVER_API CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name);
DRIVER_API CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library);
DRIVER_API CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned count, CUlibrary library);
DRIVER_API CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library);
DRIVER_API CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                        const char *name);
DRIVER_API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                       const char *name);
DRIVER_API CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel);
DRIVER_API CUresult cuKernelGetName(const char **name, CUkernel kernel);
DRIVER_API CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel);
DRIVER_API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute,
                                         CUkernel kernel, CUdevice device);
DRIVER_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                         CUdevice device);
DRIVER_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device);
DRIVER_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset,
                                         size_t *size);

/* ---- driver_function.c ----------------------------------------------------------------------- */
DRIVER_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                       CUfunction handle);
DRIVER_API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                                       int value);
DRIVER_API CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config);
DRIVER_API CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config);
DRIVER_API CUresult cuFuncGetModule(CUmodule *out, CUfunction handle);
DRIVER_API CUresult cuFuncGetName(const char **name, CUfunction handle);
DRIVER_API CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset,
                                       size_t *size);
DRIVER_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle);
DRIVER_API CUresult cuFuncLoad(CUfunction handle);
DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction handle, int threads, size_t dynamic_shared, unsigned flags);
DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                                int threads, size_t dynamic_shared);
DRIVER_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                              CUfunction handle,
                                                              driver_block_to_shared to_shared,
                                                              size_t dynamic_shared, int limit,
                                                              unsigned flags);
DRIVER_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                     driver_block_to_shared to_shared,
                                                     size_t dynamic_shared, int limit);
DRIVER_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle,
                                                            int blocks, int threads);

/* ---- driver_launch.c ------------------------------------------------------------------------- */
DRIVER_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **arguments, void **extra);
DRIVER_API CUresult cuLaunchKernelEx(const driver_launch_config *config, CUfunction function,
                                     void **arguments, void **extra);
DRIVER_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared, CUstream stream,
                                              void **arguments);
DRIVER_API CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                                 const driver_launch_config *config);
DRIVER_API CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle,
                                                       const driver_launch_config *config);

/* ---- driver_entry.c -------------------------------------------------------------------------- */
DRIVER_API CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                                        CUdriverProcAddressQueryResult *status);
DRIVER_API CUresult cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
DRIVER_API CUresult cuGetExportTable(const void **table, const driver_uuid *id);

/* ---- the same calls under other names -------------------------------------------------------- */
DRIVER_API CUresult cuDeviceGetUuid_v2(driver_uuid *uuid, CUdevice ordinal);
DRIVER_API CUresult cuCtxPopCurrent(CUcontext *out);
DRIVER_API CUresult cuCtxPushCurrent(CUcontext context);
DRIVER_API CUresult cuCtxCreate(CUcontext *out, unsigned flags, CUdevice ordinal);
DRIVER_API CUresult cuCtxDestroy(CUcontext context);
DRIVER_API CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal);
DRIVER_API CUresult cuDevicePrimaryCtxReset(CUdevice ordinal);
DRIVER_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags);
DRIVER_API CUresult cuMemAllocAsync_ptsz(CUdeviceptr *out, size_t bytes, CUstream stream);
DRIVER_API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                                 CUstream stream);
DRIVER_API CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream handle);
DRIVER_API CUresult cuMemcpy_ptds(CUdeviceptr target, CUdeviceptr source, size_t bytes);
DRIVER_API CUresult cuMemcpyAsync_ptsz(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                       CUstream stream);
DRIVER_API CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr target, const void *source, size_t bytes);
DRIVER_API CUresult cuMemcpyDtoH_v2_ptds(void *target, CUdeviceptr source, size_t bytes);
DRIVER_API CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr target, CUdeviceptr source, size_t bytes);
DRIVER_API CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr target, const void *source, size_t bytes,
                                              CUstream stream);
DRIVER_API CUresult cuMemcpyDtoHAsync_v2_ptsz(void *target, CUdeviceptr source, size_t bytes,
                                              CUstream stream);
DRIVER_API CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                              CUstream stream);
DRIVER_API CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr target, CUcontext target_context,
                                           CUdeviceptr source, CUcontext source_context,
                                           size_t bytes, CUstream stream);
DRIVER_API CUresult cuMemcpyPeer_ptds(CUdeviceptr target, CUcontext target_context,
                                      CUdeviceptr source, CUcontext source_context, size_t bytes);
DRIVER_API CUresult cuMemcpy2D_v2_ptds(const driver_memcpy2d *copy);
DRIVER_API CUresult cuMemcpy2DUnaligned_v2(const driver_memcpy2d *copy);
DRIVER_API CUresult cuMemcpy2DUnaligned_v2_ptds(const driver_memcpy2d *copy);
DRIVER_API CUresult cuMemcpy2DAsync_v2_ptsz(const driver_memcpy2d *copy, CUstream stream);
DRIVER_API CUresult cuMemcpy3D_v2_ptds(const driver_memcpy3d *copy);
DRIVER_API CUresult cuMemcpy3DAsync_v2_ptsz(const driver_memcpy3d *copy, CUstream stream);
DRIVER_API CUresult cuMemcpy3DPeer_ptds(const driver_memcpy3d *copy);
DRIVER_API CUresult cuMemcpy3DPeerAsync_ptsz(const driver_memcpy3d *copy, CUstream stream);
DRIVER_API CUresult cuMemsetD8_v2_ptds(CUdeviceptr target, unsigned char value, size_t count);
DRIVER_API CUresult cuMemsetD8Async_ptsz(CUdeviceptr target, unsigned char value, size_t count,
                                         CUstream stream);
DRIVER_API CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr target, size_t pitch, unsigned char value,
                                         size_t width, size_t height);
DRIVER_API CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr target, size_t pitch, unsigned char value,
                                           size_t width, size_t height, CUstream stream);
DRIVER_API CUresult cuMemsetD16_v2_ptds(CUdeviceptr target, unsigned short value, size_t count);
DRIVER_API CUresult cuMemsetD16Async_ptsz(CUdeviceptr target, unsigned short value, size_t count,
                                          CUstream stream);
DRIVER_API CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr target, size_t pitch, unsigned short value,
                                          size_t width, size_t height);
DRIVER_API CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr target, size_t pitch, unsigned short value,
                                            size_t width, size_t height, CUstream stream);
DRIVER_API CUresult cuMemsetD32_v2_ptds(CUdeviceptr target, unsigned value, size_t count);
DRIVER_API CUresult cuMemsetD32Async_ptsz(CUdeviceptr target, unsigned value, size_t count,
                                          CUstream stream);
DRIVER_API CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr target, size_t pitch, unsigned value,
                                          size_t width, size_t height);
DRIVER_API CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr target, size_t pitch, unsigned value,
                                            size_t width, size_t height, CUstream stream);
DRIVER_API CUresult cuStreamSynchronize_ptsz(CUstream handle);
DRIVER_API CUresult cuStreamQuery_ptsz(CUstream handle);
DRIVER_API CUresult cuLaunchHostFunc_ptsz(CUstream handle, driver_host_function function,
                                          void *data);
DRIVER_API CUresult cuStreamAddCallback_ptsz(CUstream handle, driver_stream_callback callback,
                                             void *data, unsigned flags);
DRIVER_API CUresult cuStreamGetCtx_ptsz(CUstream handle, CUcontext *out);
DRIVER_API CUresult cuStreamGetDevice_ptsz(CUstream handle, CUdevice *out);
DRIVER_API CUresult cuStreamGetFlags_ptsz(CUstream handle, unsigned *flags);
DRIVER_API CUresult cuStreamGetPriority_ptsz(CUstream handle, int *priority);
DRIVER_API CUresult cuStreamGetId_ptsz(CUstream handle, unsigned long long *id);
DRIVER_API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice ordinal,
                                            CUstream stream);
DRIVER_API CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes,
                                               driver_location location, unsigned flags,
                                               CUstream stream);
DRIVER_API CUresult cuStreamAttachMemAsync_ptsz(CUstream handle, CUdeviceptr address, size_t bytes,
                                                unsigned flags);
DRIVER_API CUresult cuEventDestroy(CUevent event);
DRIVER_API CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream handle, unsigned flags);
DRIVER_API CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
DRIVER_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
DRIVER_API CUresult cuStreamWaitEvent_ptsz(CUstream handle, CUevent event, unsigned flags);
DRIVER_API CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
DRIVER_API CUresult cuStreamBeginCapture_ptsz(CUstream stream);
DRIVER_API CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                                     const CUgraphNode *nodes,
                                                     const driver_edge *edges, size_t count,
                                                     CUstreamCaptureMode mode);
DRIVER_API CUresult cuStreamEndCapture_ptsz(CUstream handle, CUgraph *out);
DRIVER_API CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status);
DRIVER_API CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus *status,
                                                unsigned long long *id);
DRIVER_API CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus *status,
                                                   unsigned long long *id, CUgraph *graph,
                                                   const CUgraphNode **nodes, size_t *count);
DRIVER_API CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *status,
                                                   unsigned long long *id, CUgraph *graph,
                                                   const CUgraphNode **nodes,
                                                   const driver_edge **edges, size_t *count);
DRIVER_API CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph graph, CUgraphNode *error,
                                       char *log, size_t size);
DRIVER_API CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *out, CUgraph graph,
                                                      driver_instantiate *params);
DRIVER_API CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream handle);
DRIVER_API CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream handle);
DRIVER_API CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned shared, CUstream stream,
                                        void **arguments, void **extra);
DRIVER_API CUresult cuLaunchKernelEx_ptsz(const driver_launch_config *config, CUfunction function,
                                          void **arguments, void **extra);
DRIVER_API CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned grid_x,
                                                   unsigned grid_y, unsigned grid_z,
                                                   unsigned block_x, unsigned block_y,
                                                   unsigned block_z, unsigned shared,
                                                   CUstream stream, void **arguments);

/* ---- driver_tensor.c ------------------------------------------------------------------------- */
/* A map is 128 bytes, opaque to the caller. */
DRIVER_API CUresult cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address,
                                           const uint64_t *dims, const uint64_t *strides,
                                           const uint32_t *box, const uint32_t *steps,
                                           int interleave, int swizzle, int promotion, int fill);
DRIVER_API CUresult cuTensorMapEncodeIm2col(void *out, int type, unsigned rank, void *address,
                                            const uint64_t *dims, const uint64_t *strides,
                                            const int *lower, const int *upper, uint32_t channels,
                                            uint32_t pixels, const uint32_t *steps, int interleave,
                                            int swizzle, int promotion, int fill);
DRIVER_API CUresult cuTensorMapReplaceAddress(void *out, void *address);

#endif
