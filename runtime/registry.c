// Kinds of devices by name, and opening one. A kind is registered once and stays: nothing is ever
// removed, so a table that was found may be used without the lock.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/builtin.h"
#include "runtime/object.h"

#define MAX_KINDS 64

typedef struct {
    char name[32];
    int dl_device_type;
    const kcrt_device_api *api; // NULL until loaded
    const kcrt_device_api *(*load)(
        void); // for kinds that live in another library; NULL, with an error, when absent
} kind;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static kind kinds[MAX_KINDS];
static int kind_count;
static kcrt_device *open_devices;

static void add_builtin(const char *name, int dl_device_type, const kcrt_device_api *api,
                        const kcrt_device_api *(*load)(void)) {
    kind *k = &kinds[kind_count++];
    snprintf(k->name, sizeof k->name, "%s", name);
    k->dl_device_type = dl_device_type;
    k->api = api;
    k->load = load;
}

static void add_builtins(void) {
    add_builtin("cuda", kDLCUDA, &kcrt_cuda_api, NULL);
    add_builtin("hip", kDLROCM, &kcrt_hip_api, NULL);
    add_builtin("cuda-sim", kDLCUDA, &kcrt_cuda_sim_api, NULL);
    add_builtin("hip-sim", kDLROCM, &kcrt_hip_sim_api, NULL);
    add_builtin("ref", kDLCPU, NULL, kcrt_ref_load);
}

static kind *find(const char *name, size_t length) {
    for (int i = 0; i < kind_count; i++)
        if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, name, length))
            return &kinds[i];
    return NULL;
}

static kcrt_status no_such_kind(const char *name, size_t length) {
    char list[1024] = "";
    size_t at = 0;
    for (int i = 0; i < kind_count && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", kinds[i].name);
    return kcrt_fail(KCRT_NOT_FOUND, "There is no device kind `%.*s`; there are: %s.",
                     (int)(length > 64 ? 64 : length), name, list);
}

const kcrt_device_api *kcrt_registry_find(const char *name, size_t length, int *dl_device_type,
                                          kcrt_status *status) {
    pthread_once(&once, add_builtins);
    pthread_mutex_lock(&lock);
    kind *k = find(name, length);
    *status = KCRT_OK;
    if (!k) *status = no_such_kind(name, length);
    if (k && !k->api && !(k->api = k->load())) *status = KCRT_NO_DEVICE;
    const kcrt_device_api *api = k ? k->api : NULL;
    if (k && dl_device_type) *dl_device_type = k->dl_device_type;
    pthread_mutex_unlock(&lock);
    return api;
}

static const char *missing_member(const kcrt_device_api *api) {
    if (!api->count) return "count";
    if (!api->open) return "open";
    if (!api->close) return "close";
    if (!api->attr) return "attr";
    if (!api->string) return "string";
    if (!api->alloc) return "alloc";
    if (!api->free) return "free";
    if (!api->address) return "address";
    if (!api->copy) return "copy";
    if (!api->rank) return "rank";
    if (!api->module_load) return "module_load";
    if (!api->module_unload) return "module_unload";
    if (api->stream_create && !api->stream_free) return "stream_free";
    if (!(api->kernel_get && api->launch) && !api->launch_function)
        return "kernel_get and launch, or launch_function";
    return NULL;
}

static kcrt_status check_api(const char *name, const kcrt_device_api *api) {
    if (!api || api->size < sizeof *api || api->version != KCRT_DEVICE_API_VERSION)
        return kcrt_fail(
            KCRT_INVALID_ARGUMENT,
            "The table of device kind `%.64s` is NULL or of another version; this runtime's is %d.",
            name, KCRT_DEVICE_API_VERSION);
    const char *member = missing_member(api);
    if (member)
        return kcrt_fail(KCRT_INVALID_ARGUMENT, "The table of device kind `%.64s` lacks %s.", name,
                         member);
    return KCRT_OK;
}

kcrt_status kcrt_device_register(const char *name, int dl_device_type, const kcrt_device_api *api) {
    size_t length = name ? strlen(name) : 0;
    if (!length || length >= sizeof kinds->name || strpbrk(name, ": \t\n"))
        return kcrt_fail(KCRT_INVALID_ARGUMENT,
                         "A device kind's name has 1 to 31 characters, without colons and spaces.");
    kcrt_status status = check_api(name, api);
    if (status) return status;
    pthread_once(&once, add_builtins);
    pthread_mutex_lock(&lock);
    if (find(name, length))
        status =
            kcrt_fail(KCRT_INVALID_ARGUMENT, "The device kind `%s` is registered already.", name);
    else if (kind_count == MAX_KINDS)
        status = kcrt_fail(KCRT_OUT_OF_MEMORY, "There are already %d device kinds.", MAX_KINDS);
    else add_builtin(name, dl_device_type, api, NULL);
    pthread_mutex_unlock(&lock);
    return status;
}

kcrt_status kcrt_device_kind(int index, const char **out) {
    if (!out) return kcrt_fail(KCRT_INVALID_ARGUMENT, "kcrt_device_kind was given a NULL pointer.");
    *out = NULL;
    pthread_once(&once, add_builtins);
    pthread_mutex_lock(&lock);
    if (index >= 0 && index < kind_count) *out = kinds[index].name;
    pthread_mutex_unlock(&lock);
    return *out ? KCRT_OK : kcrt_fail(KCRT_NOT_FOUND, "There is no device kind number %d.", index);
}

kcrt_status kcrt_from_device(const kcrt_device_api *api, kcrt_status status) {
    if (status && api->last_error) return kcrt_fail(status, "%s", api->last_error());
    return status;
}

kcrt_status kcrt_device_count(const char *name, int *out) {
    if (!name || !out)
        return kcrt_fail(KCRT_INVALID_ARGUMENT, "kcrt_device_count was given a NULL pointer.");
    *out = 0;
    kcrt_status status;
    const kcrt_device_api *api = kcrt_registry_find(name, strlen(name), NULL, &status);
    if (!api)
        return status == KCRT_NO_DEVICE ? KCRT_OK : status; // its library is not installed: none
    return kcrt_from_device(api, api->count(api->user, out));
}

static void init_queue(kcrt_device *device) {
    device->queue.device = device;
    pthread_mutex_init(&device->queue.lock, NULL);
    pthread_mutex_init(&device->lock, NULL);
}

kcrt_status kcrt_device_open(const char *name, kcrt_device **out) {
    if (!name || !out)
        return kcrt_fail(KCRT_INVALID_ARGUMENT, "kcrt_device_open was given a NULL pointer.");
    *out = NULL;
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    if (strlen(name) >= sizeof((kcrt_device *)0)->name)
        return kcrt_fail(KCRT_NOT_FOUND,
                         "A device name has at most 63 characters; this one starts with `%.32s`.",
                         name);
    kcrt_status status;
    int dl_device_type = 0, ordinal = 0;
    const kcrt_device_api *api = kcrt_registry_find(name, length, &dl_device_type, &status);
    if (!api) return status;
    kcrt_device *device = calloc(1, sizeof *device);
    if (!device) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to open a device.");
    status = kcrt_from_device(
        api, api->open(api->user, colon ? colon + 1 : NULL, &ordinal, &device->handle));
    if (status) {
        free(device);
        return status;
    }
    strcpy(device->name, name);
    device->api = api;
    device->dl.device_type = (DLDeviceType)dl_device_type;
    device->dl.device_id = ordinal;
    init_queue(device);
    pthread_mutex_lock(&lock);
    device->next = open_devices;
    open_devices = device;
    pthread_mutex_unlock(&lock);
    *out = device;
    return KCRT_OK;
}

void kcrt_registry_forget(kcrt_device *device) {
    pthread_mutex_lock(&lock);
    for (kcrt_device **at = &open_devices; *at; at = &(*at)->next) {
        if (*at != device) continue;
        *at = device->next;
        break;
    }
    pthread_mutex_unlock(&lock);
}

kcrt_status kcrt_registry_sync_queues(void) {
    kcrt_status status = KCRT_OK;
    pthread_mutex_lock(&lock);
    for (kcrt_device *d = open_devices; d && !status; d = d->next)
        if (d->api->stream_sync)
            status = kcrt_from_device(d->api, d->api->stream_sync(d->handle, NULL));
    pthread_mutex_unlock(&lock);
    return status;
}
