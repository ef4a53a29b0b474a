/* cuPointerGetAttribute: what is known of an address. */
#include "runtime/sim/cuda/driver_api.h"

#include <string.h>

/* Answers for module variables too, which the machine knows and the table does not. */
static bool find(uint64_t address, driver_allocation *row) {
    if (driver_allocation_find(address, row)) return true;
    for (int i = 0; i < driver_device_count(); i++) {
        driver_device *device = driver_device_at(i);
        uint64_t base;
        size_t bytes;
        if (device->machine == NULL || device->primary == NULL) continue;
        if (kcsim_mem_range(device->machine, address, &base, &bytes) != KCSIM_OK) continue;
        *row = (driver_allocation){.base = base,
                                   .device = base,
                                   .bytes = bytes,
                                   .type = kcsim_mem_is_shared(device->machine, address)
                                               ? DRIVER_MEMORY_MANAGED
                                               : DRIVER_MEMORY_DEVICE,
                                   .context = device->primary};
        return true;
    }
    return false;
}

/* Managed memory counts as the device's. */
static bool on_card(driver_memory_type type) {
    return type == DRIVER_MEMORY_DEVICE || type == DRIVER_MEMORY_MANAGED;
}

/* Writes the attribute's own type to `data`. False: not to be had of this memory. */
static bool answer(const driver_allocation *row, uint64_t address, CUpointer_attribute attribute,
                   void *data) {
    uint64_t offset = address - row->base;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = row->context; return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = on_card(row->type) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (row->device == 0) return false;
        *(CUdeviceptr *)data = row->device + offset;
        return true;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (row->type == DRIVER_MEMORY_DEVICE) return false;
        *(void **)data = (void *)(uintptr_t)address;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = row->id; return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = row->context->device->ordinal;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *(CUdeviceptr *)data = row->base; return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *(size_t *)data = row->bytes; return true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)data = row->pool; return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)data = 0; return true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)data = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = row->type == DRIVER_MEMORY_MANAGED;
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(unsigned char *)data = 0; return true;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned char *)data = 1; return true;
    default: return false;
    }
}

/* The bytes of an attribute's type, for clearing; 0 for an unknown one. */
static size_t size_of(CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return 4;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return 16;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED: return 1;
    default:
        return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT &&
                       attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
                   ? 8
                   : 0;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    driver_allocation row;
    if (data == NULL || !find(address, &row) || !answer(&row, address, attribute, data))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Unlike the single form, unknown memory is no error: the answers are zeros (-2 for the device). */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (count == 0 || attributes == NULL || data == NULL) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (data[i] == NULL || size_of(attributes[i]) == 0) return CUDA_ERROR_INVALID_VALUE;
    driver_allocation row;
    bool known = find(address, &row);
    for (unsigned i = 0; i < count; i++) {
        memset(data[i], 0, size_of(attributes[i]));
        if (!known && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)data[i] = -2;
        if (known) answer(&row, address, attributes[i], data[i]);
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    driver_allocation row;
    bool settable = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    if (value == NULL || !settable || !find(address, &row)) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS; /* copies always synchronise */
}
