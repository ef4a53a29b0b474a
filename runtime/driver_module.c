// Images, kernels and launches of a driver's device.
#include <string.h>

#include "runtime/driver.h"

static bool is_refusal(const kcrt_driver *d, driver_result r) {
    const driver_result *refusal = d->vendor->refusals;
    while (*refusal && *refusal != r)
        refusal++;
    return *refusal != 0;
}

// The size is not needed: an ELF image knows it, and PTX ends with a NUL, as the package reader has
// checked.
kcrt_status kcrt_driver_module_load(void *handle, const char *role, const void *image, size_t size,
                                    void **out) {
    const kcrt_driver_device *device = handle;
    const kcrt_driver *d = device->driver;
    char log[1024] = "";
    int before;
    (void)size;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r = d->vendor->load_image
                          ? d->vendor->load_image(d, role, image, out, log, sizeof log)
                          : d->module_load(out, image);
    // The compiler's first line: the rest repeats the PTX.
    log[sizeof log - 1] = 0;
    log[strcspn(log, "\r\n")] = 0;
    status = kcrt_driver_leave(device, before, r, log[0] ? log : "the image was not accepted");
    return is_refusal(d, r) ? KCRT_NO_IMAGE : status;
}

void kcrt_driver_module_unload(void *handle, void *module) {
    const kcrt_driver_device *device = handle;
    int before;
    if (kcrt_driver_enter(device, &before)) return;
    device->driver->module_unload(module);
    device->driver->vendor->restore(device, before);
}

kcrt_status kcrt_driver_kernel_get(void *handle, void *module, const char *symbol,
                                   uint64_t max_dynamic_shared, void **out) {
    const kcrt_driver_device *device = handle;
    int before;
    (void)max_dynamic_shared;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r = device->driver->module_kernel(out, module, symbol);
    status = kcrt_driver_leave(device, before, r, symbol);
    if (r == DRIVER_NOT_FOUND)
        return kcrt_fail(KCRT_BAD_PACKAGE,
                         "The image has no kernel `%s`, which the manifest launches.", symbol);
    return status;
}

void kcrt_driver_pack(kcrt_driver_arguments *packed, const kcrt_kernel_arg *args, int n) {
    for (int i = 0; i < n; i++) {
        packed->values[i] =
            args[i].is_memory ? kcrt_driver_address(args[i].base, args[i].value) : args[i].value;
        packed->parameters[i] = &packed->values[i];
    }
}

kcrt_status kcrt_driver_launch(void *handle, void *kernel, const kcrt_launch_shape *s,
                               const kcrt_kernel_arg *args, int n, void *stream) {
    const kcrt_driver_device *device = handle;
    kcrt_driver_arguments packed;
    int before;
    kcrt_driver_pack(&packed, args, n);
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r =
        device->driver->launch(kernel, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
                               s->block[2], s->dynamic_shared, stream, packed.parameters, NULL);
    return kcrt_driver_leave(device, before, r, "The kernel cannot be launched");
}
