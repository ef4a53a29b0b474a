/* The registry of live handles: an open-addressing hash set of pointers with their kind. Handles
 * come from programs and may be anything, so validity is a look-up and never a read through the
 * pointer. Removal leaves a tombstone; growing sweeps them out. */
#include "runtime/sim/cuda/driver.h"

#include <stdlib.h>

typedef struct slot {
    const void *handle; /* NULL: never used */
    driver_kind kind;   /* 0: a tombstone */
} slot;

static struct {
    pthread_mutex_t lock;
    slot *slots;
    size_t capacity, used; /* used counts tombstones */
} registry = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

static size_t hash(const void *handle) {
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdu;
    return (size_t)(bits ^ (bits >> 33));
}

static slot *find(const void *handle) {
    if (registry.capacity == 0) return NULL;
    for (size_t i = hash(handle);; i++) {
        slot *at = &registry.slots[i & (registry.capacity - 1)];
        if (at->handle == NULL) return NULL;
        if (at->handle == handle && at->kind != 0) return at;
    }
}

static void place(slot *slots, size_t capacity, const void *handle, driver_kind kind) {
    size_t i = hash(handle);
    while (slots[i & (capacity - 1)].handle != NULL)
        i++;
    slots[i & (capacity - 1)] = (slot){handle, kind};
}

static bool grow(void) {
    if (registry.used * 2 < registry.capacity) return true;
    size_t live = 0, capacity = 64;
    for (size_t i = 0; i < registry.capacity; i++)
        live += registry.slots[i].kind != 0;
    while (capacity < live * 4)
        capacity *= 2;
    slot *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < registry.capacity; i++) {
        const slot *old = &registry.slots[i];
        if (old->kind != 0) place(slots, capacity, old->handle, old->kind);
    }
    free(registry.slots);
    registry.slots = slots;
    registry.capacity = capacity;
    registry.used = live;
    return true;
}

bool driver_handle_is(const void *handle, driver_kind kind) {
    if (handle == NULL) return false;
    pthread_mutex_lock(&registry.lock);
    const slot *at = find(handle);
    bool found = at != NULL && at->kind == kind;
    pthread_mutex_unlock(&registry.lock);
    return found;
}

CUresult driver_handle_check(const void *handle, driver_kind kind, CUresult otherwise) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    return driver_handle_is(handle, kind) ? CUDA_SUCCESS : otherwise;
}

bool driver_object_add(driver_object *object, driver_kind kind, CUcontext context) {
    *object = (driver_object){kind, context, NULL, NULL};
    pthread_mutex_lock(&registry.lock);
    bool room = grow();
    if (room) {
        place(registry.slots, registry.capacity, object, kind);
        registry.used++;
    }
    pthread_mutex_unlock(&registry.lock);
    if (!room || context == NULL || kind == DRIVER_CONTEXT) return room;
    driver_lock();
    object->next = context->objects;
    if (object->next != NULL) object->next->previous = object;
    context->objects = object;
    driver_unlock();
    return true;
}

void driver_object_remove(driver_object *object) {
    pthread_mutex_lock(&registry.lock);
    slot *at = find(object);
    if (at != NULL) at->kind = 0;
    pthread_mutex_unlock(&registry.lock);
    CUcontext context = object->context;
    if (context == NULL || object->kind == DRIVER_CONTEXT) return;
    driver_lock();
    if (object->next != NULL) object->next->previous = object->previous;
    if (object->previous != NULL) object->previous->next = object->next;
    else if (context->objects == object) context->objects = object->next;
    driver_unlock();
}

pthread_mutex_t *driver_handle_mutex(void) {
    return &registry.lock;
}
