// Fields of binary files, little endian, whatever the builder's own byte order.
#ifndef KC_COMPILER_PACKAGE_BYTES_H
#define KC_COMPILER_PACKAGE_BYTES_H

#include <stdint.h>
#include <stdio.h>

static inline void kc_bytes_number(FILE *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        fputc((int)(value >> 8 * i & 0xFF), out);
}

static inline void kc_bytes_zeros(FILE *out, uint64_t n) {
    while (n--)
        fputc(0, out);
}

#endif
