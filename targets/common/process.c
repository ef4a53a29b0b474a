// One tool at a time, with poll and a clock: a tool that hangs, floods or dies must not take us
// along.
#include "targets/common/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// In the child: reports a failed exec through `report`, which closes by itself when exec succeeds.
_Noreturn static void start(const char *const *argv, const int *keep, int text, int report) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(text, 1);
    dup2(text, 2);
    for (int i = 0; keep[i] >= 0; i++)
        fcntl(keep[i], F_SETFD, 0);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    int code = errno;
    if (write(report, &code, sizeof code) < 0) _exit(126);
    _exit(127);
}

// Reads until the tool closes its end or the deadline passes; false: it passed.
static bool collect(int text, char *buffer, size_t *size, double deadline) {
    for (;;) {
        double left = deadline - now();
        if (left <= 0) return false;
        struct pollfd p = {text, POLLIN, 0};
        int ready = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
        if (ready <= 0) continue; // interrupted or out of time: the loop looks at the clock
        char spill[4096];
        bool full = *size == MAX_TEXT;
        ssize_t n =
            read(text, full ? spill : buffer + *size, full ? sizeof spill : MAX_TEXT - *size);
        if (n == 0) return true;
        if (n < 0 && errno != EINTR) return true;
        if (n > 0 && !full) *size += (size_t)n;
    }
}

// The tool may close its output and go on running: the deadline holds for its end too.
static bool reap(pid_t child, int *status, double deadline) {
    for (;;) {
        pid_t r = waitpid(child, status, WNOHANG);
        if (r == child) return true;
        if (r < 0 && errno != EINTR) return false;
        if (now() >= deadline) return false;
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}

static kc_process_result ended(int status) {
    if (WIFSIGNALED(status))
        return (kc_process_result){.end = KC_PROCESS_SIGNAL, .code = WTERMSIG(status)};
    int code = WEXITSTATUS(status);
    return (kc_process_result){.end = code ? KC_PROCESS_STATUS : KC_PROCESS_OK, .code = code};
}

static kc_process_result watch(kc_arena *arena, pid_t child, int text, int report, double seconds) {
    double deadline = now() + seconds;
    size_t size = 0;
    int status = 0, exec_errno = 0;
    char *buffer = malloc(MAX_TEXT);
    bool done = buffer && collect(text, buffer, &size, deadline) && reap(child, &status, deadline);
    kc_process_result result = {.end = KC_PROCESS_TIMEOUT};
    if (done) {
        result = ended(status);
    } else {
        kill(-child, SIGKILL);
        kill(child, SIGKILL); // in case it has not made its group yet
        waitpid(child, &status, 0);
    }
    if (read(report, &exec_errno, sizeof exec_errno) == sizeof exec_errno)
        result = (kc_process_result){.end = KC_PROCESS_NOT_STARTED, .code = exec_errno};
    result.text = kc_arena_strndup(arena, buffer ? buffer : "", size);
    result.size = size;
    free(buffer);
    return result;
}

kc_process_result kc_process_run(kc_arena *arena, const char *const *argv, const int *keep,
                                 double seconds) {
    kc_process_result result = {.end = KC_PROCESS_NOT_STARTED, .text = ""};
    int text[2], report[2];
    if (pipe2(text, O_CLOEXEC)) return result.code = errno, result;
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK)) {
        result.code = errno;
        close(text[0]), close(text[1]);
        return result;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) start(argv, keep, text[1], report[1]);
    int fork_errno = errno;
    close(text[1]), close(report[1]);
    if (child > 0) result = watch(arena, child, text[0], report[0], seconds);
    else result.code = fork_errno;
    close(text[0]), close(report[0]);
    return result;
}

int kc_process_memory_file(const char *data, size_t size) {
    int file = memfd_create("kc", MFD_CLOEXEC);
    for (size_t done = 0; file >= 0 && done < size;) {
        ssize_t n = write(file, data + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(file);
            return -1;
        }
        done += (size_t)n;
    }
    return file;
}

const char *kc_process_read_file(kc_arena *arena, int descriptor, size_t *size) {
    struct stat s;
    if (fstat(descriptor, &s) || s.st_size < 0) return NULL;
    *size = (size_t)s.st_size;
    char *data = kc_arena_alloc(arena, *size + 1);
    for (size_t done = 0; done < *size;) {
        ssize_t n = pread(descriptor, data + done, *size - done, (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return NULL;
        done += (size_t)n;
    }
    return data;
}
