// What tests of layouts start from: a text, and numbers that KC_SEED repeats.
#ifndef KC_TESTS_IR_LAYOUT_TEST_H
#define KC_TESTS_IR_LAYOUT_TEST_H

#include <string.h>

#include "ir/layout.h"

static uint64_t seed, round_seed;

static uint32_t pick(uint32_t low, uint32_t high) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return low + (uint32_t)(seed % (high - low + 1));
}

static kc_layout parse(const char *text) {
    kc_layout l;
    const char *error;
    size_t at;
    if (!kc_layout_parse(&l, text, strlen(text), &error, &at))
        fail_msg("%s: %s at %zu", text, error, at);
    return l;
}

#endif
