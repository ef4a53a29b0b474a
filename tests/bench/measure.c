// Runs a program and prints what it cost, children included:
//
//     measure [-n TIMES] PROGRAM ARGUMENT...     prints "WALL_MS CPU_MS PEAK_KIB", the least of TIMES runs (default 1)
//
// The program's output is thrown away; its failure is measure's.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double cpu(const struct rusage *u) {
    return 1e3 * (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-3 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static void become(char **argv) {
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) dup2(null, 1);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

// RUSAGE_CHILDREN covers grandchildren that were waited for, such as kc's workers; wait4 alone gives their CPU time too, but
// its peak is that of the child alone.
static int run(char **argv, double *wall, double *used, long *peak) {
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    double start = now();
    pid_t child = fork();
    if (child == 0) become(argv);
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) return perror("measure"), 1;
    *wall = now() - start;
    getrusage(RUSAGE_CHILDREN, &after);
    *used = cpu(&after) - cpu(&before);
    *peak = after.ru_maxrss;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(int argc, char **argv) {
    int times = 1, first = 1;
    if (argc > 3 && strcmp(argv[1], "-n") == 0) times = atoi(argv[2]), first = 3;
    if (argc <= first) return fprintf(stderr, "usage: measure [-n TIMES] PROGRAM ARGUMENT...\n"), 2;
    double best_wall = 1e30, best_cpu = 1e30;
    long most = 0;
    for (int i = 0; i < times; i++) {
        double wall, used;
        long peak;
        if (run(argv + first, &wall, &used, &peak)) return fprintf(stderr, "measure: %s failed\n", argv[first]), 1;
        if (wall < best_wall) best_wall = wall;
        if (used < best_cpu) best_cpu = used;
        if (peak > most) most = peak;
    }
    printf("%.1f %.1f %ld\n", best_wall, best_cpu, most);
    return 0;
}
