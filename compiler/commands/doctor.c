// kc doctor: what is installed, and what that means.
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/command.h"
#include "compiler/package/json_writer.h"
#include "compiler/version.h"
#include "runtime/kcrt.h"
#include "targets/build.h"

typedef struct {
    const char *part;
    bool there;
    const char *found;   // version, path or what went wrong
    const char *meaning; // what follows from it
} finding;

static finding check_ptxas(kc_arena *arena) {
    const char *path = kc_build_find_ptxas(arena),
               *version = path ? kc_build_ptxas_version(arena, path) : NULL;
    if (!path)
        return (finding){"ptxas", false,
                         getenv("KC_PTXAS") ? "KC_PTXAS names no program"
                                            : "not in PATH or /usr/local/cuda/bin",
                         "packages hold PTX alone, which the driver compiles when they are loaded; "
                         "registers and spills are not known"};
    if (!version)
        return (finding){
            "ptxas", false, path,
            "it does not say its version: it may not be ptxas; builds with cubins may fail"};
    return (finding){"ptxas", true, kc_arena_printf(arena, "%s (%s)", version, path),
                     "packages hold cubins beside PTX"};
}

static finding check_device(kc_arena *arena, const char *device, const char *part, const char *yes,
                            const char *no) {
    kcrt_device *d;
    char name[128] = "";
    if (kcrt_device_open(device, &d))
        return (finding){part, false, kc_arena_strdup(arena, kcrt_last_error()), no};
    kcrt_device_string(d, KCRT_ATTR_NAME, name, sizeof name);
    kcrt_device_close(d);
    return (finding){part, true, kc_arena_strdup(arena, name), yes};
}

static int collect(kc_arena *arena, finding *f) {
    int n = 0;
    f[n++] = (finding){"kc", true, KC_VERSION, "all targets of `kc targets` can be built for"};
    f[n++] = (finding){"llvm", true, kc_build_llvm_version(),
                       "linked into kc: nothing else is needed to make PTX and AMD code objects"};
    f[n++] = check_ptxas(arena);
    f[n++] = check_device(arena, "ref", "reference",
                          "`kc run --check` and `kc verify` have something to compare with",
                          "`kc run --check` and `kc verify` cannot compare: libkcrt_ref.so must "
                          "stand beside kc or in ../lib");
    f[n++] =
        check_device(arena, "cuda-sim", "cuda-sim", "PTX can be run and verified without a GPU",
                     "PTX cannot be run without a GPU: libkcsim_cuda.so must stand beside kc or in "
                     "../lib, or be named by KCRT_CUDA_SIM");
    f[n++] = check_device(
        arena, "hip-sim", "hip-sim", "AMD code objects can be run and verified without a GPU",
        "AMD code objects cannot be run without a GPU, and `kc verify` reports them as unverified");
    f[n++] = check_device(arena, "cuda:0", "cuda", "packages run on this GPU",
                          "no NVIDIA GPU can be used here; building needs none");
    f[n++] = check_device(arena, "hip:0", "hip", "packages run on this GPU",
                          "no AMD GPU can be used here; building needs none");
    return n;
}

static void print_json(const finding *f, int n) {
    kc_json j = kc_json_to(stdout, 1);
    kc_json_open(&j, '[');
    for (int i = 0; i < n; i++) {
        kc_json_open(&j, '{');
        kc_json_put_string(&j, "part", f[i].part);
        kc_json_put_bool(&j, "there", f[i].there);
        kc_json_put_string(&j, "found", f[i].found);
        kc_json_put_string(&j, "meaning", f[i].meaning);
        kc_json_close(&j, '}');
    }
    kc_json_close(&j, ']');
    putchar('\n');
}

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    enum { MOST = 16 };
    finding list[MOST];
    bool json = false;
    kc_texts none = {0};
    const kc_option table[] = {{"--json", KC_OPTION_FLAG, &json, NULL, "print JSON"}};
    int status = kc_options_parse(command, arena, argc, argv, table, 1, &none, 0, 0);
    if (status != KC_PARSE_GO) return status;
    int n = collect(arena, list);
    if (json) print_json(list, n);
    for (int i = 0; i < n && !json; i++)
        printf("%-10s %-8s %s\n%20s%s\n", list[i].part, list[i].there ? "yes" : "no", list[i].found,
               "", list[i].meaning);
    return KC_EXIT_DONE;
}

const kc_command kc_command_doctor = {"doctor", "say what is installed and what that means",
                                      "[--json]", NULL, run};
