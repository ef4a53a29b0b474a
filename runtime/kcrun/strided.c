// Between a dense host array and the strided elements of device memory.
#include <string.h>

#include "runtime/kcrun/array.h"

// A packed element is its nibble, as i4 has it: no conversion takes part.
static void move_one(const array *a, size_t i, char *memory, int64_t at, bool in) {
    char *here = array_at(a, i);
    if (!kc_dtype_is_packed(a->type)) {
        size_t bytes = (size_t)kc_dtype_bytes(a->type);
        char *there = memory + (size_t)at * bytes;
        memcpy(in ? there : here, in ? here : there, bytes);
    } else if (in) {
        kc_dtype_put_i64(KC_i4, memory, at, kc_dtype_load_i64(KC_i4, here));
    } else {
        kc_dtype_store_i64(KC_i4, here, kc_dtype_get_i64(KC_i4, memory, at));
    }
}

static void move(const array *a, const int64_t *strides, char *memory, bool in) {
    int64_t index[ARRAY_MAX_RANK] = {0}, at = 0;
    for (size_t i = 0; i < a->count; i++) {
        move_one(a, i, memory, at, in);
        for (int axis = a->rank - 1; axis >= 0; axis--) {
            at += strides[axis];
            if (++index[axis] < a->shape[axis]) break;
            at -= strides[axis] * a->shape[axis];
            index[axis] = 0;
        }
    }
}

void kcrun_array_spread(const array *a, const int64_t *strides, void *memory) {
    move(a, strides, memory, true);
}

void kcrun_array_collect(array *a, const int64_t *strides, const void *memory) {
    move(a, strides, (char *)(uintptr_t)memory, false);
}
