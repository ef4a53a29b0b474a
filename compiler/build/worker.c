// In the worker: one function, all passes, code generation. Everything goes to the parent as
// records as soon as it is there, so that the parent knows what was going on when a worker dies.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/build/cache.h"
#include "compiler/build/record.h"
#include "compiler/package/variants.h"

typedef struct {
    kc_module *module;
    const kc_task_options *options;
    const kc_task *task;
    kc_arena *arena;
    kc_diag *diag;
    int out;
    const kc_pass *const *passes;
    kc_cache *cache; // NULL: the result is not to be stored
} worker;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- records ------------------------------------------------------------------------------------

static void send(worker *w, kc_record_tag tag, const void *prefix, size_t prefix_size,
                 const void *data, size_t size) {
    if (!kc_record_write(w->out, tag, prefix, prefix_size, data, size)) _exit(3); // nobody listens
    bool kept = tag == KC_RECORD_IMAGE || tag == KC_RECORD_VARIANTS || tag == KC_RECORD_EXPLAIN ||
                tag == KC_RECORD_DONE;
    if (w->cache && kept) kc_cache_add(w->cache, tag, prefix, prefix_size, data, size);
}

static void send_text(worker *w, kc_record_tag tag, const char *text) {
    send(w, tag, NULL, 0, text, strlen(text));
}

static void send_time(worker *w, const char *name, double seconds) {
    if (w->options->time_passes)
        send(w, KC_RECORD_TIME, &seconds, sizeof seconds, name, strlen(name));
}

static void send_image(worker *w, const kc_image *image) {
    send(w, KC_RECORD_IMAGE, image->role, strlen(image->role) + 1, image->data, image->size);
}

static void send_module(worker *w, const char *role) {
    kc_image image = {.role = role};
    char *text = kc_module_to_text(w->module, &image.size);
    if (!text) kc_bug("out of memory");
    image.data = text;
    send_image(w, &image);
    free(text);
}

static void on_fatal(void *context, const char *text) {
    worker *w = context;
    kc_record_write(w->out, KC_RECORD_FAULT, "LLVM: ", 6, text, strlen(text));
    _exit(3);
}

static void on_out_of_memory(void *context) {
    worker *w = context;
    static const char text[] = "out of memory";
    kc_record_write(w->out, KC_RECORD_FAULT, NULL, 0, text, sizeof text - 1);
    _exit(3);
}

// ---- passes -------------------------------------------------------------------------------------

static void dump(void *context, const kc_pass *pass, int index, const kc_module *module) {
    (void)index; // passes run one at a time here, and count from 0 each time
    worker *w = context;
    int32_t place = 0;
    while (w->passes[place] != pass)
        place++;
    size_t size, name = strlen(pass->name) + 1;
    char *text = kc_module_to_text(module, &size),
         *prefix = kc_arena_alloc(w->arena, sizeof place + name);
    if (!text) kc_bug("out of memory");
    memcpy(prefix, &place, sizeof place);
    memcpy(prefix + sizeof place, pass->name, name);
    send(w, KC_RECORD_DUMP, prefix, sizeof place + name, text, size);
    free(text);
}

static void timed(void *context, const kc_pass *pass, double seconds) {
    send_time(context, pass->name, seconds);
}

static bool is_fused(const kc_op *variant) {
    for (const kc_op *op = variant->body->first; op; op = op->next)
        if (op->code != KC_OP_FUSION && op->code != KC_OP_RETURN && op->code != KC_OP_SCHEDULE)
            return false;
    return kc_variant_computes(variant);
}

// What a pass works on in a function's body, where levels alone do not say it: `variants` wants
// functions that have none, `plan` variants of fusions, `tile` variants of kernels.
static bool takes(const kc_pass *pass, const kc_op *op) {
    bool variant = op->code == KC_OP_VARIANT;
    if (pass == &kc_pass_variants) return !variant;
    if (pass == &kc_pass_plan) return variant && is_fused(op);
    if (pass == &kc_pass_tile) return variant && !kc_variant_computes(op);
    return true;
}

static bool is_arranged(const worker *w, const kc_pass *pass) {
    for (const kc_op *func = w->module->body->first; func; func = func->next)
        for (const kc_op *op = func->body->first; op; op = op->next)
            if (!takes(pass, op)) return false;
    return true;
}

// IR that someone wrote may not be what the next step needs: that is their error, not ours.
static bool check(worker *w, int level, const kc_pass *pass) {
    if (!w->options->unverified) return true;
    int errors = kc_diag_errors(w->diag);
    if (kc_module_verify(w->module, level, w->diag) && (!pass || is_arranged(w, pass))) return true;
    kc_report(w->diag, kc_diag_errors(w->diag) > errors ? KC_NOTE : KC_ERROR, (kc_loc){0, 0},
              "%s cannot work on this IR; `kc passes` shows their order",
              pass ? kc_arena_printf(w->arena, "pass %s", pass->name) : "code generation");
    return false;
}

static bool run_passes(worker *w) {
    kc_pipeline_options options = {.dump_after = w->options->dump_after,
                                   .dump = dump,
                                   .dump_context = w,
                                   .timed = timed,
                                   .timed_context = w,
                                   .explain = w->options->explain,
                                   .no_fusion = w->options->no_fusion};
    for (const kc_pass *const *pass = w->passes; *pass; pass++) {
        const kc_pass *const only[] = {*pass, NULL};
        send_text(w, KC_RECORD_STAGE, kc_arena_printf(w->arena, "pass %s", (*pass)->name));
        if (!check(w, (*pass)->level_in, *pass)) return false;
        if (!kc_pipeline_run(only, w->module, w->task->target, w->diag, &options)) return false;
    }
    return true;
}

// ---- code generation ----------------------------------------------------------------------------

static bool generate(worker *w, kc_images *images) {
    int want = w->task->want & (KC_BUILD_LLVM | KC_BUILD_ASSEMBLY | KC_BUILD_OBJECT);
    if (!want) return true;
    // The assembler's limit is below the worker's, so that a hanging one is told apart from a fault
    // of ours.
    kc_build_options options = {
        .want = want, .ptxas = w->options->ptxas, .assembler_seconds = 0.7 * w->options->seconds};
    send_text(w, KC_RECORD_STAGE, "code generation");
    if (!check(w, KC_LEVEL_LAYOUT, NULL)) return false;
    kc_build_on_fatal(on_fatal, w);
    double start = now();
    bool ok = kc_target_build(w->task->target, w->module, &options, w->arena, w->diag, images);
    send_time(w, "code generation", now() - start);
    for (int i = 0; ok && i < images->n_images; i++)
        send_image(w, &images->images[i]);
    return ok;
}

// Sends what `write` prints.
static void send_printed(worker *w, kc_record_tag tag, const kc_images *images) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) kc_bug("out of memory");
    for (const kc_op *func = w->module->body->first; func; func = func->next) {
        if (tag == KC_RECORD_VARIANTS) kc_variants_write(out, func, w->task->target, images);
        else kc_variants_explain(out, func, w->task->target);
    }
    fclose(out);
    send(w, tag, NULL, 0, text, size);
    free(text);
}

static bool compile(worker *w) {
    if (w->task->want & KC_TASK_TENSOR) send_module(w, "tensor");
    if (w->task->want == KC_TASK_TENSOR) return true;
    kc_images images = {0};
    if (!run_passes(w)) return false;
    if (w->task->want & KC_TASK_TILE) send_module(w, "tile");
    if (!generate(w, &images)) return false;
    send_text(w, KC_RECORD_STAGE, "the manifest");
    if (w->task->function) send_printed(w, KC_RECORD_VARIANTS, &images);
    if (w->options->explain) send_printed(w, KC_RECORD_EXPLAIN, NULL);
    return true;
}

static void send_diagnostics(worker *w) {
    if (!kc_diag_count(w->diag)) return;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) kc_bug("out of memory");
    kc_diag_print_json(w->diag, out);
    fclose(out);
    send(w, KC_RECORD_DIAGNOSTICS, NULL, 0, text, size);
    free(text);
}

// ---- entry --------------------------------------------------------------------------------------

// The module is this process's own copy: the other functions are only unlinked.
static void isolate(kc_module *module, const char *function) {
    kc_op *func = kc_func_find(module, function);
    if (!func) kc_bug("the module has no function %s", function);
    func->previous = func->next = NULL;
    module->body->first = module->body->last = func;
}

// Dumps and times are of a compilation, so a stored result cannot give them.
static bool cacheable(const worker *w) {
    return w->options->cache_dir && !w->options->dump_after && !w->options->time_passes;
}

static void finish(worker *w, bool ok) {
    send_diagnostics(w);
    send(w, ok ? KC_RECORD_DONE : KC_RECORD_REFUSED, NULL, 0, NULL, 0);
    // Warnings are not stored: a compilation that has any is done again, and says them again.
    if (ok && w->cache && !kc_diag_count(w->diag)) kc_cache_store(w->cache);
}

void kc_task_work(kc_module *module, const kc_task_options *options, const kc_task *task, int out) {
    worker w = {
        .module = module, .options = options, .task = task, .arena = kc_arena_create(), .out = out};
    w.passes = options->passes ? options->passes : kc_pipeline;
    signal(SIGPIPE, SIG_IGN);
    kc_arena_on_out_of_memory(on_out_of_memory, &w);
    w.diag = kc_diag_create(w.arena, "worker", NULL, 0);
    if (task->function) isolate(module, task->function);
    module->target = task->untargeted ? NULL : kc_target_canonical(w.arena, task->target);
    if (cacheable(&w)) {
        w.cache = kc_cache_open(w.arena, module, options, task);
        if (w.cache && kc_cache_replay(w.cache, out)) _exit(0);
    }
    finish(&w, compile(&w));
    _exit(0);
}
