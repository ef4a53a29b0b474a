/* Small random integers in every type of an element of matrices. */
#ifndef KCSIM_NUMBERS_H
#define KCSIM_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef enum code { F16, BF16, TF32, S8, U8, S4, U4, E4M3, E5M2, E3M2, E2M3, E2M1 } code;
static const struct {
    const char *name;
    int bits, exponents, fractions; /* exponents 0: integers */
    bool negative;
} codes[] = {
    {"f16", 16, 5, 10, true}, {"bf16", 16, 8, 7, true}, {"tf32", 32, 8, 23, true}, {"s8", 8, 0, 0, true}, {"u8", 8, 0, 0, false},
    {"s4", 4, 0, 0, true},    {"u4", 4, 0, 0, false},   {"e4m3", 8, 4, 3, true},   {"e5m2", 8, 5, 2, true}, {"e3m2", 6, 3, 2, true},
    {"e2m3", 6, 2, 3, true},  {"e2m1", 4, 2, 1, true},
};

static uint32_t seed = 1;
static inline uint32_t any(uint32_t limit) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % limit;
}

/* 0, 1, 2, 3 and their negatives are numbers of every type. */
static inline uint32_t encode(code type, int value) {
    int exponents = codes[type].exponents, fractions = codes[type].fractions, size = abs(value);
    if (!exponents) return (uint32_t)value & (codes[type].bits == 8 ? 0xff : 0xf);
    uint32_t sign = value < 0 ? 1u << (exponents + fractions) : 0, bias = (1u << (exponents - 1)) - 1;
    if (!size) return sign;
    return sign | (bias + (size > 1)) << fractions | (size == 3 ? 1u << (fractions - 1) : 0);
}

static inline int any_value(code type) {
    int size = (int)any(4);
    return codes[type].negative && any(2) ? -size : size;
}

static inline double half_of(uint32_t bits) {
    uint32_t fraction = bits & 0x3ff;
    int exponent = bits >> 10 & 31;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

#endif
