// conv2d, unfolded: for one image and group, the patches of x that the kernel meets are the columns
// of a matrix, and the result is the product of w with it. Errors are those of a matrix product;
// padding is a factor of 0, so an infinite weight over it makes NaN.
#include "ir/interp_machine.h"

#include <string.h>

typedef struct {
    kc_interp *m;
    const kc_op *op;
    const kc_interp_value *x, *w;
    int64_t groups, step[2], low[2], dilation[2], extent[2]; // extent: of the result
    kc_interp_value *patches;                                // [channels, R, S, P, Q]
} unfolding;

static int64_t number(const unfolding *u, kc_attr_key key, int which) {
    return kc_interp_eval(u->m, u->op, kc_attr_get(u->op, key)->exprs[which]);
}

static void read_window(unfolding *u, const kc_interp_value *r) {
    for (int i = 0; i < 2; i++) {
        u->step[i] = kc_attr_get(u->op, KC_ATTR_STEPS)->integers[i];
        u->dilation[i] = kc_attr_get(u->op, KC_ATTR_DILATION)->integers[i];
        u->low[i] = number(u, KC_ATTR_LOW, i);
        u->extent[i] = r->shape[2 + i];
        if (u->low[i] < 0 || number(u, KC_ATTR_HIGH, i) < 0)
            kc_interp_fail(u->m, u->op, "conv2d: negative padding");
    }
    u->groups = kc_interp_eval(u->m, u->op, kc_attr_expr(u->op, KC_ATTR_GROUPS));
    if (u->groups < 1 || u->x->shape[1] != u->groups * u->w->shape[1] || u->w->shape[0] % u->groups)
        kc_interp_fail(u->m, u->op, "conv2d: %lld groups of x's %lld and w's %lld channels",
                       (long long)u->groups, (long long)u->x->shape[1], (long long)u->w->shape[0]);
}

// One element of the patches, or 0 where the kernel hangs over the edge.
static void take(unfolding *u, int64_t to, int64_t plane, int64_t h, int64_t w) {
    int64_t rows = u->x->shape[2], columns = u->x->shape[3],
            from = (plane * rows + h) * columns + w;
    bool inside = h >= 0 && h < rows && w >= 0 && w < columns;
    if (u->patches->f) u->patches->f[to] = inside ? u->x->f[from] : 0;
    else u->patches->i[to] = inside ? u->x->i[from] : 0;
    if (u->patches->e) u->patches->e[to] = inside ? u->x->e[from] : 0;
}

static void unfold(unfolding *u, int64_t image, int64_t group) {
    int64_t channels = u->w->shape[1], first = image * u->x->shape[1] + group * channels, to = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t r = 0; r < u->w->shape[2]; r++)
            for (int64_t s = 0; s < u->w->shape[3]; s++)
                for (int64_t p = 0; p < u->extent[0]; p++)
                    for (int64_t q = 0; q < u->extent[1]; q++)
                        take(u, to++, first + c, p * u->step[0] - u->low[0] + r * u->dilation[0],
                             q * u->step[1] - u->low[1] + s * u->dilation[1]);
}

kc_interp_value *kc_interp_conv2d(kc_interp *m, const kc_op *op) {
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    unfolding u = {
        .m = m, .op = op, .x = kc_interp_operand(m, op, 0), .w = kc_interp_operand(m, op, 1)};
    read_window(&u, r);
    if (r->n == 0) return r;
    const int64_t *kernel = u.w->shape;
    int64_t rows = kernel[0] / u.groups, columns = u.extent[0] * u.extent[1],
            depth = kernel[1] * kernel[2] * kernel[3];
    u.patches = kc_interp_make(m, op, u.x->elem, 2, (const int64_t[]){depth, columns});
    if (u.x->e) kc_interp_add_bounds(m, op, u.patches);
    kc_interp_product p =
        kc_interp_product_begin(m, op, r, u.w, u.x, (const int64_t[]){rows, columns, depth});
    for (int64_t batch = 0; batch < r->shape[0] * u.groups; batch++) {
        unfold(&u, batch / u.groups, batch % u.groups);
        kc_interp_multiply(&p, batch,
                           (kc_interp_matrix){u.w, batch % u.groups * rows * depth, depth, 1},
                           (kc_interp_matrix){u.patches, 0, columns, 1});
    }
    kc_interp_product_end(&p);
    kc_interp_drop(m, u.patches);
    return r;
}
