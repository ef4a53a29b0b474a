// Forks workers, reads what they send, watches the clock. All of a job's output is collected before
// it is looked at.
#include "compiler/build/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 1024, KEPT_STDERR = 1 << 16 };

typedef struct {
    int job;
    pid_t process;
    int pipe, errors; // the records; a memory file that is its stderr
    char *data;
    size_t size, capacity;
    double deadline;
    bool late;
} slot;

typedef struct {
    kc_arena *arena;
    const kc_pool *jobs;
    slot *slots;
    int n_running;
} pool;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int cpus(void) {
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n;
}

// ---- starting -----------------------------------------------------------------------------------

// The worker dies with its parent, holds no descriptor of other workers, and its stderr is ours to
// read later.
static _Noreturn void become_worker(const pool *p, const slot *s, pid_t parent, int out) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    setrlimit(RLIMIT_CORE,
              &(struct rlimit){0, 0}); // a fault is reported, not left in the user's folder
    for (int i = 0; i < p->n_running; i++)
        close(p->slots[i].pipe), close(p->slots[i].errors);
    dup2(s->errors, 2);
    p->jobs->work(p->jobs->context, s->job, out);
    _exit(0);
}

static bool start(pool *p, int job) {
    slot *s = &p->slots[p->n_running];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return false;
    *s = (slot){.job = job, .pipe = ends[0], .errors = memfd_create("kc stderr", MFD_CLOEXEC)};
    s->deadline = now() + p->jobs->seconds;
    pid_t parent = getpid();
    fflush(NULL);
    s->process = s->errors < 0 ? -1 : fork();
    if (s->process == 0) {
        close(ends[0]);
        become_worker(p, s, parent, ends[1]);
    }
    int code = errno;
    close(ends[1]);
    if (s->process < 0) {
        close(ends[0]);
        if (s->errors >= 0) close(s->errors);
        errno = code;
        return false;
    }
    p->n_running++;
    return true;
}

// ---- ending -------------------------------------------------------------------------------------

static const char *read_errors(kc_arena *arena, int file) {
    off_t size = lseek(file, 0, SEEK_END);
    if (size <= 0) return "";
    size_t kept = size > KEPT_STDERR ? KEPT_STDERR : (size_t)size;
    char *text = kc_arena_alloc(arena, kept + 1);
    ssize_t n = pread(file, text, kept, 0);
    text[n > 0 ? n : 0] = 0;
    return text;
}

// What a worker died of; NULL when it did not.
static const char *describe_death(const pool *p, const slot *s, int status) {
    if (s->late)
        return kc_arena_printf(p->arena, "not finished after %g seconds", p->jobs->seconds);
    if (WIFSIGNALED(status))
        return kc_arena_printf(p->arena, "ended by signal %d (%s)", WTERMSIG(status),
                               strsignal(WTERMSIG(status)));
    int code = WEXITSTATUS(status);
    return code ? kc_arena_printf(p->arena, "ended with status %d before it was done", code) : NULL;
}

static void finish(pool *p, int index) {
    slot s = p->slots[index];
    int status = 0;
    while (waitpid(s.process, &status, 0) < 0 && errno == EINTR)
        continue;
    kc_pool_end end = {describe_death(p, &s, status), s.data, s.size,
                       read_errors(p->arena, s.errors)};
    close(s.pipe);
    close(s.errors);
    p->slots[index] = p->slots[--p->n_running];
    p->jobs->done(p->jobs->context, s.job, &end);
    free(s.data);
}

// False at the end of the stream, or when memory is out.
static bool receive(slot *s) {
    if (s->size == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1 << 16;
        char *bigger = realloc(s->data, capacity);
        if (!bigger) return false;
        s->data = bigger;
        s->capacity = capacity;
    }
    ssize_t n = read(s->pipe, s->data + s->size, s->capacity - s->size);
    if (n > 0) s->size += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static void kill_late(slot *s, double time) {
    if (s->late || time < s->deadline) return;
    s->late = true;
    kill(s->process, SIGKILL); // its end closes the pipe
}

static void wait_for_some(pool *p) {
    struct pollfd list[MOST_JOBS];
    double nearest = p->slots[0].deadline;
    for (int i = 0; i < p->n_running; i++) {
        list[i] = (struct pollfd){p->slots[i].pipe, POLLIN, 0};
        if (p->slots[i].deadline < nearest) nearest = p->slots[i].deadline;
    }
    double left = (nearest - now()) * 1000;
    int ready = poll(list, (nfds_t)p->n_running,
                     left < 1       ? 1
                     : left > 60000 ? 60000
                                    : (int)left + 1);
    // Backwards: finish() moves the last slot into the place of the one that ends.
    for (int i = p->n_running - 1; i >= 0; i--) {
        if (ready > 0 && list[i].revents && !receive(&p->slots[i])) finish(p, i);
        else kill_late(&p->slots[i], now());
    }
}

bool kc_pool_run(kc_arena *arena, const kc_pool *jobs, int n, const char **error) {
    int most = jobs->jobs > 0 ? jobs->jobs : cpus(), next = 0;
    if (most > MOST_JOBS) most = MOST_JOBS;
    pool p = {arena, jobs, KC_NEW_ARRAY(arena, slot, most), 0};
    while (next < n || p.n_running) {
        bool full = p.n_running == most || next == n;
        if (!full && start(&p, next)) {
            next++;
        } else if (p.n_running) {
            wait_for_some(&p); // no room, or no resources for another one until some finish
        } else {
            *error = kc_arena_printf(arena, "cannot start a worker: %s", strerror(errno));
            return false;
        }
    }
    return true;
}
