// Loading a vendor's driver, its errors, and its current device.
//
// A simulator's soname is the vendor's file name, so that any program runs on it. Once it is
// loaded, dlopen of that name would find it; therefore the real driver is looked for first, and its
// absence remembered.
#include "runtime/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/builtin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *vendor_open(kcrt_driver_vendor *v) {
    for (int i = 0; v->libraries[i] && !v->library && !v->library_absent; i++)
        v->library = dlopen(v->libraries[i], RTLD_NOW | RTLD_LOCAL);
    return v->library;
}

static kcrt_status open_library(kcrt_driver *d) {
    kcrt_driver_vendor *v = d->vendor;
    if (!d->simulated) {
        d->library = vendor_open(v);
        return d->library ? KCRT_OK : kcrt_fail(KCRT_NO_DEVICE, "%s", v->absent);
    }
    if (!vendor_open(v)) v->library_absent = true;
    d->library = kcrt_library_open(v->simulator_variable, v->simulator_file);
    return d->library ? KCRT_OK : KCRT_NO_DEVICE; // the sentence is there
}

static kcrt_status find_symbols(kcrt_driver *d) {
    const char *missing = NULL;
    for (int i = 0; i < d->vendor->symbol_count; i++) {
        const kcrt_driver_symbol *s = &d->vendor->symbols[i];
        void **member = (void **)((char *)d + s->member);
        *member = dlsym(d->library, s->name);
        if (s->needed && !*member) missing = s->name;
    }
    *(void **)&d->report_json = dlsym(d->library, "kcsim_report_json");
    *(void **)&d->fault_text = dlsym(d->library, "kcsim_fault_text");
    *(void **)&d->set_seed = dlsym(d->library, "kcsim_set_seed");
    *(void **)&d->device_for_arch = dlsym(d->library, "kcsim_device_for_arch");
    if (!missing) return KCRT_OK;
    return kcrt_fail(KCRT_NO_DEVICE, "The driver of `%s` lacks %s: it is too old, or not %s.",
                     d->kind, missing, d->vendor->interface);
}

static kcrt_status start(const kcrt_driver *d) {
    driver_result r = d->init(0);
    if (r == d->vendor->no_device[0] || r == d->vendor->no_device[1])
        return kcrt_fail(KCRT_NO_DEVICE, "The driver of `%s` has no device.", d->kind);
    return kcrt_driver_check(d, NULL, r, "The driver cannot be started");
}

kcrt_status kcrt_driver_load(kcrt_driver *d) {
    pthread_mutex_lock(&lock);
    kcrt_status status = KCRT_OK;
    if (!d->ready) {
        status = open_library(d);
        if (!status) status = find_symbols(d);
        if (!status) status = start(d);
        d->ready = !status;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

kcrt_status kcrt_driver_check(const kcrt_driver *d, const kcrt_driver_device *device,
                              driver_result r, const char *what) {
    if (r == DRIVER_SUCCESS) return KCRT_OK;
    const char *name = NULL, *text = NULL;
    d->vendor->explain(d, r, &name, &text);
    char *fault = device && d->fault_text ? d->fault_text(device->ordinal) : NULL;
    kcrt_status status = r == DRIVER_OUT_OF_MEMORY ? KCRT_OUT_OF_MEMORY : KCRT_DRIVER;
    kcrt_fail(status, "%s: the driver of `%s` says %s (%s).%s%s", what, d->kind,
              name ? name : "an unknown error", text ? text : "no text", fault ? " " : "",
              fault ? fault : "");
    free(fault);
    return status;
}

kcrt_status kcrt_driver_enter(const kcrt_driver_device *device, int *before) {
    return kcrt_driver_check(device->driver, device, device->driver->vendor->enter(device, before),
                             "The device cannot be made current");
}

kcrt_status kcrt_driver_leave(const kcrt_driver_device *device, int before, driver_result r,
                              const char *what) {
    kcrt_status status = kcrt_driver_check(device->driver, device, r, what);
    device->driver->vendor->restore(device, before);
    return status;
}
