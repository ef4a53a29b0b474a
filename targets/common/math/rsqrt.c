// 1 / sqrt(x): both operations are correctly rounded on every target, and give the special cases as
// they should be (0 to infinity with its sign, infinity to 0, below 0 to NaN).

#include "targets/common/math/kcmath.h"

float kc_math_rsqrt_f32(float x) {
    return 1.0f / __builtin_sqrtf(x);
}

double kc_math_rsqrt_f64(double x) {
    return 1.0 / __builtin_sqrt(x);
}
