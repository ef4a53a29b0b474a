// A kernel op to an LLVM function: parameters, prologue, and the dispatch from ops to their
// emitters.
#include "targets/common/emit.h"
#include <string.h>

// ---- values ---------------------------------------------------------------------------------

const kc_emitted *kc_emit_get(const kc_value *value) {
    if (!value->data) kc_bug("operand %s was not emitted", value->name ? value->name : "?");
    return value->data;
}

LLVMValueRef kc_emit_scalar(const kc_value *value) {
    const kc_emitted *v = kc_emit_get(value);
    if (v->n != 1 || !v->regs[0]) kc_bug("a scalar was expected, this tile has %d registers", v->n);
    return v->regs[0];
}

LLVMValueRef kc_emit_register(kc_emit *e, const kc_value *value, int r) {
    const kc_emitted *v = kc_emit_get(value);
    if (r >= v->n) kc_bug("register %d of a tile of %d", r, v->n);
    if (v->regs[r]) return v->regs[r];
    if (!v->late) kc_bug("register %d of %s has no value", r, value->name ? value->name : "?");
    switch (v->late->code) {
    case KC_OP_IOTA: v->regs[r] = kc_emit_iota_register(e, v->late, r); break;
    case KC_OP_LOAD: kc_emit_load_register(e, v->late, r); break;
    default: v->regs[r] = kc_emit_elementwise_register(e, v->late, r);
    }
    return v->regs[r];
}

void kc_emit_force(kc_emit *e, const kc_value *value) {
    const kc_emitted *v = kc_emit_get(value);
    for (int r = 0; r < v->n; r++)
        kc_emit_register(e, value, r);
}

void kc_emit_force_used(kc_emit *e, const kc_block *block) {
    for (const kc_op *op = block->first; op; op = op->next) {
        for (int i = 0; i < op->n_operands; i++) {
            const kc_emitted *v = kc_operand(op, i)->data;
            if (v && v->late) kc_emit_force(e, kc_operand(op, i));
        }
        if (op->body) kc_emit_force_used(e, op->body);
    }
}

static int log2_of(int n) {
    int bits = 0;
    while (1 << bits < n)
        bits++;
    return bits;
}

static const kc_tile_map *map_of(kc_emit *e, const kc_layout *layout) {
    for (int i = 0; i < e->n_maps; i++)
        if (e->maps[i]->layout == layout) return e->maps[i];
    if (e->n_maps == e->maps_capacity) {
        e->maps_capacity = 2 * e->maps_capacity + 16;
        const kc_tile_map **wider = KC_NEW_ARRAY(e->arena, const kc_tile_map *, e->maps_capacity);
        if (e->n_maps) memcpy(wider, e->maps, sizeof *wider * (size_t)e->n_maps);
        e->maps = wider;
    }
    int lane_bits = log2_of(kc_target_warp_size(e->target));
    return e->maps[e->n_maps++] =
               kc_tile_map_create(e->arena, layout, lane_bits, lane_bits + log2_of(e->warps));
}

kc_emitted *kc_emit_define(kc_emit *e, kc_value *value) {
    kc_emitted *v = KC_NEW(e->arena, kc_emitted);
    v->n = 1;
    if (kc_type_is_group(&value->type)) v->n = 0;
    if (value->type.kind != KC_TYPE_SHARED && value->type.layout) {
        v->map = map_of(e, value->type.layout);
        v->n = v->map->n_registers;
    }
    v->regs = KC_NEW_ARRAY(e->arena, LLVMValueRef, v->n);
    value->data = v;
    return v;
}

void kc_emit_bind(kc_emit *e, kc_value *value, LLVMValueRef scalar) {
    kc_emit_define(e, value)->regs[0] = scalar;
}

LLVMBasicBlockRef kc_emit_new_block(kc_emit *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

void kc_emit_enter(kc_emit *e, LLVMBasicBlockRef block) {
    LLVMPositionBuilderAtEnd(e->builder, block);
}

// Chains of late ops are followed by recursion, so they end somewhere.
static void limit_depth(kc_emit *e, const kc_op *op) {
    enum { LONGEST = 400 };
    kc_emitted *v = kc_result(op, 0)->data;
    for (int i = 0; v->late && i < op->n_operands; i++) {
        int depth = kc_emit_get(kc_operand(op, i))->depth;
        if (depth >= v->depth) v->depth = depth + 1;
    }
    if (v->depth < LONGEST) return;
    kc_emit_force(e, kc_result(op, 0));
    v->depth = 0;
}

// ---- ops ------------------------------------------------------------------------------------

static void emit_const(kc_emit *e, const kc_op *op) {
    kc_value *result = kc_result(op, 0);
    kc_dtype dtype = result->type.elem;
    const kc_attr *integer = kc_attr_get(op, KC_ATTR_INTEGER),
                  *number = kc_attr_get(op, KC_ATTR_VALUE);
    LLVMValueRef value = integer ? kc_emit_int(e, dtype, integer->integer)
                                 : kc_emit_constant(e, dtype, number ? number->number : 0);
    kc_emitted *v = kc_emit_define(e, result);
    for (int i = 0; i < v->n; i++)
        v->regs[i] = value;
}

static void emit_sym(kc_emit *e, const kc_op *op) {
    kc_dtype dtype = kc_result(op, 0)->type.elem;
    LLVMValueRef value = kc_emit_expr(e, kc_attr_expr(op, KC_ATTR_EXPR));
    kc_emit_bind(e, kc_result(op, 0), kc_emit_cast_element(e, KC_i64, dtype, value));
}

static void emit_program_id(kc_emit *e, const kc_op *op) {
    LLVMValueRef id = e->hooks->program_id(e);
    kc_emit_bind(e, kc_result(op, 0),
                 kc_emit_convert_int(e, id, kc_emit_type(e, kc_result(op, 0)->type.elem), false));
}

static void emit_op(kc_emit *e, const kc_op *op) {
    if (kc_op_has(op, KC_ELEMENTWISE)) {
        kc_emit_elementwise(e, op);
        limit_depth(e, op);
        return;
    }
    switch (op->code) {
    case KC_OP_CONST: emit_const(e, op); break;
    case KC_OP_SYM: emit_sym(e, op); break;
    case KC_OP_PROGRAM_ID: emit_program_id(e, op); break;
    case KC_OP_IOTA: kc_emit_define(e, kc_result(op, 0))->late = op; break;
    case KC_OP_LOAD:
        kc_emit_load(e, op);
        limit_depth(e, op);
        break;
    case KC_OP_STORE: kc_emit_store(e, op); break;
    case KC_OP_SHARED_ALLOC: kc_emit_shared_alloc(e, op); break;
    case KC_OP_SHARED_LOAD: kc_emit_shared_load(e, op); break;
    case KC_OP_SHARED_STORE: kc_emit_shared_store(e, op); break;
    case KC_OP_ASYNC_COPY: kc_emit_async_copy(e, op); break;
    case KC_OP_ASYNC_COMMIT: kc_emit_async_commit(e, op); break;
    case KC_OP_ASYNC_WAIT: kc_emit_async_wait(e, op); break;
    case KC_OP_BARRIER: e->hooks->barrier(e); break;
    case KC_OP_CONVERT: kc_emit_convert(e, op); break;
    case KC_OP_REDUCE: kc_emit_reduce(e, op); break;
    case KC_OP_SCAN: kc_emit_scan(e, op); break;
    case KC_OP_SCAN_CARRY: kc_emit_scan_carry(e, op); break;
    case KC_OP_DOT: kc_emit_dot(e, op); break;
    case KC_OP_FOR: kc_emit_for(e, op); break;
    case KC_OP_IF: kc_emit_if(e, op); break;
    default: kc_bug("op %s is not of the layout level", kc_op_row(op)->name);
    }
}

// Terminators belong to whoever owns the region.
void kc_emit_block(kc_emit *e, const kc_block *block) {
    for (const kc_op *op = block->first; op; op = op->next)
        if (!kc_op_has(op, KC_TERMINATOR)) emit_op(e, op);
}

// ---- kernels --------------------------------------------------------------------------------

static bool overlaps_any(const kc_op *kernel, const kc_param *params, int n, int i) {
    for (int j = 0; j < n; j++) {
        if (j == i || params[j].kind != KC_PARAM_POINTER || params[i].written == params[j].written)
            continue;
        bool hit = params[i].written ? kc_kernel_may_overlap(kernel, params[j].operand, params[i].operand)
                                     : kc_kernel_may_overlap(kernel, params[i].operand, params[j].operand);
        if (hit) return true;
    }
    return false;
}

static LLVMTypeRef param_type(kc_emit *e, const kc_param *p) {
    if (p->kind == KC_PARAM_POINTER) return e->pointer_global;
    if (p->kind == KC_PARAM_SYMBOL) return e->i64;
    kc_dtype dtype = p->argument->type.elem;
    return dtype == KC_bool ? e->i8 : kc_emit_type(e, dtype);
}

static void bind_pointer(kc_emit *e, const kc_param *params, int n, int i) {
    bool overlaps = overlaps_any(e->kernel, params, n, i);
    kc_emit_bind(e, params[i].argument, LLVMGetParam(e->function, (unsigned)i));
    kc_emitted *v = params[i].argument->data;
    v->read_only = !params[i].written && !overlaps;
    unsigned index = (unsigned)i + 1;
    if (!overlaps) kc_emit_attribute(e, e->function, index, "noalias", 0);
    if (v->read_only) kc_emit_attribute(e, e->function, index, "readonly", 0);
}

static void bind_param(kc_emit *e, const kc_param *params, int n, int i) {
    LLVMValueRef value = LLVMGetParam(e->function, (unsigned)i);
    const kc_param *p = &params[i];
    if (p->kind == KC_PARAM_POINTER) {
        bind_pointer(e, params, n, i);
    } else if (p->kind == KC_PARAM_SYMBOL) {
        e->symbols[p->symbol] = value;
        LLVMSetValueName2(value, kc_expr_symbol_name(e->pool, p->symbol),
                          strlen(kc_expr_symbol_name(e->pool, p->symbol)));
    } else {
        if (p->argument->type.elem == KC_bool) value = kc_emit_from_memory(e, KC_bool, value);
        kc_emit_bind(e, p->argument, value);
    }
    if (p->argument && p->argument->name)
        LLVMSetValueName2(LLVMGetParam(e->function, (unsigned)i), p->argument->name,
                          strlen(p->argument->name));
}

static void create_function(kc_emit *e, const kc_param *params, int n) {
    LLVMTypeRef *types = KC_NEW_ARRAY(e->arena, LLVMTypeRef, n + 1);
    for (int i = 0; i < n; i++)
        types[i] = param_type(e, &params[i]);
    const char *name = kc_attr_string(e->kernel, KC_ATTR_NAME, NULL);
    if (!name) kc_bug("a kernel without a name");
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(e->context), types, (unsigned)n, false);
    if (LLVMGetNamedFunction(e->module, name)) kc_bug("two kernels are called %s", name);
    e->function = LLVMAddFunction(e->module, name, type);
    kc_emit_attribute(e, e->function, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
    e->hooks->kernel(e, e->function, e->warps * kc_target_warp_size(e->target));
}

static bool check_kernel(kc_emit *e) {
    const char *name = kc_attr_string(e->kernel, KC_ATTR_NAME, "?");
    int64_t threads = (int64_t)e->warps * kc_target_warp_size(e->target);
    int64_t most = e->target->attributes.max_num_threads,
            shared = kc_attr_int(e->kernel, KC_ATTR_SHARED, 0);
    if (e->warps < 1 || threads > most)
        kc_report(e->diag, KC_ERROR, e->kernel->loc,
                  "kernel %s asks for %d warps of %d threads; %s allows %lld threads a block", name,
                  e->warps, kc_target_warp_size(e->target), e->target->arch->name, (long long)most);
    else if (shared > e->target->attributes.max_shared_memory)
        kc_report(e->diag, KC_ERROR, e->kernel->loc,
                  "kernel %s needs %lld bytes of shared memory a block; %s allows %lld; try a "
                  "smaller tile or fewer "
                  "stages",
                  name, (long long)shared, e->target->arch->name,
                  (long long)e->target->attributes.max_shared_memory);
    else return true;
    return false;
}

// Passes leave their scratch behind.
static void clear_data(const kc_block *block) {
    for (int i = 0; i < block->n_args; i++)
        block->args[i]->data = NULL;
    for (const kc_op *op = block->first; op; op = op->next) {
        for (int i = 0; i < op->n_results; i++)
            kc_result(op, i)->data = NULL;
        if (op->body) clear_data(op->body);
    }
}

static bool emit_kernel(kc_emit *e, const kc_op *kernel) {
    e->kernel = kernel;
    e->pool = kc_op_pool(kernel);
    e->n_symbols = kc_expr_symbol_count(e->pool);
    e->symbols = KC_NEW_ARRAY(e->arena, LLVMValueRef, e->n_symbols + 1);
    e->warps = (int)kc_attr_int(kernel, KC_ATTR_WARPS, 4);
    e->n_maps = e->maps_capacity = 0;
    e->rounds = NULL;
    if (!check_kernel(e)) return false;
    clear_data(kernel->body);
    e->loads_much = kc_emit_loads_much(kernel);
    kc_param *params;
    int n = kc_kernel_params(e->arena, kernel, &params);
    create_function(e, params, n);
    kc_emit_enter(e, kc_emit_new_block(e, "entry"));
    e->thread = e->hooks->thread_id(e);
    for (int i = 0; i < n; i++)
        bind_param(e, params, n, i);
    kc_emit_block(e, kernel->body);
    LLVMBuildRetVoid(e->builder);
    return true;
}

static bool emit_kernels_of(kc_emit *e, const kc_block *block) {
    bool ok = true;
    for (const kc_op *op = block->first; op; op = op->next) {
        if (op->code == KC_OP_KERNEL) {
            e->arena = kc_arena_create();
            kc_bug_context(kc_attr_string(op, KC_ATTR_NAME, "kernel"));
            ok = emit_kernel(e, op) && ok;
            kc_bug_context(NULL);
            kc_arena_destroy(e->arena);
        } else if (op->body && (op->code == KC_OP_FUNC || op->code == KC_OP_VARIANT)) {
            ok = emit_kernels_of(e, op->body) && ok;
        }
    }
    return ok;
}

static void init_types(kc_emit *e) {
    LLVMContextRef c = e->context;
    e->i1 = LLVMInt1TypeInContext(c);
    e->i8 = LLVMInt8TypeInContext(c);
    e->i16 = LLVMInt16TypeInContext(c);
    e->i32 = LLVMInt32TypeInContext(c);
    e->i64 = LLVMInt64TypeInContext(c);
    e->f16 = LLVMHalfTypeInContext(c);
    e->bf16 = LLVMBFloatTypeInContext(c);
    e->f32 = LLVMFloatTypeInContext(c);
    e->f64 = LLVMDoubleTypeInContext(c);
    e->pointer_global = LLVMPointerTypeInContext(c, 1);
    e->pointer_shared = LLVMPointerTypeInContext(c, 3);
}

bool kc_emit_module(LLVMModuleRef module, const kc_target *target, const kc_emit_hooks *hooks,
                    const kc_module *tile, kc_diag *diag) {
    kc_emit e = {.context = LLVMGetModuleContext(module),
                 .module = module,
                 .target = target,
                 .hooks = hooks,
                 .diag = diag};
    init_types(&e);
    e.builder = LLVMCreateBuilderInContext(e.context);
    if (hooks->module) hooks->module(&e);
    bool ok = emit_kernels_of(&e, tile->body);
    LLVMDisposeBuilder(e.builder);
    return ok;
}
