/* cp.async.bulk with .cp_mask: of every sixteen bytes those that the mask names. PTX ISA, "cp.async.bulk". */
#include "tests/unit/sim/machine_test.h"

#define START(target)                                                                                                  \
    ".version 8.6\n.target " target "\n.address_size 64\n.shared .align 16 .b8 tile[512];\n"                           \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS                                            \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 4;\n"                   \
    "mov.u32 %r2, tile;\nadd.s32 %r2, %r2, %r1;\ncvt.u64.u32 %d2, %r1;\nadd.s64 %d2, %d2, %d1;\n"                      \
    "ld.global.v2.b64 {%d4, %d5}, [%d2];\nst.shared.v2.b64 [%r2], {%d4, %d5};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n" \
    "setp.eq.u32 %p0, %r0, 0;\n"
#define END "@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group 0;\nret;\n}\n"
#define COPY(words, mask) "@%p0 cp.async.bulk.global.shared::cta.bulk_group" words ".cp_mask [%d0], [tile], 512, " mask ";\n"

static void copies(const char *ptx, uint32_t mask) {
    uint8_t in[512], old[512];
    machine_test test = machine_open(NULL, "sm_100a", ptx, 512);
    for (int i = 0; i < 512; i++) in[i] = (uint8_t)(i * 7 + 1), old[i] = (uint8_t)~i;
    machine_write(&test, test.in, in, 512);
    machine_write(&test, test.out, old, 512);
    kcsim_status status = machine_launch(&test, 1, 32, 0);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, KCSIM_OK);
    const uint8_t *out = kcsim_mem_host(test.machine, test.out, 512);
    for (int i = 0; i < 512; i++) assert_int_equal(out[i], mask >> i % 16 & 1 ? in[i] : old[i]);
    machine_close(&test);
}

static void masks(void **state) {
    (void)state;
    copies(START("sm_100") COPY("", "0x8001") END, 0x8001);
    copies(START("sm_100") "mov.b16 %h1, 0x3c5a;\n" COPY("", "%h1") END, 0x3c5a);
    copies(START("sm_100") "createpolicy.fractional.L2::evict_first.b64 %d9, 1.0;\n" COPY(".L2::cache_hint", "%d9, 0xffff") END, 0xffff);
    copies(START("sm_100") COPY("", "0") END, 0);
}

static void refusals(void **state) {
    (void)state;
    machine_refuse("sm_100a", START("sm_90") COPY("", "1") END, "such as sm_100");
    machine_refuse("sm_100a", START("sm_100") "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.cp_mask [tile], [%d0], 64, [tile], 1;\n" END,
                   "a masked copy goes from .shared::cta to global");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(masks), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
