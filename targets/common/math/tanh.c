// tanh. Below 0.55 an odd polynomial; above, 1 - 2 / (e^2x + 1), where the error of the exponential
// counts for less than half. Both are computed for |x| and one is selected; the sign comes back at
// the end, so -0 stays -0.

#include "targets/common/math/exp_core.h"

float kc_math_tanh_f32(float x) {
    float a = abs_f32(x), z = a * a;
    float p = -0x1.9a79bap-8f;
    p = fma_f32(p, z, 0x1.5918a4p-6f);
    p = fma_f32(p, z, -0x1.b92358p-5f);
    p = fma_f32(p, z, 0x1.110dp-3f);
    p = fma_f32(p, z, -0x1.55554ap-2f);
    float small = fma_f32(p * z, a, a);
    float twice = a > 10.0f ? 20.0f : a + a; // from 9.02 on the result is 1
    float sum = fma_f32(twice, LOG2E_F32, MAGIC_ONE_F32);
    float r = reduce_exp_f32(twice, sum - MAGIC_ONE_F32);
    float large = 1.0f - 2.0f / fma_f32(exp_poly_f32(r), power_one_f32(sum), 1.0f);
    return with_sign_f32(a < 0.55f ? small : large, x);
}

double kc_math_tanh_f64(double x) {
    double a = abs_f64(x), z = a * a;
    double p = -0x1.4709c2bd555dbp-16;
    p = fma_f64(p, z, 0x1.5d71385dfab3ap-14);
    p = fma_f64(p, z, -0x1.e96e9aaa7d05fp-13);
    p = fma_f64(p, z, 0x1.34838ed8def4bp-11);
    p = fma_f64(p, z, -0x1.7d8fcf79b25dep-10);
    p = fma_f64(p, z, 0x1.d6d29b3a9be7ep-9);
    p = fma_f64(p, z, -0x1.226e2f11e98b2p-7);
    p = fma_f64(p, z, 0x1.664f4859598d1p-6);
    p = fma_f64(p, z, -0x1.ba1ba1b97d0ep-5);
    p = fma_f64(p, z, 0x1.1111111110794p-3);
    p = fma_f64(p, z, -0x1.555555555554fp-2);
    double small = fma_f64(p * z, a, a);
    double twice = a > 20.0 ? 40.0 : a + a; // from 19.07 on the result is 1
    double sum = fma_f64(twice, LOG2E_F64, MAGIC_ONE_F64);
    double r = reduce_exp_f64(twice, sum - MAGIC_ONE_F64);
    double large = 1.0 - 2.0 / fma_f64(exp_poly_f64(r), power_one_f64(sum), 1.0);
    return with_sign_f64(a < 0.55 ? small : large, x);
}
