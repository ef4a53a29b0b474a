// kc targets, kc passes, kc devices: what there is.
#include <string.h>

#include "compiler/commands/command.h"
#include "compiler/package/json_writer.h"
#include "passes/pass.h"
#include "runtime/kcrt.h"

static int parse_json(const kc_command *command, kc_arena *arena, int argc, char **argv,
                      bool *json) {
    const kc_option table[] = {{"--json", KC_OPTION_FLAG, json, NULL, "print JSON"}};
    kc_texts none = {0};
    return kc_options_parse(command, arena, argc, argv, table, 1, &none, 0, 0);
}

static int run_targets(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    bool json = false;
    int status = parse_json(command, arena, argc, argv, &json);
    if (status != KC_PARSE_GO) return status;
    kc_target_list(stdout, json);
    return KC_EXIT_DONE;
}

// ---- passes -------------------------------------------------------------------------------------

static const char *level_name(int level) {
    switch (level) {
    case KC_LEVEL_COMPOSITE: return "composite";
    case KC_LEVEL_TENSOR: return "tensor";
    case KC_LEVEL_TILE: return "tile";
    default: return "layout";
    }
}

static void print_pass_json(kc_json *j, const kc_pass *pass) {
    kc_json_open(j, '{');
    kc_json_put_string(j, "name", pass->name);
    kc_json_put_string(j, "meaning", pass->meaning);
    kc_json_put_string(j, "level_in", level_name(pass->level_in));
    kc_json_put_string(j, "level_out", level_name(pass->level_out));
    kc_json_put_bool(j, "needs_target", pass->needs_target);
    kc_json_close(j, '}');
}

static int run_passes(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    bool json = false;
    int status = parse_json(command, arena, argc, argv, &json);
    if (status != KC_PARSE_GO) return status;
    kc_json j = kc_json_to(stdout, 1);
    if (json) kc_json_open(&j, '[');
    for (const kc_pass *const *pass = kc_pipeline; *pass; pass++) {
        if (json) print_pass_json(&j, *pass);
        else
            printf("%-10s %-9s -> %-9s %s\n", (*pass)->name, level_name((*pass)->level_in),
                   level_name((*pass)->level_out), (*pass)->meaning);
    }
    if (json) kc_json_close(&j, ']'), putchar('\n');
    return KC_EXIT_DONE;
}

// ---- devices ------------------------------------------------------------------------------------

static void put_attr(kc_json *j, kcrt_device *device, const char *key, kcrt_attr attr) {
    int64_t value;
    if (!kcrt_device_attr(device, attr, &value)) kc_json_put_int(j, key, value);
}

static void print_device_json(kc_json *j, const char *name, kcrt_device *device, const char *title,
                              const char *arch) {
    kc_json_open(j, '{');
    kc_json_put_string(j, "device", name);
    kc_json_put_string(j, "name", title);
    kc_json_put_string(j, "arch", arch);
    put_attr(j, device, "api_version", KCRT_ATTR_API_VERSION);
    put_attr(j, device, "driver_version", KCRT_ATTR_DRIVER_VERSION);
    put_attr(j, device, "warp_size", KCRT_ATTR_WARP_SIZE);
    put_attr(j, device, "multiprocessors", KCRT_ATTR_MULTIPROCESSORS);
    put_attr(j, device, "max_threads_per_block", KCRT_ATTR_MAX_THREADS_PER_BLOCK);
    put_attr(j, device, "shared_memory_per_block", KCRT_ATTR_SHARED_MEMORY_PER_BLOCK);
    put_attr(j, device, "shared_memory_per_multiprocessor",
             KCRT_ATTR_SHARED_MEMORY_PER_MULTIPROCESSOR);
    put_attr(j, device, "registers_per_block", KCRT_ATTR_REGISTERS_PER_BLOCK);
    put_attr(j, device, "clock_khz", KCRT_ATTR_CLOCK_KHZ);
    put_attr(j, device, "l2_bytes", KCRT_ATTR_L2_BYTES);
    put_attr(j, device, "total_memory", KCRT_ATTR_TOTAL_MEMORY);
    put_attr(j, device, "available_memory", KCRT_ATTR_AVAILABLE_MEMORY);
    kc_json_close(j, '}');
}

static void print_problem(kc_json *j, const char *name) {
    if (!j) {
        printf("%-14s not there: %s\n", name, kcrt_last_error());
        return;
    }
    kc_json_open(j, '{');
    kc_json_put_string(j, "device", name);
    kc_json_put_string(j, "problem", kcrt_last_error());
    kc_json_close(j, '}');
}

static void print_device(kc_json *j, const char *name) {
    kcrt_device *device;
    char title[128] = "?", arch[64] = "?";
    if (kcrt_device_open(name, &device)) {
        print_problem(j, name);
        return;
    }
    kcrt_device_string(device, KCRT_ATTR_NAME, title, sizeof title);
    kcrt_device_string(device, KCRT_ATTR_ARCH, arch, sizeof arch);
    int64_t units = 0, bytes = 0;
    kcrt_device_attr(device, KCRT_ATTR_MULTIPROCESSORS, &units);
    kcrt_device_attr(device, KCRT_ATTR_TOTAL_MEMORY, &bytes);
    if (j) print_device_json(j, name, device, title, arch);
    else
        printf("%-14s %-28s %-10s %4lld multiprocessors, %lld MB\n", name, title, arch,
               (long long)units, (long long)(bytes >> 20));
    kcrt_device_close(device);
}

static int run_devices(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    bool json = false;
    int status = parse_json(command, arena, argc, argv, &json);
    if (status != KC_PARSE_GO) return status;
    kc_json j = kc_json_to(stdout, 1);
    if (json) kc_json_open(&j, '[');
    const char *kind;
    for (int k = 0; !kcrt_device_kind(k, &kind); k++) {
        int count = 0;
        status = kcrt_device_count(kind, &count);
        if (status || !count) {
            if (status) print_problem(json ? &j : NULL, kind);
            else if (!json) printf("%-14s none\n", kind);
            continue;
        }
        for (int i = 0; i < count; i++) {
            bool only = count == 1 && (!strcmp(kind, "ref") || strstr(kind, "-sim"));
            print_device(json ? &j : NULL, only ? kind : kc_arena_printf(arena, "%s:%d", kind, i));
        }
    }
    if (json) kc_json_close(&j, ']'), putchar('\n');
    return KC_EXIT_DONE;
}

const kc_command kc_command_targets = {"targets", "list the targets and their attributes",
                                       "[--json]", NULL, run_targets};
const kc_command kc_command_passes = {"passes", "list the passes in order", "[--json]", NULL,
                                      run_passes};
const kc_command kc_command_devices = {"devices", "list the devices and simulators of this machine",
                                       "[--json]", NULL, run_devices};
