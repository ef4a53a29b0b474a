// exp and exp2: see exp_core.h for the method.

#include "targets/common/math/exp_core.h"

float kc_math_exp_f32(float x) {
    float sum = fma_f32(x, LOG2E_F32, MAGIC_TWO_F32);
    float r = reduce_exp_f32(x, sum - MAGIC_TWO_F32);
    return saturate_exp_f32(scale_two_f32(exp_poly_f32(r), sum), x, 89.0f, -104.0f);
}

float kc_math_exp2_f32(float x) {
    float sum = x + MAGIC_TWO_F32;
    float f = x - (sum - MAGIC_TWO_F32);
    return saturate_exp_f32(scale_two_f32(exp2_poly_f32(f), sum), x, 128.5f, -150.5f);
}

double kc_math_exp_f64(double x) {
    double sum = fma_f64(x, LOG2E_F64, MAGIC_TWO_F64);
    double r = reduce_exp_f64(x, sum - MAGIC_TWO_F64);
    return saturate_exp_f64(scale_two_f64(exp_poly_f64(r), sum), x, 710.0, -746.0);
}

double kc_math_exp2_f64(double x) {
    double sum = x + MAGIC_TWO_F64;
    double f = x - (sum - MAGIC_TWO_F64);
    return saturate_exp_f64(scale_two_f64(exp2_poly_f64(f), sum), x, 1024.5, -1075.5);
}
