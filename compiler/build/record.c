// Both ends are the same program on the same machine, so numbers travel as they are in memory.
#include "compiler/build/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool kc_record_write_bytes(int file, const void *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = write(file, (const char *)data + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

bool kc_record_write(int file, kc_record_tag tag, const void *prefix, size_t prefix_size,
                     const void *data, size_t size) {
    kc_record_head head = {.tag = (uint32_t)tag, .size = prefix_size + size};
    return kc_record_write_bytes(file, &head, sizeof head) &&
           kc_record_write_bytes(file, prefix, prefix_size) &&
           kc_record_write_bytes(file, data, size);
}

typedef struct {
    kc_arena *arena;
    kc_task_result *out;
    int dumps_capacity, times_capacity;
} reader;

static void read_image(reader *r, const char *data, size_t size) {
    size_t role = strnlen(data, size) + 1;
    if (role > size || r->out->n_images == (int)(sizeof r->out->images / sizeof *r->out->images))
        return;
    // A copy, so that a NUL follows the bytes.
    r->out->images[r->out->n_images++] =
        (kc_image){kc_arena_strdup(r->arena, data),
                   kc_arena_strndup(r->arena, data + role, size - role), size - role};
}

// Room for one more item of an arena array.
static void *grow(kc_arena *arena, void *items, int n, int *capacity, size_t item) {
    if (n < *capacity) return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    char *bigger = kc_arena_alloc(arena, item * (size_t)*capacity);
    if (n) memcpy(bigger, items, item * (size_t)n);
    return bigger;
}

static void read_dump(reader *r, const char *data, size_t size) {
    kc_task_result *out = r->out;
    int32_t index;
    if (size <= sizeof index) return;
    memcpy(&index, data, sizeof index);
    data += sizeof index, size -= sizeof index;
    size_t name = strnlen(data, size) + 1;
    if (name > size) return;
    out->dumps = grow(r->arena, out->dumps, out->n_dumps, &r->dumps_capacity, sizeof *out->dumps);
    out->dumps[out->n_dumps++] =
        (kc_task_dump){index, kc_arena_strdup(r->arena, data),
                       kc_arena_strndup(r->arena, data + name, size - name)};
}

static void read_time(reader *r, const char *data, size_t size) {
    kc_task_result *out = r->out;
    double seconds;
    if (size <= sizeof seconds) return;
    memcpy(&seconds, data, sizeof seconds);
    out->times = grow(r->arena, out->times, out->n_times, &r->times_capacity, sizeof *out->times);
    out->times[out->n_times++] = (kc_task_time){
        kc_arena_strndup(r->arena, data + sizeof seconds, size - sizeof seconds), seconds};
}

static bool read_record(reader *r, uint32_t tag, const char *data, size_t size) {
    kc_task_result *out = r->out;
    switch (tag) {
    case KC_RECORD_STAGE: out->stage = kc_arena_strndup(r->arena, data, size); break;
    case KC_RECORD_DIAGNOSTICS: out->diagnostics = kc_arena_strndup(r->arena, data, size); break;
    case KC_RECORD_IMAGE: read_image(r, data, size); break;
    case KC_RECORD_VARIANTS: out->variants = kc_arena_strndup(r->arena, data, size); break;
    case KC_RECORD_EXPLAIN: out->explain = kc_arena_strndup(r->arena, data, size); break;
    case KC_RECORD_DUMP: read_dump(r, data, size); break;
    case KC_RECORD_TIME: read_time(r, data, size); break;
    case KC_RECORD_FAULT: out->fault = kc_arena_strndup(r->arena, data, size); break;
    case KC_RECORD_CACHED: out->cached = true; break;
    case KC_RECORD_REFUSED: out->end = KC_TASK_REFUSED; break;
    case KC_RECORD_DONE: out->end = KC_TASK_DONE; break;
    default: return false;
    }
    return true;
}

bool kc_record_read(kc_arena *arena, const char *data, size_t size, kc_task_result *out) {
    *out = (kc_task_result){.end = KC_TASK_FAULT, .said = ""};
    reader r = {.arena = arena, .out = out};
    while (size >= sizeof(kc_record_head)) {
        kc_record_head head;
        memcpy(&head, data, sizeof head);
        data += sizeof head, size -= sizeof head;
        if (head.size > size) return true;
        if (!read_record(&r, head.tag, data, (size_t)head.size)) return false;
        data += head.size, size -= (size_t)head.size;
    }
    return true;
}
