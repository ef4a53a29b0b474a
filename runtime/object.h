// The runtime's own objects. Internal: callers see handles only.
#ifndef KCRT_OBJECT_H
#define KCRT_OBJECT_H

#include <pthread.h>

#include "runtime/bind.h"
#include "runtime/kcrt_device.h"
#include "runtime/manifest.h"

struct kcrt_stream {
    kcrt_device *device;
    void *native;         // the device's; NULL is its default queue
    bool borrowed;        // wrapped: the caller keeps the native stream
    pthread_mutex_t lock; // of the pool, held while a launch uses it
    void *pool;           // owns: workspace of launches that bring none
    size_t pool_bytes;
};

typedef struct {
    void *base;
    size_t bytes;
    bool in_use;
} kcrt_block;

struct kcrt_device {
    char name[64];
    const kcrt_device_api *api;
    void *handle;
    DLDevice dl;
    kcrt_stream queue; // stands for the NULL stream
    pthread_mutex_t lock;
    kcrt_device *next;  // of the open devices, under the registry's lock
    kcrt_block *blocks; // owns: the workspace pool, under lock
    size_t block_count, block_capacity;
};

typedef enum { KCRT_IMAGE_UNTRIED, KCRT_IMAGE_LOADED, KCRT_IMAGE_REFUSED } kcrt_image_state;
typedef struct {
    kcrt_image_state state;
    void *handle;       // the device's module
    const char *reason; // why it was refused
} kcrt_loaded_image;

struct kcrt_function {
    kcrt_module *module;
    const kcrt_signature *signature;
    bool ready;                // loaded; read and set under the module's lock
    const kcrt_target *target; // NULL when the function is executed from its IR
    void *image;               // the device's module
    void ***kernels;           // by variant, by step; NULL for other steps
    int64_t attributes[KCRT_DEVICE_SYMBOLS];
    DLTensor *constants; // of the signature, in device memory; when executed from IR
    kcrt_bind_device bind;
};

struct kcrt_module {
    kcrt_device *device;
    char *what;  // path or "the package", for messages
    void *bytes; // owns, or NULL when the caller's memory is used
    kcrt_arena arena;
    kcrt_package package;
    kcrt_manifest manifest;
    kcrt_load_options options;
    pthread_mutex_t lock; // of loading
    kcrt_loaded_image *images;
    void **constants; // by image: device memory, for role const
    kcrt_function *functions;
};

// The device's status, with its sentence made this thread's last error.
kcrt_status kcrt_from_device(const kcrt_device_api *, kcrt_status);

// registry.c: the table of a kind; NULL, with an error, when there is none.
const kcrt_device_api *kcrt_registry_find(const char *kind, size_t length, int *dl_device_type,
                                          kcrt_status *);

// registry.c: the list of open devices.
void kcrt_registry_forget(kcrt_device *);
kcrt_status kcrt_registry_sync_queues(void); // waits for the default queue of each

// load.c: picks the image of a function and resolves its kernels.
kcrt_status kcrt_function_load(kcrt_function *);

// image.c: the bytes match what the manifest and the label say. KCRT_BAD_PACKAGE.
kcrt_status kcrt_image_verify(const char *what, const kcrt_image *, const void *bytes);

// memory.c. reserve: a launch's workspace from the stream's pool, whose lock the caller holds.
kcrt_status kcrt_pool_reserve(kcrt_stream *, size_t bytes, void **out);
void kcrt_pool_release(kcrt_stream *); // waits for the stream's work when it has a pool
void kcrt_pool_drop_free(
    kcrt_device *); // workspace blocks that nobody holds; under the device's lock
kcrt_status kcrt_refuse_capture(kcrt_device *, kcrt_stream *,
                                const char *what); // KCRT_UNSUPPORTED while captured

kcrt_status kcrt_null_argument(const char *function); // KCRT_INVALID_ARGUMENT

static inline void *kcrt_native(const kcrt_stream *stream) {
    return stream ? stream->native : NULL;
}

#endif
