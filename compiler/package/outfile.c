// The order is write, fsync, name, fsync of the folder. linkat() gives a nameless file a new name
// but cannot replace an old one: then it gets a temporary name and rename() follows at once, in a
// child with a session of its own, so that a signal to kc or its group cannot fall between the two.
#include "compiler/package/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const char *path, *folder, *temporary; // path: symbolic links followed
    const void *data;
    size_t size;
    mode_t mode;
} plan;

struct kc_outfile {
    kc_arena *arena;
    plan p;
    int file;    // nameless and complete, or -1
    bool direct; // a device or a pipe: written in place
};

static const char *problem(kc_arena *arena, const char *path, int code) {
    const char *advice = code == ENOSPC || code == EDQUOT ? "; free some space or write elsewhere"
                         : code == EACCES || code == EPERM || code == EROFS
                             ? "; choose a folder that you may write to"
                         : code == ENOENT ? "; create its folder first"
                                          : "";
    return kc_arena_printf(arena, "cannot write %s: %s%s", path, strerror(code), advice);
}

// 0 or errno.
static int write_all(int file, const void *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = write(file, (const char *)data + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return EIO;
        done += (size_t)n;
    }
    return 0;
}

static int fill(int file, const plan *p) {
    int code = write_all(file, p->data, p->size);
    if (!code && fchmod(file, p->mode)) code = errno;
    if (!code && fsync(file)) code = errno;
    return code;
}

static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(
        fd); // the data is safe already; some file systems refuse this, which is no reason to fail
    close(fd);
}

// ---- staging ------------------------------------------------------------------------------------

static mode_t default_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// Follows a symbolic link so that the link stays one. False: it exists and is neither a file nor
// absent.
static bool resolve(kc_outfile *o, const char *path) {
    struct stat s;
    o->p.path = kc_arena_strdup(o->arena, path);
    o->p.mode = default_mode();
    char *real = realpath(path, NULL);
    if (real) o->p.path = kc_arena_strdup(o->arena, real);
    free(real);
    o->p.folder = dirname(kc_arena_strdup(o->arena, o->p.path));
    const char *name = strrchr(o->p.path, '/');
    name = name ? name + 1 : o->p.path;
    o->p.temporary =
        kc_arena_printf(o->arena, "%s/.%.200s.kc-%ld", o->p.folder, name, (long)getpid());
    if (stat(o->p.path, &s)) return true;
    if (S_ISREG(s.st_mode)) o->p.mode = s.st_mode & 0777;
    return S_ISREG(s.st_mode) || S_ISDIR(s.st_mode);
}

static int stage_direct(kc_outfile *o) {
    o->direct = true;
    o->file = open(o->p.path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return o->file < 0 ? errno : 0;
}

static bool lacks_tmpfile(int code) {
    return code == EOPNOTSUPP || code == EISDIR || code == EINVAL || code == ENOSYS;
}

static int stage_file(kc_outfile *o) {
    struct stat s;
    if (!stat(o->p.path, &s) && S_ISDIR(s.st_mode)) return EISDIR;
    o->file = open(o->p.folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (o->file < 0) {
        if (!lacks_tmpfile(errno)) return errno;
        return access(o->p.folder, W_OK) ? errno
                                         : 0; // no nameless files here: all is done at the end
    }
    return fill(o->file, &o->p);
}

kc_outfile *kc_outfile_stage(kc_arena *arena, const char *path, const void *data, size_t size,
                             const char **error) {
    kc_outfile *o = KC_NEW(arena, kc_outfile);
    *o = (kc_outfile){.arena = arena, .p = {.data = data, .size = size}, .file = -1};
    int code = !resolve(o, path) ? stage_direct(o) : stage_file(o);
    if (!code) return o;
    kc_outfile_drop(o);
    *error = problem(arena, path, code);
    return NULL;
}

void kc_outfile_drop(kc_outfile *o) {
    if (o && o->file >= 0) close(o->file);
    if (o) o->file = -1;
}

// ---- naming -------------------------------------------------------------------------------------

static int link_to(int file, const char *path) {
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? errno : 0;
}

static int write_named(const plan *p) {
    int file = open(p->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    int code = fill(file, p);
    close(file);
    return code;
}

// In the child: gives the bytes a temporary name and then the right one.
static int replace(const kc_outfile *o) {
    unlink(o->p.temporary); // of an earlier process with our number, which was killed
    int code = o->file >= 0 ? link_to(o->file, o->p.temporary) : ENOENT;
    if (code)
        code =
            write_named(&o->p); // a second copy, where the nameless one cannot be named (no /proc)
    if (!code && rename(o->p.temporary, o->p.path)) code = errno;
    if (code) unlink(o->p.temporary);
    return code;
}

static int wait_for(pid_t child, int report) {
    int code = EIO;
    ssize_t n;
    do
        n = read(report, &code, sizeof code);
    while (n < 0 && errno == EINTR);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return n == sizeof code ? code : EIO;
}

static int replace_in_child(const kc_outfile *o) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return errno;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        signal(SIGPIPE, SIG_IGN);
        int code = replace(o);
        _exit(write(ends[1], &code, sizeof code) != sizeof code);
    }
    int code = child < 0 ? errno : 0;
    close(ends[1]);
    if (!code) code = wait_for(child, ends[0]);
    close(ends[0]);
    return code;
}

static int give_name(const kc_outfile *o) {
    int code = o->file >= 0 ? link_to(o->file, o->p.path) : EEXIST;
    return code == 0 ? 0 : replace_in_child(o);
}

bool kc_outfile_commit(kc_outfile *o, const char **error) {
    int code = o->direct ? write_all(o->file, o->p.data, o->p.size) : give_name(o);
    if (o->direct && close(o->file) && !code) code = errno;
    if (o->direct) o->file = -1;
    else if (!code) sync_folder(o->p.folder);
    kc_outfile_drop(o);
    if (code) *error = problem(o->arena, o->p.path, code);
    return code == 0;
}

bool kc_outfile_write(kc_arena *arena, const char *path, const void *data, size_t size,
                      const char **error) {
    kc_outfile *o = kc_outfile_stage(arena, path, data, size, error);
    return o && kc_outfile_commit(o, error);
}
