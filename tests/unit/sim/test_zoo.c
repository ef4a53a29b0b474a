/* The zoo of broken kernels: each is caught, with every field of its findings; its twin is clean under many seeds; each
 * check can be turned off and on alone; findings and counters do not depend on host threads; and no message of the
 * machine's is without a case.
 *
 *     test_zoo            all of it
 *     SHOW=1 test_zoo     says how many of 16 seeds show what only some schedules do
 *     UPDATE=1 test_zoo   writes what is found into tests/zoo: look at the difference */
#include <dirent.h>
#include <inttypes.h>

#include "runtime/sim/cuda/tensor_map.h"
#include "runtime/sim/state.h"
#include "tests/unit/sim/zoo.h"

#define FOLDER "tests/zoo"
#define MOST_CASES 400
#define SEEDS 8

static zoo_case *cases;
static size_t case_count;

/* ---- running ---- */

typedef struct run {
    kcsim_machine *machine;
    uint64_t out, in;
    kcsim_status status;
} run;

/* A tensor of 64 x 64 floats at `in`, its box 32 x 16; or of 8 x 16 x 2, its box 8 x 4. */
static void write_map(const zoo_form *form, uint64_t address, void *bytes) {
    kcsim_tensor_map map = {.type = KCSIM_TENSOR_F32, .rank = 2, .address = address};
    for (unsigned i = 0; i < 5; i++) map.dims[i] = map.box[i] = map.steps[i] = 1;
    map.dims[0] = map.dims[1] = 64;
    map.box[0] = 32, map.box[1] = 16;
    map.strides[0] = 4, map.strides[1] = 256;
    if (form->deep) {
        map.rank = 3;
        map.im2col = form->im2col;
        map.dims[0] = 8, map.dims[1] = 16, map.dims[2] = 2;
        map.box[0] = 8, map.box[1] = 4;
        map.strides[1] = 32, map.strides[2] = 512;
    }
    assert_null(kcsim_tensor_map_problem(&map));
    kcsim_tensor_map_write(&map, bytes);
}

/* The kernels in front of `k`, each of which the next need not wait for. */
static void launch_before(const run *made, const kcsim_module *module, kcsim_launch_config *config, const void *params,
                          size_t bytes) {
    static const char *const names[] = {"before", "between"};
    for (int i = 0; i < 2; i++) {
        const kcsim_function *function;
        if (kcsim_module_find_function(module, names[i], &function) != KCSIM_OK) continue;
        assert_int_equal(kcsim_launch(made->machine, function, config, params, bytes), KCSIM_OK);
        config->after = kcsim_launch_number(made->machine);
    }
}

static run run_form(const zoo_form *form, const kcsim_options *options) {
    static const uint8_t zeros[ZOO_BUFFER];
    char ptx[12000], log[300] = "";
    kcsim_module *module;
    const kcsim_function *function;
    struct {
        uint64_t out, in;
        uint8_t pad[48], map[128];
    } params = {.out = 0};
    run made = {.machine = kcsim_machine_create(kcsim_arch_find(form->arch), options)};
    assert_non_null(made.machine);
    zoo_ptx(form, ptx, sizeof ptx);
    if (kcsim_module_load(made.machine, ptx, strlen(ptx), log, sizeof log, &module) != KCSIM_OK) {
        print_error("%s\n%s\n", log, ptx);
        fail();
    }
    assert_int_equal(kcsim_module_find_function(module, "k", &function), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(made.machine, ZOO_BUFFER, &made.out), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(made.machine, ZOO_BUFFER, &made.in), KCSIM_OK);
    memcpy(kcsim_mem_host(made.machine, made.in, ZOO_BUFFER), zeros, ZOO_BUFFER);
    kcsim_mem_written(made.machine, made.in, ZOO_BUFFER);
    params.out = made.out;
    if (form->reserved) assert_int_equal(kcsim_mem_reserve(made.machine, ZOO_BUFFER, 4096, &made.in), KCSIM_OK);
    params.in = made.in;
    if (!form->no_map && !form->reserved) write_map(form, made.in, params.map);
    if (form->freed) assert_int_equal(kcsim_mem_free(made.machine, made.in), KCSIM_OK);
    kcsim_launch_config config = {.grid = {form->grid[0], form->grid[1], 1},
                                  .block = {form->block[0], form->block[1], 1},
                                  .cluster = {form->cluster, !!form->cluster, !!form->cluster},
                                  .dynamic_shared = form->shared,
                                  .cooperative = form->cooperative};
    if (form->early) launch_before(&made, module, &config, &params, sizeof params);
    made.status = kcsim_launch(made.machine, function, &config, &params, sizeof params);
    return made;
}

/* ---- findings as text ---- */

static void address_text(const run *ran, uint64_t address, char *text, size_t size) {
    uint64_t bases[2] = {ran->out, ran->in}, slack = ZOO_BUFFER / 2;
    static const char *const names[2] = {"out", "in"};
    for (int i = 0; i < 2; i++) {
        int64_t offset = (int64_t)(address - bases[i]);
        if (offset < -(int64_t)slack || offset >= (int64_t)(ZOO_BUFFER + slack)) continue;
        snprintf(text, size, "%s%+" PRId64, names[i], offset);
        return;
    }
    const kcsim_memory *memory = &ran->machine->memory;
    bool global = address >= memory->base && address < memory->base + memory->span;
    if (global) snprintf(text, size, "memory+0x%" PRIx64, address - memory->base);
    else snprintf(text, size, "0x%" PRIx64, address);
}

/* Numbers in hexadecimal become places. */
static void other_text(const run *ran, const char *from, char *text, size_t size) {
    size_t used = 0;
    while (*from && used + 40 < size) {
        if (strncmp(from, "0x", 2) != 0) {
            text[used++] = *from++;
            continue;
        }
        char *end;
        uint64_t value = strtoull(from, &end, 16);
        address_text(ran, value, text + used, size - used);
        used += strlen(text + used);
        from = end;
    }
    text[used] = 0;
}

static void fields_text(const run *ran, const kcsim_finding *found, char *text, size_t size) {
    char at[40];
    address_text(ran, found->address, at, sizeof at);
    assert_int_equal(found->block[1] | found->block[2] | found->thread[1] | found->thread[2], 0);
    snprintf(text, size, "%s block %u thread %u space %s address %s size %u count %" PRIu64,
             kcsim_finding_kind_name(found->kind), found->block[0], found->thread[0], found->space, at, found->size,
             found->count);
}

static void check_finding(const run *ran, const zoo_case *tested, const kcsim_finding *found) {
    char fields[200], other[KCSIM_FINDING_TEXT];
    fields_text(ran, found, fields, sizeof fields);
    other_text(ran, found->other, other, sizeof other);
    for (size_t i = 0; i < tested->expected_count; i++) {
        const zoo_finding *wanted = &tested->expected[i];
        const char *instruction = found->instruction ? found->instruction : "";
        if (!wanted->sometimes && wanted->line == found->line && strcmp(wanted->fields, fields) == 0 &&
            strcmp(wanted->other, other) == 0 && strcmp(wanted->instruction, instruction) == 0 &&
            strcmp(found->kernel, "k") == 0)
            return;
    }
    print_error("%s/%s: line %u (%s) was not expected:\n~ %s\n~   %s\n", tested->file, tested->name, found->line,
                found->instruction ? found->instruction : "no instruction", fields, other);
    fail();
}

static size_t exact_count(const zoo_case *tested) {
    size_t count = 0;
    for (size_t i = 0; i < tested->expected_count; i++) count += !tested->expected[i].sometimes;
    return count;
}

/* Under another seed: something is found, and nothing that no line speaks of. */
static void check_elsewhere(const run *ran, const zoo_case *tested) {
    const kcsim_finding_set *set = &ran->machine->findings;
    assert_true(set->count > 0);
    for (size_t i = 0; i < set->count; i++) {
        const char *kind = kcsim_finding_kind_name(set->items[i].kind);
        bool known = false;
        for (size_t k = 0; k < tested->expected_count; k++)
            known |= tested->expected[k].line == set->items[i].line &&
                     strncmp(tested->expected[k].fields, kind, strlen(kind)) == 0;
        if (!known)
            print_error("%s/%s: %s at line %u (%s): %s\n", tested->file, tested->name, kind, set->items[i].line,
                        set->items[i].instruction, set->items[i].other);
        assert_true(known);
    }
}

static bool has_kind(const run *ran, kcsim_finding_kind kind) {
    for (size_t i = 0; i < ran->machine->findings.count; i++)
        if (ran->machine->findings.items[i].kind == kind) return true;
    return false;
}

/* On some line, at some seed. */
static bool knows_kind(const zoo_case *tested, kcsim_finding_kind kind) {
    const char *name = kcsim_finding_kind_name(kind);
    for (size_t i = 0; i < tested->expected_count; i++)
        if (strncmp(tested->expected[i].fields, name, strlen(name)) == 0) return true;
    return false;
}

static bool expects_kind(const zoo_case *tested, kcsim_finding_kind kind) {
    const char *name = kcsim_finding_kind_name(kind);
    for (size_t i = 0; i < tested->expected_count; i++)
        if (!tested->expected[i].sometimes && strncmp(tested->expected[i].fields, name, strlen(name)) == 0) return true;
    return false;
}

/* ---- what is asked of a case ---- */

static void test_broken(const zoo_case *tested) {
    kcsim_options options = kcsim_options_default();
    run ran = run_form(&tested->broken, &options);
    const kcsim_finding_set *set = &ran.machine->findings;
    for (size_t i = 0; i < set->count; i++) check_finding(&ran, tested, &set->items[i]);
    assert_int_equal(set->count, exact_count(tested));
    assert_int_equal(ran.status, expects_kind(tested, KCSIM_FINDING_LAUNCH_LIMIT) && !set->items[0].instruction
                                     ? KCSIM_LAUNCH_LIMIT : KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(ran.machine), "k"));
    kcsim_machine_destroy(ran.machine);
    for (options.seed = 1; options.seed < SEEDS; options.seed++) {
        ran = run_form(&tested->broken, &options);
        check_elsewhere(&ran, tested);
        kcsim_machine_destroy(ran.machine);
    }
}

static void test_twin(const zoo_case *tested) {
    kcsim_options options = kcsim_options_default();
    for (; options.seed < 2 * SEEDS; options.seed++) {
        run ran = run_form(&tested->twin, &options);
        if (ran.status != KCSIM_OK)
            print_error("%s/%s, the twin: %s\n", tested->file, tested->name, kcsim_last_fault(ran.machine));
        assert_int_equal(ran.status, KCSIM_OK);
        assert_int_equal(ran.machine->findings.count, 0);
        kcsim_machine_destroy(ran.machine);
    }
}

/* Alone a check finds what it finds among the others; without it nobody else tells the same. */
static void test_checks(const zoo_case *tested) {
    for (int kind = 0; kind < KCSIM_FINDING_KIND_COUNT; kind++) {
        kcsim_options options = kcsim_options_default();
        if (!expects_kind(tested, (kcsim_finding_kind)kind)) continue;
        options.checks = 1u << kind;
        run ran = run_form(&tested->broken, &options);
        if (!has_kind(&ran, (kcsim_finding_kind)kind)) print_error("%s/%s alone\n", tested->file, tested->name);
        assert_true(has_kind(&ran, (kcsim_finding_kind)kind));
        for (size_t i = 0; i < ran.machine->findings.count; i++)
            assert_int_equal(ran.machine->findings.items[i].kind, kind);
        kcsim_machine_destroy(ran.machine);
        options.checks = KCSIM_CHECK_ALL & ~(1u << kind);
        ran = run_form(&tested->broken, &options);
        assert_false(has_kind(&ran, (kcsim_finding_kind)kind));
        for (size_t i = 0; i < ran.machine->findings.count; i++)
            if (!knows_kind(tested, ran.machine->findings.items[i].kind))
                print_error("%s/%s without its check: %s\n", tested->file, tested->name, ran.machine->findings.items[i].other);
        for (size_t i = 0; i < ran.machine->findings.count; i++)
            assert_true(knows_kind(tested, ran.machine->findings.items[i].kind));
        kcsim_machine_destroy(ran.machine);
    }
}

static void test_threads(const zoo_case *tested) {
    char *first = NULL;
    for (int threads = 1; threads <= 8; threads *= 2) {
        kcsim_options options = kcsim_options_default();
        options.host_threads = threads;
        options.seed = 5;
        run ran = run_form(&tested->broken, &options);
        char *json = kcsim_counters_json(ran.machine);
        if (first) assert_string_equal(json, first);
        if (first) free(json);
        else first = json;
        kcsim_machine_destroy(ran.machine);
    }
    free(first);
}

static bool same_buffers(const run *a, const run *b) {
    return memcmp(kcsim_mem_host(a->machine, a->out, ZOO_BUFFER), kcsim_mem_host(b->machine, b->out, ZOO_BUFFER),
                  ZOO_BUFFER) == 0 &&
           memcmp(kcsim_mem_host(a->machine, a->in, ZOO_BUFFER), kcsim_mem_host(b->machine, b->in, ZOO_BUFFER),
                  ZOO_BUFFER) == 0;
}

/* Schedules: every seed gives the twin the same result; some give the broken kernel another, or find something; seed 0
 * does not. */
static void test_schedules(const zoo_case *tested) {
    kcsim_options options = kcsim_options_default();
    run right = run_form(&tested->twin, &options);
    int caught = 0;
    for (; options.seed < 2 * SEEDS; options.seed++) {
        run twin = run_form(&tested->twin, &options), broken = run_form(&tested->broken, &options);
        if (!same_buffers(&twin, &right))
            print_error("%s/%s, the twin: another result under seed %d\n", tested->file, tested->name, (int)options.seed);
        assert_true(same_buffers(&twin, &right));
        bool wrong = broken.status != KCSIM_OK || !same_buffers(&broken, &right);
        if (broken.status != KCSIM_OK) check_elsewhere(&broken, tested);
        assert_false(wrong && options.seed == 0);
        caught += wrong;
        kcsim_machine_destroy(twin.machine);
        kcsim_machine_destroy(broken.machine);
    }
    if (getenv("SHOW")) print_message("%s/%s: %d of %d seeds show it\n", tested->file, tested->name, caught, 2 * SEEDS);
    assert_true(caught > 0);
    kcsim_machine_destroy(right.machine);
}

static void test_case(void **state) {
    const zoo_case *tested = *state;
    if (tested->broken.by_seed) test_schedules(tested);
    else test_broken(tested);
    test_twin(tested);
    test_checks(tested);
    test_threads(tested);
}

/* ---- completeness ---- */

/* Texts that are no findings': they end a launch otherwise, or introduce another text. */
static const char *const not_findings[] = {
    "the host has no memory", "is stuck: %", "takes %", "a dimension of the grid",
    /* traps and failed assertions, which are no findings */
    "in kernel %", "the pointer is to no function of this type", "the stack of the thread is used up", "failed at %", "Assertion `%",
};

static bool is_finding(const char *literal) {
    for (size_t i = 0; i < sizeof not_findings / sizeof *not_findings; i++) {
        char head[80];
        snprintf(head, sizeof head, "%s", not_findings[i]);
        head[strcspn(head, "%")] = 0;
        bool formatted = strchr(not_findings[i], '%') != NULL;
        if (strstr(literal, head) && (!formatted || strchr(literal, '%'))) return false;
    }
    return true;
}

/* The pieces between the conversions of a format stand in `text`, in their order. */
static bool is_instance(const char *format, const char *text) {
    char piece[300];
    while (*format) {
        size_t length = strcspn(format, "%");
        snprintf(piece, sizeof piece, "%.*s", (int)length, format);
        if (length >= 2 && format[length] && strncmp(format + length - 2, "0x", 2) == 0) piece[length - 2] = 0;
        text = strstr(text, piece);
        if (!text) return false;
        text += strlen(piece);
        format += length;
        if (*format == '%') format += 1 + strspn(format + 1, "0123456789.zl*");
        if (*format) format++; /* the conversion, or a macro's place */
    }
    return true;
}

static void check_literal(const char *literal, const char *file, size_t *missing) {
    size_t words = 0;
    for (const char *at = literal; *at; at++) words += *at == ' ';
    if (words < 2 || !is_finding(literal)) return;
    for (size_t i = 0; i < case_count; i++)
        for (size_t k = 0; k < cases[i].expected_count; k++)
            if (is_instance(literal, cases[i].expected[k].other)) return;
    print_error("%s: no case in " FOLDER " has the message \"%s\"\n", file, literal);
    ++*missing;
}

/* String literals that adjoin are one; what stands between two of them (PRIu64) is a conversion. */
static void check_source(const char *path, size_t *missing) {
    FILE *file = fopen(path, "r");
    char line[400], literal[600] = "";
    bool comment = false;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *at = line + strspn(line, " ");
        if (strncmp(at, "/*", 2) == 0 || comment) {
            comment = !strstr(at, "*/");
            continue;
        }
        if (*at == '#') continue;
        for (; *at; at++) {
            if (strncmp(at, "PRI", 3) == 0) {
                while (isalnum((unsigned char)at[1])) at++;
                strcat(literal, "u");
            } else if (*at == '"') {
                size_t length = strcspn(at + 1, "\"");
                strncat(literal, at + 1, length);
                at += length + 1;
            } else if (!isspace((unsigned char)*at) && *literal) {
                check_literal(literal, path, missing);
                *literal = 0;
            }
        }
    }
    fclose(file);
}

/* Files whose texts tell of modules and of calls, not of what a kernel does. */
static bool is_checked(const char *name) {
    static const char *const others[] = {"driver", "ptx_", "decode", "lanes", "module", "flatten", "registers", "convert",
                                         "tensor_map", "printf", "tensor.c"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0) return false;
    return strlen(name) > 2 && strcmp(name + strlen(name) - 2, ".c") == 0;
}

static void test_complete(void **state) {
    struct dirent **names;
    int count = scandir("runtime/sim/cuda", &names, NULL, alphasort);
    size_t missing = 0;
    (void)state;
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "runtime/sim/cuda/%s", names[i]->d_name);
        if (is_checked(names[i]->d_name)) check_source(path, &missing);
        free(names[i]);
    }
    free(names);
    for (int kind = 0; kind < KCSIM_FINDING_KIND_COUNT; kind++) {
        bool any = false;
        for (size_t i = 0; i < case_count; i++) any |= expects_kind(&cases[i], (kcsim_finding_kind)kind);
        if (!any) print_error("no case has the kind %s\n", kcsim_finding_kind_name((kcsim_finding_kind)kind)), missing++;
    }
    assert_int_equal(missing, 0);
}

/* ---- files ---- */

/* The findings of seed 0 take the place of the lines that stand behind the case's instructions; those for other seeds stay. */
static void update_file(const char *name) {
    char path[300], *text = NULL, line[512];
    size_t size = 0;
    snprintf(path, sizeof path, FOLDER "/%s", name);
    FILE *file = fopen(path, "r"), *out = open_memstream(&text, &size);
    assert_true(file && out);
    unsigned at = 0;
    const zoo_case *now = NULL;
    run ran = {.machine = NULL};
    zoo_form seen = {.cluster = 0};
    while (fgets(line, sizeof line, file)) {
        at++;
        for (size_t i = 0; i < case_count; i++)
            if (strcmp(cases[i].file, name) == 0 && cases[i].file_line == at) {
                kcsim_options options = kcsim_options_default();
                now = &cases[i];
                kcsim_machine_destroy(ran.machine);
                ran = run_form(&now->broken, &options);
                memset(&seen, 0, sizeof seen);
            }
        if (line[0] == '~' && line[1] != '?') continue;
        fputs(line, out);
        line[strcspn(line, "\n")] = 0;
        bool heads = now && at == now->file_line;
        if (!now || (!heads && (!line[0] || !strchr(" -", line[0])))) continue;
        size_t before = strlen(seen.body);
        if (!heads) zoo_add(&seen, line + 1);
        if (!heads && strlen(seen.body) == before) continue;
        unsigned place = heads ? zoo_entry_line(&seen) : zoo_body_line(&seen) - 1;
        for (size_t i = 0; i < ran.machine->findings.count; i++) {
            char fields[200], other[KCSIM_FINDING_TEXT];
            if (ran.machine->findings.items[i].line != place) continue;
            fields_text(&ran, &ran.machine->findings.items[i], fields, sizeof fields);
            other_text(&ran, ran.machine->findings.items[i].other, other, sizeof other);
            fprintf(out, "~ %s\n~   %s\n", fields, other);
        }
    }
    kcsim_machine_destroy(ran.machine);
    fclose(file);
    fclose(out);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(text);
}

static void read_file(const char *name) {
    char path[300];
    unsigned line = 0;
    snprintf(path, sizeof path, FOLDER "/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (case_count < MOST_CASES && zoo_read(file, name, &cases[case_count], &line)) case_count++;
    fclose(file);
}

int main(void) {
    static struct CMUnitTest tests[MOST_CASES + 1];
    struct dirent **names;
    int count = scandir(FOLDER, &names, NULL, alphasort);
    cases = calloc(MOST_CASES, sizeof *cases);
    if (count < 0 || !cases) return 1;
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(names[i]->d_name, '.');
        if (dot && strcmp(dot, ".zoo") == 0) {
            read_file(names[i]->d_name);
            if (getenv("UPDATE")) update_file(names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; i < case_count; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].name, .test_func = test_case, .initial_state = &cases[i]};
    tests[case_count] = (struct CMUnitTest){.name = "test_complete", .test_func = test_complete};
    int failed = getenv("UPDATE") ? 0 : _cmocka_run_group_tests("zoo", tests, case_count + 1, NULL, NULL);
    free(cases);
    return failed;
}
