// A fuzzer that goes down leaves the input that did it in a file.
#ifndef KC_TESTS_FUZZ_CRASH_H
#define KC_TESTS_FUZZ_CRASH_H

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static struct {
    const char *file;
    const void *bytes;
    const size_t *size;
} crash;

static void crash_save(void) {
    int file = open(crash.file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, crash.bytes, *crash.size) < 0) return;
    close(file);
}

static void crash_on_signal(int number) {
    crash_save();
    signal(number, SIG_DFL);
    raise(number);
}

// From here on; bytes and size are those at the time.
static void crash_watch(const char *file, const void *bytes, const size_t *size) {
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM};
    crash.file = file, crash.bytes = bytes, crash.size = size;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], crash_on_signal);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(crash_save);
}

#endif
