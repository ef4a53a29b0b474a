// The calls that both vendors have, scripted: one device, its memory is the host's, streams and
// events are always done. For tests of the `cuda` and `hip` devices and for the driver that does
// nothing. The includer says what each needs:
//     static driver_result must_be_current(void);   checks that the device is current
// and defines device_count, device_attribute, module_load and launch.
#ifndef SCRIPTED_DRIVER_H
#define SCRIPTED_DRIVER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver_calls.h"

static driver_result must_be_current(void);

static char scripted; // its address stands for what drivers make

static driver_result init(unsigned flags) {
    return flags;
}
static driver_result driver_version(int *version) {
    *version = 13000;
    return DRIVER_SUCCESS;
}
static driver_result device_name(char *name, int size, int device) {
    snprintf(name, (size_t)size, "Scripted %d", device);
    return DRIVER_SUCCESS;
}
static driver_result device_memory(size_t *bytes, int device) {
    *bytes = 1000000u + (unsigned)device;
    return DRIVER_SUCCESS;
}
static driver_result device_sync(void) {
    return must_be_current();
}
static driver_result memory_info(size_t *available, size_t *total) {
    *available = 1000;
    *total = 2000;
    return must_be_current();
}
static driver_result memory_alloc(driver_memory *base, size_t bytes) {
    if (bytes > 1u << 30) return DRIVER_OUT_OF_MEMORY;
    *base = aligned_alloc(256, (bytes + 255) & ~(size_t)255);
    return must_be_current();
}
static driver_result memory_free(driver_memory base) {
    free(base);
    return must_be_current();
}
static driver_result copy_in(driver_memory to, driver_host from, size_t bytes, driver_stream s) {
    (void)s;
    memcpy(to, from, bytes);
    return must_be_current();
}
static driver_result copy_out(void *to, driver_memory from, size_t bytes, driver_stream s) {
    return copy_in(to, from, bytes, s);
}
static driver_result copy_within(driver_memory to, driver_memory from, size_t bytes,
                                 driver_stream s) {
    return copy_in(to, from, bytes, s);
}
static driver_result fill(driver_memory base, unsigned char value, size_t bytes, driver_stream s) {
    (void)s;
    memset(base, value, bytes);
    return must_be_current();
}
static driver_result stream_create(driver_stream *s, unsigned flags) {
    *s = &scripted;
    return flags == DRIVER_STREAM_NON_BLOCKING ? must_be_current() : 1;
}
static driver_result stream_destroy(driver_stream s) {
    (void)s;
    return must_be_current();
}
static driver_result stream_sync(driver_stream s) {
    (void)s;
    return must_be_current();
}
static driver_result stream_wait(driver_stream s, driver_event e, unsigned flags) {
    (void)s, (void)e;
    return flags;
}
static driver_result stream_capturing(driver_stream s, driver_capture *capture) {
    (void)s;
    *capture = DRIVER_CAPTURE_NONE;
    return must_be_current();
}
static driver_result event_create(driver_event *e, unsigned flags) {
    *e = &scripted;
    return flags == DRIVER_EVENT_DISABLE_TIMING ? must_be_current() : 1;
}
static driver_result event_record(driver_event e, driver_stream s) {
    (void)e, (void)s;
    return must_be_current();
}
static driver_result event_destroy(driver_event e) {
    (void)e;
    return must_be_current();
}
static driver_result module_unload(driver_module m) {
    (void)m;
    return must_be_current();
}
static driver_result module_kernel(driver_kernel *k, driver_module m, const char *name) {
    *k = m;
    return strcmp(name, "gone") ? must_be_current() : DRIVER_NOT_FOUND;
}

#endif
