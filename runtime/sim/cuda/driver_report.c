/* What the simulator tells: the log (KCSIM_LOG), the report (KCSIM_REPORT) and the simulator's own
 * exported functions (runtime/sim/kcsim.h).
 *
 * The report is one device's JSON; when several devices ran, those after the first stand in a
 * "devices" array inside it. It is written to a file beside and renamed, so a reader never sees
 * half of one, and only when something ran since the last time. */
#include "runtime/sim/cuda/driver.h"
#include "runtime/sim/kcsim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

/* ---- log ------------------------------------------------------------------------------------- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void write_line(const char *path, const char *format, va_list list) {
    char line[1024];
    vsnprintf(line, sizeof line, format, list);
    pthread_mutex_lock(&log_lock);
    FILE *file = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
    if (file != NULL) {
        fprintf(file, "kcsim: %s\n", line);
        if (file != stderr) fclose(file);
    }
    pthread_mutex_unlock(&log_lock);
}

void driver_log(const char *format, ...) {
    const char *path = getenv("KCSIM_LOG");
    if (path == NULL || path[0] == 0) return;
    va_list list;
    va_start(list, format);
    write_line(path, format, list);
    va_end(list);
}

void driver_complain(const char *format, ...) {
    const char *path = getenv("KCSIM_LOG");
    va_list list;
    va_start(list, format);
    write_line(path != NULL && path[0] != 0 ? path : "-", format, list);
    va_end(list);
}

/* Names are string literals, so a pointer is enough to know one by. */
CUresult driver_unsupported(const char *name) {
    static char *said[1024];
    static size_t count;
    bool known = false;
    pthread_mutex_lock(&log_lock);
    for (size_t i = 0; i < count && !known; i++)
        known = strcmp(said[i], name) == 0;
    char *copy = known || count == sizeof said / sizeof said[0] ? NULL : strdup(name);
    if (copy != NULL) said[count++] = copy;
    pthread_mutex_unlock(&log_lock);
    if (!known) driver_log("%s is not supported by the simulator", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- report ---------------------------------------------------------------------------------- */

/* The lock of the device keeps launches away while its counters are read. */
static char *device_text(driver_device *device, char *(*form)(kcsim_machine *)) {
    pthread_mutex_lock(&device->lock);
    char *text = device->machine != NULL ? form(device->machine) : NULL;
    pthread_mutex_unlock(&device->lock);
    return text;
}

static char *device_json(driver_device *device) {
    return device_text(device, kcsim_counters_json);
}

static void write_tables(FILE *file) {
    for (int i = 0; i < driver_device_count(); i++) {
        char *table = device_text(driver_device_at(i), kcsim_counters_table);
        if (table != NULL) fputs(table, file);
        free(table);
    }
}

static void write_json(FILE *file) {
    int written = 0, count = driver_device_count();
    char *first = NULL;
    for (int i = 0; i < count; i++) {
        char *json = device_json(driver_device_at(i));
        if (json == NULL) continue;
        if (written == 0) {
            first = json; /* its closing brace comes last */
            char *end = strrchr(first, '}');
            if (end != NULL) *end = 0;
            fputs(first, file);
        } else {
            fprintf(file, "%s%s", written == 1 ? ", \"devices\": [" : ", ", json);
            free(json);
        }
        written++;
    }
    if (written == 0) fputs("{\"device\": null, \"kernels\": [", file);
    fputs(written == 1 ? "}\n" : "]}\n", file);
    free(first);
}

/* Once: every synchronising call tries again. */
static void complain_of_report(const char *path) {
    static bool said;
    if (!said) driver_complain("cannot write the report '%s'", path);
    said = true;
}

/* Devices and pipes have no old content to keep, and must stay what they are. */
static bool is_written_in_place(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

/* A pipe that nobody reads is an error rather than a wait. */
static bool write_file(const char *file_name, const char *path) {
    const char *dot = strrchr(path, '.');
    int fd = open(file_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) return false;
    if (dot != NULL && strcmp(dot, ".txt") == 0) write_tables(file);
    else write_json(file);
    bool good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}

static bool write_beside(const char *path) {
    size_t size = strlen(path) + 32;
    char *temporary = malloc(size);
    if (temporary == NULL) return false;
    snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    bool good = write_file(temporary, path) && rename(temporary, path) == 0;
    if (!good) unlink(temporary);
    free(temporary);
    return good;
}

static void write_report(const char *path) {
    static pthread_mutex_t one_writer = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_writer);
    if (!(is_written_in_place(path) ? write_file(path, path) : write_beside(path)))
        complain_of_report(path);
    pthread_mutex_unlock(&one_writer);
}

void driver_report_flush(void) {
    const char *path = getenv("KCSIM_REPORT");
    if (path == NULL || path[0] == 0 || driver_ready() != CUDA_SUCCESS) return;
    bool any = false;
    int count = driver_device_count();
    for (int i = 0; i < count; i++) {
        driver_device *device = driver_device_at(i);
        driver_lock();
        any |= device->unreported;
        device->unreported = false;
        driver_unlock();
    }
    if (any) write_report(path);
}

void driver_report_changed(driver_device *device, bool finding) {
    driver_lock();
    device->unreported = true;
    driver_unlock();
    if (finding) driver_report_flush();
}

__attribute__((destructor)) static void report_at_exit(void) {
    driver_report_flush();
}

/* ---- the simulator's own interface ----------------------------------------------------------- */

DRIVER_API char *kcsim_report_json(int device);
DRIVER_API char *kcsim_report_table(int device);
DRIVER_API void kcsim_report_reset(int device);
DRIVER_API char *kcsim_fault_text(int device);
DRIVER_API int kcsim_set_seed(uint64_t seed);
DRIVER_API int kcsim_device_for_arch(const char *arch);

char *kcsim_report_json(int ordinal) {
    driver_device *device = driver_forked() ? NULL : driver_device_at(ordinal);
    if (device == NULL) return NULL;
    if (device->machine != NULL) return device_json(device);
    size_t size = strlen(device->arch->name) + 64;
    char *json = malloc(size);
    if (json != NULL)
        snprintf(json, size, "{\"device\": \"%s\", \"kernels\": []}", device->arch->name);
    return json;
}

char *kcsim_report_table(int ordinal) {
    driver_device *device = driver_forked() ? NULL : driver_device_at(ordinal);
    return device != NULL ? device_text(device, kcsim_counters_table) : NULL;
}

void kcsim_report_reset(int ordinal) {
    driver_device *device = driver_forked() ? NULL : driver_device_at(ordinal);
    if (device == NULL || device->machine == NULL) return;
    pthread_mutex_lock(&device->lock);
    kcsim_reset_counters(device->machine);
    pthread_mutex_unlock(&device->lock);
}

char *kcsim_fault_text(int ordinal) {
    driver_device *device = driver_forked() ? NULL : driver_device_at(ordinal);
    if (device == NULL) return NULL;
    pthread_mutex_lock(&device->lock);
    char *text = device->fault != NULL ? strdup(device->fault) : NULL;
    pthread_mutex_unlock(&device->lock);
    return text;
}

int kcsim_set_seed(uint64_t seed) {
    driver_set_seed(seed);
    return 0;
}

int kcsim_device_for_arch(const char *arch) {
    return driver_forked() ? -1 : driver_device_for_arch(arch);
}
