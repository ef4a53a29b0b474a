// The order of things in `kc build`, up to the bytes.
#include "compiler/build/driver.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/build/cache.h"
#include "compiler/frontend/frontend.h"
#include "compiler/package/manifest.h"
#include "compiler/package/reader.h"
#include "compiler/version.h"
#include "runtime/package.h"

enum { MAX_IR_BYTES = 64 << 20 }; // as much as kc_module_parse reads

static const kc_loc nowhere = {0, 0};

kc_build_run *kc_build_run_create(kc_arena *arena, const kc_build_request *request,
                                  const char *path) {
    kc_build_run *run = KC_NEW(arena, kc_build_run);
    *run = (kc_build_run){
        .arena = arena, .request = request, .path = path, .options = request->options};
    run->diag = kc_diag_create(arena, path, NULL, 0);
    return run;
}

// ---- the file -----------------------------------------------------------------------------------

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static void release(void *data) {
    free(data);
}

// The level at which the module has the fewest errors: none, if it is good IR of any kind.
static int level_of(const kc_build_run *run) {
    static const int levels[] = {KC_LEVEL_COMPOSITE, KC_LEVEL_TENSOR, KC_LEVEL_TILE,
                                 KC_LEVEL_LAYOUT};
    int best = KC_LEVEL_COMPOSITE, fewest = INT_MAX;
    for (int i = 0; i < 4; i++) {
        kc_diag *diag = kc_diag_create(run->arena, run->path, NULL, 0);
        kc_module_verify(run->module, levels[i], diag);
        if (kc_diag_errors(diag) < fewest) fewest = kc_diag_errors(diag), best = levels[i];
    }
    return best;
}

// IR text. Its ops have the places of the model that it came from, so lines of this file say
// nothing about them.
static kc_module *parse_ir(kc_build_run *run) {
    kc_module *module = kc_module_parse(run->arena, run->source, run->source_size, run->diag);
    if (module && module->body->first && module->body->first->loc.line)
        run->diag = kc_diag_create(run->arena, kc_arena_printf(run->arena, "%s (model)", run->path),
                                   NULL, 0);
    return module;
}

// An entry for a target that there is not would be passed over without a word.
static bool check_schedules(kc_build_run *run) {
    bool good = true;
    KC_FOR_OPS (func, run->module->body)
        KC_FOR_OPS (op, func->body) {
            const char *error, *text = kc_attr_string(op, KC_ATTR_TARGET, NULL);
            const kc_target *list;
            if (op->code != KC_OP_SCHEDULE || !text) continue;
            if (kc_target_parse(run->arena, text, &list, &error)) continue;
            kc_report(run->diag, KC_ERROR, op->loc, "schedule key 'target': %s", error);
            good = false;
        }
    return good;
}

int kc_build_load(kc_build_run *run) {
    const char *path = run->path;
    void *data;
    bool model = ends_with(path, ".yaml") || ends_with(path, ".yml");
    size_t most = model ? KC_MODEL_MAX_BYTES : MAX_IR_BYTES;
    kcrt_status status = kcrt_file_read(path, most, &data, &run->source_size);
    if (status) {
        kc_loc loc = status == KCRT_UNSUPPORTED ? (kc_loc){1, 1} : nowhere;
        kc_report(run->diag, KC_ERROR, loc, "%s", kcrt_last_error());
        return KC_EXIT_WRONG;
    }
    kc_arena_defer(run->arena, release, data);
    run->source = data;
    run->diag = kc_diag_create(run->arena, path, run->source, run->source_size);
    run->module = model
                      ? kc_frontend_load(run->arena, path, run->source, run->source_size, run->diag)
                      : parse_ir(run);
    int level = run->module && run->request->any_level ? level_of(run) : KC_LEVEL_COMPOSITE;
    if (run->module && !model && !kc_module_verify(run->module, level, run->diag))
        run->module = NULL;
    if (!run->module || !check_schedules(run)) return KC_EXIT_WRONG;
    if (!run->request->any_level) run->module->target = NULL; // of IR text: the request says it
    return KC_EXIT_DONE;
}

// ---- targets ------------------------------------------------------------------------------------

static const kc_target *find_arch(const kc_build_run *run, const kc_target *target) {
    for (int i = 0; i < run->n_targets; i++)
        if (run->targets[i]->arch == target->arch) return run->targets[i];
    return NULL;
}

static bool same(kc_arena *arena, const kc_target *a, const kc_target *b) {
    return !strcmp(kc_target_canonical(arena, a), kc_target_canonical(arena, b));
}

static int most_targets(void) {
    int n = 0;
    for (int i = 0; i < kc_target_kind_count(); i++)
        n += kc_target_kind_at(i)->n_archs;
    return n;
}

// A package has one build of an architecture, so the same one with other attributes is a conflict,
// not a second build.
static bool add_target(kc_build_run *run, const kc_target *target, const char **error) {
    const kc_target *present = find_arch(run, target);
    const char *kind = run->request->only_kind;
    if (kind && strcmp(kind, target->kind->name)) {
        *error = kc_arena_printf(run->arena, "--target %s: this kind of output exists for %s alone",
                                 kc_target_canonical(run->arena, target), kind);
        return false;
    }
    if (present && !same(run->arena, present, target)) {
        *error = kc_arena_printf(
            run->arena, "%s is asked for twice with different attributes: '%s' and '%s'; keep one",
            target->arch->name, kc_target_canonical(run->arena, present),
            kc_target_canonical(run->arena, target));
        return false;
    }
    if (!present) run->targets[run->n_targets++] = target;
    return true;
}

bool kc_build_targets(kc_build_run *run, const char **error) {
    run->targets = KC_NEW_ARRAY(run->arena, const kc_target *, 2 * most_targets() + 1);
    for (int i = 0; i < run->request->n_targets; i++) {
        const kc_target *list;
        const char *text = run->request->targets[i], *problem;
        int n = kc_target_parse(run->arena, text, &list, &problem);
        if (!n) *error = kc_arena_printf(run->arena, "--target %s: %s", text, problem);
        for (int k = 0; k < n; k++)
            if (!add_target(run, &list[k], error)) return false;
        if (!n) return false;
    }
    run->n_asked = run->n_targets;
    return true;
}

static bool is_cuda(const kc_target *target) {
    return !strcmp(target->kind->name, "cuda");
}

// PTX without a suffix is what newer GPUs can take. (AMD's generic code objects are targets of
// their own, to be asked for.)
static void add_portable(kc_build_run *run) {
    if (run->request->single || run->request->no_portable) return;
    for (int i = 0; i < run->n_asked; i++) {
        const kc_target *portable = kc_target_portable(run->arena, run->targets[i]);
        if (portable && is_cuda(portable) && !find_arch(run, portable))
            run->targets[run->n_targets++] = portable;
    }
}

// ---- tools --------------------------------------------------------------------------------------

static bool any_cuda(const kc_build_run *run) {
    for (int i = 0; i < run->n_targets; i++)
        if (is_cuda(run->targets[i])) return true;
    return false;
}

// Settles which assembler is used; "" when none is.
static bool choose_assembler(kc_build_run *run) {
    kc_images_choice images = run->request->images;
    int single = run->request->single;
    bool wanted = any_cuda(run) && (single ? single & KC_BUILD_OBJECT : images != KC_IMAGES_PTX);
    bool demanded = single || images != KC_IMAGES_AUTO;
    const char *found = wanted ? kc_build_find_ptxas(run->arena) : NULL;
    run->options.ptxas = found ? found : "";
    if (found) run->options.ptxas_version = kc_build_ptxas_version(run->arena, found);
    if (!wanted || found) return true;
    if (demanded) {
        kc_report(run->diag, KC_ERROR, nowhere,
                  "a cubin needs ptxas, and there is none in KC_PTXAS, PATH or "
                  "/usr/local/cuda/bin; install the CUDA toolkit's "
                  "assembler and set KC_PTXAS to it, or build PTX alone with --images ptx");
        return false;
    }
    run->note = "no ptxas was found, so there are no cubins: the driver compiles the PTX when the "
                "package is loaded";
    kc_report(run->diag, KC_NOTE, nowhere, "%s (set KC_PTXAS to an assembler, or say --images ptx)",
              run->note);
    return true;
}

static int images_wanted(const kc_build_run *run, int target) {
    if (run->request->single) return run->request->single;
    if (!is_cuda(run->targets[target])) return KC_BUILD_OBJECT;
    bool object = *run->options.ptxas && target < run->n_asked;
    return KC_BUILD_ASSEMBLY | (object ? KC_BUILD_OBJECT : 0);
}

// ---- functions and tasks ------------------------------------------------------------------------

static bool is_wanted(const kc_build_request *request, const char *name) {
    for (int i = 0; i < request->n_functions; i++)
        if (!strcmp(request->functions[i], name)) return true;
    return request->n_functions == 0;
}

static const char *list_functions(const kc_build_run *run) {
    const char *known = "";
    KC_FOR_OPS (func, run->module->body) {
        if (strlen(known) > 1000) return kc_arena_printf(run->arena, "%s ...", known);
        known = kc_arena_printf(run->arena, "%s%s%s", known, *known ? " " : "", kc_func_name(func));
    }
    return known;
}

// Functions that are named like instances of `name`: f_f16 for f. NULL: there are none.
static const char *list_instances(const kc_build_run *run, const char *name) {
    const char *known = NULL;
    size_t n = strlen(name);
    KC_FOR_OPS (func, run->module->body) {
        const char *instance = kc_func_name(func);
        if (strncmp(instance, name, n) != 0 || instance[n] != '_') continue;
        if (known && strlen(known) > 1000) return kc_arena_printf(run->arena, "%s ...", known);
        known = kc_arena_printf(run->arena, "%s%s%s", known ? known : "", known ? " " : "",
                                instance);
    }
    return known;
}

static void report_no_function(kc_build_run *run, const char *name) {
    const char *instances = list_instances(run, name);
    if (instances)
        kc_report(run->diag, KC_ERROR, nowhere,
                  "--function %s: the model has no such function; did you mean: %s", name,
                  instances);
    else
        kc_report(run->diag, KC_ERROR, nowhere,
                  "--function %s: the model has no such function; it has: %s", name,
                  list_functions(run));
}

static bool check_functions(kc_build_run *run) {
    bool ok = true;
    for (int i = 0; i < run->request->n_functions; i++) {
        const char *name = run->request->functions[i];
        if (kc_func_find(run->module, name)) continue;
        report_no_function(run, name);
        ok = false;
    }
    KC_FOR_OPS (func, run->module->body) {
        if (!is_wanted(run->request, kc_func_name(func))) kc_op_erase(func);
    }
    if (ok && !run->module->body->first) {
        kc_report(run->diag, KC_ERROR, nowhere, "the model has no function");
        ok = false;
    }
    return ok;
}

static void make_tasks(kc_build_run *run) {
    int n_functions = 0;
    KC_FOR_OPS (func, run->module->body)
        n_functions++;
    bool whole = run->request->single;
    run->tasks = KC_NEW_ARRAY(run->arena, kc_task, run->n_targets * (whole ? 1 : n_functions));
    for (kc_op *func = run->module->body->first; func; func = whole ? NULL : func->next)
        for (int t = 0; t < run->n_targets; t++)
            run->tasks[run->n_tasks++] = (kc_task){.function = whole ? NULL : kc_func_name(func),
                                                   .loc = whole ? nowhere : func->loc,
                                                   .target = run->targets[t],
                                                   .want = images_wanted(run, t)};
    run->results = KC_NEW_ARRAY(run->arena, kc_task_result, run->n_tasks);
}

// A result that cannot be kept is still a result, but who asked for a cache should know.
static void check_cache(kc_build_run *run) {
    const char *folder = run->options.cache_dir, *why;
    if (!folder || kc_cache_usable(folder, &why)) return;
    kc_report(run->diag, KC_WARNING, nowhere, "--cache-dir %s cannot be used: %s; nothing is kept",
              folder, why);
    run->options.cache_dir = NULL;
}

int kc_build_choose(kc_build_run *run) {
    if (!check_functions(run)) return KC_EXIT_WRONG;
    add_portable(run);
    if (!choose_assembler(run)) return KC_EXIT_WRONG;
    check_cache(run);
    make_tasks(run);
    return KC_EXIT_DONE;
}

int kc_build_compile(kc_build_run *run) {
    const char *error;
    if (!kc_tasks_run(run->arena, run->module, &run->options, run->tasks, run->n_tasks,
                      run->results, &error)) {
        kc_report(run->diag, KC_ERROR, nowhere, "%s", error);
        return KC_EXIT_FAULT;
    }
    return kc_build_merge(run);
}

// ---- the package --------------------------------------------------------------------------------

static const char *attributes_json(kc_arena *arena, const kc_target *target) {
    const char *text = NULL;
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++) {
        kc_target usual = {target->kind, target->arch, target->arch->defaults};
        int64_t value = kc_target_get(target, i);
        if (value == kc_target_get(&usual, i)) continue;
        text = kc_arena_printf(arena, "%s\"%s\": %lld",
                               text ? kc_arena_printf(arena, "%s, ", text) : "{",
                               kc_target_attribute_table[i].name, (long long)value);
    }
    return text ? kc_arena_printf(arena, "%s}", text) : NULL;
}

static const kc_image *find_image(const kc_task_result *result, const char *role) {
    for (int i = 0; i < result->n_images; i++)
        if (!strcmp(result->images[i].role, role)) return &result->images[i];
    return NULL;
}

// Images of one task, in the order in which a loader should try them.
static void add_images(kc_package *p, kc_package_target *to, const kc_task_result *result) {
    static const char *const roles[] = {"cubin", "ptx", "hsaco"};
    for (int i = 0; i < 3; i++) {
        const kc_image *image = find_image(result, roles[i]);
        if (!image) continue;
        size_t terminator =
            !strcmp(roles[i], "ptx"); // the NUL that follows the text belongs to the image
        to->images[to->n_images++] = p->n_images;
        p->images[p->n_images++] = (kc_offload_image){to->triple, to->arch, roles[i], image->data,
                                                      image->size + terminator};
    }
}

static void add_function(kc_build_run *run, kc_package *p, const kc_op *func, int first_task) {
    kc_package_function *f = &p->functions[p->n_functions++];
    *f = (kc_package_function){.func = func, .ir = -1};
    f->targets = KC_NEW_ARRAY(run->arena, kc_package_target, run->n_targets);
    for (int t = 0; t < run->n_targets; t++) {
        const kc_target *target = run->targets[t];
        kc_package_target *to = &f->targets[f->n_targets++];
        *to = (kc_package_target){target->kind->name, target->arch->name,
                                  attributes_json(run->arena, target),
                                  .variants = run->results[first_task + t].variants};
        add_images(p, to, &run->results[first_task + t]);
    }
}

static void add_ir(kc_build_run *run, kc_package *p) {
    size_t size;
    char *text = kc_module_to_text(run->module, &size);
    if (!text) kc_bug("out of memory");
    kc_arena_defer(run->arena, release, text);
    for (int i = 0; i < p->n_functions; i++)
        p->functions[i].ir = p->n_images;
    p->images[p->n_images++] = (kc_offload_image){"kc", "ir", "ir", text, size};
}

// The tensors that the functions use, each content once, in order of first use.
static int add_constants(kc_build_run *run, kc_package *p) {
    int most = 0;
    for (const kc_op *func = run->module->body->first; func; func = func->next)
        most += kc_func_constants(func);
    p->constants = KC_NEW_ARRAY(run->arena, kc_package_constant, most + 1);
    for (const kc_op *func = run->module->body->first; func; func = func->next)
        for (int i = func->body->n_args - kc_func_constants(func); i < func->body->n_args; i++) {
            const char *hash = kc_constant_hash(func->body->args[i]);
            const kc_constant *data = kc_module_find_constant(run->module, hash);
            int at = 0;
            while (at < p->n_constants && strcmp(p->constants[at].sha256, hash))
                at++;
            if (at < p->n_constants) continue;
            if (!data) {
                kc_report(run->diag, KC_ERROR, func->loc,
                          "constant '%s' of %s is known by its hash alone: IR text does not hold "
                          "it; a package is made from the model",
                          func->body->args[i]->name, kc_func_name(func));
                return KC_EXIT_WRONG;
            }
            p->constants[p->n_constants++] =
                (kc_package_constant){hash, p->n_images, data->size};
            p->images[p->n_images++] =
                (kc_offload_image){"kc", "const", "const", data->data, data->size};
        }
    return KC_EXIT_DONE;
}

static int count_constants(const kc_module *module) {
    int n = 0;
    for (const kc_constant *c = module->constants; c; c = c->next)
        n++;
    return n;
}

// What the runtime would refuse must not leave here: names that only IR text can have, limits of
// the format.
static int audit(kc_build_run *run) {
    const char *error;
    if (kc_package_open_memory(run->arena, "the package", run->package, run->package_size, &error))
        return KC_EXIT_DONE;
    kc_report(run->diag, KC_ERROR, nowhere, "this model does not fit into a package: %s", error);
    return KC_EXIT_WRONG;
}

int kc_build_pack(kc_build_run *run) {
    kc_package p = {.module = run->module->name,
                    .kc = KC_VERSION,
                    .llvm = kc_build_llvm_version(),
                    .ptxas = run->options.ptxas_version,
                    .note = run->note};
    p.images = KC_NEW_ARRAY(run->arena, kc_offload_image,
                            2 * run->n_tasks + 1 + count_constants(run->module));
    p.functions = KC_NEW_ARRAY(run->arena, kc_package_function, run->n_tasks);
    int task = 0;
    for (const kc_op *func = run->module->body->first; func;
         func = func->next, task += run->n_targets)
        add_function(run, &p, func, task);
    if (!run->request->strip) add_ir(run, &p);
    if (add_constants(run, &p)) return KC_EXIT_WRONG;
    char *data = NULL;
    FILE *out = open_memstream(&data, &run->package_size);
    if (!out) kc_bug("out of memory");
    kc_package_write(out, &p);
    if (fclose(out)) kc_bug("out of memory");
    kc_arena_defer(run->arena, release, data);
    run->package = data;
    return audit(run);
}

int kc_build_all(kc_build_run *run) {
    int status = kc_build_load(run);
    if (!status) status = kc_build_choose(run);
    if (!status) status = kc_build_compile(run);
    if (!status && !run->request->single) status = kc_build_pack(run);
    return status;
}
