// Failures: this thread's sentence, and the way back from an arena that ran out of memory.
#include "runtime/ref/ref.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[1024];

kcrt_status ref_fail(kcrt_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return status;
}

const char *ref_last_error(void) {
    return last_error;
}

static _Thread_local jmp_buf *way_back;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void out_of_memory(void *context) {
    (void)context;
    if (way_back) longjmp(*way_back, 1);
}

static void install(void) {
    kc_arena_on_out_of_memory(out_of_memory, NULL);
}

kcrt_status ref_guard(kcrt_status (*f)(void *), void *context) {
    jmp_buf here;
    pthread_once(&once, install);
    if (setjmp(here)) {
        way_back = NULL;
        return ref_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory for the device `ref`.");
    }
    way_back = &here;
    kcrt_status status = f(context);
    way_back = NULL;
    return status;
}

void ref_first_error(const kc_diag *diag, char *text, size_t size) {
    char *all = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&all, &length);
    if (out) {
        kc_diag_print(diag, out);
        fclose(out);
    }
    snprintf(text, size, "%.*s", all ? (int)strcspn(all, "\n") : 0, all ? all : "");
    free(all);
}
