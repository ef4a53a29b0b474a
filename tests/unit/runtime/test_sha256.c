// FIPS 180-4 examples, and every length around the block boundaries against a one-byte-at-a-time
// property.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runtime/sha256.h"

static void test_examples(void **state) {
    (void)state;
    char hex[65];
    kcrt_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    kcrt_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    kcrt_sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *a = malloc(1000000);
    memset(a, 'a', 1000000);
    kcrt_sha256_hex(a, 1000000, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(a);
}

// The digest of the digests of 0 to 130 bytes of 'x', computed with Python's hashlib.
static void test_lengths(void **state) {
    (void)state;
    char text[130], all[131 * 64 + 1], hex[65];
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n <= 130; n++)
        kcrt_sha256_hex(text, n, all + 64 * n);
    kcrt_sha256_hex(all, 131 * 64, hex);
    assert_string_equal(hex, "87aca1c44bc7ba8897768170211f0a02063de70801131ff86c7edb9ce32c6a50");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
