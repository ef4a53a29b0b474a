// Files that appear whole or not at all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/package/outfile.h"

static char folder[64];
static kc_arena *arena;

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/kc-outfile-XXXXXX");
    arena = kc_arena_create();
    return mkdtemp(folder) && !chdir(folder) ? 0 : 1;
}

static int tear_down(void **state) {
    (void)state;
    char command[100];
    kc_arena_destroy(arena);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static int count_files(void) {
    DIR *d = opendir(".");
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

static void assert_content(const char *path, const char *wanted) {
    char text[256] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    assert_string_equal(text, wanted);
}

static void write_new(void **state) {
    (void)state;
    const char *error = NULL;
    mode_t old = umask(027);
    assert_true(kc_outfile_write(arena, "a", "one", 3, &error));
    umask(old);
    struct stat s;
    stat("a", &s);
    assert_int_equal(s.st_mode & 0777, 0640);
    assert_content("a", "one");
    assert_int_equal(count_files(), 1);
}

static void replace_keeps_mode(void **state) {
    (void)state;
    const char *error = NULL;
    struct stat s;
    assert_true(kc_outfile_write(arena, "a", "one", 3, &error));
    chmod("a", 0604);
    assert_true(kc_outfile_write(arena, "a", "", 0, &error));
    stat("a", &s);
    assert_int_equal(s.st_mode & 0777, 0604);
    assert_content("a", "");
    assert_int_equal(count_files(), 1);
}

static void staged_is_invisible(void **state) {
    (void)state;
    const char *error = NULL;
    assert_true(kc_outfile_write(arena, "a", "old", 3, &error));
    kc_outfile *x = kc_outfile_stage(arena, "a", "new", 3, &error),
               *y = kc_outfile_stage(arena, "b", "new", 3, &error);
    assert_non_null(x);
    assert_non_null(y);
    assert_content("a", "old");
    assert_int_equal(count_files(), 1);
    kc_outfile_drop(y);
    assert_true(kc_outfile_commit(x, &error));
    assert_content("a", "new");
    assert_int_equal(count_files(), 1);
}

static void a_link_is_followed(void **state) {
    (void)state;
    const char *error = NULL;
    struct stat s;
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_true(kc_outfile_write(arena, "sub/real", "old", 3, &error));
    assert_int_equal(symlink("sub/real", "link"), 0);
    assert_true(kc_outfile_write(arena, "link", "new", 3, &error));
    lstat("link", &s);
    assert_true(S_ISLNK(s.st_mode));
    assert_content("sub/real", "new");
}

static void a_killed_run_left_a_file(void **state) {
    (void)state;
    const char *error = NULL;
    char name[64];
    snprintf(name, sizeof name, ".a.kc-%ld",
             (long)getpid()); // what a process of our number would have left
    assert_true(kc_outfile_write(arena, "a", "old", 3, &error));
    assert_true(kc_outfile_write(arena, name, "rest", 4, &error));
    assert_true(kc_outfile_write(arena, "a", "new", 3, &error));
    assert_content("a", "new");
    assert_int_equal(count_files(), 1);
}

static void problems_are_named(void **state) {
    (void)state;
    const char *error = NULL;
    assert_false(kc_outfile_write(arena, "no/such/folder", "x", 1, &error));
    assert_non_null(strstr(error, "no/such/folder"));
    assert_non_null(strstr(error, "create its folder"));
    mkdir("sub", 0777);
    assert_false(kc_outfile_write(arena, "sub", "x", 1, &error));
    assert_non_null(strstr(error, "directory"));
    assert_false(kc_outfile_write(arena, "/dev/full", "x", 1, &error));
    assert_non_null(strstr(error, "No space left"));
    assert_true(kc_outfile_write(arena, "/dev/null", "x", 1, &error));
    assert_int_equal(count_files(), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(write_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replace_keeps_mode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(staged_is_invisible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_killed_run_left_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(problems_are_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
