/* Values that streams write to memory and wait for.
 *
 * Work runs when it is submitted, so a wait is over at once or somebody else ends it: another host
 * thread. It is given a second. A wait that work submitted later would end is refused, and the log
 * says so. */
#include "runtime/sim/cuda/driver_api.h"

#include <time.h>

enum { PATIENCE_MS = 1000 };

static CUresult move(CUcontext context, uint64_t source, uint64_t target, bool out, size_t bytes) {
    driver_copy copy = {.source = source,
                        .target = target,
                        .source_device = !out,
                        .target_device = out,
                        .width = bytes,
                        .height = 1,
                        .depth = 1,
                        .source_height = 1,
                        .target_height = 1};
    return driver_copy_run(context, &copy);
}

static CUresult read_value(CUcontext context, uint64_t address, size_t bytes, uint64_t *value) {
    *value = 0;
    return move(context, address, (uint64_t)(uintptr_t)value, false, bytes);
}

static bool holds(uint64_t have, uint64_t wanted, unsigned how, size_t bytes) {
    uint64_t mask = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t difference = (have - wanted) & mask;
    switch (how) {
    case CU_STREAM_WAIT_VALUE_GEQ: return difference >> (8 * bytes - 1) == 0;
    case CU_STREAM_WAIT_VALUE_EQ: return difference == 0;
    case CU_STREAM_WAIT_VALUE_AND: return (have & wanted & mask) != 0;
    default: return (~(have | wanted) & mask) != 0;
    }
}

static CUresult wait_for(CUcontext context, uint64_t address, uint64_t wanted, unsigned flags,
                         size_t bytes) {
    unsigned how = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
    if (how > CU_STREAM_WAIT_VALUE_NOR || how != flags || address % bytes != 0)
        return CUDA_ERROR_INVALID_VALUE; /* flushing is not among what the device can */
    for (int i = 0; i < PATIENCE_MS; i++) {
        uint64_t have;
        CUresult result = read_value(context, address, bytes, &have);
        if (result != CUDA_SUCCESS) return result;
        if (holds(have, wanted, how, bytes)) return CUDA_SUCCESS;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    driver_complain(
        "a stream waits for a value that nobody writes: work runs when it is submitted");
    return driver_unsupported("cuStreamWaitValue before what ends the wait is submitted");
}

static CUresult write_value(CUcontext context, uint64_t address, uint64_t value, unsigned flags,
                            size_t bytes) {
    if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER || address % bytes != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return move(context, (uint64_t)(uintptr_t)&value, address, true, bytes);
}

static CUresult run(CUcontext context, const driver_memory_op *op) {
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return wait_for(context, op->address, (uint32_t)op->value64, op->flags, 4);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return wait_for(context, op->address, op->value64, op->flags, 8);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return write_value(context, op->address, (uint32_t)op->value64, op->flags, 4);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return write_value(context, op->address, op->value64, op->flags, 8);
    case CU_STREAM_MEM_OP_BARRIER: return CUDA_SUCCESS; /* everything before is done */
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned count, driver_memory_op *ops,
                               unsigned flags) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (flags != 0 || count > 256 || (count > 0 && ops == NULL)) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL) return driver_unsupported("cuStreamBatchMemOp in a capture");
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = run(stream->object.context, &ops[i]);
    return result;
}
DRIVER_ALIAS(cuStreamBatchMemOp_v2_ptsz, cuStreamBatchMemOp_v2);
DRIVER_ALIAS(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);
DRIVER_ALIAS(cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp_v2);

static CUresult one(CUstream stream, int operation, CUdeviceptr address, uint64_t value,
                    unsigned flags) {
    driver_memory_op op = {
        .operation = operation, .address = address, .value64 = value, .flags = flags};
    return cuStreamBatchMemOp_v2(stream, 1, &op, 0);
}

/* Each call under the names it has had. */
#define CALL(name, type, operation)                                                                \
    CUresult name##_v2(CUstream stream, CUdeviceptr address, type value, unsigned flags) {         \
        return one(stream, operation, address, value, flags);                                      \
    }                                                                                              \
    DRIVER_ALIAS(name##_v2_ptsz, name##_v2);                                                       \
    DRIVER_ALIAS(name, name##_v2);                                                                 \
    DRIVER_ALIAS(name##_ptsz, name##_v2)

CALL(cuStreamWaitValue32, uint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32);
CALL(cuStreamWaitValue64, uint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64);
CALL(cuStreamWriteValue32, uint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32);
CALL(cuStreamWriteValue64, uint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64);
