// Choosing a function's image on a device and resolving what its launches need: kernels, device
// attributes, constants.
//
// Every (target, image) of the function is ranked by the device, and the list is walked: an image
// that the driver turns away (KCRT_NO_IMAGE) is remembered with its reason and the next one is
// tried. An image serves many functions and is loaded once. All of this runs under the module's
// lock.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/object.h"

typedef struct {
    const kcrt_target *target; // NULL: the function's IR
    int image, rank, order;
    const char *reason; // for rank 0
} candidate;

static int compare(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank) - (x->rank > y->rank) : x->order - y->order;
}

static void rank_one(const kcrt_module *m, candidate *list, int *n, const kcrt_target *target,
                     int index) {
    const kcrt_image *image = &m->manifest.images[index];
    candidate *c = &list[*n];
    *c = (candidate){
        .target = target, .image = index, .order = *n, .reason = "not for this kind of device"};
    c->rank = m->device->api->rank(m->device->handle, image->triple, image->arch, image->role,
                                   &c->reason);
    if (c->rank > 0 && m->options.no_jit && !strcmp(image->role, "ptx")) {
        c->rank = 0;
        c->reason = "the driver would compile it, which the option no_jit forbids";
    }
    ++*n;
}

static int list_candidates(const kcrt_function *f, candidate *list) {
    const kcrt_signature *s = f->signature;
    int n = 0;
    for (int t = 0; t < s->target_count; t++)
        for (int i = 0; i < s->targets[t].image_count; i++)
            rank_one(f->module, list, &n, &s->targets[t], s->targets[t].images[i]);
    if (s->ir >= 0) rank_one(f->module, list, &n, NULL, s->ir);
    qsort(list, (size_t)n, sizeof *list, compare);
    return n;
}

// KCRT_NO_IMAGE and a reason in the image's record when the driver turns it away.
static kcrt_status load_image(kcrt_module *m, int index) {
    kcrt_loaded_image *loaded = &m->images[index];
    const kcrt_image *image = &m->manifest.images[index];
    const kcrt_entry *entry = &m->package.entries[index + 1];
    const kcrt_device_api *api = m->device->api;
    if (loaded->state == KCRT_IMAGE_LOADED) return KCRT_OK;
    if (loaded->state == KCRT_IMAGE_REFUSED) return KCRT_NO_IMAGE;
    kcrt_status status = kcrt_image_verify(m->what, image, entry->image);
    if (!status)
        status =
            kcrt_from_device(api, api->module_load(m->device->handle, image->role, entry->image,
                                                   entry->size, &loaded->handle));
    if (!status) loaded->state = KCRT_IMAGE_LOADED;
    if (status != KCRT_NO_IMAGE) return status;
    loaded->state = KCRT_IMAGE_REFUSED;
    loaded->reason = kcrt_arena_string(&m->arena, kcrt_last_error(), strlen(kcrt_last_error()));
    return KCRT_NO_IMAGE;
}

// ---- What a launch needs ------------------------------------------------------------------------

static kcrt_status read_attributes(kcrt_function *f) {
    kcrt_device *device = f->module->device;
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS; i++) {
        f->attributes[i] = 0;
        if (!(f->target->device_used & 1u << i)) continue;
        kcrt_status status =
            kcrt_device_attr(device, kcrt_device_symbols[i].attr, &f->attributes[i]);
        if (status)
            return kcrt_fail(
                status, "%s: function `%s` asks the device for %s, which %s does not report.",
                f->module->what, f->signature->name, kcrt_device_symbols[i].name, device->name);
    }
    return KCRT_OK;
}

static kcrt_status load_constant(kcrt_module *m, int index) {
    void **base = &m->constants[index];
    const kcrt_entry *entry = &m->package.entries[index + 1];
    if (*base || !entry->size) return KCRT_OK;
    kcrt_status status = kcrt_image_verify(m->what, &m->manifest.images[index], entry->image);
    if (!status) status = kcrt_alloc(m->device, entry->size, base);
    if (!status)
        status =
            kcrt_copy((kcrt_place){m->device, *base, 0},
                      (kcrt_place){NULL, (void *)(uintptr_t)entry->image, 0}, entry->size, NULL);
    return status;
}

// All constants of a function that is executed from its IR, in its order.
static kcrt_status load_tensors(kcrt_function *f) {
    kcrt_module *m = f->module;
    const kcrt_signature *s = f->signature;
    kcrt_status status = KCRT_OK;
    f->constants = KCRT_NEW(&m->arena, DLTensor, (size_t)s->constant_count + 1);
    if (!f->constants)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to load %s.", m->what);
    for (int i = 0; i < s->constant_count && !status; i++) {
        const kcrt_constant_use *use = &s->constants[i];
        const kcrt_constant *constant = &m->manifest.constants[use->index];
        status = load_constant(m, constant->image);
        f->constants[i] = kcrt_tensor(m->device->dl, m->constants[constant->image], use->dtype,
                                      use->rank, use->shape, NULL);
        f->constants[i].byte_offset = constant->offset;
    }
    return status;
}

static uint64_t most_shared(const kcrt_signature *s, const kcrt_step *step) {
    int64_t most = kc_expr_max_value(s->pool, step->shared.expr);
    return most > 0 ? (uint64_t)most : 0;
}

static kcrt_status resolve_step(kcrt_function *f, const kcrt_step *step, void **kernel) {
    kcrt_module *m = f->module;
    const kcrt_device_api *api = m->device->api;
    kcrt_status status = KCRT_OK;
    if (step->kind == KCRT_STEP_MEMSET && !api->memset)
        return kcrt_fail(KCRT_UNSUPPORTED, "%s: function `%s` fills memory, which %s cannot do.",
                         m->what, f->signature->name, m->device->name);
    if (step->kind != KCRT_STEP_KERNEL) return KCRT_OK;
    if (!api->kernel_get || !api->launch)
        return kcrt_fail(KCRT_UNSUPPORTED, "%s: function `%s` has kernels, which %s cannot run.",
                         m->what, f->signature->name, m->device->name);
    for (int p = 0; p < step->param_count && !status; p++)
        if (step->params[p].kind == KCRT_PARAM_CONSTANT)
            status = load_constant(m, m->manifest.constants[step->params[p].index].image);
    if (status) return status;
    return kcrt_from_device(api, api->kernel_get(m->device->handle, f->image, step->kernel,
                                                 most_shared(f->signature, step), kernel));
}

static kcrt_status resolve_kernels(kcrt_function *f) {
    kcrt_module *m = f->module;
    const kcrt_target *target = f->target;
    f->kernels = KCRT_NEW(&m->arena, void **, (size_t)target->variant_count);
    if (!f->kernels)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to load %s.", m->what);
    for (int v = 0; v < target->variant_count; v++) {
        f->kernels[v] = KCRT_NEW(&m->arena, void *, (size_t)target->variants[v].step_count);
        if (!f->kernels[v])
            return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to load %s.", m->what);
        for (int s = 0; s < target->variants[v].step_count; s++) {
            kcrt_status status = resolve_step(f, &target->variants[v].steps[s], &f->kernels[v][s]);
            if (status) return status;
        }
    }
    return KCRT_OK;
}

static kcrt_status take(kcrt_function *f, const candidate *c) {
    kcrt_device *device = f->module->device;
    f->target = c->target;
    f->image = f->module->images[c->image].handle;
    kcrt_status status;
    if (f->target) {
        status = read_attributes(f);
        if (!status) status = resolve_kernels(f);
    } else if (!device->api->launch_function) {
        status = kcrt_fail(KCRT_UNSUPPORTED, "%s does not execute functions from their IR.",
                           device->name);
    } else {
        status =
            device->api->function_check
                ? kcrt_from_device(device->api, device->api->function_check(
                                                    device->handle, f->image, f->signature->name))
                : KCRT_OK;
        if (!status) status = load_tensors(f);
    }
    f->bind = (kcrt_bind_device){device->dl, device->api->address, f->attributes};
    f->ready = !status;
    return status;
}

// ---- When nothing suits -------------------------------------------------------------------------

static kcrt_status nothing_suits(const kcrt_function *f, const candidate *list, int n) {
    const kcrt_module *m = f->module;
    char has[3000] = "", arch[128] = "?", name[128] = "?";
    size_t at = 0;
    kcrt_device_string(m->device, KCRT_ATTR_ARCH, arch, sizeof arch);
    kcrt_device_string(m->device, KCRT_ATTR_NAME, name, sizeof name);
    for (int i = 0; i < n && at < sizeof has - 1; i++) {
        const kcrt_image *image = &m->manifest.images[list[i].image];
        const char *reason = list[i].rank > 0 ? m->images[list[i].image].reason : list[i].reason;
        int length = snprintf(has + at, sizeof has - at, "%s%.40s %.40s (%.300s)", at ? ", " : "",
                              image->arch, image->role, reason ? reason : "refused");
        at += (size_t)length;
    }
    return kcrt_fail(KCRT_NO_IMAGE, "%s has no image of function `%s` for %s (%s, %s). It has: %s.",
                     m->what, f->signature->name, m->device->name, arch, name, n ? has : "none");
}

kcrt_status kcrt_function_load(kcrt_function *f) {
    if (f->ready) return KCRT_OK;
    size_t most = 1;
    for (int t = 0; t < f->signature->target_count; t++)
        most += (size_t)f->signature->targets[t].image_count;
    candidate *list = calloc(most, sizeof *list);
    if (!list)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to load %s.", f->module->what);
    int n = list_candidates(f, list);
    kcrt_status status = KCRT_NO_IMAGE;
    for (int i = 0; i < n && list[i].rank > 0 && status == KCRT_NO_IMAGE; i++) {
        status = load_image(f->module, list[i].image);
        if (status) continue;
        status = take(f, &list[i]);
        break;
    }
    if (status == KCRT_NO_IMAGE) status = nothing_suits(f, list, n);
    free(list);
    return status;
}
