/* Launches: packing parameters, attributes, and what the machine's answer becomes.
 *
 * A finding is not always a fault of the hardware. An address or an alignment is, and so are a trap
 * and a deadlock: they poison the context with the code the real driver gives. A race or a value
 * that nobody wrote would go unnoticed on hardware: that launch answers LAUNCH_FAILED and the
 * context lives on, so that a program can be examined further. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

#define CLUSTER_GROUP 16 /* multiprocessors that share clusters */

/* ---- running --------------------------------------------------------------------------------- */

/* The machine's sentence begins with the finding's kind. */
static CUresult fault_code(const char *sentence, bool *poisons) {
    static const struct {
        const char *kind;
        CUresult result;
        bool poisons;
    } kinds[] = {
        {"out_of_bounds", CUDA_ERROR_ILLEGAL_ADDRESS, true},
        {"misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, true},
        {"assert", CUDA_ERROR_ASSERT, true},
        {"deadlock", CUDA_ERROR_LAUNCH_TIMEOUT, true},
        {"uninitialized", CUDA_ERROR_LAUNCH_FAILED, false},
        {"race", CUDA_ERROR_LAUNCH_FAILED, false},
        {"barrier_divergence", CUDA_ERROR_LAUNCH_FAILED, false},
        {"proxy_fence", CUDA_ERROR_LAUNCH_FAILED, false},
        {"async_in_flight", CUDA_ERROR_LAUNCH_FAILED, false},
        {"mbarrier", CUDA_ERROR_LAUNCH_FAILED, false},
        {"block ", CUDA_ERROR_LAUNCH_TIMEOUT, true}, /* stuck, where findings are only reported */
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(sentence, kinds[i].kind, strlen(kinds[i].kind)) == 0) {
            *poisons = kinds[i].poisons;
            return kinds[i].result;
        }
    *poisons = true; /* a trap, or what the machine cannot go on from */
    return CUDA_ERROR_LAUNCH_FAILED;
}

/* A cluster that cannot be: the launch's, or the kernel's own. */
static CUresult check_cluster(const driver_kernel *kernel) {
    const kcsim_function_info *info = &kernel->function->info;
    bool asked =
        kernel->config.cluster[0] || kernel->config.cluster[1] || kernel->config.cluster[2];
    uint64_t blocks = 1, most = kernel->function->big_clusters ? 16 : 8;
    if (!asked && info->cluster_must_be_set) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (!asked && info->cluster[0] == 0) return CUDA_SUCCESS;
    if (info->max_cluster && (uint64_t)info->max_cluster < most) most = (uint64_t)info->max_cluster;
    for (int i = 0; i < 3; i++) {
        uint32_t size = asked ? kernel->config.cluster[i] : (uint32_t)info->cluster[i];
        bool fits = info->grid_of_clusters || (size && kernel->config.grid[i] % size == 0);
        if (size == 0 || !fits) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        if (info->cluster[0] != 0 && size != (uint32_t)info->cluster[i])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        blocks *= size;
    }
    if (asked && kernel->function->object.context->device->arch->major < 9)
        return CUDA_ERROR_NOT_SUPPORTED;
    return blocks <= most ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/* A cooperative grid must fit the device all at once. */
static bool fits(const driver_kernel *kernel) {
    const driver_device *device = kernel->function->object.context->device;
    const kcsim_launch_config *config = &kernel->config;
    uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    if (threads == 0 || threads > 1024) return true; /* the launch itself will say so */
    int each = kcsim_occupancy(device->machine, kernel->function->function, (int)threads,
                               config->dynamic_shared);
    return blocks <= (uint64_t)each * (uint64_t)device->options.multiprocessors;
}

/* A launch over the limits. Registers and clusters are what the driver does not call an argument.
 */
static CUresult limit_code(const driver_kernel *kernel) {
    if (check_cluster(kernel) != CUDA_SUCCESS) return check_cluster(kernel);
    const kcsim_arch *arch = kernel->function->object.context->device->arch;
    const uint32_t *block = kernel->config.block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint64_t registers = threads * (uint64_t)kernel->function->info.registers;
    bool allowed = threads <= (uint64_t)arch->max_threads_per_block;
    bool too_many = registers > (uint64_t)arch->registers_per_block;
    if (kernel->cooperative && !fits(kernel)) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return allowed && too_many ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_ERROR_INVALID_VALUE;
}

/* With the device's lock held. */
static CUresult answer(CUcontext context, const driver_kernel *kernel, kcsim_status status) {
    driver_device *device = context->device;
    if (status == KCSIM_OK) return CUDA_SUCCESS;
    const char *sentence = kcsim_last_fault(device->machine);
    driver_log("launch of %s: %s", kernel->function->info.name, sentence);
    free(device->fault);
    device->fault = strdup(sentence);
    bool poisons = false;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (status == KCSIM_LAUNCH_LIMIT) result = limit_code(kernel);
    if (status == KCSIM_NO_MEMORY) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == KCSIM_FAULT) result = fault_code(sentence, &poisons);
    if (poisons) context->fault = result;
    return result;
}

void driver_settle(driver_device *device) {
    pthread_mutex_lock(&device->lock);
    if (device->machine) device->settled = kcsim_launch_number(device->machine);
    pthread_mutex_unlock(&device->lock);
}

CUresult driver_kernel_run(CUcontext context, const driver_kernel *kernel) {
    driver_device *device = context->device;
    if (!driver_handle_is(kernel->function, DRIVER_FUNCTION)) return CUDA_ERROR_INVALID_HANDLE;
    kcsim_launch_config config = kernel->config;
    int limit = kernel->function->max_dynamic_shared;
    config.shared_limit = limit > 0 ? (size_t)limit : 0;
    config.big_clusters = kernel->function->big_clusters;
    config.cooperative = kernel->cooperative;
    pthread_mutex_lock(&device->lock);
    if (config.after <= device->settled) config.after = 0;
    size_t before = kcsim_finding_count(device->machine);
    driver_mirrors_load(device);
    kcsim_status status = kcsim_launch(device->machine, kernel->function->function, &config,
                                       kernel->params, kernel->bytes);
    driver_mirrors_store(device);
    if (kernel->launched) *kernel->launched = kcsim_launch_number(device->machine);
    bool finding = kcsim_finding_count(device->machine) != before;
    CUresult result = answer(context, kernel, status);
    pthread_mutex_unlock(&device->lock);
    driver_report_changed(device, finding || result != CUDA_SUCCESS);
    return result;
}

/* ---- parameters ------------------------------------------------------------------------------ */

size_t driver_kernel_bytes(CUfunction function) {
    return function->info.param_bytes;
}

/* The `extra` form: a list of names and values that ends with END. */
static CUresult pack_extra(CUfunction function, void **extra, void *block) {
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = extra[1];
        else return CUDA_ERROR_INVALID_VALUE;
    }
    size_t wanted = function->info.param_bytes;
    if (wanted == 0) return CUDA_SUCCESS;
    if (buffer == NULL || size == NULL || *size < wanted) return CUDA_ERROR_INVALID_VALUE;
    memcpy(block, buffer, wanted);
    return CUDA_SUCCESS;
}

CUresult driver_kernel_pack(CUfunction function, void **arguments, void **extra, void *block) {
    const kcsim_function_info *info = &function->info;
    if (arguments != NULL && extra != NULL) return CUDA_ERROR_INVALID_VALUE;
    if (extra != NULL) return pack_extra(function, extra, block);
    if (arguments == NULL) return info->param_count == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    memset(block, 0, info->param_bytes);
    for (size_t i = 0; i < info->param_count; i++) {
        if (arguments[i] == NULL) return CUDA_ERROR_INVALID_VALUE;
        memcpy((char *)block + info->params[i].offset, arguments[i], info->params[i].size);
    }
    return CUDA_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

typedef struct launch_events {
    CUevent completion, programmatic;
} launch_events;

static CUresult read_attributes(const driver_launch_config *config, driver_kernel *kernel,
                                launch_events *events) {
    if (config->numAttrs > 0 && config->attrs == NULL) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const driver_launch_value *value = &config->attrs[i].value;
        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: kernel->cooperative = value->cooperative != 0; break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            kernel->config.cluster[0] = value->clusterDim.x;
            kernel->config.cluster[1] = value->clusterDim.y;
            kernel->config.cluster[2] = value->clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            kernel->programmatic = value->programmaticStreamSerializationAllowed != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            events->programmatic = value->programmaticEvent.event;
            break;
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            events->completion = value->launchCompletionEvent.event;
            break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            return driver_unsupported("CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE");
        default: /* the others are hints about when, where in the cache, and how urgently */
            if (config->attrs[i].id > CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static CUresult submit(CUstream stream, driver_kernel *kernel, void **arguments, void **extra) {
    char small[DRIVER_PARAM_BYTES];
    kernel->bytes = driver_kernel_bytes(kernel->function);
    bool large = kernel->bytes > sizeof small;
    kernel->params = large ? malloc(kernel->bytes) : small;
    if (kernel->params == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = driver_kernel_pack(kernel->function, arguments, extra, kernel->params);
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .context = stream->object.context};
    op.u.kernel = *kernel;
    if (result == CUDA_SUCCESS) result = driver_stream_submit(stream, &op);
    if (large) free(kernel->params);
    return result;
}

/* cuda.h, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: who waits for that event may begin before the
 * kernel ends, and waits for its end by griddepcontrol.wait. */
static CUresult record(CUstream stream, const launch_events *events, CUstream handle) {
    CUresult result = CUDA_SUCCESS;
    uint64_t launch = stream->last_launch;
    if (events->programmatic != NULL) result = cuEventRecord(events->programmatic, handle);
    if (result == CUDA_SUCCESS && events->programmatic != NULL)
        events->programmatic->early = launch;
    if (result == CUDA_SUCCESS && events->completion != NULL)
        result = cuEventRecord(events->completion, handle);
    stream->last_launch = launch;
    return result;
}

static CUresult launch(const driver_launch_config *config, const void *handle, void **arguments,
                       void **extra, bool cooperative) {
    CUstream stream;
    CUresult result = driver_stream_enter(config->hStream, &stream);
    if (result != CUDA_SUCCESS) return result;
    driver_kernel kernel = {
        .config = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                   .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                   .dynamic_shared = config->sharedMemBytes},
        .cooperative = cooperative};
    launch_events events = {0};
    result = driver_function_resolve(handle, stream->object.context, &kernel.function);
    if (result != CUDA_SUCCESS) return result;
    if (kernel.function->object.context != stream->object.context) return CUDA_ERROR_INVALID_HANDLE;
    result = read_attributes(config, &kernel, &events);
    if (result == CUDA_SUCCESS) result = check_cluster(&kernel);
    if (result == CUDA_SUCCESS) result = submit(stream, &kernel, arguments, extra);
    return result == CUDA_SUCCESS ? record(stream, &events, config->hStream) : result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra) {
    driver_launch_config config = {grid_x,  grid_y, grid_z, block_x, block_y,
                                   block_z, shared, stream, NULL,    0};
    return launch(&config, function, arguments, extra, false);
}
DRIVER_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);

CUresult cuLaunchKernelEx(const driver_launch_config *config, CUfunction function, void **arguments,
                          void **extra) {
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    return launch(config, function, arguments, extra, false);
}
DRIVER_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **arguments) {
    driver_launch_config config = {grid_x,  grid_y, grid_z, block_x, block_y,
                                   block_z, shared, stream, NULL,    0};
    return launch(&config, function, arguments, NULL, true);
}
DRIVER_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel);

/* How many clusters of `blocks` the device holds at once. A cluster lives in one group of
 * multiprocessors, of which there are as many as the largest cluster has blocks. */
static int active_clusters(CUcontext context, const driver_kernel *kernel, int threads,
                           size_t shared, uint32_t blocks) {
    int each =
        kcsim_occupancy(context->device->machine, kernel->function->function, threads, shared);
    int total = context->device->options.multiprocessors, clusters = 0;
    for (int left = total; left > 0; left -= CLUSTER_GROUP)
        clusters += each * (left < CLUSTER_GROUP ? left : CLUSTER_GROUP) / (int)blocks;
    return clusters;
}

static CUresult cluster_question(CUfunction handle, const driver_launch_config *config,
                                 CUcontext *context, driver_kernel *kernel, int *threads) {
    launch_events events = {0};
    CUresult result = driver_enter(context);
    if (result == CUDA_SUCCESS)
        result = driver_function_resolve(handle, *context, &kernel->function);
    if (result != CUDA_SUCCESS) return result;
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    result = read_attributes(config, kernel, &events);
    if (result != CUDA_SUCCESS) return result;
    if ((*context)->device->arch->major < 9) return CUDA_ERROR_NOT_SUPPORTED;
    uint64_t block = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    *threads = block <= 1024 ? (int)block : 0;
    kernel->config.grid[0] = config->gridDimX;
    kernel->config.grid[1] = config->gridDimY;
    kernel->config.grid[2] = config->gridDimZ;
    return *threads > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                      const driver_launch_config *config) {
    CUcontext context;
    driver_kernel kernel = {0};
    int threads = 0;
    CUresult result = cluster_question(handle, config, &context, &kernel, &threads);
    if (result != CUDA_SUCCESS) return result;
    if (clusters == NULL) return CUDA_ERROR_INVALID_VALUE;
    result = check_cluster(&kernel);
    if (result != CUDA_SUCCESS) return result;
    uint32_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t own = (uint32_t)kernel.function->info.cluster[i];
        blocks *= kernel.config.cluster[0] ? kernel.config.cluster[i] : own ? own : 1;
    }
    *clusters = active_clusters(context, &kernel, threads, config->sharedMemBytes, blocks);
    return CUDA_SUCCESS;
}

/* The largest cluster, a power of two, of which the device holds one. */
CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle,
                                            const driver_launch_config *config) {
    CUcontext context;
    driver_kernel kernel = {0};
    int threads = 0;
    CUresult result = cluster_question(handle, config, &context, &kernel, &threads);
    if (result != CUDA_SUCCESS) return result;
    if (size == NULL) return CUDA_ERROR_INVALID_VALUE;
    uint32_t most = kernel.function->big_clusters ? 16 : 8;
    while (most > 1 &&
           active_clusters(context, &kernel, threads, config->sharedMemBytes, most) == 0)
        most /= 2;
    *size = (int)most;
    return CUDA_SUCCESS;
}
