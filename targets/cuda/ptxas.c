// Input and output go through memory files, so a kill at any moment leaves nothing behind.
#include "targets/cuda/ptxas.h"
#include "targets/common/process.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const kc_loc nowhere = {0, 0};

// ---- finding it -----------------------------------------------------------------------------

static bool executable(const char *path) {
    return access(path, X_OK) == 0;
}

const char *kc_build_find_ptxas(kc_arena *arena) {
    const char *chosen = getenv("KC_PTXAS");
    if (chosen) return *chosen && executable(chosen) ? kc_arena_strdup(arena, chosen) : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length && *path == '/') {
            const char *file = kc_arena_printf(arena, "%.*s/ptxas", (int)length, path);
            if (executable(file)) return file;
        }
        path += length + (path[length] == ':');
    }
    const char *usual = "/usr/local/cuda/bin/ptxas";
    return executable(usual) ? usual : NULL;
}

const char *kc_build_ptxas_version(kc_arena *arena, const char *ptxas) {
    const char *const argv[] = {ptxas, "--version", NULL};
    kc_process_result r = kc_process_run(arena, argv, (int[]){-1}, 10);
    const char *found = r.end == KC_PROCESS_OK ? strstr(r.text, ", V") : NULL;
    return found ? kc_arena_strndup(arena, found + 3, strspn(found + 3, "0123456789.")) : NULL;
}

// ---- what it says ---------------------------------------------------------------------------

static int64_t number_before(const char *line, const char *end, const char *what) {
    const char *at = memmem(line, (size_t)(end - line), what, strlen(what));
    if (!at) return -1;
    while (at > line && at[-1] == ' ')
        at--;
    const char *digits = at;
    while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits < at ? strtoll(digits, NULL, 10) : -1;
}

static void read_line(kc_kernel_resources *k, const char *line, const char *end) {
    int64_t n = number_before(line, end, "bytes stack frame");
    if (n >= 0) {
        k->stack = n;
        int64_t stores = number_before(line, end, "bytes spill stores");
        int64_t loads = number_before(line, end, "bytes spill loads");
        k->spills = (stores > 0 ? stores : 0) + (loads > 0 ? loads : 0);
    }
    if (memmem(line, (size_t)(end - line), "Used ", 5)) {
        k->registers = number_before(line, end, "registers");
        n = number_before(line, end, "bytes smem");
        k->shared = n >= 0 ? n : 0;
    }
}

// An entry function's lines follow its "Compiling entry function 'NAME'". A device function that
// stayed a call has "Function properties for NAME" of its own: those lines are not the kernel's.
int kc_ptxas_read_resources(kc_arena *arena, const char *text, kc_kernel_resources **out) {
    static const char entry[] = "Compiling entry function '",
                      properties[] = "Function properties for ";
    int count = 0, n = 0;
    for (const char *at = text; (at = strstr(at, entry)); at++)
        count++;
    kc_kernel_resources *list = KC_NEW_ARRAY(arena, kc_kernel_resources, count + 1);
    bool own = false;
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n");
        const char *named = memmem(line, (size_t)(end - line), entry, sizeof entry - 1);
        const char *of = memmem(line, (size_t)(end - line), properties, sizeof properties - 1);
        if (named) {
            named += sizeof entry - 1;
            const char *name = kc_arena_strndup(arena, named, strcspn(named, "'\n"));
            list[n++] = (kc_kernel_resources){name, -1, -1, -1, -1, -1};
            own = true;
        } else if (of && n) {
            size_t length = (size_t)(end - of) - (sizeof properties - 1);
            own = strlen(list[n - 1].kernel) == length &&
                  !memcmp(of + sizeof properties - 1, list[n - 1].kernel, length);
        } else if (n && (own || memmem(line, (size_t)(end - line), "Used ", 5))) {
            read_line(&list[n - 1], line, end);
        }
        line = end + (*end == '\n');
    }
    *out = list;
    return n;
}

// Warnings, and the performance notes C75xx that come as information.
static void report_findings(kc_diag *diag, const char *text) {
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        bool finding = memmem(line, length, "warning", 7) || memmem(line, length, "(C75", 4);
        if (finding) kc_report(diag, KC_WARNING, nowhere, "ptxas: %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static const char *first_error(kc_arena *arena, const char *text) {
    const char *at = strstr(text, "error");
    if (!at) at = strstr(text, "fatal");
    if (!at) at = text;
    while (at > text && at[-1] != '\n')
        at--;
    size_t length = strcspn(at, "\n");
    return length ? kc_arena_strndup(arena, at, length) : "it printed nothing";
}

static bool report_failure(kc_arena *arena, kc_diag *diag, const char *ptxas, double seconds,
                           const kc_process_result *r) {
    const char *advice = "set KC_PTXAS to another ptxas, or build PTX alone with --images ptx";
    switch (r->end) {
    case KC_PROCESS_NOT_STARTED:
        kc_report(diag, KC_ERROR, nowhere, "cannot run ptxas (%s): %s; %s", ptxas,
                  strerror(r->code), advice);
        break;
    case KC_PROCESS_TIMEOUT:
        kc_report(diag, KC_ERROR, nowhere, "ptxas (%s) did not finish within %g seconds; %s", ptxas,
                  seconds, advice);
        break;
    case KC_PROCESS_SIGNAL:
        kc_report(diag, KC_ERROR, nowhere, "ptxas (%s) was ended by signal %d (%s); %s", ptxas,
                  r->code, strsignal(r->code), advice);
        break;
    default:
        kc_report(diag, KC_ERROR, nowhere, "ptxas (%s) failed with status %d: %s; %s", ptxas,
                  r->code, first_error(arena, r->text), advice);
    }
    return false;
}

// ---- running it -----------------------------------------------------------------------------

static bool usable(const char *data, size_t size) {
    return data && size > 52 &&
           !memcmp(data,
                   "\x7f"
                   "ELF",
                   4);
}

static bool assemble(kc_arena *arena, kc_diag *diag, const char *ptxas, double seconds,
                     const char *arch, const int files[3], kc_process_result *result) {
    char input[40], output[40];
    snprintf(input, sizeof input, "/proc/self/fd/%d", files[0]);
    snprintf(output, sizeof output, "/proc/self/fd/%d", files[1]);
    const char *arch_flag = kc_arena_printf(arena, "-arch=%s", arch);
    const char *const argv[] = {ptxas, "-v", "-O3", arch_flag, "-o", output, input, NULL};
    *result = kc_process_run(arena, argv, files, seconds);
    return result->end == KC_PROCESS_OK || report_failure(arena, diag, ptxas, seconds, result);
}

bool kc_ptxas_assemble(kc_arena *arena, kc_diag *diag, const char *ptxas, double seconds,
                       const char *arch, const char *ptx, size_t ptx_size, const char **cubin,
                       size_t *cubin_size, kc_kernel_resources **kernels, int *n_kernels) {
    int files[3] = {kc_process_memory_file(ptx, ptx_size), kc_process_memory_file("", 0), -1};
    kc_process_result result;
    bool ok = files[0] >= 0 && files[1] >= 0;
    if (!ok)
        kc_report(diag, KC_ERROR, nowhere, "cannot hold the PTX for ptxas: %s", strerror(errno));
    ok = ok && assemble(arena, diag, ptxas, seconds, arch, files, &result);
    if (ok) {
        *cubin = kc_process_read_file(arena, files[1], cubin_size);
        if (!usable(*cubin, *cubin_size)) {
            kc_report(diag, KC_ERROR, nowhere,
                      "ptxas (%s) ended well but wrote no cubin; set KC_PTXAS "
                      "to another ptxas",
                      ptxas);
            ok = false;
        }
    }
    if (ok) {
        *n_kernels = kc_ptxas_read_resources(arena, result.text, kernels);
        report_findings(diag, result.text);
    }
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0) close(files[i]);
    return ok;
}
