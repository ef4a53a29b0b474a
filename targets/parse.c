// Target text and JSON to targets. Every error lists what would have been right.
#include "targets/target.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 4096 };

typedef struct {
    kc_arena *arena;
    const char *text; // for messages
    const char *error;
    const kc_target_kind *kind;
    const kc_target_arch *arch; // NULL: the family
    bool given[KC_TARGET_ATTRIBUTE_COUNT];
    int64_t values[KC_TARGET_ATTRIBUTE_COUNT];
} parser;

__attribute__((format(printf, 2, 3))) static bool fail(parser *p, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!p->error) p->error = kc_arena_strdup(p->arena, text);
    return false;
}

// A bounded piece of user text that is safe to print.
static const char *shown(parser *p, const char *text, size_t length) {
    size_t n = length > 60 ? 60 : length;
    char *copy = kc_arena_strndup(p->arena, text, n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)copy[i] < 32 || (unsigned char)copy[i] > 126) copy[i] = '?';
    return length > n ? kc_arena_printf(p->arena, "%s...", copy) : copy;
}

static const char *kind_names(parser *p) {
    const char *names = kc_target_kind_at(0)->name;
    for (int i = 1; i < kc_target_kind_count(); i++)
        names = kc_arena_printf(p->arena, "%s, %s", names, kc_target_kind_at(i)->name);
    return names;
}

static const char *arch_names(parser *p, const kc_target_kind *kind) {
    const char *names = kind->archs[0].name;
    for (int i = 1; i < kind->n_archs; i++)
        names = kc_arena_printf(p->arena, "%s, %s", names, kind->archs[i].name);
    return names;
}

static const char *attribute_names(parser *p) {
    const char *names = kc_target_attribute_table[0].name;
    for (int i = 1; i < KC_TARGET_ATTRIBUTE_COUNT; i++)
        names = kc_arena_printf(p->arena, "%s, %s", names, kc_target_attribute_table[i].name);
    return names;
}

static bool set_kind(parser *p, const char *text, size_t length) {
    p->kind = kc_target_kind_find(text, length);
    if (p->kind) return true;
    return fail(p, "unknown target kind '%s'; expected one of: %s", shown(p, text, length),
                kind_names(p));
}

static bool set_arch(parser *p, const char *text, size_t length) {
    p->arch = kc_target_arch_find(p->kind, text, length);
    if (p->arch) return true;
    return fail(p, "unknown %s architecture '%s'; expected one of: %s", p->kind->name,
                shown(p, text, length), arch_names(p, p->kind));
}

static bool set_attribute(parser *p, const char *name, size_t length, int64_t value) {
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++) {
        const char *known = kc_target_attribute_table[i].name;
        if (strlen(known) != length || memcmp(known, name, length)) continue;
        if (p->given[i]) return fail(p, "target attribute '%s' is given twice", known);
        p->given[i] = true;
        p->values[i] = value;
        return true;
    }
    return fail(p, "unknown target attribute '%s'; expected one of: %s", shown(p, name, length),
                attribute_names(p));
}

// ---- text -----------------------------------------------------------------------------------

static bool parse_assignment(parser *p, const char *text, size_t length) {
    const char *equals = memchr(text, '=', length);
    if (!equals)
        return fail(p, "expected ATTRIBUTE=VALUE after the comma in target '%s', seen '%s'",
                    p->text, shown(p, text, length));
    const char *digits = equals + 1;
    size_t n = length - (size_t)(digits - text);
    char number[32];
    if (n == 0 || n >= sizeof number)
        return fail(p, "target attribute '%s' needs an integer",
                    shown(p, text, (size_t)(equals - text)));
    memcpy(number, digits, n);
    number[n] = 0;
    char *end;
    errno = 0;
    long long value = strtoll(number, &end, 10);
    if (*end || errno || number[0] == ' ')
        return fail(p, "target attribute '%s' needs an integer, seen '%s'",
                    shown(p, text, (size_t)(equals - text)), shown(p, digits, n));
    return set_attribute(p, text, (size_t)(equals - text), value);
}

static bool parse_text(parser *p, const char *text) {
    size_t head = strcspn(text, ",");
    const char *colon = memchr(text, ':', head);
    size_t kind_length = colon ? (size_t)(colon - text) : head;
    if (!set_kind(p, text, kind_length)) return false;
    if (colon && !set_arch(p, colon + 1, head - kind_length - 1)) return false;
    for (text += head; *text == ',';) {
        size_t length = strcspn(++text, ",");
        if (!parse_assignment(p, text, length)) return false;
        text += length;
    }
    return true;
}

// ---- JSON -----------------------------------------------------------------------------------

static bool parse_member(parser *p, const cJSON *item) {
    const char *name = item->string ? item->string : "";
    if (!strcmp(name, "kind") || !strcmp(name, "arch")) {
        if (cJSON_IsString(item)) return true; // taken by parse_json
        return fail(p, "target key \"%s\" needs a string", name);
    }
    if (cJSON_IsBool(item)) return set_attribute(p, name, strlen(name), cJSON_IsTrue(item));
    double value = cJSON_IsNumber(item) ? item->valuedouble : 0.5;
    if (!(fabs(value) <= 9007199254740992.0) || value != floor(value))
        return fail(p, "target attribute '%s' needs an integer", shown(p, name, strlen(name)));
    return set_attribute(p, name, strlen(name), (int64_t)value);
}

static bool parse_object(parser *p, const cJSON *object) {
    const cJSON *kind = NULL, *arch = NULL, *item;
    cJSON_ArrayForEach(item, object) {
        const cJSON **slot = !strcmp(item->string, "kind")   ? &kind
                             : !strcmp(item->string, "arch") ? &arch
                                                             : NULL;
        if (slot && *slot) return fail(p, "target key \"%s\" is given twice", item->string);
        if (slot) *slot = item;
    }
    if (!cJSON_IsString(kind))
        return fail(p, "a target in JSON needs \"kind\", one of: %s", kind_names(p));
    if (!set_kind(p, kind->valuestring, strlen(kind->valuestring))) return false;
    if (cJSON_IsString(arch) && !set_arch(p, arch->valuestring, strlen(arch->valuestring)))
        return false;
    cJSON_ArrayForEach(item, object) {
        if (!parse_member(p, item)) return false;
    }
    return true;
}

static bool parse_json(parser *p, const char *text) {
    const char *end = NULL;
    cJSON *object = cJSON_ParseWithOpts(text, &end, true);
    bool ok = cJSON_IsObject(object)
                  ? parse_object(p, object)
                  : fail(p,
                         "target '%s' is not a JSON object such as {\"kind\": \"cuda\", "
                         "\"arch\": \"sm_90a\"}",
                         p->text);
    cJSON_Delete(object);
    return ok;
}

// ---- building -------------------------------------------------------------------------------

static bool check_value(parser *p, const kc_target_arch *arch, int i, int64_t value,
                        int64_t usual) {
    const kc_target_attribute_info *row = &kc_target_attribute_table[i];
    int64_t least = row->min, most = row->max;
    if (row->policy == KC_TARGET_FIXED) least = most = usual;
    if (row->policy == KC_TARGET_LIMIT) most = usual;
    if (row->policy == KC_TARGET_RAISE) least = usual;
    if (usual == 0 && row->policy == KC_TARGET_RAISE) most = 0; // not a property of this kind
    if (value >= least && value <= most) return true;
    if (least == most)
        return fail(p, "%s of %s is %lld and cannot be changed (seen %lld)", row->name, arch->name,
                    (long long)usual, (long long)value);
    return fail(p, "%s of %s must be between %lld and %lld, seen %lld", row->name, arch->name,
                (long long)least, (long long)most, (long long)value);
}

static bool build(parser *p, const kc_target_arch *arch, kc_target *target) {
    *target = (kc_target){p->kind, arch, arch->defaults};
    int64_t *fields = (int64_t *)(void *)&target->attributes;
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++) {
        if (!p->given[i]) continue;
        int64_t usual = kc_target_get(target, (kc_target_attribute)i);
        if (!check_value(p, arch, i, p->values[i], usual)) return false;
        fields[i] = p->values[i]; // attributes are int64_t fields in table order
    }
    return true;
}

int kc_target_parse(kc_arena *arena, const char *text, const kc_target **out, const char **error) {
    parser p = {.arena = arena};
    *out = NULL;
    *error = NULL;
    size_t length = strlen(text), blank = strspn(text, " \t\n");
    p.text = shown(&p, text, length);
    bool ok = length > MAX_TEXT    ? fail(&p, "a target text may have %d bytes at most", MAX_TEXT)
              : text[blank] == '{' ? parse_json(&p, text + blank)
                                   : parse_text(&p, text);
    int count = !ok ? 0 : p.arch ? 1 : p.kind->n_archs;
    kc_target *targets = count ? KC_NEW_ARRAY(arena, kc_target, count) : NULL;
    for (int i = 0; i < count; i++)
        if (!build(&p, p.arch ? p.arch : &p.kind->archs[i], &targets[i])) count = 0;
    *out = count ? targets : NULL;
    *error = p.error;
    return count;
}

const kc_target *kc_target_parse_one(kc_arena *arena, const char *text, const char **error) {
    const kc_target *targets;
    int count = kc_target_parse(arena, text, &targets, error);
    if (count <= 1) return targets;
    parser p = {.arena = arena};
    *error = kc_arena_printf(arena, "'%s' names a family; expected one architecture: %s", text,
                             arch_names(&p, targets->kind));
    return NULL;
}
