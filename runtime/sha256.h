// SHA-256 (FIPS 180-4), by which a package's images are checked before a driver sees them.
#ifndef KCRT_SHA256_H
#define KCRT_SHA256_H

#include <stddef.h>

void kcrt_sha256(const void *data, size_t size, unsigned char digest[32]);
void kcrt_sha256_hex(const void *data, size_t size, char hex[65]); // lowercase, with a NUL

#endif
