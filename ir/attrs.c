// Attributes: set and read, by key. The op table says which an op has; the verifier holds ops to
// it.
#include "ir/internal.h"

#include <string.h>

const kc_attr *kc_attr_get(const kc_op *op, kc_attr_key key) {
    for (int i = 0; i < op->n_attrs; i++)
        if (op->attrs[i].key == key) return &op->attrs[i];
    return NULL;
}

kc_attr *kc_attr_slot(kc_op *op, kc_attr_key key) {
    kc_attr *attr = (kc_attr *)(uintptr_t)kc_attr_get(op, key);
    if (!attr) {
        if (op->n_attrs == KC_MAX_ATTRS)
            kc_bug("%s has more than %d attributes", kc_op_row(op)->name, KC_MAX_ATTRS);
        attr = &op->attrs[op->n_attrs++];
    }
    *attr = (kc_attr){.key = key};
    return attr;
}

static kc_attr *slot_of(kc_op *op, kc_attr_key key, kc_attr_kind kind) {
    if (kc_attr_table[key].kind != kind)
        kc_bug("attribute '%s' is of another kind", kc_attr_table[key].name);
    return kc_attr_slot(op, key);
}

void kc_attr_set_int(kc_op *op, kc_attr_key key, int64_t value) {
    slot_of(op, key, KC_KIND_INT)->integer = value;
}

void kc_attr_set_float(kc_op *op, kc_attr_key key, double value) {
    slot_of(op, key, KC_KIND_FLOAT)->number = value;
}

void kc_attr_set_string(kc_module *module, kc_op *op, kc_attr_key key, const char *value) {
    const char *copy = kc_arena_strdup(module->arena, value);
    slot_of(op, key, KC_KIND_STRING)->string = copy;
}

void kc_attr_set_dtype(kc_op *op, kc_attr_key key, kc_dtype value) {
    slot_of(op, key, KC_KIND_DTYPE)->dtype = value;
}

void kc_attr_set_expr(kc_op *op, kc_attr_key key, const kc_expr *value) {
    slot_of(op, key, KC_KIND_EXPR)->expr = value;
}

static void *copy_list(kc_module *module, const void *from, int count, size_t size) {
    void *copy = kc_arena_alloc(module->arena, (size_t)count * size);
    if (count) memcpy(copy, from, (size_t)count * size);
    return copy;
}

void kc_attr_set_ints(kc_module *module, kc_op *op, kc_attr_key key, int count,
                      const int64_t *values) {
    const int64_t *copy = copy_list(module, values, count, sizeof *values);
    kc_attr *attr = slot_of(op, key, KC_KIND_INTS);
    attr->count = count;
    attr->integers = copy;
}

void kc_attr_set_exprs(kc_module *module, kc_op *op, kc_attr_key key, int count,
                       const kc_expr *const *values) {
    const kc_expr *const *copy = copy_list(module, values, count, sizeof *values);
    kc_attr *attr = slot_of(op, key, KC_KIND_EXPRS);
    attr->count = count;
    attr->exprs = copy;
}

void kc_attr_set_floats(kc_module *module, kc_op *op, kc_attr_key key, int count,
                        const double *values) {
    const double *copy = copy_list(module, values, count, sizeof *values);
    kc_attr *attr = slot_of(op, key, KC_KIND_FLOATS);
    attr->count = count;
    attr->numbers = copy;
}

void kc_attr_set_strings(kc_module *module, kc_op *op, kc_attr_key key, int count,
                         const char *const *values) {
    const char **copy = KC_NEW_ARRAY(module->arena, const char *, count);
    for (int i = 0; i < count; i++)
        copy[i] = kc_arena_strdup(module->arena, values[i]);
    kc_attr *attr = slot_of(op, key, KC_KIND_STRINGS);
    attr->count = count;
    attr->strings = copy;
}

void kc_attr_remove(kc_op *op, kc_attr_key key) {
    for (int i = 0; i < op->n_attrs; i++) {
        if (op->attrs[i].key != key) continue;
        op->n_attrs--;
        memmove(&op->attrs[i], &op->attrs[i + 1], (size_t)(op->n_attrs - i) * sizeof op->attrs[0]);
        return;
    }
}

int64_t kc_attr_int(const kc_op *op, kc_attr_key key, int64_t otherwise) {
    const kc_attr *attr = kc_attr_get(op, key);
    return attr ? attr->integer : otherwise;
}

double kc_attr_float(const kc_op *op, kc_attr_key key, double otherwise) {
    const kc_attr *attr = kc_attr_get(op, key);
    return attr ? attr->number : otherwise;
}

const char *kc_attr_string(const kc_op *op, kc_attr_key key, const char *otherwise) {
    const kc_attr *attr = kc_attr_get(op, key);
    return attr ? attr->string : otherwise;
}

const kc_expr *kc_attr_expr(const kc_op *op, kc_attr_key key) {
    const kc_attr *attr = kc_attr_get(op, key);
    return attr ? attr->expr : NULL;
}
