/* The process: the environment, the devices it asks for, the global lock, fork.
 *
 * The environment is read once, at the first call that needs it. What is wrong in it is said on the
 * log (standard error when there is none), and cuInit answers INVALID_VALUE: a misspelt device must
 * not quietly become another one.
 *
 * A child forked after cuInit gets NOT_INITIALIZED from every call, as with the real driver; a
 * child forked before may initialise for itself. */
#include "runtime/sim/cuda/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool loaded, bad_environment, initialized, forked;
    kcsim_options options;
    driver_device *devices[DRIVER_MAX_DEVICES];
    int count;
    uint64_t last_id;
} state;

static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;

void driver_lock(void) {
    pthread_mutex_lock(&global_lock);
}

void driver_unlock(void) {
    pthread_mutex_unlock(&global_lock);
}

uint64_t driver_next_id(void) {
    return ++state.last_id;
}

bool driver_forked(void) {
    return state.forked;
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void before_fork(void) {
    driver_lock();
    pthread_mutex_lock(driver_handle_mutex());
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(driver_handle_mutex());
    driver_unlock();
}

static void after_fork_child(void) {
    pthread_mutex_init(driver_handle_mutex(), NULL);
    pthread_mutex_init(&global_lock, NULL);
    state.forked = state.initialized;
}

/* ---- the environment ------------------------------------------------------------------------- */

static void complain(const char *variable, const char *value, const char *expected) {
    driver_complain("%s: '%s' is not understood; expected %s", variable, value, expected);
    state.bad_environment = true;
}

static bool parse_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == 0 && text[0] != '-';
}

/* "8G", "512M", "65536". */
static bool parse_bytes(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno != 0 || end == text || text[0] == '-') return false;
    static const char units[] = "KMGT";
    const char *unit = *end != 0 ? strchr(units, *end & ~0x20) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (unit != NULL) end++;
    if (unit != NULL && end[0] == 'i' && end[1] == 'B') end += 2;
    if (*end != 0 || value == 0 || value > (uint64_t)INT64_MAX >> shift) return false;
    *out = (int64_t)(value << shift);
    return true;
}

static void read_options(void) {
    kcsim_options *options = &state.options;
    uint64_t number;
    const char *bad, *text = getenv("KCSIM_SEED");
    if (text != NULL && !parse_number(text, &options->seed))
        complain("KCSIM_SEED", text, "an unsigned number");
    text = getenv("KCSIM_CHECKS");
    if (text != NULL && !kcsim_checks_parse(text, &options->checks, &bad))
        complain("KCSIM_CHECKS", text, "all or none alone, or kinds of findings with single commas between");
    text = getenv("KCSIM_ON_FINDING");
    if (text != NULL && strcmp(text, "report") == 0) options->on_finding = KCSIM_ON_FINDING_REPORT;
    else if (text != NULL && strcmp(text, "error") != 0)
        complain("KCSIM_ON_FINDING", text, "error or report");
    text = getenv("KCSIM_MEMORY");
    if (text != NULL && !parse_bytes(text, &options->memory))
        complain("KCSIM_MEMORY", text, "bytes, or a number with K, M, G or T");
    text = getenv("KCSIM_MULTIPROCESSORS");
    if (text != NULL && parse_number(text, &number) && number > 0 && number < 4096)
        options->multiprocessors = (int)number;
    else if (text != NULL) complain("KCSIM_MULTIPROCESSORS", text, "a number from 1 to 4095");
}

/* ---- devices --------------------------------------------------------------------------------- */

static int add_device(const kcsim_arch *arch) {
    driver_device *device = state.count < DRIVER_MAX_DEVICES ? calloc(1, sizeof *device) : NULL;
    if (device == NULL) return -1;
    device->ordinal = state.count;
    device->arch = arch;
    device->options = state.options;
    if (device->options.memory == 0) device->options.memory = arch->total_memory;
    if (device->options.multiprocessors == 0)
        device->options.multiprocessors = arch->multiprocessors;
    pthread_mutex_init(&device->lock, NULL);
    state.devices[state.count] = device;
    return state.count++;
}

static void list_archs(char *known, size_t size) {
    known[0] = 0;
    const kcsim_arch *arch;
    for (size_t i = 0; (arch = kcsim_arch_at(i)) != NULL; i++) {
        size_t used = strlen(known);
        if (used + strlen(arch->name) + 2 >= size) break;
        strcat(strcat(known, used > 0 ? " " : ""), arch->name);
    }
}

static void read_devices(void) {
    const char *text = getenv("KCSIM_CUDA_DEVICES");
    char *list = strdup(text != NULL ? text : "sm_90a"), *rest = list;
    for (char *name; list != NULL && (name = strtok_r(rest, ", ", &rest)) != NULL;) {
        const kcsim_arch *arch = kcsim_arch_default_variant(name);
        if (arch == NULL) {
            char known[512];
            list_archs(known, sizeof known);
            complain("KCSIM_CUDA_DEVICES", name, known);
        } else if (add_device(arch) < 0) {
            complain("KCSIM_CUDA_DEVICES", text, "at most 64 devices");
        }
    }
    free(list);
}

/* With the lock held. */
static void load(void) {
    if (state.loaded) return;
    state.loaded = true;
    state.options = kcsim_options_default();
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    read_options();
    read_devices();
}

CUresult driver_start(void) {
    CUresult result = CUDA_SUCCESS;
    driver_lock();
    load();
    if (state.forked) result = CUDA_ERROR_NOT_INITIALIZED;
    else if (state.bad_environment) result = CUDA_ERROR_INVALID_VALUE;
    else if (state.count == 0) result = CUDA_ERROR_NO_DEVICE;
    else state.initialized = true;
    driver_unlock();
    return result;
}

static _Thread_local unsigned callbacks;

void driver_call_host(bool begins) {
    callbacks += begins ? 1u : -1u;
}

CUresult driver_ready(void) {
    if (callbacks) return CUDA_ERROR_NOT_PERMITTED;
    return state.initialized && !state.forked ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

int driver_device_count(void) {
    driver_lock();
    load();
    int count = state.count;
    driver_unlock();
    return count;
}

driver_device *driver_device_at(int ordinal) {
    if (ordinal < 0 || ordinal >= driver_device_count()) return NULL;
    return state.devices[ordinal];
}

int driver_device_for_arch(const char *name) {
    const kcsim_arch *arch = name != NULL ? kcsim_arch_default_variant(name) : NULL;
    if (arch == NULL) {
        driver_log("no simulated device has architecture '%s'", name != NULL ? name : "");
        return -1;
    }
    driver_lock();
    load();
    int found = -1;
    for (int i = 0; i < state.count && found < 0; i++)
        if (state.devices[i]->arch == arch) found = i;
    if (found < 0) found = add_device(arch);
    driver_unlock();
    return found;
}

/* What kernels print goes where the program's own output goes. */
static void print(void *context, bool is_error, const char *text, size_t size) {
    (void)context;
    fwrite(text, 1, size, is_error ? stderr : stdout);
}

kcsim_machine *driver_device_machine(driver_device *device) {
    driver_lock();
    if (device->machine == NULL) {
        device->machine = kcsim_machine_create(device->arch, &device->options);
        if (device->machine != NULL) kcsim_machine_set_output(device->machine, print, NULL);
    }
    kcsim_machine *machine = device->machine;
    driver_unlock();
    return machine;
}

static void seed_machine(driver_device *device, uint64_t seed) {
    driver_lock();
    device->options.seed = seed;
    kcsim_machine *machine = device->machine;
    driver_unlock();
    if (machine != NULL) kcsim_machine_set_seed(machine, seed);
}

void driver_set_seed(uint64_t seed) {
    int count = driver_device_count();
    for (int i = 0; i < count; i++)
        seed_machine(driver_device_at(i), seed);
    driver_lock();
    state.options.seed = seed; /* of devices that are yet to be added */
    driver_unlock();
}
