// The arguments of a prepared kcrun task in device memory, placed as the caller wishes, and back.
#ifndef KC_COMPILER_VERIFY_PLACE_H
#define KC_COMPILER_VERIFY_PLACE_H

#include "runtime/kcrun/task.h"

typedef struct {
    bool misaligned;    // first elements have no alignment beyond the element's own
    const int *aliases; // by argument: the input whose memory an output takes over if it can, or
                        // -1; NULL: none
} kc_place_wishes;

typedef struct {
    void *memory[KCRT_MAX_ARGS];
    size_t offset[KCRT_MAX_ARGS];
    DLTensor tensors[KCRT_MAX_ARGS];
    void *pointers[KCRT_MAX_ARGS + KCRT_MAX_NAMES]; // what kcrt_launch wants
    int n;
} kc_placement;

enum { KC_PLACE_ALIGNMENT = 256 }; // of first elements that are not misaligned

// Shapes, strides and spans of all arguments from the task's symbol values, and arrays for them:
// inputs are to be filled. False: *error is a sentence.
bool kc_place_prepare(task *, const char **error);
// kc_place_release also after a failure.
bool kc_place_all(task *, const kc_place_wishes *, kc_placement *, const char **error);
bool kc_place_fetch(task *, const kc_placement *, const char **error); // outputs into their arrays
void kc_place_release(const task *, kc_placement *);

#endif
