// Finding our own companion libraries: the reference and the simulators.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/builtin.h"

typedef struct {
    char text[3000]; // what was tried, for the error
    size_t used;
} trail;

static void remember(trail *t, const char *path, const char *reason) {
    if (t->used >= sizeof t->text - 1) return;
    int n = snprintf(t->text + t->used, sizeof t->text - t->used, "%s%s%s%s", t->used ? "; " : "",
                     path, reason ? ": " : "", reason ? reason : "");
    if (n > 0) t->used += (size_t)n;
}

static void *try_path(trail *t, const char *path) {
    if (access(path, F_OK)) {
        remember(t, path, NULL);
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) remember(t, path, dlerror());
    return handle;
}

// directory: of a program or library; cut in place at its last slash.
static void *try_beside(trail *t, char *directory, const char *file) {
    char path[PATH_MAX + 300];
    char *slash = strrchr(directory, '/');
    if (!slash) return NULL;
    *slash = 0;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    void *handle = try_path(t, path);
    if (handle) return handle;
    snprintf(path, sizeof path, "%s/../lib/%s", directory, file);
    return try_path(t, path);
}

void *kcrt_library_open(const char *variable, const char *file) {
    trail tried = {.used = 0};
    const char *named = variable ? getenv(variable) : NULL;
    if (named && *named) {
        void *handle = dlopen(named, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            kcrt_fail(KCRT_NO_DEVICE, "%s names a library that cannot be loaded: %s.", variable,
                      dlerror());
        return handle;
    }
    char own[PATH_MAX];
    Dl_info info;
    void *handle = NULL;
    if (dladdr((const void *)&kcrt_cuda_api, &info) && info.dli_fname &&
        realpath(info.dli_fname, own))
        handle = try_beside(&tried, own, file);
    ssize_t n = handle ? -1 : readlink("/proc/self/exe", own, sizeof own - 1);
    if (n > 0) {
        own[n] = 0;
        handle = try_beside(&tried, own, file);
    }
    if (!handle)
        kcrt_fail(KCRT_NO_DEVICE, "%s cannot be loaded%s%s; tried: %s.", file,
                  variable ? ", and it is not named by " : "", variable ? variable : "",
                  tried.used ? tried.text : "nothing");
    return handle;
}

const kcrt_device_api *kcrt_ref_load(void) {
    void *handle = kcrt_library_open("KCRT_REF", "libkcrt_ref.so");
    if (!handle) return NULL;
    kcrt_ref_device_api_fn *get;
    *(void **)&get = dlsym(handle, KCRT_REF_SYMBOL);
    const kcrt_device_api *api = get ? get() : NULL;
    if (api && api->size >= sizeof *api && api->version == KCRT_DEVICE_API_VERSION) return api;
    dlclose(handle);
    kcrt_fail(KCRT_NO_DEVICE,
              "libkcrt_ref.so was found, but it is of another version than this runtime (%s).",
              kcrt_version());
    return NULL;
}
