// Small questions about whole numbers that several passes ask.
#ifndef KC_PASSES_INTEGERS_H
#define KC_PASSES_INTEGERS_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t divided(int64_t a, int64_t b) { // up
    return (a + b - 1) / b;
}

static inline bool is_power_of_two(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

// The largest that divides n.
static inline int64_t power_of_two_in(int64_t n) {
    return n & -n;
}

// The least that is no less than n, up to 2^40.
static inline int64_t power_of_two_at_least(int64_t n) {
    int64_t p = 1;
    while (p < n && p < (INT64_C(1) << 40))
        p *= 2;
    return p;
}

#endif
