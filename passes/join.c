// What the cost model is asked: a product whose tiles hold what is reduced together, in parts or
// whole, against one whose tiles are as it likes them and a kernel that reads it.
#include "passes/join.h"
#include "passes/cost.h"
#include "passes/integers.h"
#include "passes/schedule.h"

typedef struct {
    kc_cost_problem problem;
    kc_cost_choice wish;
    int64_t whole[2]; // 0: any
} question;

kc_join kc_join_of(kc_op *scope, kc_op *product) {
    kc_join join = {.scope = scope, .product = product};
    const kc_type *type = &kc_result(product, 0)->type;
    for (int i = 0; i < 2; i++)
        join.extent[i] = type->shape[type->rank - 2 + i];
    return join;
}

// Parts are a batch of products; a tile holds one.
static void cut(question *q, kc_expr_pool *pool, const kc_join *j, int i) {
    kc_cost_problem *p = &q->problem;
    int64_t part = kc_expr_max_value(pool, j->part[i]), *extent = i ? &p->n : &p->m;
    p->batch *= divided(*extent, part);
    *extent = part;
    p->cover[i] = power_of_two_at_least(part);
}

static question ask(kc_pass_context *pass, const kc_join *j) {
    kc_expr_pool *pool = kc_op_pool(j->product);
    kc_op *entry = kc_schedule_entry(pass->target, pass->scratch, j->scope, j->product);
    question q = {.problem = kc_cost_of_product(pass->target, pool, j->product)};
    if (entry && kc_attr_get(entry, KC_ATTR_UNIT))
        q.problem.unit = kc_attr_string(entry, KC_ATTR_UNIT, "");
    for (int i = 0; i < 2; i++)
        if (j->part[i]) cut(&q, pool, j, i);
    if (entry) q.wish = kc_cost_wish(entry, &q.problem);
    q.problem.held = 1 + j->held;
    return q;
}

// False: there is no tile that holds what is reduced together.
static bool find_whole(question *q, kc_expr_pool *pool, const kc_join *j) {
    for (int i = 0; i < 2; i++) {
        if (!j->reduced[i]) continue;
        int64_t extent = kc_expr_max_value(pool, j->part[i] ? j->part[i] : j->extent[i]);
        q->whole[i] = kc_cost_whole_tile(&q->problem, i, extent);
        if (q->whole[i] == 0) return false;
    }
    return true;
}

bool kc_join_pays(kc_pass_context *pass, const kc_join *j) {
    kc_expr_pool *pool = kc_op_pool(j->product);
    question q = ask(pass, j);
    return find_whole(&q, pool, j) && kc_cost_joins(pass->target, &q.problem, &q.wish, q.whole);
}

int64_t kc_join_tile(kc_pass_context *pass, const kc_join *j, int i) {
    question q = ask(pass, j);
    kc_cost_plan best;
    if (j->reduced[1 - i]) {
        kc_join other = *j;
        other.reduced[i] = false;
        if (!find_whole(&q, kc_op_pool(j->product), &other)) return 0;
        q.wish.tile[1 - i] = q.whole[1 - i];
    }
    return kc_cost_rank(pass->target, &q.problem, &q.wish, &best, 1) ? best.choice.tile[i] : 0;
}
