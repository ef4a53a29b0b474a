// A driver's devices: how many, which one a name means, and what it says about itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver.h"

static kcrt_status count(const kcrt_driver *d, int *out) {
    driver_result r = d->device_count(out);
    if (r != d->vendor->no_device[0] && r != d->vendor->no_device[1])
        return kcrt_driver_check(d, NULL, r, "Devices cannot be counted");
    *out = 0;
    return KCRT_OK;
}

kcrt_status kcrt_driver_count(void *user, int *out) {
    kcrt_driver *d = user;
    kcrt_status status = kcrt_driver_load(d);
    if (status == KCRT_NO_DEVICE) return KCRT_OK;
    return status ? status : count(d, out);
}

// ---- Which one ----------------------------------------------------------------------------------

static bool is_number(const char *text, int *out) {
    char *end;
    long value = strtol(text, &end, 10);
    *out = value >= 0 && value < 4096 ? (int)value : -1;
    return *text >= '0' && *text <= '9' && !*end;
}

// A simulator makes a device of any architecture it knows; on another driver the first of that
// architecture is taken.
static kcrt_status find_arch(const kcrt_driver *d, const char *wanted, int devices, int *ordinal) {
    const kcrt_driver_vendor *v = d->vendor;
    char arch[256];
    if (strncmp(wanted, v->arch_prefix, strlen(v->arch_prefix)))
        return kcrt_fail(KCRT_NOT_FOUND,
                         "`%s:%s` is not a device: give a number or an architecture such as %s.",
                         d->kind, wanted, v->arch_example);
    if (d->device_for_arch) {
        *ordinal = d->device_for_arch(wanted);
        return *ordinal >= 0
                   ? KCRT_OK
                   : kcrt_fail(KCRT_NOT_FOUND, "The simulator of `%s` knows no architecture `%s`.",
                               d->kind, wanted);
    }
    for (*ordinal = 0; *ordinal < devices; ++*ordinal) {
        kcrt_status status = v->read_arch(d, *ordinal, arch);
        if (status) return status;
        if (v->same_arch(arch, wanted)) return KCRT_OK;
    }
    return kcrt_fail(KCRT_NO_DEVICE,
                     "There is no `%s` device `%s`: give a number or an architecture such as %s.",
                     d->kind, wanted, v->arch_example);
}

static kcrt_status find_ordinal(const kcrt_driver *d, const char *which, int *ordinal) {
    int devices = 0;
    kcrt_status status = count(d, &devices);
    *ordinal = 0;
    if (status) return status;
    if (which && *which && !is_number(which, ordinal)) return find_arch(d, which, devices, ordinal);
    if (*ordinal >= 0 && *ordinal < devices) return KCRT_OK;
    return kcrt_fail(KCRT_NO_DEVICE, "There is no device %s:%s; the driver has %d.", d->kind,
                     which && *which ? which : "0", devices);
}

kcrt_status kcrt_driver_open(kcrt_driver *d, const char *which, int *ordinal, size_t bytes,
                             void **out) {
    kcrt_status status = kcrt_driver_load(d);
    if (!status) status = find_ordinal(d, which, ordinal);
    if (status) return status;
    kcrt_driver_device *device = calloc(1, bytes);
    if (!device) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to open a device.");
    device->driver = d;
    device->ordinal = device->number = *ordinal;
    status = d->vendor->read_arch(d, *ordinal, device->arch);
    if (!status) *out = device;
    else free(device);
    return status;
}

// ---- Attributes ---------------------------------------------------------------------------------

static kcrt_status available_memory(const kcrt_driver_device *device, int64_t *out) {
    size_t available = 0, total = 0;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    status = kcrt_driver_leave(device, before, device->driver->memory_info(&available, &total),
                               "The available memory cannot be read");
    *out = (int64_t)available;
    return status;
}

static kcrt_status version(const kcrt_driver_device *device, kcrt_attr which, int64_t *out) {
    const kcrt_driver *d = device->driver;
    int value = 0;
    driver_result r = which == KCRT_ATTR_API_VERSION && d->vendor->api_version
                          ? d->vendor->api_version(d, &value)
                          : d->driver_version(&value);
    *out = value;
    return kcrt_driver_check(d, device, r, "The driver's version cannot be read");
}

static kcrt_status total_memory(const kcrt_driver_device *device, int64_t *out) {
    size_t bytes = 0;
    driver_result r = device->driver->device_memory(&bytes, device->number);
    *out = (int64_t)bytes;
    return kcrt_driver_check(device->driver, device, r, "The memory size cannot be read");
}

static kcrt_status number(const kcrt_driver_device *device, kcrt_attr which, int64_t *out) {
    const kcrt_driver *d = device->driver;
    const kcrt_driver_attribute *attributes = d->vendor->attributes;
    int value = 0;
    for (int i = 0; i < d->vendor->attribute_count; i++) {
        if (attributes[i].attr != which) continue;
        if (d->device_attribute(&value, (driver_attribute)attributes[i].driver, device->number))
            break;
        *out = value;
        return KCRT_OK;
    }
    return kcrt_fail(KCRT_UNSUPPORTED, "A `%s` device does not report attribute %d.", d->kind,
                     (int)which);
}

kcrt_status kcrt_driver_attr(void *handle, kcrt_attr which, int64_t *out) {
    switch (which) {
    case KCRT_ATTR_API_VERSION:
    case KCRT_ATTR_DRIVER_VERSION: return version(handle, which, out);
    case KCRT_ATTR_TOTAL_MEMORY: return total_memory(handle, out);
    case KCRT_ATTR_AVAILABLE_MEMORY: return available_memory(handle, out);
    default: return number(handle, which, out);
    }
}

kcrt_status kcrt_driver_string(void *handle, kcrt_attr which, char *buf, size_t size) {
    const kcrt_driver_device *device = handle;
    char name[256] = "";
    if (which == KCRT_ATTR_ARCH) {
        snprintf(buf, size, "%s", device->arch);
        return KCRT_OK;
    }
    driver_result r = device->driver->device_name(name, sizeof name, device->number);
    name[sizeof name - 1] = 0;
    snprintf(buf, size, "%s", name);
    return kcrt_driver_check(device->driver, device, r, "The device's name cannot be read");
}

// ---- Simulators ---------------------------------------------------------------------------------

kcrt_status kcrt_driver_set_seed(void *handle, uint64_t seed) {
    const kcrt_driver *d = ((kcrt_driver_device *)handle)->driver;
    if (!d->set_seed)
        return kcrt_fail(KCRT_UNSUPPORTED, "`%s` is not a simulator with a seed.", d->kind);
    return d->set_seed(seed) == 0
               ? KCRT_OK
               : kcrt_fail(KCRT_UNSUPPORTED, "The simulator of `%s` does not take a seed now.",
                           d->kind);
}

kcrt_status kcrt_driver_report(void *handle, char **json) {
    const kcrt_driver_device *device = handle;
    const kcrt_driver *d = device->driver;
    if (!d->report_json)
        return kcrt_fail(KCRT_UNSUPPORTED, "`%s` is not a simulator: it counts nothing.", d->kind);
    *json = d->report_json(device->ordinal);
    return *json ? KCRT_OK
                 : kcrt_fail(KCRT_DRIVER, "The simulator of `%s` gave no report.", d->kind);
}
