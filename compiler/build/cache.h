// Results of tasks on disk, addressed by what they depend on: the function's IR, the target, the
// options and the tools. Files are written atomically and carry a hash of their own: several kc may
// share a folder, and a damaged file is a miss.
#ifndef KC_COMPILER_BUILD_CACHE_H
#define KC_COMPILER_BUILD_CACHE_H

#include "compiler/build/record.h"

typedef struct kc_cache kc_cache;

// Makes the folder if need be. False: *why says what is wrong with it.
bool kc_cache_usable(const char *folder, const char **why);
// The module holds what the task compiles and its target. NULL when the folder cannot be made or
// used: then nothing is cached, which is no error.
kc_cache *kc_cache_open(kc_arena *, const kc_module *, const kc_task_options *, const kc_task *);
// Sends a stored result to `out`; false: there is none.
bool kc_cache_replay(kc_cache *, int out);
void kc_cache_add(kc_cache *, kc_record_tag, const void *prefix, size_t prefix_size,
                  const void *data, size_t size);
void kc_cache_store(kc_cache *);

#endif
