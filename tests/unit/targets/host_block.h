// Runs a block of a kernel on the host: LLVM IR is emitted with hooks that call back, compiled by
// clang, and every GPU thread is a coroutine. Shuffles and barriers end a turn; all threads must
// end it alike. Nothing of a vendor's back end takes part.
#ifndef KC_TESTS_TARGETS_HOST_BLOCK_H
#define KC_TESTS_TARGETS_HOST_BLOCK_H

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>
#include <llvm-c/Analysis.h>
#include "targets/common/emit.h"
#include "targets/common/math/math_link.h"
#include "tests/unit/targets/tile_text.h"

// ---- hooks ----------------------------------------------------------------------------------

static void host_kernel(kc_emit *e, LLVMValueRef function, int threads) {
    (void)e, (void)function, (void)threads;
}

static LLVMValueRef host_thread(kc_emit *e) {
    return kc_emit_call(e, "kc_host_thread", e->i32, 0, NULL);
}

static LLVMValueRef host_program(kc_emit *e) {
    return kc_emit_call(e, "kc_host_program", e->i32, 0, NULL);
}

static void host_barrier(kc_emit *e) {
    kc_emit_call(e, "kc_host_barrier", LLVMVoidTypeInContext(e->context), 0, NULL);
}

static LLVMValueRef host_shuffle_index(kc_emit *e, LLVMValueRef value, LLVMValueRef source) {
    return kc_emit_call(e, "kc_host_shuffle", e->i32, 2, (LLVMValueRef[]){value, source});
}

static LLVMValueRef host_shuffle_xor(kc_emit *e, LLVMValueRef value, int mask) {
    return host_shuffle_index(e, value,
                              LLVMBuildXor(e->builder, host_thread(e), kc_emit_i32(e, mask), ""));
}

static const kc_emit_hooks host_hooks = {
    .kernel = host_kernel,
    .thread_id = host_thread,
    .program_id = host_program,
    .barrier = host_barrier,
    .shuffle_xor = host_shuffle_xor,
    .shuffle_index = host_shuffle_index,
    .load_masked = kc_emit_load_by_branch,
    .store_masked = kc_emit_store_by_branch,
};

// ---- coroutines -----------------------------------------------------------------------------

enum { HOST_THREADS = 1024, HOST_STACK = 256 * 1024 };

static struct {
    ucontext_t scheduler, threads[HOST_THREADS];
    char *stacks;
    bool done[HOST_THREADS];
    int kind[HOST_THREADS], n, current, program, warp_size;
    uint32_t slots[2][HOST_THREADS];
    int turn[HOST_THREADS];
    void (*body)(void *);
    void *context;
} host;

static int host_current(void) {
    return host.current;
}

static int host_current_program(void) {
    return host.program;
}

static void host_end_turn(int kind) {
    int t = host.current;
    host.kind[t] = kind;
    host.turn[t]++;
    swapcontext(&host.threads[t], &host.scheduler);
}

static void host_meet(void) {
    host_end_turn(1);
}

static uint32_t host_exchange(uint32_t value, uint32_t source) {
    int t = host.current, turn = host.turn[t] & 1, warp = t / host.warp_size * host.warp_size;
    host.slots[turn][t] = value;
    host_end_turn(2);
    return host.slots[turn][warp + (int)(source % (unsigned)host.warp_size)];
}

static void host_start(void) {
    int t = host.current;
    host.body(host.context);
    host.done[t] = true;
    host.kind[t] = 0;
    swapcontext(&host.threads[t], &host.scheduler);
}

static void host_create(int n) {
    if (!host.stacks) host.stacks = malloc((size_t)HOST_THREADS * HOST_STACK);
    for (int t = 0; t < n; t++) {
        getcontext(&host.threads[t]);
        host.threads[t].uc_stack.ss_sp = host.stacks + (size_t)t * HOST_STACK;
        host.threads[t].uc_stack.ss_size = HOST_STACK;
        host.threads[t].uc_link = NULL;
        makecontext(&host.threads[t], host_start, 0);
        host.done[t] = false;
        host.turn[t] = 0;
    }
}

static void host_set(void *library, const char *name, void *function) {
    void **slot = dlsym(library, name);
    assert_non_null(slot);
    *slot = function;
}

// Runs body(context) on n threads of warps of host.warp_size.
static void host_run(void *library, int n, int program, void (*body)(void *), void *context) {
    host_set(library, "kc_host_thread_p", (void *)(uintptr_t)host_current);
    host_set(library, "kc_host_program_p", (void *)(uintptr_t)host_current_program);
    host_set(library, "kc_host_barrier_p", (void *)(uintptr_t)host_meet);
    host_set(library, "kc_host_shuffle_p", (void *)(uintptr_t)host_exchange);
    if (!host.warp_size) host.warp_size = 32;
    host.body = body;
    host.context = context;
    host.program = program;
    host_create(n);
    while (!host.done[n - 1]) {
        for (host.current = 0; host.current < n; host.current++) {
            if (!host.done[host.current]) swapcontext(&host.scheduler, &host.threads[host.current]);
        }
        for (int t = 1; t < n; t++)
            if (host.kind[t] != host.kind[0])
                fail_msg("threads 0 and %d end a turn differently", t);
    }
}

// ---- compiling ------------------------------------------------------------------------------

static char host_directory[] = "/tmp/kc-host-XXXXXX";
static bool host_available;
static int host_counter;

static char *host_emit(kc_arena *arena, const char *tile, const char *target_text) {
    kc_diag *diag;
    const char *error;
    kc_module *module = parse_tile(arena, tile, &diag);
    assert_non_null(module);
    const kc_target *target = kc_target_parse_one(arena, target_text, &error);
    assert_non_null(target);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef out = LLVMModuleCreateWithNameInContext("host", context);
    assert_true(kc_emit_module(out, target, &host_hooks, module, diag));
    char *trouble = NULL;
    assert_true(kc_math_link(out, &trouble));
    if (LLVMVerifyModule(out, LLVMReturnStatusAction, &trouble)) fail_msg("%s", trouble);
    LLVMDisposeMessage(trouble);
    char *text = LLVMPrintModuleToString(out);
    char *copy = kc_arena_strdup(arena, text);
    LLVMDisposeMessage(text);
    LLVMDisposeModule(out);
    LLVMContextDispose(context);
    return copy;
}

// What the emitted code calls, shared memory, and rounding to bf16, which older run-time libraries
// lack.
static const char host_helper[] =
    "#include <string.h>\n"
    "_Alignas(128) unsigned char kc_shared[1 << 18];\n"
    "int (*kc_host_thread_p)(void), (*kc_host_program_p)(void);\n"
    "void (*kc_host_barrier_p)(void);\n"
    "unsigned (*kc_host_shuffle_p)(unsigned, unsigned);\n"
    "int kc_host_thread(void) { return kc_host_thread_p(); }\n"
    "int kc_host_program(void) { return kc_host_program_p(); }\n"
    "void kc_host_barrier(void) { kc_host_barrier_p(); }\n"
    "unsigned kc_host_shuffle(unsigned v, unsigned s) { return kc_host_shuffle_p(v, s); }\n"
    "__bf16 __truncsfbf2(float x) {\n"
    "    unsigned u; unsigned short r; __bf16 out;\n"
    "    memcpy(&u, &x, 4);\n"
    "    r = (u & 0x7fffffff) > 0x7f800000 ? (u >> 16) | 64 : (u + 0x7fff + (u >> 16 & 1)) >> 16;\n"
    "    memcpy(&out, &r, 2);\n"
    "    return out;\n"
    "}\n";

static void host_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void *host_compile(kc_arena *arena, const char *text) {
    const char *ll = kc_arena_printf(arena, "%s/k%d.ll", host_directory, host_counter);
    const char *so = kc_arena_printf(arena, "%s/k%d.so", host_directory, host_counter++);
    host_write(ll, text);
    const char *command =
        kc_arena_printf(arena,
                        "clang-22 -Wno-override-module -O1 -ffp-contract=off -mfma -mf16c -shared "
                        "-fPIC -o %s %s %s/helper.o -lm 2>&1",
                        so, ll, host_directory);
    if (system(command)) fail_msg("clang refuses %s", ll);
    void *library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    unlink(ll);
    unlink(so);
    return library;
}

static int host_setup(void **state) {
    (void)state;
    host_available = system("clang-22 --version > /dev/null 2>&1") == 0;
    if (!mkdtemp(host_directory)) return -1;
    if (!host_available) return print_message("no clang-22: skipped\n"), 0;
    char path[64], command[160];
    snprintf(path, sizeof path, "%s/helper.c", host_directory);
    host_write(path, host_helper);
    snprintf(command, sizeof command, "clang-22 -O1 -fPIC -c %s -o %s/helper.o", path,
             host_directory);
    return system(command);
}

static int host_teardown(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", host_directory);
    free(host.stacks);
    return system(command);
}

#endif
