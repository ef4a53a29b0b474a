// The pool of workers, the records they send, and what becomes of those that die.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "compiler/build/pool.h"
#include "compiler/build/record.h"

enum { JOBS = 12 };

typedef struct {
    char text[JOBS][64];
    char died[JOBS][128];
    char said[JOBS][64];
    int ended;
} notes;

static void work(void *context, int job, int out) {
    (void)context;
    char text[64];
    int n = snprintf(text, sizeof text, "job %d", job);
    if (job == 3)
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV); // without the handler of the test program
    if (job == 4) _exit(9);
    if (job == 5) pause();
    if (job == 6) fprintf(stderr, "trouble\n");
    if (job == 7) {
        static char block[1 << 16];
        memset(block, 'x', sizeof block);
        for (int i = 0; i < 20; i++)
            assert_true(kc_record_write_bytes(out, block, sizeof block));
    }
    kc_record_write_bytes(out, text, (size_t)n);
}

static void done(void *context, int job, const kc_pool_end *end) {
    notes *n = context;
    snprintf(n->text[job], sizeof n->text[job], "%.*s", end->size > 63 ? 0 : (int)end->size,
             end->data ? end->data : "");
    if (job == 7) snprintf(n->text[job], sizeof n->text[job], "%zu", end->size);
    snprintf(n->died[job], sizeof n->died[job], "%s", end->died ? end->died : "");
    snprintf(n->said[job], sizeof n->said[job], "%s", end->said);
    n->ended++;
}

static void jobs_end_in_every_way(void **state) {
    (void)state;
    for (int at_a_time = 1; at_a_time <= 5; at_a_time += 4) {
        notes n = {.ended = 0};
        kc_arena *arena = kc_arena_create();
        const char *error;
        kc_pool pool = {at_a_time, 1, &n, work, done};
        assert_true(kc_pool_run(arena, &pool, JOBS, &error));
        assert_int_equal(n.ended, JOBS);
        for (int i = 0; i < JOBS; i++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, i == 7 ? "%d" : "job %d", i == 7 ? 20 * 65536 + 5 : i);
            bool dies = i >= 3 && i <= 5;
            assert_string_equal(n.text[i], dies ? "" : wanted);
            if (!dies) assert_string_equal(n.died[i], "");
        }
        assert_non_null(strstr(n.died[3], "signal 11"));
        assert_non_null(strstr(n.died[4], "status 9"));
        assert_non_null(strstr(n.died[5], "not finished after 1 seconds"));
        assert_string_equal(n.said[6], "trouble\n");
        kc_arena_destroy(arena);
    }
}

// ---- records ------------------------------------------------------------------------------------

static char *sample(size_t *size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int32_t place = 2;
    double seconds = 0.25;
    kc_record_write(ends[1], KC_RECORD_STAGE, NULL, 0, "pass tile", 9);
    kc_record_write(ends[1], KC_RECORD_IMAGE, "ptx", 4, "\0\1\2", 3);
    char prefix[sizeof place + 5];
    memcpy(prefix, &place, sizeof place);
    memcpy(prefix + sizeof place, "fuse", 5);
    kc_record_write(ends[1], KC_RECORD_DUMP, prefix, sizeof prefix, "text", 4);
    kc_record_write(ends[1], KC_RECORD_TIME, &seconds, sizeof seconds, "fuse", 4);
    kc_record_write(ends[1], KC_RECORD_VARIANTS, NULL, 0, "[]", 2);
    kc_record_write(ends[1], KC_RECORD_DONE, NULL, 0, NULL, 0);
    close(ends[1]);
    char *data = malloc(4096);
    ssize_t n = read(ends[0], data, 4096);
    close(ends[0]);
    assert_true(n > 0);
    *size = (size_t)n;
    return data;
}

static void records_read_back(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_task_result r;
    size_t size;
    char *data = sample(&size);
    assert_true(kc_record_read(arena, data, size, &r));
    assert_int_equal(r.end, KC_TASK_DONE);
    assert_string_equal(r.stage, "pass tile");
    assert_int_equal(r.n_images, 1);
    assert_string_equal(r.images[0].role, "ptx");
    assert_memory_equal(r.images[0].data, "\0\1\2\0", 4);
    assert_int_equal(r.n_dumps, 1);
    assert_int_equal(r.dumps[0].index, 2);
    assert_string_equal(r.dumps[0].pass, "fuse");
    assert_string_equal(r.times[0].pass, "fuse");
    assert_true(r.times[0].seconds > 0.2);
    assert_string_equal(r.variants, "[]");
    free(data);
    kc_arena_destroy(arena);
}

// Cut anywhere: never done, never outside the bytes (under a sanitizer), and the stage is known
// once it was told.
static void cut_records_are_faults(void **state) {
    (void)state;
    size_t size;
    char *data = sample(&size);
    for (size_t n = 0; n < size; n++) {
        kc_arena *arena = kc_arena_create();
        kc_task_result r;
        char *part = malloc(n ? n : 1);
        memcpy(part, data, n);
        assert_true(kc_record_read(arena, part, n, &r));
        assert_int_equal(r.end, KC_TASK_FAULT);
        if (n >= sizeof(kc_record_head) + 9) assert_string_equal(r.stage, "pass tile");
        free(part);
        kc_arena_destroy(arena);
    }
    free(data);
}

static void damaged_records_are_survived(void **state) {
    (void)state;
    size_t size;
    char *data = sample(&size);
    unsigned seed = 1;
    for (int i = 0; i < 3000; i++) {
        kc_arena *arena = kc_arena_create();
        kc_task_result r;
        char *copy = malloc(size);
        memcpy(copy, data, size);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1103515245u + 12345u;
            copy[(seed >> 8) % size] = (char)(seed >> 24);
        }
        kc_record_read(arena, copy, size, &r);
        free(copy);
        kc_arena_destroy(arena);
    }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_end_in_every_way),
        cmocka_unit_test(records_read_back),
        cmocka_unit_test(cut_records_are_faults),
        cmocka_unit_test(damaged_records_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
