// How the result type of an elementwise op follows from its operands: one function a rule of the op
// table.
#include "ir/internal.h"

#include <stdarg.h>

bool kc_domain_accepts(kc_domain domain, kc_dtype type) {
    if (domain == KC_DOMAIN_NONE) return true;
    if (type < 0 || type >= KC_DTYPE_COUNT) return false;
    bool is_float = kc_dtype_is_float(type), is_integer = kc_dtype_is_integer(type);
    bool is_real = type == KC_f32 || type == KC_f64;
    switch (domain) {
    case KC_DOMAIN_ANY: return true;
    case KC_DOMAIN_REAL: return is_real;
    case KC_DOMAIN_FLOAT: return is_float;
    case KC_DOMAIN_NUMBER: return is_real || is_integer;
    case KC_DOMAIN_ORDERED: return true;
    case KC_DOMAIN_SIGNED: return type != KC_f8e8m0;
    case KC_DOMAIN_INTEGER: return is_integer;
    case KC_DOMAIN_BOOL: return type == KC_bool || is_integer;
    case KC_DOMAIN_NONE: return true;
    }
    return false;
}

const char *kc_domain_text(kc_domain domain) {
    static const char *const texts[] = {
        [KC_DOMAIN_ANY] = "any element type",
        [KC_DOMAIN_REAL] = "f32 or f64",
        [KC_DOMAIN_FLOAT] = "a float type",
        [KC_DOMAIN_NUMBER] = "f32, f64 or an integer type",
        [KC_DOMAIN_ORDERED] = "a float, integer or bool type",
        [KC_DOMAIN_SIGNED] = "a type other than f8e8m0, which has no sign",
        [KC_DOMAIN_INTEGER] = "an integer type",
        [KC_DOMAIN_BOOL] = "bool or an integer type",
        [KC_DOMAIN_NONE] = "anything",
    };
    return texts[domain];
}

// Extents on which tile operands meet: equal or 1. False: they do not. Rank 0 fits everything.
static bool tile_broadcast(kc_type *into, const kc_type *operand) {
    if (operand->rank == 0) return true;
    if (into->rank == 0) {
        into->rank = operand->rank;
        for (int i = 0; i < operand->rank; i++)
            into->tile[i] = operand->tile[i];
        return true;
    }
    if (into->rank != operand->rank) return false;
    for (int i = 0; i < into->rank; i++) {
        if (into->tile[i] == 1) into->tile[i] = operand->tile[i];
        else if (operand->tile[i] != 1 && operand->tile[i] != into->tile[i]) return false;
    }
    return true;
}

static bool refuse(char why[KC_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char why[KC_WHY], const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, KC_WHY, format, args);
    va_end(args);
    return false;
}

// The shape on which all operands meet: tensors equal, tiles broadcast. Strides and layouts are not
// part of it.
static bool meet(kc_expr_pool *pool, int n, const kc_type *const *operands, kc_type *result,
                 char why[KC_WHY]) {
    kc_type_kind kind = operands[0]->kind;
    *result = *operands[0];
    result->layout = NULL;
    for (int i = 0; i < KC_MAX_RANK; i++)
        result->strides[i] = NULL;
    if (kind != KC_TYPE_TENSOR && kind != KC_TYPE_TILE)
        return refuse(why, "operand 0 is neither tensor nor tile");
    for (int i = 1; i < n; i++) {
        if (operands[i]->kind != kind)
            return refuse(why, "operand %d is a %s and operand 0 is not", i,
                          kind == KC_TYPE_TENSOR ? "tile" : "tensor");
        bool fits = kind == KC_TYPE_TILE ? tile_broadcast(result, operands[i])
                                         : kc_type_same_shape(pool, result, operands[i]);
        if (!fits)
            return refuse(why, "the shape of operand %d does not fit the operands before it%s", i,
                          kind == KC_TYPE_TILE
                              ? " (extents are equal or 1)"
                              : " (tensors have equal shapes; broadcast is an op)");
    }
    return true;
}

// Operands `first`.. have one element type, which the row accepts.
static bool one_dtype(kc_opcode code, int first, int n, const kc_type *const *operands,
                      char why[KC_WHY]) {
    kc_domain domain = kc_op_table[code].domain;
    for (int i = first; i < n; i++) {
        kc_dtype elem = operands[i]->elem;
        if (!kc_domain_accepts(domain, elem))
            return refuse(why, "operand %d is %s, expected %s", i, kc_dtype_name(elem),
                          kc_domain_text(domain));
        if (elem != operands[first]->elem)
            return refuse(why, "operand %d is %s and operand %d is %s; cast one of them", i,
                          kc_dtype_name(elem), first, kc_dtype_name(operands[first]->elem));
    }
    return true;
}

bool kc_type_rule_apply(kc_expr_pool *pool, kc_opcode code, int n, const kc_type *const *operands,
                        kc_dtype cast, kc_type *result, char why[KC_WHY]) {
    kc_type_rule rule = kc_op_table[code].rule;
    int first = rule == KC_RULE_SELECT;
    if (n <= first) return refuse(why, "no operands");
    if (!meet(pool, n, operands, result, why) || !one_dtype(code, first, n, operands, why))
        return false;
    switch (rule) {
    case KC_RULE_SAME: result->elem = operands[0]->elem; return true;
    case KC_RULE_COMPARE: result->elem = KC_bool; return true;
    case KC_RULE_SELECT:
        result->elem = operands[1]->elem;
        if (operands[0]->elem == KC_bool) return true;
        return refuse(why, "the condition is %s, expected bool", kc_dtype_name(operands[0]->elem));
    case KC_RULE_CAST:
        result->elem = cast;
        if (kc_domain_accepts(KC_DOMAIN_ANY, cast)) return true;
        return refuse(why, "cast to no element type");
    case KC_RULE_GIVEN:
    case KC_RULE_NONE: break;
    }
    return refuse(why, "no type rule gives the result of this op");
}
