// Memory, workspaces and copies: argument checks, then the device's table.
#include <stdlib.h>
#include <string.h>

#include "runtime/object.h"

kcrt_status kcrt_alloc(kcrt_device *device, size_t bytes, void **out) {
    if (out) *out = NULL;
    if (!device || !out) return kcrt_null_argument("kcrt_alloc");
    if (!bytes) return KCRT_OK;
    return kcrt_from_device(device->api, device->api->alloc(device->handle, bytes, out));
}

kcrt_status kcrt_free(kcrt_device *device, void *base) {
    if (!device) return kcrt_null_argument("kcrt_free");
    return base ? kcrt_from_device(device->api, device->api->free(device->handle, base)) : KCRT_OK;
}

// ---- Workspace ----------------------------------------------------------------------------------

static kcrt_status workspace_from_device(kcrt_device *device, size_t bytes, void **out) {
    const kcrt_device_api *api = device->api;
    return kcrt_from_device(api, (api->workspace_alloc ? api->workspace_alloc
                                                       : api->alloc)(device->handle, bytes, out));
}

static kcrt_status workspace_to_device(kcrt_device *device, void *base) {
    const kcrt_device_api *api = device->api;
    return kcrt_from_device(
        api, (api->workspace_free ? api->workspace_free : api->free)(device->handle, base));
}

// The smallest free block that fits and is at most four times too large.
static kcrt_block *find_block(kcrt_device *device, size_t bytes) {
    kcrt_block *best = NULL;
    for (size_t i = 0; i < device->block_count; i++) {
        kcrt_block *b = &device->blocks[i];
        if (b->in_use || b->bytes < bytes || b->bytes / 4 > bytes) continue;
        if (!best || b->bytes < best->bytes) best = b;
    }
    return best;
}

void kcrt_pool_drop_free(kcrt_device *device) {
    size_t kept = 0;
    for (size_t i = 0; i < device->block_count; i++) {
        if (device->blocks[i].in_use) device->blocks[kept++] = device->blocks[i];
        else workspace_to_device(device, device->blocks[i].base);
    }
    device->block_count = kept;
}

static kcrt_status new_block(kcrt_device *device, size_t bytes, void **out) {
    if (device->block_count == device->block_capacity) {
        size_t capacity = device->block_capacity ? device->block_capacity * 2 : 8;
        kcrt_block *bigger = realloc(device->blocks, capacity * sizeof *bigger);
        if (!bigger)
            return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory for the workspace pool.");
        device->blocks = bigger;
        device->block_capacity = capacity;
    }
    kcrt_status status = workspace_from_device(device, bytes, out);
    if (status == KCRT_OUT_OF_MEMORY) {
        kcrt_pool_drop_free(device);
        status = workspace_from_device(device, bytes, out);
    }
    if (!status) device->blocks[device->block_count++] = (kcrt_block){*out, bytes, true};
    return status;
}

kcrt_status kcrt_workspace_alloc(kcrt_device *device, size_t bytes, void **out) {
    if (out) *out = NULL;
    if (!device || !out) return kcrt_null_argument("kcrt_workspace_alloc");
    if (!bytes) return KCRT_OK;
    if (bytes > SIZE_MAX - 255)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "A workspace of %zu bytes is impossible.", bytes);
    bytes = (bytes + 255) & ~(size_t)255;
    pthread_mutex_lock(&device->lock);
    kcrt_block *block = find_block(device, bytes);
    kcrt_status status = KCRT_OK;
    if (block) {
        block->in_use = true;
        *out = block->base;
    } else {
        status = new_block(device, bytes, out);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

kcrt_status kcrt_workspace_free(kcrt_device *device, void *base) {
    if (!device) return kcrt_null_argument("kcrt_workspace_free");
    if (!base) return KCRT_OK;
    bool found = false;
    pthread_mutex_lock(&device->lock);
    for (size_t i = 0; i < device->block_count && !found; i++) {
        found = device->blocks[i].base == base && device->blocks[i].in_use;
        if (found) device->blocks[i].in_use = false;
    }
    pthread_mutex_unlock(&device->lock);
    return found ? KCRT_OK
                 : kcrt_fail(KCRT_INVALID_ARGUMENT, "kcrt_workspace_free was given memory that "
                                                    "kcrt_workspace_alloc did not give out.");
}

// Work that was launched with the old block may still run: it is waited for before the block goes.
kcrt_status kcrt_pool_reserve(kcrt_stream *stream, size_t bytes, void **out) {
    kcrt_device *device = stream->device;
    const kcrt_device_api *api = device->api;
    kcrt_status status = KCRT_OK;
    if (stream->pool_bytes < bytes) {
        size_t wanted = bytes < SIZE_MAX - 65535 ? (bytes + 65535) & ~(size_t)65535 : bytes;
        if (stream->pool && api->stream_sync)
            status = kcrt_from_device(api, api->stream_sync(device->handle, stream->native));
        if (status) return status;
        if (stream->pool) workspace_to_device(device, stream->pool);
        stream->pool = NULL;
        stream->pool_bytes = 0;
        status = workspace_from_device(device, wanted, &stream->pool);
        if (!status) stream->pool_bytes = wanted;
    }
    *out = stream->pool;
    return status;
}

void kcrt_pool_release(kcrt_stream *stream) {
    const kcrt_device_api *api = stream->device->api;
    if (stream->pool) {
        if (api->stream_sync) api->stream_sync(stream->device->handle, stream->native);
        workspace_to_device(stream->device, stream->pool);
    }
    pthread_mutex_destroy(&stream->lock);
}

// ---- Copies -------------------------------------------------------------------------------------

kcrt_status kcrt_refuse_capture(kcrt_device *device, kcrt_stream *stream, const char *what) {
    int capturing = 0;
    const kcrt_device_api *api = device->api;
    if (!api->stream_capturing) return KCRT_OK;
    kcrt_status status = kcrt_from_device(
        api, api->stream_capturing(device->handle, kcrt_native(stream), &capturing));
    if (status || !capturing) return status;
    return kcrt_fail(KCRT_UNSUPPORTED, "%s is not possible while the stream is being captured.",
                     what);
}

static kcrt_status copy_with_host(kcrt_device *device, kcrt_copy_kind kind, kcrt_place dst,
                                  kcrt_place src, size_t bytes, kcrt_stream *stream) {
    kcrt_status status = kcrt_refuse_capture(device, stream, "A copy to or from host memory");
    if (status) return status;
    char *to = dst.base;
    const char *from = src.base;
    bool in = kind == KCRT_HOST_TO_DEVICE;
    return kcrt_from_device(
        device->api, device->api->copy(device->handle, kind, in ? to : to + dst.byte_offset,
                                       in ? dst.byte_offset : 0, in ? from + src.byte_offset : from,
                                       in ? 0 : src.byte_offset, bytes, kcrt_native(stream)));
}

// Between devices without a way of their own: through a piece of host memory.
static kcrt_status copy_staged(kcrt_place dst, kcrt_place src, size_t bytes) {
    size_t piece = bytes < (4u << 20) ? bytes : 4u << 20;
    char *buffer = malloc(piece);
    kcrt_status status =
        buffer ? kcrt_device_sync(src.device)
               : kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to copy between devices.");
    for (size_t done = 0; done < bytes && !status; done += piece) {
        size_t n = bytes - done < piece ? bytes - done : piece;
        kcrt_place from = {src.device, src.base, src.byte_offset + done},
                   to = {dst.device, dst.base, dst.byte_offset + done};
        status = copy_with_host(src.device, KCRT_DEVICE_TO_HOST, (kcrt_place){NULL, buffer, 0},
                                from, n, NULL);
        if (!status)
            status = copy_with_host(dst.device, KCRT_HOST_TO_DEVICE, to,
                                    (kcrt_place){NULL, buffer, 0}, n, NULL);
    }
    free(buffer);
    return status;
}

static kcrt_status copy_between(kcrt_place dst, kcrt_place src, size_t bytes, kcrt_stream *stream) {
    const kcrt_device_api *api = dst.device->api;
    kcrt_status status = kcrt_refuse_capture(dst.device, stream, "A copy between devices");
    if (!status && stream) status = kcrt_stream_sync(stream);
    if (status) return status;
    if (api != src.device->api || !api->copy_peer) return copy_staged(dst, src, bytes);
    return kcrt_from_device(api,
                            api->copy_peer(dst.device->handle, dst.base, dst.byte_offset,
                                           src.device->handle, src.base, src.byte_offset, bytes));
}

kcrt_status kcrt_copy(kcrt_place dst, kcrt_place src, size_t bytes, kcrt_stream *stream) {
    if (!bytes) return KCRT_OK;
    if (!dst.base || !src.base) return kcrt_null_argument("kcrt_copy");
    kcrt_device *device = dst.device ? dst.device : src.device;
    if (stream && device && stream->device != dst.device && stream->device != src.device)
        return kcrt_fail(KCRT_INVALID_ARGUMENT,
                         "kcrt_copy was given a stream of a third device (%s).",
                         stream->device->name);
    if (!device) {
        memmove((char *)dst.base + dst.byte_offset, (char *)src.base + src.byte_offset, bytes);
        return KCRT_OK;
    }
    if (!src.device) return copy_with_host(device, KCRT_HOST_TO_DEVICE, dst, src, bytes, stream);
    if (!dst.device) return copy_with_host(device, KCRT_DEVICE_TO_HOST, dst, src, bytes, stream);
    bool one = dst.device == src.device || (dst.device->api == src.device->api &&
                                            dst.device->dl.device_id == src.device->dl.device_id);
    if (!one) return copy_between(dst, src, bytes, stream);
    return kcrt_from_device(device->api,
                            device->api->copy(device->handle, KCRT_DEVICE_TO_DEVICE, dst.base,
                                              dst.byte_offset, src.base, src.byte_offset, bytes,
                                              kcrt_native(stream)));
}
