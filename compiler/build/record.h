// What a worker tells its parent: a stream of records, each a tag, a size and that many bytes.
#ifndef KC_COMPILER_BUILD_RECORD_H
#define KC_COMPILER_BUILD_RECORD_H

#include "compiler/build/task.h"

typedef enum {
    KC_RECORD_STAGE = 1,   // text: what begins now
    KC_RECORD_DIAGNOSTICS, // JSON
    KC_RECORD_IMAGE,       // role, NUL, bytes
    KC_RECORD_VARIANTS,    // JSON
    KC_RECORD_EXPLAIN,     // text
    KC_RECORD_DUMP,        // int32 index, pass, NUL, text
    KC_RECORD_TIME,        // double seconds, pass
    KC_RECORD_FAULT,       // text: the worker saw a fault and is about to end
    KC_RECORD_CACHED,      // the records of a result follow as they were stored
    KC_RECORD_REFUSED,     // the input is wrong: diagnostics say why
    KC_RECORD_DONE,        // the last one of a complete result
} kc_record_tag;

typedef struct {
    uint32_t tag, reserved;
    uint64_t size;
} kc_record_head;

// Writes in full; false when the parent is gone.
bool kc_record_write(int file, kc_record_tag, const void *prefix, size_t prefix_size,
                     const void *data, size_t size);
bool kc_record_write_bytes(int file, const void *data, size_t size);
// Reads a whole stream into a result; false when it is not well formed (a record cut short at the
// end is ignored). `end` is KC_TASK_DONE or KC_TASK_REFUSED only if the stream says so, else
// KC_TASK_FAULT.
bool kc_record_read(kc_arena *, const char *data, size_t size, kc_task_result *out);

#endif
