// The container reader: trusts nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "pack.h"
#include "runtime/kcrt_device.h"
#include "runtime/package.h"

static const pack_image images[] = {{"cuda", "sm_80", "ptx", "PTX text", 9},
                                    {"hip", "gfx942", "hsaco", "\177ELF", 4}};
static kcrt_arena arena;

static kcrt_status read_bytes(const void *bytes, size_t size, kcrt_package *out) {
    kcrt_arena_release(&arena);
    return kcrt_package_read(&arena, "T.kcb", bytes, size, out);
}

// On a copy of exactly that size, so that a read past the end is seen.
static kcrt_status read_copy(const void *bytes, size_t size) {
    kcrt_package package;
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    kcrt_status status = read_bytes(copy, size, &package);
    volatile size_t sum = 0; // touch everything that the reader promises is there
    for (int i = 0; !status && i < package.count; i++) {
        const kcrt_entry *e = &package.entries[i];
        sum += strlen(e->triple) + strlen(e->arch) + strlen(e->role);
        for (size_t b = 0; b < e->size; b++)
            sum += ((const unsigned char *)e->image)[b];
    }
    (void)sum;
    free(copy);
    return status;
}

static void test_reads(void **state) {
    (void)state;
    pack p = pack_with("{}", images, 2);
    kcrt_package package;
    assert_int_equal(read_bytes(p.data, p.size, &package), KCRT_OK);
    assert_int_equal(package.count, 3);
    assert_string_equal(package.entries[0].role, "manifest");
    assert_int_equal(package.entries[0].size, 2);
    assert_string_equal(package.entries[1].arch, "sm_80");
    assert_memory_equal(package.entries[1].image, "PTX text", 9);
    assert_int_equal(package.entries[1].image_kind, 5);
    assert_int_equal(package.entries[1].offload_kind, 2);
    assert_string_equal(package.entries[2].triple, "hip");
    free(p.data);
}

// Writes `value` over `bytes` bytes at `at` of the second entry, and expects these words.
static void damaged(size_t at, uint64_t value, int bytes, const char *words) {
    pack p = pack_with("{}", images, 2);
    size_t second = 0;
    for (int i = 7; i >= 0; i--)
        second = second << 8 | p.data[8 + i];
    put_number(p.data + second + at, value, bytes);
    assert_int_equal(read_copy(p.data, p.size), KCRT_BAD_PACKAGE);
    char where[40];
    snprintf(where, sizeof where, "byte %zu", second);
    if (!strstr(kcrt_last_error(), words) || !strstr(kcrt_last_error(), where) ||
        !strstr(kcrt_last_error(), "T.kcb"))
        fail_msg("`%s`, `%s` are not in: %s", words, where, kcrt_last_error());
    free(p.data);
}

static void test_each_field(void **state) {
    (void)state;
    damaged(0, 0xad10ff11, 4, "10 FF 10 AD");
    damaged(4, 2, 4, "version other than 1");
    damaged(8, 71, 8, "smaller than the headers");
    damaged(8, 1 << 20, 8, "past the end of the file");
    damaged(8, UINT64_MAX, 8, "past the end of the file");
    damaged(16, 1 << 20, 8, "entry header");
    damaged(16, UINT64_MAX - 8, 8, "entry header");
    damaged(24, 39, 8, "entry header");
    damaged(24, UINT64_MAX, 8, "entry header");
    damaged(40, UINT64_MAX - 15, 8, "string map");
    damaged(48, 65, 8, "64 strings");
    damaged(48, UINT64_MAX / 16 + 1, 8, "64 strings");
    damaged(56, UINT64_MAX, 8, "image lies outside");
    damaged(64, 1 << 20, 8, "image lies outside");
    damaged(64, UINT64_MAX, 8, "image lies outside");
    damaged(72, UINT64_MAX, 8, "string lies outside");
    damaged(80, 1 << 20, 8, "string lies outside");
    // The key of the second string becomes the key of the first.
    damaged(88, 121, 8, "twice");
}

static void test_unterminated_string(void **state) {
    (void)state;
    pack_image none = {"cuda", "sm_80", "ptx", "xxxxxxxx", 8};
    pack p = pack_with("{}", &none, 1);
    memset(p.data + p.size - 8, 'x', 8); // the last bytes of the file are no NUL
    size_t second = p.data[8];
    put_number(p.data + second + 72 + 40, p.size - second - 4, 8); // the value of kc.role
    assert_int_equal(read_copy(p.data, p.size), KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "has no end"));
    free(p.data);
}

static void test_every_truncation(void **state) {
    (void)state;
    pack p = pack_with("{\"a\":1}", images, 2);
    size_t first = p.data[8] | (size_t)p.data[9] << 8;
    size_t second = first + p.data[first + 8];
    int good = 0;
    for (size_t n = 0; n < p.size; n++)
        good += read_copy(p.data, n) == KCRT_OK;
    assert_int_equal(good, 2); // cut between entries
    assert_int_equal(read_copy(p.data, first), KCRT_OK);
    assert_int_equal(read_copy(p.data, second), KCRT_OK);
    free(p.data);
}

static void test_not_a_package(void **state) {
    (void)state;
    assert_int_equal(read_copy("", 0), KCRT_BAD_PACKAGE);
    assert_int_equal(read_copy("kc: 1\nmodule: x\nfunctions: and more text", 40), KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "10 FF 10 AD"));
}

static void test_random_bytes(void **state) {
    (void)state;
    uint64_t seed = 1;
    pack p = pack_with("{\"a\":1}", images, 2);
    unsigned char *work = malloc(p.size);
    for (int round = 0; round < 20000; round++) {
        memcpy(work, p.data, p.size);
        for (int i = 0; i < 1 + round % 4; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            work[(seed >> 33) % p.size] = (unsigned char)(seed >> 20);
        }
        read_copy(work, p.size); // a status, no fault
    }
    free(work);
    free(p.data);
}

static int release(void **state) {
    (void)state;
    kcrt_arena_release(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_each_field),
        cmocka_unit_test(test_unterminated_string),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_not_a_package),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
