// The devices that libkcrt brings along.
#ifndef KCRT_BUILTIN_H
#define KCRT_BUILTIN_H

#include "runtime/kcrt_device.h"

extern const kcrt_device_api kcrt_cuda_api, kcrt_cuda_sim_api, kcrt_hip_api, kcrt_hip_sim_api;

// The table of libkcrt_ref.so; NULL, with an error, when it cannot be found.
const kcrt_device_api *kcrt_ref_load(void);

// A library of ours: $variable when set (may be NULL), else `file` beside this library or program,
// or in ../lib of either. NULL, with an error that lists where it was looked for. RTLD_LOCAL.
void *kcrt_library_open(const char *variable, const char *file);

#endif
