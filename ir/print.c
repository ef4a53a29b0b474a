// Printing a module. Values are named when they are first met, which is where they are defined: a
// name is kept, made unique in its isolated region by a suffix, and values without one are numbered
// there.
#include "ir/map.h"
#include "ir/text.h"

#include <string.h>

typedef struct scope {
    struct scope *outer;
    kc_namer *namer;
    int next_number;
} scope;

typedef struct {
    FILE *out;
    kc_arena *arena; // names and tables, gone after printing
    kc_map *names;   // value -> its text
    kc_map *layouts; // layout -> its number + 1
    const kc_layout **layout_list;
    int n_layouts, layouts_capacity;
    scope *scope;
} printer;

// ---- names

static void enter_scope(printer *p) {
    scope *inner = KC_NEW(p->arena, scope);
    *inner = (scope){p->scope, kc_namer_create(p->arena), 0};
    p->scope = inner;
}

static void leave_scope(printer *p) {
    p->scope = p->scope->outer;
}

// Characters that text cannot hold become underscores, and a leading digit gets one before it.
static char *clean_name(printer *p, const char *name) {
    char *text = kc_arena_printf(p->arena, "%s%s", kc_is_letter(name[0]) ? "" : "_", name);
    for (char *at = text; *at; at++)
        if (!kc_is_name_char(*at)) *at = '_';
    return text;
}

static const char *choose_name(printer *p, const kc_value *value) {
    if (!value->name || !value->name[0])
        return kc_arena_printf(p->arena, "%d", p->scope->next_number++);
    const char *text = kc_namer_unique(p->scope->namer, clean_name(p, value->name));
    kc_namer_take(p->scope->namer, text);
    return text;
}

static void print_value(printer *p, const kc_value *value) {
    const char *text = value ? kc_map_get(p->names, value) : "null";
    if (!text) {
        text = choose_name(p, value);
        kc_map_set(p->names, value, (void *)(uintptr_t)text);
    }
    fprintf(p->out, "%%%s", text);
}

// ---- types

static void print_exprs(printer *p, const kc_expr_pool *pool, int n, const kc_expr *const *exprs) {
    fputc('[', p->out);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", p->out);
        kc_print_expr(pool, exprs[i], p->out);
    }
    fputc(']', p->out);
}

static const char *kind_name(kc_type_kind kind) {
    return kind == KC_TYPE_TILE ? "tile" : kind == KC_TYPE_SHARED ? "shared" : "token";
}

static void print_tile(printer *p, const kc_type *type) {
    int layout = (int)(intptr_t)(type->layout ? kc_map_get(p->layouts, type->layout) : NULL);
    if (type->kind == KC_TYPE_TILE && type->rank == 0 && !layout) {
        fputs(kc_dtype_name(type->elem), p->out);
        return;
    }
    fputs(kind_name(type->kind), p->out);
    if (kc_type_is_group(type)) return;
    fputc('<', p->out);
    for (int i = 0; i < type->rank; i++)
        fprintf(p->out, "%lldx", (long long)type->tile[i]);
    fputs(kc_dtype_name(type->elem), p->out);
    if (layout) fprintf(p->out, ", #%d", layout - 1);
    fputc('>', p->out);
}

static void print_type(printer *p, const kc_expr_pool *pool, const kc_type *type) {
    if (type->kind == KC_TYPE_NONE) {
        fputs("none", p->out);
    } else if (type->kind != KC_TYPE_TENSOR) {
        print_tile(p, type);
    } else {
        fputs(kc_dtype_name(type->elem), p->out);
        print_exprs(p, pool, type->rank, type->shape);
        if (!type->rank || !type->strides[0]) return;
        fputc('@', p->out);
        print_exprs(p, pool, type->rank, type->strides);
    }
}

// ---- attributes

static void print_float(printer *p, double number) {
    char text[KC_FLOAT_TEXT];
    kc_float_to_text(number, text);
    fputs(text, p->out);
}

static void print_list_item(printer *p, const kc_attr *attr, const kc_expr_pool *pool, int i) {
    switch (kc_attr_table[attr->key].kind) {
    case KC_KIND_INTS: fprintf(p->out, "%lld", (long long)attr->integers[i]); break;
    case KC_KIND_FLOATS: print_float(p, attr->numbers[i]); break;
    case KC_KIND_STRINGS: kc_print_string(attr->strings[i], p->out); break;
    case KC_KIND_EXPRS: kc_print_expr(pool, attr->exprs[i], p->out); break;
    default: break;
    }
}

static void print_attr(printer *p, const kc_attr *attr, const kc_expr_pool *pool) {
    fprintf(p->out, "%s = ", kc_attr_table[attr->key].name);
    switch (kc_attr_table[attr->key].kind) {
    case KC_KIND_INT: fprintf(p->out, "%lld", (long long)attr->integer); return;
    case KC_KIND_FLOAT: print_float(p, attr->number); return;
    case KC_KIND_STRING: kc_print_string(attr->string, p->out); return;
    case KC_KIND_DTYPE: fputs(kc_dtype_name(attr->dtype), p->out); return;
    case KC_KIND_EXPR: kc_print_expr(pool, attr->expr, p->out); return;
    default: break;
    }
    fputc('[', p->out);
    for (int i = 0; i < attr->count; i++) {
        if (i) fputs(", ", p->out);
        print_list_item(p, attr, pool, i);
    }
    fputc(']', p->out);
}

// In the order of the row, then those that the row does not have; the name of a function stands
// elsewhere.
static void print_attrs(printer *p, const kc_op *op) {
    kc_attr_key keys[KC_MAX_ATTRS];
    const kc_attr *list[2 * KC_MAX_ATTRS];
    int n_keys = kc_op_attr_keys(op->code, keys), n = 0;
    for (int i = 0; i < n_keys; i++) {
        const kc_attr *attr = kc_attr_get(op, keys[i]);
        if (attr && !(op->code == KC_OP_FUNC && keys[i] == KC_ATTR_NAME)) list[n++] = attr;
    }
    for (int i = 0; i < op->n_attrs; i++)
        if (!kc_op_attr_need(op->code, op->attrs[i].key)) list[n++] = &op->attrs[i];
    if (!n) return;
    fputs(" {", p->out);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", p->out);
        print_attr(p, list[i], kc_attr_pool(op, list[i]->key));
    }
    fputc('}', p->out);
}

// ---- dims

static bool same_facts(kc_expr_facts a, kc_expr_facts b) {
    return a.min == b.min && a.max == b.max && a.multiple_of == b.multiple_of;
}

static bool facts_known_around(const kc_expr_pool *pool, const kc_expr_pool *around, int symbol) {
    return around && symbol < kc_expr_symbol_count(around) &&
           !strcmp(kc_expr_symbol_name(pool, symbol), kc_expr_symbol_name(around, symbol)) &&
           same_facts(kc_expr_get_facts(pool, symbol), kc_expr_get_facts(around, symbol));
}

// The symbols of an op's own pool: all of a function's, and of a variant's those that differ from
// around it.
static void print_dims(printer *p, const kc_op *op) {
    const kc_expr_pool *around = op->block ? kc_block_pool(op->block) : NULL;
    bool any = false;
    for (int i = 0; op->pool && i < kc_expr_symbol_count(op->pool); i++) {
        if (facts_known_around(op->pool, around, i)) continue;
        fprintf(p->out, "%s%s", any ? ", " : " dims {", kc_expr_symbol_name(op->pool, i));
        any = true;
        kc_expr_facts facts = kc_expr_get_facts(op->pool, i);
        if (same_facts(facts, kc_facts_default)) continue;
        fprintf(p->out, ": %lld..%lld", (long long)facts.min, (long long)facts.max);
        if (facts.multiple_of != 1) fprintf(p->out, " multiple %lld", (long long)facts.multiple_of);
    }
    if (any) fputc('}', p->out);
}

static void print_loc(printer *p, kc_loc loc) {
    if (loc.line) fprintf(p->out, " @%u:%u", loc.line, loc.column);
}

// ---- ops

static void print_values(printer *p, int n, const kc_use *uses) {
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", p->out);
        print_value(p, uses[i].value);
    }
}

// Leading single operands, or the only segment, as a plain list; every other segment that is not
// empty as name(...).
static void print_operands(printer *p, const kc_op *op) {
    kc_segment segments[KC_MAX_SEGMENTS];
    int n = kc_op_segments(op->code, segments), plain = 0;
    while (plain < n && segments[plain].mode == KC_SEGMENT_ONE)
        plain++;
    if (n == 1) plain = 1;
    int first = 0;
    for (int i = 0; i < plain; i++)
        first += op->segments[i];
    if (first) fputc(' ', p->out);
    print_values(p, first, op->operands);
    for (int i = plain; i < n; i++) {
        int count = op->segments[i];
        if (count) {
            fprintf(p->out, " %.*s(", segments[i].length, segments[i].name);
            print_values(p, count, op->operands + first);
            fputc(')', p->out);
        }
        first += count;
    }
}

static void print_args(printer *p, const kc_op *op) {
    for (int i = 0; i < op->body->n_args; i++) {
        if (i) fputs(", ", p->out);
        print_value(p, op->body->args[i]);
        fputs(": ", p->out);
        print_type(p, kc_op_pool(op), &op->body->args[i]->type);
        if (!kc_constant_hash(op->body->args[i])) continue;
        fputs(" constant ", p->out);
        kc_print_string(kc_constant_hash(op->body->args[i]), p->out);
    }
}

static void print_op(printer *p, const kc_op *op, int indent);

static void print_body(printer *p, const kc_op *op, int indent) {
    fputs(" {\n", p->out);
    if (op->body->n_args && op->code != KC_OP_FUNC) {
        fprintf(p->out, "%*s^(", indent, "");
        print_args(p, op);
        fputs("):\n", p->out);
    }
    for (const kc_op *inner = op->body->first; inner; inner = inner->next)
        print_op(p, inner, indent + 2);
    fprintf(p->out, "%*s}\n", indent, "");
}

static void print_outputs(printer *p, const kc_op *func) {
    const kc_output *outputs;
    int n = kc_func_outputs(func, &outputs);
    fputs(" -> (", p->out);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", p->out);
        kc_print_symbol(outputs[i].name, p->out);
        fputs(": ", p->out);
        print_type(p, func->pool, &outputs[i].type);
        if (outputs[i].alias) {
            fputs(" alias ", p->out);
            kc_print_symbol(outputs[i].alias, p->out);
        }
        print_loc(p, outputs[i].loc);
    }
    fputc(')', p->out);
}

static void print_func(printer *p, const kc_op *func) {
    enter_scope(p);
    fputs("func @", p->out);
    kc_print_symbol(kc_func_name(func), p->out);
    fputc('(', p->out);
    if (func->body) print_args(p, func);
    fputc(')', p->out);
    print_outputs(p, func);
    print_attrs(p, func);
    print_dims(p, func);
    if (kc_func_doc(func)) {
        fputs(" doc ", p->out);
        kc_print_string(kc_func_doc(func), p->out);
    }
    print_loc(p, func->loc);
    if (func->body) print_body(p, func, 0);
    else fputs(" {\n}\n", p->out);
    leave_scope(p);
}

static void print_results(printer *p, const kc_op *op) {
    for (int i = 0; i < op->n_results; i++) {
        if (i) fputs(", ", p->out);
        print_value(p, op->results[i]);
    }
    if (op->n_results) fputs(" = ", p->out);
}

static void print_op(printer *p, const kc_op *op, int indent) {
    fprintf(p->out, "%*s", indent, "");
    if (op->code == KC_OP_FUNC) {
        print_func(p, op);
        return;
    }
    print_results(p, op);
    fputs(kc_op_row(op)->name, p->out);
    print_operands(p, op);
    print_attrs(p, op);
    for (int i = 0; i < op->n_results; i++) {
        fputs(i ? ", " : " : ", p->out);
        print_type(p, kc_op_pool(op), &op->results[i]->type);
    }
    print_dims(p, op);
    print_loc(p, op->loc);
    if (!op->body) {
        fputc('\n', p->out);
        return;
    }
    bool isolated = kc_op_is_isolated(op);
    if (isolated) enter_scope(p);
    print_body(p, op, indent);
    if (isolated) leave_scope(p);
}

// ---- layouts: numbered in order of appearance

static void collect_layout(printer *p, const kc_layout *layout) {
    if (!layout || kc_map_get(p->layouts, layout)) return;
    for (int i = 0; i < p->n_layouts; i++) {
        if (!kc_layout_same(p->layout_list[i], layout)) continue;
        kc_map_set(p->layouts, layout, (void *)(intptr_t)(i + 1));
        return;
    }
    if (p->n_layouts == p->layouts_capacity) {
        int capacity = p->layouts_capacity ? 2 * p->layouts_capacity : 8;
        const kc_layout **list = KC_NEW_ARRAY(p->arena, const kc_layout *, capacity);
        for (int i = 0; i < p->n_layouts; i++)
            list[i] = p->layout_list[i];
        p->layout_list = list;
        p->layouts_capacity = capacity;
    }
    p->layout_list[p->n_layouts++] = layout;
    kc_map_set(p->layouts, layout, (void *)(intptr_t)p->n_layouts);
}

static void collect_layouts(printer *p, const kc_block *block) {
    for (int i = 0; i < block->n_args; i++)
        collect_layout(p, block->args[i]->type.layout);
    for (const kc_op *op = block->first; op; op = op->next) {
        for (int i = 0; i < op->n_results; i++)
            collect_layout(p, op->results[i]->type.layout);
        if (op->body) collect_layouts(p, op->body);
    }
}

static void print_module(printer *p, const kc_module *module) {
    fputs("module @", p->out);
    kc_print_symbol(module->name, p->out);
    if (module->target) {
        fputs(" {target = ", p->out);
        kc_print_string(module->target, p->out);
        fputc('}', p->out);
    }
    fputc('\n', p->out);
    collect_layouts(p, module->body);
    for (int i = 0; i < p->n_layouts; i++) {
        fprintf(p->out, "layout #%d = ", i);
        kc_print_layout(p->layout_list[i], p->out);
        fputc('\n', p->out);
    }
    for (const kc_op *op = module->body->first; op; op = op->next)
        print_op(p, op, 0);
}

void kc_module_print(const kc_module *module, FILE *out) {
    locale_t before = kc_locale_enter();
    kc_arena *arena = kc_arena_create();
    printer p = {
        .out = out, .arena = arena, .names = kc_map_create(arena), .layouts = kc_map_create(arena)};
    enter_scope(&p);
    print_module(&p, module);
    kc_arena_destroy(arena);
    kc_locale_leave(before);
}

char *kc_module_to_text(const kc_module *module, size_t *size) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) kc_bug("no memory to print a module");
    kc_module_print(module, out);
    if (fclose(out)) kc_bug("no memory to print a module");
    if (size) *size = length;
    return text;
}
