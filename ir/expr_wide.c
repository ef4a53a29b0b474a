// Arithmetic on kc_wide. Where both operands have 64 bits, and most have, the machine's own
// division is used: that of 128 bits is a library call.
#include "ir/expr_internal.h"

kc_wide kc_wide_floor_div(kc_wide a, kc_wide b) {
    if (kc_wide_fits(a) && kc_wide_fits(b) && b != -1) {
        int64_t x = (int64_t)a, y = (int64_t)b, q = x / y;
        return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
    }
    kc_wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

kc_wide kc_wide_floor_mod(kc_wide a, kc_wide b) {
    if (kc_wide_fits(a) && kc_wide_fits(b) && b != -1) {
        int64_t r = (int64_t)a % (int64_t)b;
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    kc_wide r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

bool kc_wide_add(kc_wide a, kc_wide b, kc_wide *out) {
    return !__builtin_add_overflow(a, b, out) && *out >= -KC_WIDE_MOST;
}

// Not the builtin: clang's needs compiler-rt at 128
// bits.
bool kc_wide_multiply(kc_wide a, kc_wide b, kc_wide *out) {
    if (!(kc_wide_fits(a) && kc_wide_fits(b)) && a != 0 &&
        kc_wide_magnitude(b) > KC_WIDE_MOST / kc_wide_magnitude(a))
        return false;
    *out = a * b;
    return true;
}

kc_wide kc_wide_gcd(kc_wide a, kc_wide b) {
    a = kc_wide_magnitude(a), b = kc_wide_magnitude(b);
    while (b != 0) {
        kc_wide r = a % b;
        a = b, b = r;
    }
    return a;
}
