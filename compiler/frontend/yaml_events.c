// libyaml's events become a tree. The reader is a loop with its own stack, so that nesting costs no
// C stack; the number of nodes, with aliases counted as often as they stand for something, is
// limited: ten aliases of ten aliases of ten aliases are refused when they pass the limit, not
// expanded.
#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#include "compiler/frontend/frontend.h"
#include "compiler/frontend/source.h"
#include "ir/map.h"
#include "compiler/frontend/yaml_tree.h"

typedef struct {
    kc_yaml *node;
    kc_yaml *key; // MAP: the key that waits for its value
    kc_map *seen; // MAP: keys so far
    bool skip;    // MAP: that value is dropped, its key was given before
    int capacity;
    const char *anchor; // of the node, NULL if none
} frame;

typedef struct {
    yaml_parser_t yaml;
    kc_arena *arena;
    kc_diag *diag;
    frame stack[KC_MODEL_MAX_DEPTH];
    int depth;
    kc_map *anchors;
    kc_yaml *root;
    size_t nodes;
    bool failed;
} reader;

static kc_loc loc_of(yaml_mark_t mark) {
    return (kc_loc){(uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

static void __attribute__((format(printf, 3, 4)))
fail(reader *r, kc_loc loc, const char *format, ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    kc_report(r->diag, KC_ERROR, loc, "%s", text);
    r->failed = true;
}

static bool stands_at_tab(const kc_source *source, kc_loc loc) {
    size_t length, at = 0;
    const char *line = kc_source_line(source, loc.line, &length);
    while (at < length && kc_source_columns(line, at + 1) < loc.column)
        at++;
    return at < length && line[at] == '\t';
}

// libyaml's own messages, with what people usually meant.
static void syntax_error(reader *r, const kc_source *source) {
    const yaml_parser_t *yaml = &r->yaml;
    kc_loc loc = loc_of(yaml->problem_mark);
    const char *problem = yaml->problem ? yaml->problem : "unreadable";
    if (yaml->error == YAML_MEMORY_ERROR) fail(r, (kc_loc){0, 0}, "out of memory reading the YAML");
    else if (stands_at_tab(source, loc))
        fail(r, loc, "a tab cannot stand here in YAML: indent with spaces");
    else
        fail(r, loc, "YAML: %s%s%s", yaml->context ? yaml->context : "", yaml->context ? ": " : "",
             problem);
    if (yaml->flow_level > 0)
        kc_report(r->diag, KC_NOTE, loc,
                  "inside { } and [ ] types must be quoted: {x: \"f16[M, K]\"}");
}

static void append(reader *r, frame *top, kc_yaml *value) {
    kc_yaml *node = top->node;
    if (top->skip) {
        top->skip = false;
        top->key = NULL;
        return;
    }
    if (node->count == top->capacity) {
        int capacity = top->capacity ? top->capacity * 2 : 4;
        kc_yaml **items = KC_NEW_ARRAY(r->arena, kc_yaml *, capacity);
        if (node->count) memcpy(items, node->items, sizeof *items * (size_t)node->count);
        node->items = items;
        if (node->kind == KC_YAML_MAP) {
            kc_yaml **keys = KC_NEW_ARRAY(r->arena, kc_yaml *, capacity);
            if (node->count) memcpy(keys, node->keys, sizeof *keys * (size_t)node->count);
            node->keys = keys;
        }
        top->capacity = capacity;
    }
    if (node->kind == KC_YAML_MAP) node->keys[node->count] = top->key;
    node->items[node->count++] = value;
    node->weight += value->weight;
    top->key = NULL;
}

static void take_key(reader *r, frame *top, kc_yaml *key) {
    if (key->kind != KC_YAML_SCALAR) {
        fail(r, key->loc, "a key must be a word, not a %s",
             key->kind == KC_YAML_MAP ? "map" : "list");
        return;
    }
    if (!top->seen) top->seen = kc_map_create(r->arena);
    const kc_yaml *before = kc_map_get_text(top->seen, key->text, key->length);
    if (before) {
        kc_report(r->diag, KC_ERROR, key->loc, "key '%.64s' is given twice", key->text);
        kc_report(r->diag, KC_NOTE, before->loc, "the first one is here");
        top->skip = true;
    }
    kc_map_set_text(top->seen, key->text, key->length, key);
    top->key = key;
}

// A finished node goes where the top of the stack wants it.
static void place(reader *r, kc_yaml *node) {
    if (!r->depth) {
        r->root = node;
        return;
    }
    frame *top = &r->stack[r->depth - 1];
    if (top->node->kind == KC_YAML_MAP && !top->key) take_key(r, top, node);
    else append(r, top, node);
}

static kc_yaml *new_node(reader *r, kc_yaml_kind kind, kc_loc loc, size_t weight) {
    r->nodes += weight;
    if (r->nodes > KC_MODEL_MAX_NODES) {
        fail(r, loc, "the file stands for more than %d YAML nodes, aliases expanded",
             (int)KC_MODEL_MAX_NODES);
        return NULL;
    }
    kc_yaml *node = KC_NEW(r->arena, kc_yaml);
    node->kind = kind;
    node->loc = loc;
    node->weight = 1;
    return node;
}

static bool plain_node(reader *r, const yaml_char_t *tag, kc_loc loc) {
    if (tag)
        fail(r, loc, "tags such as '%.40s' have no meaning in a model file", (const char *)tag);
    return !tag;
}

static void remember(reader *r, const yaml_char_t *anchor, kc_yaml *node) {
    if (!anchor) return;
    char *name = kc_arena_strdup(r->arena, (const char *)anchor);
    kc_map_set_text(r->anchors, name, strlen(name), node);
}

static kc_yaml_style style_of(yaml_scalar_style_t style) {
    if (style == YAML_LITERAL_SCALAR_STYLE) return KC_YAML_LITERAL;
    if (style == YAML_FOLDED_SCALAR_STYLE) return KC_YAML_FOLDED;
    return style == YAML_PLAIN_SCALAR_STYLE ? KC_YAML_PLAIN : KC_YAML_QUOTED;
}

static void on_scalar(reader *r, const yaml_event_t *event) {
    kc_loc loc = loc_of(event->start_mark);
    if (!plain_node(r, event->data.scalar.tag, loc)) return;
    kc_yaml *node = new_node(r, KC_YAML_SCALAR, loc, 1);
    if (!node) return;
    node->text = kc_arena_strndup(r->arena, (const char *)event->data.scalar.value,
                                  event->data.scalar.length);
    node->length = event->data.scalar.length;
    if (memchr(node->text, 0, node->length)) {
        fail(r, loc, "a NUL character (\\0) cannot stand in a model file");
        return;
    }
    node->style = style_of(event->data.scalar.style);
    size_t quotes = node->style == KC_YAML_QUOTED ? 2 : 0;
    node->verbatim = node->style <= KC_YAML_QUOTED &&
                     event->start_mark.line == event->end_mark.line &&
                     event->end_mark.column - event->start_mark.column ==
                         kc_source_columns(node->text, node->length) + quotes;
    remember(r, event->data.scalar.anchor, node);
    place(r, node);
}

static void on_start(reader *r, const yaml_event_t *event, kc_yaml_kind kind,
                     const yaml_char_t *tag, const yaml_char_t *anchor) {
    kc_loc loc = loc_of(event->start_mark);
    if (!plain_node(r, tag, loc)) return;
    if (r->depth == KC_MODEL_MAX_DEPTH) {
        fail(r, loc, "YAML is nested deeper than %d levels", (int)KC_MODEL_MAX_DEPTH);
        return;
    }
    kc_yaml *node = new_node(r, kind, loc, 1);
    if (!node) return;
    frame *top = &r->stack[r->depth++];
    *top = (frame){.node = node};
    if (anchor) top->anchor = kc_arena_strdup(r->arena, (const char *)anchor);
}

// Anchors become known when their node is complete: a node cannot contain itself.
static void on_end(reader *r) {
    frame *top = &r->stack[--r->depth];
    remember(r, (const yaml_char_t *)top->anchor, top->node);
    place(r, top->node);
}

static void on_alias(reader *r, const yaml_event_t *event) {
    const char *name = (const char *)event->data.alias.anchor;
    kc_loc loc = loc_of(event->start_mark);
    kc_yaml *node = kc_map_get_text(r->anchors, name, strlen(name));
    if (!node) {
        fail(r, loc, "no node before this place has the anchor '&%.64s'", name);
        return;
    }
    if (new_node(r, KC_YAML_SCALAR, loc, node->weight)) place(r, node);
}

static void on_event(reader *r, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT: on_scalar(r, event); break;
    case YAML_ALIAS_EVENT: on_alias(r, event); break;
    case YAML_SEQUENCE_START_EVENT:
        on_start(r, event, KC_YAML_LIST, event->data.sequence_start.tag,
                 event->data.sequence_start.anchor);
        break;
    case YAML_MAPPING_START_EVENT:
        on_start(r, event, KC_YAML_MAP, event->data.mapping_start.tag,
                 event->data.mapping_start.anchor);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: on_end(r); break;
    case YAML_DOCUMENT_START_EVENT:
        if (r->root)
            fail(r, loc_of(event->start_mark),
                 "one file holds one YAML document; a second begins here");
        break;
    default: break;
    }
}

kc_yaml *kc_yaml_read(kc_arena *arena, const kc_source *source, kc_diag *diag) {
    reader r = {.arena = arena, .diag = diag};
    r.anchors = kc_map_create(arena);
    if (!yaml_parser_initialize(&r.yaml)) {
        kc_report(diag, KC_ERROR, (kc_loc){0, 0}, "out of memory reading the YAML");
        return NULL;
    }
    yaml_parser_set_input_string(&r.yaml, (const unsigned char *)source->text, source->size);
    bool more = true;
    while (more && !r.failed) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r.yaml, &event)) {
            syntax_error(&r, source);
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT;
        on_event(&r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r.yaml);
    if (!r.failed && !r.root)
        kc_report(diag, KC_ERROR, (kc_loc){1, 1},
                  "the file is empty; expected 'kc: 1' and 'functions:'");
    return r.failed ? NULL : r.root;
}

kc_yaml *kc_yaml_find(const kc_yaml *map, const char *key) {
    for (int i = 0; i < map->count; i++)
        if (!strcmp(map->keys[i]->text, key)) return map->items[i];
    return NULL;
}

bool kc_yaml_is_null(const kc_yaml *node) {
    return node->kind == KC_YAML_SCALAR && node->style == KC_YAML_PLAIN &&
           (!node->length || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}

kc_loc kc_yaml_loc(const kc_yaml *node, size_t offset) {
    kc_loc loc = node->loc;
    if (!node->verbatim) return loc;
    loc.column += kc_source_columns(node->text, offset) + (node->style == KC_YAML_QUOTED);
    return loc;
}

const char *kc_yaml_describe(kc_arena *arena, const kc_yaml *node) {
    if (node->kind == KC_YAML_MAP) return "a map";
    if (node->kind == KC_YAML_LIST) return "a list";
    if (kc_yaml_is_null(node)) return "nothing";
    const char *end = strchr(node->text, '\n');
    int length = end ? (int)(end - node->text) : (int)node->length;
    if (length <= 40)
        return kc_arena_printf(arena, "'%.*s'%s", length, node->text, end ? "..." : "");
    for (length = 40; length > 0 && ((unsigned char)node->text[length] & 0xC0) == 0x80;)
        length--;
    return kc_arena_printf(arena, "'%.*s...'", length, node->text);
}
