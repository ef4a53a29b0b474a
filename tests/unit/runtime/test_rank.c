// Which image runs on which device, and in which order they are tried.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rank.h"

// The images that run, best first, as "arch.role arch.role".
static void order_cuda(int major, int minor, const char *images, const char *wanted) {
    char text[512], got[512] = "", *save;
    const char *names[32], *reason;
    int ranks[32], n = 0;
    snprintf(text, sizeof text, "%s", images);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        char arch[32];
        const char *dot = strchr(name, '.');
        snprintf(arch, sizeof arch, "%.*s", (int)(dot - name), name);
        reason = NULL;
        ranks[n] = kcrt_rank_cuda(major, minor, arch, dot + 1, &reason);
        if (!ranks[n] && !reason) fail_msg("no reason for %s", name);
        names[n++] = name;
    }
    for (;;) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (ranks[i] > 0 && (best < 0 || ranks[i] > ranks[best])) best = i;
        if (best < 0) break;
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", *got ? " " : "", names[best]);
        ranks[best] = 0;
    }
    assert_string_equal(got, wanted);
}

static void test_cuda(void **state) {
    (void)state;
    const char *all =
        "sm_75.ptx sm_80.cubin sm_80.ptx sm_86.cubin sm_86.ptx sm_90.cubin sm_90.ptx sm_90a.cubin "
        "sm_90a.ptx "
        "sm_100.cubin sm_100.ptx sm_100a.cubin sm_100a.ptx sm_100f.ptx sm_120.ptx sm_120a.ptx";
    order_cuda(7, 5, all, "sm_75.ptx");
    order_cuda(8, 0, all, "sm_80.cubin sm_80.ptx sm_75.ptx");
    order_cuda(8, 6, all, "sm_86.cubin sm_86.ptx sm_80.cubin sm_80.ptx sm_75.ptx");
    order_cuda(8, 9, all, "sm_86.cubin sm_80.cubin sm_86.ptx sm_80.ptx sm_75.ptx");
    order_cuda(9, 0, all,
               "sm_90a.cubin sm_90a.ptx sm_90.cubin sm_90.ptx sm_86.ptx sm_80.ptx sm_75.ptx");
    order_cuda(10, 0, all,
               "sm_100a.cubin sm_100a.ptx sm_100f.ptx sm_100.cubin sm_100.ptx sm_90.ptx sm_86.ptx "
               "sm_80.ptx sm_75.ptx");
    order_cuda(10, 3, all,
               "sm_100f.ptx sm_100.cubin sm_100.ptx sm_90.ptx sm_86.ptx sm_80.ptx sm_75.ptx");
    order_cuda(12, 0, all,
               "sm_120a.ptx sm_120.ptx sm_100.ptx sm_90.ptx sm_86.ptx sm_80.ptx sm_75.ptx");
    order_cuda(7, 0, all, "");
    order_cuda(9, 0,
               "gfx942.hsaco sm_.ptx sm_9x.ptx compute_90.ptx sm_90b.ptx sm_90.hsaco sm_90aa.ptx",
               "");
}

static void test_parse_sm(void **state) {
    (void)state;
    int number;
    char suffix;
    assert_true(kcrt_parse_sm("sm_103a", &number, &suffix) && number == 103 && suffix == 'a');
    assert_true(kcrt_parse_sm("sm_75", &number, &suffix) && number == 75 && !suffix);
    assert_false(kcrt_parse_sm("sm_5", &number, &suffix));
    assert_false(kcrt_parse_sm("sm_99999999999", &number, &suffix));
    assert_false(kcrt_parse_sm("", &number, &suffix));
}

static void hip(const char *device, const char *better, const char *worse) {
    const char *reason = NULL;
    int a = better ? kcrt_rank_hip(device, better, "hsaco", &reason) : 1 << 20;
    int b = worse ? kcrt_rank_hip(device, worse, "hsaco", &reason) : 0;
    if (a <= b || (worse && !better && b) || a <= 0)
        fail_msg("%s: %s is %d, %s is %d", device, better ? better : "-", a, worse ? worse : "-",
                 b);
}

static void refused(const char *device, const char *arch) {
    const char *reason = NULL;
    assert_int_equal(kcrt_rank_hip(device, arch, "hsaco", &reason), 0);
    assert_non_null(reason);
}

static void test_hip(void **state) {
    (void)state;
    hip("gfx90a:sramecc+:xnack-", "gfx90a", NULL);
    hip("gfx90a:sramecc+:xnack-", "gfx90a:xnack-", "gfx90a");
    hip("gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", "gfx90a:xnack-");
    refused("gfx90a:sramecc+:xnack-", "gfx90a:xnack+");
    refused("gfx90a:sramecc+:xnack-", "gfx908");
    refused("gfx90a:sramecc+:xnack-", "gfx9-generic"); // not a member
    hip("gfx942:sramecc+:xnack-", "gfx942", "gfx9-4-generic");
    hip("gfx942:sramecc+:xnack-", "gfx9-4-generic:xnack-", "gfx9-4-generic");
    refused("gfx942:sramecc+:xnack-", "gfx9-4-generic:xnack+");
    hip("gfx950", "gfx9-4-generic", NULL);
    hip("gfx1100", "gfx1100", "gfx11-generic");
    hip("gfx1151", "gfx11-generic", NULL);
    hip("gfx1201", "gfx12-generic", NULL);
    refused("gfx1100", "gfx12-generic");
    refused("gfx1100", "gfx110");
    refused("gfx1100", "gfx1100x");
    refused("gfx90a", "gfx90");
    const char *reason;
    assert_int_equal(kcrt_rank_hip("gfx942", "gfx942", "ptx", &reason), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuda), cmocka_unit_test(test_parse_sm),
                                       cmocka_unit_test(test_hip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
