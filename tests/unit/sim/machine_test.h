/* What the tests of the simulated machine share: a machine, PTX around a few lines, buffers in and out. */
#ifndef KCSIM_MACHINE_TEST_H
#define KCSIM_MACHINE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/machine.h"

#define PTX_HEADER ".version 8.7\n.target sm_80\n.address_size 64\n"
#define PTX_REGISTERS                                                                              \
    ".reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>;\n"

/* A kernel `k(out, in)` whose body finds out in %d0, in in %d1, tid.x in %r0 and the thread's own eight bytes of both at
 * %d2 (out) and %d3 (in). */
#define PTX_KERNEL_OF(target, limits, body)                                                        \
    ".version 8.7\n.target " target "\n.address_size 64\n.visible .entry k(.param .u64 out, "        \
    ".param .u64 in)\n" limits "{\n" PTX_REGISTERS                                                 \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\n"                    \
    "mul.wide.u32 %d4, %r0, 8;\nadd.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\n" body             \
    "\nret;\n}\n"
#define PTX_KERNEL_LIMITS(limits, body) PTX_KERNEL_OF("sm_80", limits, body)
#define PTX_KERNEL_FOR(target, body) PTX_KERNEL_OF(target, "", body)
#define PTX_KERNEL(body) PTX_KERNEL_LIMITS("", body)

typedef struct machine_test {
    kcsim_machine *machine;
    kcsim_module *module;
    const kcsim_function *function;
    uint64_t out, in;
    size_t bytes;
} machine_test;

static inline machine_test machine_open(const kcsim_options *options, const char *arch, const char *ptx,
                                        size_t bytes) {
    machine_test test = {.bytes = bytes};
    char log[300] = "";
    test.machine = kcsim_machine_create(kcsim_arch_find(arch), options);
    assert_non_null(test.machine);
    kcsim_status status = kcsim_module_load(test.machine, ptx, strlen(ptx), log, sizeof log, &test.module);
    if (status != KCSIM_OK) print_error("%s\n", log);
    assert_int_equal(status, KCSIM_OK);
    assert_int_equal(kcsim_module_find_function(test.module, "k", &test.function), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(test.machine, bytes, &test.out), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(test.machine, bytes, &test.in), KCSIM_OK);
    return test;
}

static inline void machine_close(machine_test *test) {
    kcsim_machine_destroy(test->machine);
}

static inline void machine_write(machine_test *test, uint64_t address, const void *data, size_t bytes) {
    void *host = kcsim_mem_host(test->machine, address, bytes);
    assert_non_null(host);
    memcpy(host, data, bytes);
    kcsim_mem_written(test->machine, address, bytes);
}

static inline kcsim_status machine_launch(machine_test *test, uint32_t grid, uint32_t block, size_t shared) {
    uint64_t params[2] = {test->out, test->in};
    kcsim_launch_config config = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .dynamic_shared = shared};
    return kcsim_launch(test->machine, test->function, &config, params, sizeof params);
}

/* Runs `body` on one warp: lane i reads in[i], writes out[i], eight bytes each. */
static inline void machine_lanes(const char *ptx, const char *arch, const uint64_t in[32], uint64_t out[32]) {
    machine_test test = machine_open(NULL, arch, ptx, 32 * 8);
    machine_write(&test, test.in, in, 32 * 8);
    memset(kcsim_mem_host(test.machine, test.out, 32 * 8), 0, 32 * 8);
    kcsim_mem_written(test.machine, test.out, 32 * 8);
    kcsim_status status = machine_launch(&test, 1, 32, 0);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, KCSIM_OK);
    memcpy(out, kcsim_mem_host(test.machine, test.out, 32 * 8), 32 * 8);
    machine_close(&test);
}

/* True when the findings have one of that kind whose text contains `part` (NULL: any). */
static inline bool machine_found(machine_test *test, const char *kind, const char *part) {
    char *json = kcsim_findings_json(test->machine), wanted[80];
    snprintf(wanted, sizeof wanted, "\"kind\": \"%s\"", kind);
    bool found = strstr(json, wanted) && (!part || strstr(json, part));
    if (!found) print_message("findings: %s\n", json);
    free(json);
    return found;
}

/* A launch of clusters; 0: what the kernel itself asks for. */
static inline kcsim_status machine_launch_clusters(machine_test *test, uint32_t grid, uint32_t block, uint32_t cluster) {
    uint64_t params[2] = {test->out, test->in};
    kcsim_launch_config config = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .cluster = {cluster, cluster ? 1 : 0, cluster ? 1 : 0}};
    return kcsim_launch(test->machine, test->function, &config, params, sizeof params);
}

/* Under several seeds: OK where `kind` is NULL, any finding where it is "", else that finding with that text. Buffers of 64 KiB, zeros. */
static inline void machine_expect(const char *ptx, uint32_t grid, uint32_t block, uint32_t cluster, const char *kind,
                                  const char *text) {
    static const char zeros[1 << 16];
    for (uint64_t seed = 0; seed < 8; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed * seed * 977;
        machine_test test = machine_open(&options, "sm_90a", ptx, sizeof zeros);
        machine_write(&test, test.in, zeros, sizeof zeros);
        kcsim_status status = machine_launch_clusters(&test, grid, block, cluster);
        if ((status == KCSIM_OK) != !kind)
            print_message("seed %d: %s\n", (int)options.seed, kcsim_last_fault(test.machine));
        assert_int_equal(status, kind ? KCSIM_FAULT : KCSIM_OK);
        if (kind && *kind) assert_true(machine_found(&test, kind, text));
        machine_close(&test);
    }
}

/* A module that is not loaded, and what the log says of it. */
static inline void machine_refuse(const char *arch, const char *ptx, const char *text) {
    char log[300] = "";
    kcsim_module *module;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find(arch), NULL);
    assert_int_equal(kcsim_module_load(machine, ptx, strlen(ptx), log, sizeof log, &module), KCSIM_INVALID_PTX);
    if (!strstr(log, text)) print_error("%s\n", log);
    assert_non_null(strstr(log, text));
    kcsim_machine_destroy(machine);
}

/* The number after "name": in the counters of the only kernel. */
static inline long machine_counter(machine_test *test, const char *name) {
    char *json = kcsim_counters_json(test->machine), wanted[80];
    snprintf(wanted, sizeof wanted, "\"%s\": ", name);
    const char *at = strstr(json, wanted);
    long value = at ? strtol(at + strlen(wanted), NULL, 10) : -1;
    free(json);
    return value;
}

#endif
