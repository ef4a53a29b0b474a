/* What the files of the simulated driver share. The driver is a thin layer: it checks arguments the
 * way the real one does, keeps handles, contexts and allocations, and hands work to the machine
 * (runtime/sim/machine.h), which runs it at once. A stream is therefore always idle; what remains
 * of it is its place in captures, its priority and its context.
 *
 * Locks. One global lock guards every table and structure of the driver and is held briefly. Each
 * device has a lock that is held while its machine runs a launch or its memory is copied, so that
 * memory cannot vanish underneath. The order is: device locks by ordinal, then the global one;
 * nobody waits for a device while holding the global lock. Host functions run with no lock held.
 *
 * Exported symbols are `protected`: inside one process the real driver may be loaded too, and our
 * own references must not bind to it. */
#ifndef KCSIM_CUDA_DRIVER_H
#define KCSIM_CUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/cuda/driver_types.h"
#include "runtime/sim/machine.h"

#ifndef DRIVER_API /* programs that take the declarations from here define it as nothing */
#define DRIVER_API __attribute__((visibility("protected")))
#endif
/* `alias` is a second exported name of `target`, defined in the same file. */
#define DRIVER_ALIAS(alias_name, target)                                                           \
    extern __typeof__(target) alias_name __attribute__((alias(#target), visibility("protected")))

enum { DRIVER_VERSION = 13000, DRIVER_MAX_DEVICES = 64, DRIVER_MAX_CURRENT = 256 };

/* ---- handles (driver_handle.c) ---------------------------------------------------------------
 * Every live handle is in one registry with its kind, so that a stale or foreign pointer is
 * answered INVALID_HANDLE without being read. */
typedef enum driver_kind {
    DRIVER_CONTEXT = 1,
    DRIVER_MODULE,
    DRIVER_FUNCTION,
    DRIVER_LIBRARY,
    DRIVER_KERNEL,
    DRIVER_STREAM,
    DRIVER_EVENT,
    DRIVER_POOL,
    DRIVER_GRAPH,
    DRIVER_NODE,
    DRIVER_EXEC,
    DRIVER_LINK,
    DRIVER_GENERIC /* memory without an address */
} driver_kind;

/* First member of everything a handle points to. `context` is NULL for objects of no context. */
typedef struct driver_object {
    driver_kind kind;
    CUcontext context;
    struct driver_object *next, *previous; /* in the context's list */
} driver_object;

bool driver_object_add(driver_object *object, driver_kind kind, CUcontext context);
void driver_object_remove(driver_object *object);
bool driver_handle_is(const void *handle, driver_kind kind);
/* The driver is ready, and the handle is of that kind; else `otherwise`. */
CUresult driver_handle_check(const void *handle, driver_kind kind, CUresult otherwise);
pthread_mutex_t *driver_handle_mutex(void); /* for fork alone */

/* ---- devices and the process (driver_state.c) ------------------------------------------------ */
typedef struct driver_device {
    int ordinal;
    const kcsim_arch *arch;
    kcsim_options options; /* memory and multiprocessors filled in */
    pthread_mutex_t lock;
    kcsim_machine *machine; /* made with the first context, kept to the end of the process */
    CUcontext primary;      /* NULL until first retained */
    unsigned primary_uses;
    unsigned primary_flags;
    CUmemoryPool pool, default_pool; /* the current one, and the one it starts with */
    bool unreported; /* ran something since the report was last written */
    bool mirrors;    /* some registered host memory has a device address */
    char *fault;     /* why the last launch failed, a sentence; NULL when none did */
    uint64_t settled; /* launches up to this one have ended, as somebody waited for them */
} driver_device;

CUresult driver_start(void); /* cuInit */
CUresult driver_ready(void); /* NOT_INITIALIZED before cuInit, and in a forked child; NOT_PERMITTED
                                in a host function */
/* This thread is about to call a host function of the program's, or it came back. */
void driver_call_host(bool begins);
void driver_lock(void);
void driver_unlock(void);
int driver_device_count(void);
driver_device *driver_device_at(int ordinal); /* NULL when out of range */
int driver_device_for_arch(const char *arch); /* ordinal, made if needed; -1 when unknown */
kcsim_machine *driver_device_machine(driver_device *device); /* NULL without host memory */
void driver_set_seed(uint64_t seed);
bool driver_forked(void);
uint64_t driver_next_id(void); /* for stream, context and capture ids; call with the lock held */

/* ---- log and report (driver_report.c) -------------------------------------------------------- */
void driver_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, but on standard error when there is no log: for what must not go unseen. */
void driver_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
CUresult driver_unsupported(const char *name); /* logs the name once, answers NOT_SUPPORTED */
void driver_report_changed(driver_device *device, bool finding); /* after a launch */
void driver_report_flush(void); /* writes KCSIM_REPORT when something ran since the last time */

/* ---- contexts (driver_context.c) ------------------------------------------------------------- */
struct driver_capture;

typedef struct driver_nodes { /* a small set of graph nodes */
    CUgraphNode *items;
    size_t count, capacity;
} driver_nodes;

struct CUstream_st {
    driver_object object;
    unsigned flags;
    int priority;
    uint64_t id;
    struct driver_capture *capture; /* NULL unless it takes part in one */
    driver_nodes tail;              /* what the next captured operation depends on */
    uint64_t last_launch; /* by kcsim_launch_number; 0 unless its last operation was a kernel */
    uint64_t early;       /* the launch whose programmatic event it waits for, or 0 */
};

struct CUctx_st {
    driver_object object;
    driver_device *device;
    bool alive, primary;
    unsigned flags;
    unsigned api_version;
    uint64_t id;
    CUresult fault; /* sticky: what every call answers after a fault */
    size_t limits[DRIVER_LIMIT_COUNT];
    struct CUstream_st legacy, per_thread; /* the two default streams */
    driver_object *objects;                /* streams, events, modules, newest first */
    struct CUctx_st *older; /* all contexts ever made: handles of destroyed ones stay readable */
};

/* The current context, checked: initialised, one is current, not destroyed, no sticky fault. */
CUresult driver_enter(CUcontext *context);
CUresult driver_current(CUcontext *context);      /* the same, faults aside */
CUresult driver_enter_unsafe(CUcontext *context); /* for a call that captures forbid */
CUresult driver_context_check(CUcontext context); /* handle, alive, fault */
CUcontext driver_context_first(void);             /* the newest; then `older` */
CUstreamCaptureMode *driver_thread_mode(void);
void driver_object_destroy(driver_object *object); /* any kind, by dispatch */

/* ---- memory (driver_memory.c) ---------------------------------------------------------------- */
typedef enum driver_memory_type {
    DRIVER_MEMORY_DEVICE,
    DRIVER_MEMORY_HOST,      /* cuMemHostAlloc: one address for the host and the device */
    DRIVER_MEMORY_MANAGED,   /* cuMemAllocManaged: likewise */
    DRIVER_MEMORY_REGISTERED /* the program's own: mirrored in the device, at another address */
} driver_memory_type;

typedef struct driver_advice { /* remembered and answered; nothing follows from it */
    bool read_mostly;
    driver_location preferred, prefetched; /* type INVALID: none */
    uint64_t accessed_by;                  /* a bit a device */
    bool accessed_by_host;
} driver_advice;

typedef struct driver_allocation {
    uint64_t base;   /* as the call that made it answered, or the host's address */
    uint64_t device; /* the device's address; of registered memory 0 until it is asked for */
    size_t bytes;
    driver_memory_type type;
    CUcontext context;
    unsigned flags;
    uint64_t id;
    CUmemoryPool pool;    /* NULL unless stream-ordered */
    driver_advice advice; /* of managed memory */
} driver_allocation;

bool driver_allocation_find(uint64_t address, driver_allocation *out); /* containing; a copy */
/* The first one whose base is above the address. */
bool driver_allocation_after(uint64_t address, driver_allocation *out);
/* Gives it an id; ALREADY_REGISTERED where it overlaps another. */
CUresult driver_allocation_insert(driver_allocation *row);
/* Writes back what was found and changed; false when it is gone. */
bool driver_allocation_update(const driver_allocation *row);
/* What the host wrote to registered memory goes to its mirrors before a launch or a copy, and what
 * the device wrote comes back behind it. With the device's lock held. */
void driver_mirrors_load(driver_device *device);
void driver_mirrors_store(driver_device *device);
CUresult driver_allocate(CUcontext context, size_t bytes, driver_memory_type type, unsigned flags,
                         CUmemoryPool pool, uint64_t *address);
CUresult driver_release(uint64_t address, driver_memory_type type);
void driver_release_context(CUcontext context);
/* Sums over live allocations of a pool. */
size_t driver_pool_used(CUmemoryPool pool);

/* ---- operations: what a stream carries out or a graph records (driver_op.c) ------------------ */
typedef struct driver_copy {
    uint64_t source, target;
    bool source_device, target_device;        /* a device address is required there */
    CUcontext source_context, target_context; /* where to look first; NULL: the operation's */
    size_t source_pitch, source_height, target_pitch, target_height;
    size_t width, height, depth;
} driver_copy;

typedef struct driver_fill {
    uint64_t target;
    size_t pitch, width, height; /* width in elements */
    unsigned element, value;     /* element: 1, 2 or 4 bytes */
} driver_fill;

typedef struct driver_kernel {
    CUfunction function;
    kcsim_launch_config config;
    bool cooperative;
    bool programmatic;  /* it may begin before the kernel in front of it ends */
    uint64_t *launched; /* where its launch's number goes, or NULL */
    size_t bytes;    /* of the parameter block */
    void *params;    /* borrowed by a running operation, owned by a recorded one */
    void **pointers; /* recorded only: into params, one a parameter */
} driver_kernel;

typedef struct driver_host_call {
    driver_host_function function;
    void *data;
} driver_host_call;

typedef struct driver_op {
    CUgraphNodeType type; /* KERNEL MEMCPY MEMSET HOST GRAPH EMPTY WAIT_EVENT EVENT_RECORD */
    CUcontext context;
    union {
        driver_kernel kernel;
        driver_copy copy;
        driver_fill fill;
        driver_host_call host;
        CUevent event;
        CUgraph graph; /* owned when recorded */
    } u;
} driver_op;

CUresult driver_op_run(const driver_op *op);
CUresult driver_op_copy(driver_op *to, const driver_op *from); /* deep */
void driver_op_clear(driver_op *op);                           /* of a recorded operation */
CUresult driver_copy_run(CUcontext context, const driver_copy *copy);
CUresult driver_copy_check(CUcontext context, const driver_copy *copy);
CUresult driver_copy_from_3d(const driver_memcpy3d *from, bool peer, driver_copy *copy);
CUresult driver_fill_run(CUcontext context, const driver_fill *fill);
CUresult driver_fill_check(CUcontext context, const driver_fill *fill);
CUresult driver_kernel_run(CUcontext context, const driver_kernel *kernel);
/* Everything that was launched has ended, as far as programs know: somebody waited. */
void driver_settle(driver_device *device);

/* ---- streams, events and captures (driver_stream.c, driver_event.c, driver_capture.c) -------- */
struct CUevent_st {
    driver_object object;
    unsigned flags;
    bool recorded;
    uint64_t nanoseconds;
    uint64_t early; /* a programmatic event: the launch that recorded it; else 0 */
    uint64_t capture_id; /* 0 unless last recorded in a capture that still goes on */
    driver_nodes nodes;  /* what waiting on it then means */
};

typedef struct driver_capture {
    uint64_t id;
    CUgraph graph;
    bool owns_graph; /* false with cuStreamBeginCaptureToGraph */
    CUstream origin;
    CUstreamCaptureMode mode;
    pthread_t thread;
    bool invalidated;
    struct driver_capture *next;
} driver_capture;

/* What every call with a stream begins with. NULL and the special handles mean the current
 * context's default streams. */
CUresult driver_stream_enter(CUstream handle, CUstream *out);
/* Runs `op` now, or records it when the stream is being captured. */
CUresult driver_stream_submit(CUstream stream, const driver_op *op);
void driver_stream_init(CUstream stream, unsigned flags, int priority);
void driver_stream_destroy(CUstream stream);
void driver_event_destroy(CUevent event);
/* A call that would synchronise or may not be made while a capture goes on. */
CUresult driver_unsafe_call(void);
/* A call on `stream` that captures do not allow (query, synchronise): invalidates its capture. */
CUresult driver_stream_must_not_capture(CUstream stream);
void driver_capture_forget(CUstream stream); /* the stream goes away: its capture is invalid */
bool driver_capture_active(uint64_t id);     /* with the lock held */
CUresult driver_event_record(CUevent event, CUstream stream, unsigned flags);
void driver_event_stamp(CUevent event);

/* ---- graphs (driver_graph.c) ----------------------------------------------------------------- */
struct CUgraphNode_st {
    driver_object object;
    CUgraph graph;
    driver_op op; /* owned */
    driver_nodes dependencies;
    CUgraphNode original; /* in a clone: the node it was made from */
    bool mark;
    size_t index;      /* scratch of cloning */
    uint64_t launched; /* scratch of running: a kernel's launch */
};

struct CUgraph_st {
    driver_object object;
    driver_nodes nodes; /* owned; kept in an order in which they may run */
};

struct CUgraphExec_st {
    driver_object object;
    CUgraph graph; /* a clone */
    uint64_t flags;
};

bool driver_nodes_add(driver_nodes *nodes, CUgraphNode node); /* a set: no duplicates */
void driver_nodes_clear(driver_nodes *nodes);
CUresult driver_graph_create(CUgraph *out);
void driver_graph_destroy(CUgraph graph);
CUresult driver_graph_clone(CUgraph graph, CUgraph *out);
CUgraphNode driver_graph_clone_of(CUgraph clone,
                                  CUgraphNode original); /* NULL when there is none */
CUresult driver_graph_add(CUgraph graph, const driver_nodes *dependencies, const driver_op *op,
                          CUgraphNode *out);
CUresult driver_graph_run(CUgraph graph);
CUresult driver_graph_sort(CUgraph graph);

/* ---- modules (driver_image.c, driver_module.c, driver_library.c) ----------------------------- */
struct CUfunc_st {
    driver_object object;
    CUmodule module;
    const kcsim_function *function;
    kcsim_function_info info;
    int max_dynamic_shared; /* -1: never set */
    int carveout;
    int cluster_policy;
    bool big_clusters;
};

struct CUmod_st {
    driver_object object;
    kcsim_module *module;
    struct CUfunc_st *functions;
    size_t function_count;
    bool of_library;
};

/* The PTX in an image, malloc'd and NUL-terminated; `why` gets a sentence otherwise. `limit` is the
 * size of the image, SIZE_MAX where the caller was not told it. */
CUresult driver_image_ptx(const void *image, size_t limit, const kcsim_arch *arch, char **ptx,
                          char *why, size_t why_size);
/* A whole file, malloc'd, with a NUL after its last byte. */
CUresult driver_image_read(const char *path, char **image, size_t *size);
CUresult driver_module_create(CUcontext context, const void *image, size_t limit, char *log,
                              size_t log_size, CUmodule *out);
void driver_module_destroy(CUmodule module);
CUfunction driver_module_find(CUmodule module, const char *name);

typedef struct driver_jit_logs { /* the caller's buffers */
    char *info, *error;
    size_t info_size, error_size;
    void **info_used, **error_used; /* where the sizes used go back */
} driver_jit_logs;

CUresult driver_jit_read(unsigned count, const CUjit_option *options, void **values,
                         driver_jit_logs *logs);
void driver_jit_write(const driver_jit_logs *logs, const char *error); /* "": there was none */
void driver_library_drop_context(CUcontext context); /* modules of it are about to go */
/* A CUfunction, or a CUkernel passed as one: then its function in `context`. */
CUresult driver_function_resolve(const void *handle, CUcontext context, CUfunction *out);
CUresult driver_kernel_function(CUkernel kernel, CUcontext context, CUfunction *out);

/* ---- launches (driver_launch.c) -------------------------------------------------------------- */
enum { DRIVER_PARAM_BYTES = 4096 }; /* parameter blocks up to here are packed on the stack */

/* Packs `arguments` or `extra` into kernel->params (which has room for kernel->bytes). */
CUresult driver_kernel_pack(CUfunction function, void **arguments, void **extra, void *block);
size_t driver_kernel_bytes(CUfunction function);

#endif
