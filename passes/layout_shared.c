// Conversions between layouts, the last resort being shared memory.
#include "passes/layouts.h"
#include "targets/dispatch.h"

// Buffers are declared at the start of the kernel, whatever loop they are used in.
kc_value *kc_layouts_alloc(kc_layouts *l, kc_loc loc, const kc_type *tile,
                           const kc_layout *memory) {
    kc_builder b = kc_builder_before(l->pass->module, l->kernel->body->first);
    b.loc = loc;
    kc_type type = kc_type_shared(tile->elem, tile->rank, tile->tile);
    type.layout = kc_layouts_intern(l, memory);
    return kc_build_1(&b, KC_OP_SHARED_ALLOC, type, 0, NULL);
}

// Row by row, neighbours of a thread first.
static const char *unswizzled(kc_layout *memory, const kc_layout *writer) {
    int shape[KC_LAYOUT_MAX_RANK], order[KC_LAYOUT_MAX_RANK], at[KC_LAYOUT_MAX_RANK], count = 0;
    int fast = writer->rank - 1;
    kc_layout_apply(writer, (uint32_t[KC_LAYOUT_PLACES]){[KC_LAYOUT_REGISTER] = 1}, at);
    for (int d = 0; d < writer->rank; d++) {
        shape[d] = kc_layout_extent(writer, d);
        if (at[d] == 1) fast = d;
    }
    order[count++] = fast;
    for (int d = writer->rank - 1; d >= 0; d--)
        if (d != fast) order[count++] = d;
    return kc_layout_memory(memory, writer->rank, shape, order);
}

// Chunks of 16 bytes change places within `width` bytes, by which line of 128 bytes they are in: as
// CUTLASS' Swizzle<B, 4, 3> and the tensor copies of the hardware have it.
static void swizzle(kc_layout *memory, int element_bytes, int64_t width) {
    enum { CHUNK_BIT = 4, LINE_BIT = 7 };
    int element_bit = __builtin_ctz((unsigned)element_bytes);
    int chunk = CHUNK_BIT - element_bit, line = LINE_BIT - element_bit;
    uint32_t *column = memory->basis[KC_LAYOUT_OFFSET];
    for (int i = 0; INT64_C(16) << i < width && line + i < memory->bits[KC_LAYOUT_OFFSET]; i++)
        column[line + i] ^= column[chunk + i];
}

kc_layout kc_layouts_memory(const kc_layouts *l, const kc_layout *writer, const kc_layout *reader,
                            int element_bytes, int kept) {
    kc_layout memory;
    int64_t width = kc_attr_int(l->kernel, KC_ATTR_SWIZZLE, -1);
    const char *error = width >= 0 ? unswizzled(&memory, writer)
                                   : kc_dispatch_choose_memory(&memory, l->pass->target, writer,
                                                               reader, element_bytes, kept);
    if (error) kc_bug("no shared layout: %s", error);
    if (width > 0) swizzle(&memory, element_bytes, width);
    return memory;
}

static kc_value *through_shared(kc_layouts *l, kc_builder *b, kc_value *v, const kc_layout *to) {
    kc_layout memory = kc_layouts_memory(l, v->type.layout, to, kc_dtype_unit(v->type.elem), 1);
    kc_value *buffer = kc_layouts_alloc(l, b->loc, &v->type, &memory);
    kc_op *store = kc_build(b, KC_OP_SHARED_STORE, 2, (kc_value *[]){buffer, v}, 0, NULL);
    kc_op_set_segments(store, (int[]){1, 1, 0});
    kc_type type = v->type;
    type.layout = kc_layouts_intern(l, to);
    kc_value *loaded = kc_build_1(b, KC_OP_SHARED_LOAD, type, 1, &buffer);
    kc_op_set_segments(loaded->def, (int[]){1, 0});
    return loaded;
}

// What a conversion inside a warp takes: one for each register and each source register that some
// thread wants for it.
static int64_t shuffles(const kc_layout *from, const kc_layout *to) {
    kc_linear source = kc_layout_source(from, to);
    uint32_t registers = (UINT32_C(1) << from->bits[KC_LAYOUT_REGISTER]) - 1, basis[32];
    int n = 0;
    for (int i = to->bits[KC_LAYOUT_REGISTER]; i < source.ins; i++) {
        uint32_t v = source.column[i] & registers;
        for (int j = 0; j < n; j++)
            if ((v ^ basis[j]) < v) v ^= basis[j];
        if (v) basis[n++] = v;
    }
    return (int64_t)kc_layout_count(to, KC_LAYOUT_REGISTER) << n;
}

// A shuffle is a word for each lane, as is a word that is written to shared memory, and one that is
// read; a conversion through it is that and two barriers.
static bool is_shuffled(const kc_value *v, const kc_layout *to) {
    enum { BARRIERS = 64 }; // two of them, in shuffles
    int64_t words =
        (int64_t)kc_layout_count(to, KC_LAYOUT_REGISTER) * kc_dtype_unit(v->type.elem) / 4;
    return shuffles(v->type.layout, to) <= 2 * words + BARRIERS;
}

kc_value *kc_layouts_convert(kc_layouts *l, kc_builder *b, kc_value *v, const kc_layout *to) {
    const kc_layout *wanted = kc_layouts_intern(l, to);
    if (v->type.layout == wanted) return v;
    kc_convert_kind kind = kc_layout_convert_kind(v->type.layout, wanted);
    if (kind == KC_CONVERT_NEVER || kind == KC_CONVERT_CLUSTER)
        kc_bug("a tile cannot be converted between its layouts");
    kc_value *made;
    if (kind == KC_CONVERT_SHARED || (kind == KC_CONVERT_SHUFFLE && !is_shuffled(v, wanted))) {
        made = through_shared(l, b, v, wanted);
    } else {
        kc_type type = v->type;
        type.layout = wanted;
        made = kc_build_1(b, KC_OP_CONVERT, type, 1, &v);
    }
    made->name = v->name;
    return made;
}
