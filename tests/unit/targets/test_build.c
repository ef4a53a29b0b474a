// Images for every architecture: everything that can be emitted goes through each back end, the
// assembler (where there is one) and the linker; properties of the text; resources; and what
// happens when the assembler fails.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/TargetMachine.h>
#include "targets/build.h"
#include "targets/cuda/ptxas.h"
#include "targets/hip/metadata.h"
#include "tests/unit/targets/tile_text.h"

static const char *ptxas; // NULL: none here

static const kc_target *target_of(kc_arena *arena, const char *text) {
    const char *error;
    const kc_target *target = kc_target_parse_one(arena, text, &error);
    assert_non_null(target);
    return target;
}

static kc_images build(kc_arena *arena, const char *target, const char *tile, int want) {
    kc_diag *diag;
    kc_module *module = parse_tile(arena, tile, &diag);
    assert_non_null(module);
    kc_build_options options = {.want = want, .ptxas = ptxas ? ptxas : ""};
    kc_images images;
    bool ok = kc_target_build(target_of(arena, target), module, &options, arena, diag, &images);
    if (!ok) kc_diag_print(diag, stderr);
    assert_true(ok);
    return images;
}

static const kc_image *image_of(const kc_images *images, const char *role) {
    for (int i = 0; i < images->n_images; i++)
        if (!strcmp(images->images[i].role, role)) return &images->images[i];
    fail_msg("no image %s", role);
    return NULL;
}

static void has(const kc_image *image, const char *text) {
    if (!strstr(image->data, text)) fail_msg("'%s' is missing in\n%s", text, image->data);
}

static void lacks(const kc_image *image, const char *text) {
    if (strstr(image->data, text)) fail_msg("'%s' should not be in\n%s", text, image->data);
}

static char *said_by(const kc_diag *diag) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    kc_diag_print(diag, out);
    fclose(out);
    return text;
}

// ---- every element operation ----------------------------------------------------------------

static const char *elements_text(kc_arena *arena, int warp_size, int *count) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(module_head(arena, warp_size), out);
    *count = 0;
    for (int op = 0; op < KC_OP_COUNT; op++)
        for (int t = 0; t < KC_DTYPE_COUNT; t++)
            for (int to = 0; to < KC_DTYPE_COUNT; to++) {
                const kc_op_info *row = &kc_op_table[op];
                kc_dtype result = op == KC_OP_CAST               ? (kc_dtype)to
                                  : row->rule == KC_RULE_COMPARE ? KC_bool
                                                                 : (kc_dtype)t;
                if (!is_tile_elementwise(row) || result != (kc_dtype)to) continue;
                if (!accepts(row, (kc_dtype)t)) continue;
                const char *expression =
                    op == KC_OP_SELECT ? "select %vc, %vx, %vy"
                    : op == KC_OP_CAST
                        ? kc_arena_printf(arena, "cast %%vx {dtype = %s}", kc_dtype_name(result))
                    : strchr(row->operands, ' ')
                        ? kc_arena_printf(arena, "%s %%vx, %%vy", row->name)
                        : kc_arena_printf(arena, "%s %%vx", row->name);
                fputs(element_kernel(arena, kc_arena_printf(arena, "k%d", (*count)++), expression,
                                     (kc_dtype)t, result),
                      out);
            }
    fclose(out);
    const char *copy = kc_arena_strdup(arena, text);
    free(text);
    return copy;
}

static void every_element(void **state) {
    (void)state;
    for (int k = 0; k < kc_target_kind_count(); k++)
        for (int i = 0; i < kc_target_kind_at(k)->n_archs; i++) {
            kc_arena *arena = kc_arena_create();
            const kc_target_kind *kind = kc_target_kind_at(k);
            const char *name = kc_arena_printf(arena, "%s:%s", kind->name, kind->archs[i].name);
            int count, warp_size = (int)kind->archs[i].defaults.warp_size;
            const char *text = elements_text(arena, warp_size, &count);
            bool hip = !strcmp(kind->name, "hip");
            kc_images images =
                build(arena, name, text,
                      hip ? KC_BUILD_OBJECT
                          : KC_BUILD_ASSEMBLY | (ptxas && i % 3 == 0 ? KC_BUILD_OBJECT : 0));
            assert_true(images.images[0].size > 10000);
            if (images.n_kernels) assert_int_equal(images.n_kernels, count);
            for (int j = 0; j < images.n_kernels; j++)
                if (images.kernels[j].spills || images.kernels[j].registers < 1)
                    fail_msg("%s spills", images.kernels[j].kernel);
            kc_arena_destroy(arena);
        }
}

// ---- properties of a kernel -----------------------------------------------------------------

static const char saxpy_text[] =
    "module @vectors {target = \"cuda:sm_80\"}\n"
    "layout #0 = #layout<tile: 1024, reg: [1] [2] [512], lane: [4] [8] [16] [32] [64], warp: [128] "
    "[256]>\n"
    "func @saxpy(%a: f32[], %x: f32[N], %y: f32[N]) -> (out: f32[N]ALIAS) dims {N: 0..2147483647} "
    "{\n"
    "  variant {workspace = 0} {\n"
    "    %out = output {name = \"out\"} : f32[N]\n"
    "    kernel inputs(%a, %x, %y) outputs(%out) {name = \"saxpy_v0_k0\", grid = (N + 1023) // "
    "1024, warps = 4} {\n"
    "    ^(%a: f32, %x: f32[N], %y: f32[N], %out: f32[N]):\n"
    "      %0 = program_id : i64\n"
    "      %1 = const {integer = 1024} : i64\n"
    "      %base = mul %0, %1 : i64\n"
    "      %local = iota {axis = 0} : tile<1024xi32, #0>\n"
    "      %n = sym {expr = N} : i64\n"
    "      %left = sub %n, %base : i64\n"
    "      %lim = min %left, %1 : i64\n"
    "      %l = cast %lim {dtype = i32} : i32\n"
    "      %mask = lt %local, %l : tile<1024xbool, #0>\n"
    "      %vx = load %x base(%base) local(%local) mask(%mask) {vector = 4} : tile<1024xf32, #0>\n"
    "      %vy = load %y base(%base) local(%local) mask(%mask) {vector = 4} : tile<1024xf32, #0>\n"
    "      %p = mul %a, %vx : tile<1024xf32, #0>\n"
    "      %r = add %p, %vy : tile<1024xf32, #0>\n"
    "      store %out, %r base(%base) local(%local) mask(%mask) {vector = 4}\n"
    "      return\n"
    "    }\n  }\n}\n";

static const char *saxpy(kc_arena *arena, const char *alias) {
    const char *at = strstr(saxpy_text, "ALIAS");
    return kc_arena_printf(arena, "%.*s%s%s", (int)(at - saxpy_text), saxpy_text, alias, at + 5);
}

static void ptx_properties(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_images images =
        build(arena, "cuda:sm_80", saxpy(arena, ""), KC_BUILD_ASSEMBLY | KC_BUILD_LLVM);
    const kc_image *ptx = image_of(&images, "ptx");
    has(ptx, ".version 7.0");
    has(ptx, ".target sm_80");
    has(ptx, ".visible .entry saxpy_v0_k0");
    has(ptx, ".reqntid 128");
    has(ptx, "@%p1 ld.global.nc.v4.b32");
    has(ptx, "st.global.v4.b32");
    has(ptx, "fma.rn.f32");
    lacks(ptx, "bra");
    lacks(ptx, ".local");
    lacks(ptx, ".file");
    lacks(ptx, "cvt.s64"); // offsets inside a tile are 32-bit
    assert_int_equal(ptx->data[ptx->size], 0);
    assert_int_equal(strlen(ptx->data), ptx->size);
    has(image_of(&images, "llvm"),
        "define ptx_kernel void @saxpy_v0_k0(float %a, ptr addrspace(1) noalias readonly");
    kc_arena_destroy(arena);
}

// An output that may occupy an input: that input is not read through the read-only path; the other
// still is.
static void aliases(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_images images =
        build(arena, "cuda:sm_80", saxpy(arena, " alias y"), KC_BUILD_ASSEMBLY | KC_BUILD_LLVM);
    const char *ptx = image_of(&images, "ptx")->data;
    has(image_of(&images, "ptx"), "ld.global.nc.v4.b32");
    has(image_of(&images, "ptx"), "ld.global.v4.b32");
    assert_non_null(strstr(strstr(ptx, "ld.global.nc.v4.b32") + 1, "ld.global.nc.v4.b32"));
    has(image_of(&images, "llvm"), "ptr addrspace(1) %y, ptr addrspace(1) %out");
    kc_arena_destroy(arena);
}

static void amd_properties(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_images images =
        build(arena, "hip:gfx1100", saxpy(arena, ""), KC_BUILD_ASSEMBLY | KC_BUILD_OBJECT);
    has(image_of(&images, "asm"), "global_load_b128");
    has(image_of(&images, "asm"), "global_store_b128");
    has(image_of(&images, "asm"), ".kernarg_segment_size: 40"); // no hidden arguments
    assert_int_equal(images.n_kernels, 1);
    assert_string_equal(images.kernels[0].kernel, "saxpy_v0_k0");
    assert_int_equal(images.kernels[0].spills, 0);
    assert_int_equal(images.kernels[0].shared, 0);
    assert_true(images.kernels[0].registers > 0 && images.kernels[0].scalar_registers > 0);
    assert_memory_equal(image_of(&images, "hsaco")->data,
                        "\x7f"
                        "ELF",
                        4);
    kc_arena_destroy(arena);
}

static void deterministic(void **state) {
    (void)state;
    static const char *const targets[] = {"cuda:sm_90a", "hip:gfx942"};
    for (int t = 0; t < 2; t++) {
        kc_arena *arena = kc_arena_create();
        kc_images first = build(arena, targets[t], saxpy(arena, ""),
                                KC_BUILD_ASSEMBLY | (t || ptxas ? KC_BUILD_OBJECT : 0));
        kc_images second = build(arena, targets[t], saxpy(arena, ""),
                                 KC_BUILD_ASSEMBLY | (t || ptxas ? KC_BUILD_OBJECT : 0));
        assert_int_equal(first.n_images, second.n_images);
        for (int i = 0; i < first.n_images; i++) {
            assert_int_equal(first.images[i].size, second.images[i].size);
            assert_memory_equal(first.images[i].data, second.images[i].data, first.images[i].size);
        }
        kc_arena_destroy(arena);
    }
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"warps = 4", "warps = 64", "allows 1024 threads a block"},
        {"warps = 4", "warps = 4, shared = 300000",
         "needs 300000 bytes of shared memory a block; sm_80 allows 166912"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kc_arena *arena = kc_arena_create();
        const char *text = saxpy(arena, ""), *at = strstr(text, cases[i].from);
        text = kc_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, cases[i].to,
                               at + strlen(cases[i].from));
        kc_diag *diag;
        kc_module *module = parse_tile(arena, text, &diag);
        assert_non_null(module);
        kc_build_options options = {.want = KC_BUILD_ASSEMBLY};
        kc_images images;
        assert_false(kc_target_build(target_of(arena, "cuda:sm_80"), module, &options, arena, diag,
                                     &images));
        char *said = said_by(diag);
        assert_non_null(strstr(said, cases[i].part));
        free(said);
        kc_arena_destroy(arena);
    }
}

// ---- the assembler --------------------------------------------------------------------------

static void resources_text(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    static const char text[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
        "ptxas info    : Function properties for a\n"
        "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 1 barriers, 8192 bytes smem, 400 bytes cmem[0]\n"
        "ptxas info    : Function properties for helper\n"
        "    96 bytes stack frame, 90 bytes spill stores, 90 bytes spill loads\n"
        "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
        "ptxas info    : Function properties for b\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers, 352 bytes cmem[0]\n";
    kc_kernel_resources *k;
    assert_int_equal(kc_ptxas_read_resources(arena, text, &k), 2);
    assert_string_equal(k[0].kernel, "a");
    assert_int_equal(k[0].registers, 40);
    assert_int_equal(k[0].spills, 20);
    assert_int_equal(k[0].stack, 16);
    assert_int_equal(k[0].shared, 8192);
    assert_string_equal(k[1].kernel, "b");
    assert_int_equal(k[1].registers, 8);
    assert_int_equal(k[1].spills, 0);
    assert_int_equal(k[1].shared, 0);
    assert_int_equal(kc_ptxas_read_resources(arena, "", &k), 0);
    kc_arena_destroy(arena);
}

typedef struct {
    const char *name, *script, *part;
} fake;

static const fake fakes[] = {
    {"fails", "#!/bin/sh\necho 'ptxas fatal   : no such thing' >&2\nexit 255\n",
     "failed with status 255: ptxas fatal   : no such thing"},
    {"silent", "#!/bin/sh\nexit 3\n", "failed with status 3: it printed nothing"},
    {"hangs", "#!/bin/sh\nsleep 60\n", "did not finish within 0.3 seconds"},
    {"detached", "#!/bin/sh\nexec >/dev/null 2>&1\nsleep 60\n",
     "did not finish within 0.3 seconds"},
    {"crashes", "#!/bin/sh\nkill -SEGV $$\n", "was ended by signal 11"},
    {"floods", "#!/bin/sh\nhead -c 3000000 /dev/zero\nexit 1\n", "failed with status 1"},
    {"nothing", "#!/bin/sh\nexit 0\n", "wrote no cubin"},
    {"garbage", "not a program\n", "cannot run ptxas"},
};

static void fake_assemblers(void **state) {
    (void)state;
    char directory[] = "/tmp/kc-ptxas-XXXXXX", command[64];
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < sizeof fakes / sizeof *fakes; i++) {
        kc_arena *arena = kc_arena_create();
        const char *path = kc_arena_printf(arena, "%s/%s", directory, fakes[i].name);
        FILE *file = fopen(path, "w");
        fputs(fakes[i].script, file);
        fclose(file);
        chmod(path, 0755);
        kc_diag *diag;
        kc_module *module = parse_tile(arena, saxpy(arena, ""), &diag);
        kc_build_options options = {
            .want = KC_BUILD_OBJECT, .ptxas = path, .assembler_seconds = 0.3};
        kc_images images;
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        assert_false(kc_target_build(target_of(arena, "cuda:sm_80"), module, &options, arena, diag,
                                     &images));
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert_true(after.tv_sec - before.tv_sec < 10);
        char *said = said_by(diag);
        if (!strstr(said, fakes[i].part))
            fail_msg("%s: expected '%s', said '%s'", fakes[i].name, fakes[i].part, said);
        assert_int_equal(kc_diag_errors(diag), 1);
        free(said);
        kc_arena_destroy(arena);
    }
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

static void finding_ptxas(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    const char *old = getenv("KC_PTXAS");
    char *saved = old ? strdup(old) : NULL;
    setenv("KC_PTXAS", "/nowhere/ptxas", 1);
    assert_null(kc_build_find_ptxas(arena));
    setenv("KC_PTXAS", "", 1);
    assert_null(kc_build_find_ptxas(arena));
    setenv("KC_PTXAS", "/bin/sh", 1);
    assert_string_equal(kc_build_find_ptxas(arena), "/bin/sh");
    kc_diag *diag;
    kc_module *module = parse_tile(arena, saxpy(arena, ""), &diag);
    kc_build_options options = {.want = KC_BUILD_OBJECT};
    kc_images images;
    setenv("KC_PTXAS", "", 1);
    assert_false(
        kc_target_build(target_of(arena, "cuda:sm_80"), module, &options, arena, diag, &images));
    if (saved) setenv("KC_PTXAS", saved, 1);
    else unsetenv("KC_PTXAS");
    free(saved);
    if (ptxas) assert_true(kc_build_ptxas_version(arena, ptxas)[0] > '0');
    assert_null(kc_build_ptxas_version(arena, "/bin/true"));
    kc_arena_destroy(arena);
}

static void metadata_of_anything(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_images images = build(arena, "hip:gfx942", saxpy(arena, ""), KC_BUILD_OBJECT);
    const kc_image *good = image_of(&images, "hsaco");
    char *bad = malloc(good->size);
    kc_kernel_resources *k;
    for (size_t at = 0; at < 2048 && at < good->size; at++) // no byte may lead outside the image
        for (int value = 0; value < 256; value += 51) {
            memcpy(bad, good->data, good->size);
            bad[at] = (char)value;
            int n = kc_metadata_read(arena, bad, good->size, &k);
            assert_true(n >= -1 && n < 100000);
        }
    for (size_t size = 0; size < 2048 && size < good->size; size++) {
        char *cut = malloc(size + 1);
        memcpy(cut, good->data, size);
        assert_true(kc_metadata_read(arena, cut, size, &k) <= 1);
        free(cut);
    }
    free(bad);
    kc_arena_destroy(arena);
}

// ---- faults inside LLVM ---------------------------------------------------------------------

static void on_fatal(void *context, const char *text) {
    const int *pipe_end = context;
    if (write(*pipe_end, text, strlen(text)) < 0) _exit(1);
    _exit(42);
}

// Instructions of another architecture cannot be selected: LLVM gives up on the process.
static void provoke(void) {
    static const char ir[] =
        "declare void @llvm.nvvm.tcgen05.wait.ld()\n"
        "define ptx_kernel void @k() {\n call void @llvm.nvvm.tcgen05.wait.ld()\n ret void\n}\n";
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(ir, strlen(ir), "k", true),
                        out;
    LLVMModuleRef module;
    char *error = NULL;
    LLVMTargetRef target;
    if (LLVMParseIRInContext(context, buffer, &module, &error)) _exit(2);
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &error)) _exit(3);
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", "sm_75", "+ptx63",
                                LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &out);
    _exit(4);
}

static void fatal_errors(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    build(arena, "cuda:sm_80", saxpy(arena, ""), KC_BUILD_ASSEMBLY); // installs the handler
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        kc_build_on_fatal(on_fatal, &ends[1]);
        provoke();
    }
    close(ends[1]);
    char text[4096];
    ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 42);
    assert_non_null(strstr(text, "annot select"));
    close(ends[0]);
    kc_arena_destroy(arena);
}

int main(void) {
    kc_arena *arena = kc_arena_create();
    ptxas = kc_build_find_ptxas(arena);
    if (!ptxas) print_message("no ptxas: cubins are not built\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_properties),
        cmocka_unit_test(aliases),
        cmocka_unit_test(amd_properties),
        cmocka_unit_test(deterministic),
        cmocka_unit_test(refused),
        cmocka_unit_test(resources_text),
        cmocka_unit_test(fake_assemblers),
        cmocka_unit_test(finding_ptxas),
        cmocka_unit_test(metadata_of_anything),
        cmocka_unit_test(fatal_errors),
        cmocka_unit_test(every_element),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kc_arena_destroy(arena);
    return failed;
}
