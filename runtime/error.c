// The last error of each thread, and the names of statuses.
//
// The buffer is plain thread-local storage: no allocation, nothing to free when a thread ends.
// Sentences longer than the buffer are cut with an ellipsis.
#include "runtime/kcrt_device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[4096];

kcrt_status kcrt_fail(kcrt_status status, const char *format, ...) {
    char text[sizeof last_error]; // arguments may point into last_error
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= (int)sizeof text) memcpy(text + sizeof text - 4, "...", 4);
    memcpy(last_error, text, strlen(text) + 1);
    return status;
}

const char *kcrt_last_error(void) {
    return last_error;
}

const char *kcrt_version(void) {
    return "0.1";
}

const char *kcrt_status_name(kcrt_status status) {
    switch (status) {
    case KCRT_OK: return "ok";
    case KCRT_INVALID_ARGUMENT: return "invalid argument";
    case KCRT_NOT_FOUND: return "not found";
    case KCRT_UNSUPPORTED: return "unsupported";
    case KCRT_NO_DEVICE: return "no device";
    case KCRT_OUT_OF_MEMORY: return "out of memory";
    case KCRT_BAD_PACKAGE: return "bad package";
    case KCRT_NO_IMAGE: return "no image";
    case KCRT_IO: return "input or output";
    case KCRT_DRIVER: return "driver";
    }
    return "unknown status";
}
