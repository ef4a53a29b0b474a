// Bytes into the frontend: it must neither crash nor hang, and what it accepts must verify and read
// back.
//
//     fuzz_model [SECONDS [SEED]]
//
// Without arguments the corpus and the goldens are run once. With a time, inputs are mutated for so
// long; the seed is printed, and the input that brought the program down is written to
// fuzz_model.crash in the current folder.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/frontend/frontend.h"
#include "tests/fuzz/crash.h"

enum { INPUT_LIMIT = 1 << 16, SEED_LIMIT = 1024 };

static char input[INPUT_LIMIT + 1];
static size_t input_size;
static long accepted;

static void check(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "fuzz_model: %s\n", what);
    abort();
}

static void run_input(void) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, "fuzz.yaml", input, input_size);
    kc_module *module = kc_frontend_load(arena, "fuzz.yaml", input, input_size, diag);
    check((module == NULL) == (kc_diag_errors(diag) > 0), "errors and the result disagree");
    if (module) {
        accepted++;
        kc_diag *found = kc_diag_create(arena, "fuzz.ir", NULL, 0);
        bool verified = kc_module_verify(module, KC_LEVEL_COMPOSITE, found);
        if (!verified) kc_diag_print(found, stderr);
        check(verified, "the module does not verify");
        size_t size;
        char *text = kc_module_to_text(module, &size);
        kc_module *back = kc_module_parse(arena, text, size, found);
        if (!back) kc_diag_print(found, stderr);
        check(back, "the module does not read back");
        free(text);
    }
    kc_arena_destroy(arena);
}

// ---- seeds

typedef struct {
    char *text;
    size_t size;
} seed_file;

static seed_file seeds[SEED_LIMIT];
static int n_seeds;

static void read_seed(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || n_seeds == SEED_LIMIT) return;
    input_size = fread(input, 1, INPUT_LIMIT, file);
    fclose(file);
    seeds[n_seeds].text = malloc(input_size + 1);
    memcpy(seeds[n_seeds].text, input, input_size);
    seeds[n_seeds++].size = input_size;
}

static void read_folder(const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strstr(entries[i]->d_name, ".yaml")) read_seed(path);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

// ---- mutation

static uint64_t random_state;

static size_t pick(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)((random_state >> 11) % n) : 0;
}

static void replace(size_t at, size_t removed, const char *text, size_t added) {
    if (removed > input_size - at) removed = input_size - at;
    if (input_size - removed + added > INPUT_LIMIT) return;
    memmove(input + at + added, input + at + removed, input_size - at - removed);
    memmove(input + at, text, added);
    input_size += added - removed;
}

static void mutate(void) {
    static const char *const words[] = {"M",
                                        "N",
                                        "K",
                                        "x",
                                        "y",
                                        "-1",
                                        "0",
                                        "1",
                                        "2",
                                        "8",
                                        "9223372036854775807",
                                        "1e-5",
                                        "inf",
                                        "nan",
                                        "true",
                                        " / ",
                                        " // ",
                                        " % ",
                                        " ** ",
                                        " * ",
                                        " + ",
                                        " - ",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        ", ",
                                        " = ",
                                        "==",
                                        "\n",
                                        "\n      ",
                                        "# ",
                                        "\"",
                                        "'",
                                        ": ",
                                        "{",
                                        "}",
                                        "&a ",
                                        "*a",
                                        "- ",
                                        "f16[M, K]",
                                        "f32",
                                        "i8",
                                        "bool[N]",
                                        "axis=",
                                        "keepdims=true",
                                        "matmul(",
                                        "reshape(x, [",
                                        "slice(x, [",
                                        "concat([",
                                        "pad(x, [[",
                                        "gather(",
                                        "sum(",
                                        "max(",
                                        "where(",
                                        "cast(",
                                        "\"f16\"",
                                        "softmax(",
                                        "transpose(x, [",
                                        "iota([",
                                        "broadcast(",
                                        "\t",
                                        "\r\n",
                                        "\xEF\xBB\xBF",
                                        "\xC3\xBC",
                                        "not ",
                                        " and "};
    static char piece[INPUT_LIMIT];
    size_t at = pick(input_size + 1), length = pick(pick(4) ? 8 : 200);
    const seed_file *other = &seeds[pick((size_t)n_seeds)];
    const char *word = words[pick(sizeof words / sizeof *words)];
    switch (pick(6)) {
    case 0: replace(at, 0, word, strlen(word)); break;
    case 1: replace(at, length, word, strlen(word)); break;
    case 2: replace(at, length, "", 0); break;
    case 3:
        if (at < input_size) input[at] = (char)pick(256);
        break;
    case 4: // a piece of this input, again
        if (length > input_size - at) length = input_size - at;
        memcpy(piece, input + at, length);
        replace(pick(input_size + 1), 0, piece, length);
        break;
    default: // a piece of another one
        if (!other->size) break;
        size_t from = pick(other->size);
        if (length > other->size - from) length = other->size - from;
        replace(at, pick(2) ? length : 0, other->text + from, length);
    }
}

// ---- generation: bodies that are mostly right, so that much of what follows the parser is reached

// %e an expression, %d a dimension, %a an axis, %t an element type
static const char *const templates[] = {"(%e + %e)",
                                        "(%e - %e)",
                                        "(%e * %e)",
                                        "(%e / %e)",
                                        "(%e // %e)",
                                        "(%e % %e)",
                                        "(%e ** %e)",
                                        "-%e",
                                        "(%e < %e)",
                                        "(%e == %e)",
                                        "(%e > %e and %e != %e)",
                                        "(not b or %e >= %e)",
                                        "abs(%e)",
                                        "exp(%e)",
                                        "sqrt(%e)",
                                        "floor(%e)",
                                        "tanh(%e)",
                                        "relu(%e)",
                                        "gelu(%e)",
                                        "max(%e, %e)",
                                        "min(%e)",
                                        "max(%e, axis=%a, keepdims=true)",
                                        "clamp(%e, %e, %e)",
                                        "where(b, %e, %e)",
                                        "where(%e > %e, %e, %e)",
                                        "cast(%e, \"%t\")",
                                        "sum(%e)",
                                        "sum(%e, axis=%a)",
                                        "mean(%e, axis=[%a], keepdims=true)",
                                        "argmax(%e, axis=%a)",
                                        "prod(%e)",
                                        "matmul(%e, %e)",
                                        "matmul(x, %e, transpose_b=true)",
                                        "matmul(%e, %e, true)",
                                        "transpose(%e, [1, 0])",
                                        "reshape(%e, [-1])",
                                        "reshape(%e, [%d, %d])",
                                        "reshape(%e, [%d * %d, -1])",
                                        "broadcast(%e, [%d, %d])",
                                        "slice(%e, [%d], [%d])",
                                        "slice(%e, [%d], [%d], axes=[%a], steps=[-2])",
                                        "concat([%e, %e], axis=%a)",
                                        "pad(%e, [[%d, %d], [0, 1]])",
                                        "pad(%e, [[%d, 0]], value=-1)",
                                        "gather(%e, n, axis=%a)",
                                        "gather(%e, %d)",
                                        "iota([%d, %d], axis=%a, dtype=\"%t\")",
                                        "softmax(%e)",
                                        "log_softmax(%e, axis=%a)",
                                        "layernorm(x, v, v)",
                                        "rmsnorm(%e, v, eps=%e)",
                                        "x",
                                        "h",
                                        "n",
                                        "u",
                                        "b",
                                        "v",
                                        "s",
                                        "w",
                                        "x",
                                        "h",
                                        "n",
                                        "M",
                                        "N",
                                        "1",
                                        "2.5",
                                        "0.1",
                                        "M / 2",
                                        "sqrt(N)",
                                        "true",
                                        "-inf",
                                        "300",
                                        "0"};
static const char *const dim_templates[] = {"M",     "N",     "K",     "1",       "2",
                                            "0",     "-1",    "4",     "N / 4",   "M // 2",
                                            "2 * N", "M + 1", "N - 8", "%d + %d", "min"};
static const char *const axes[] = {"0", "1", "-1", "M", "N"};
static const char *const types[] = {"f16", "f32", "f64", "bf16", "i8",
                                    "i32", "i64", "u8",  "bool", "i16"};

#define ONE_OF(list) (list)[pick(sizeof(list) / sizeof *(list))]

static void put(const char *text) {
    replace(input_size, 0, text, strlen(text));
}

static void generate(const char *template, int depth) {
    for (; *template; template ++) {
        const char *text = (char[]){*template, 0};
        if (*template != '%' || !strchr("edat", template[1])) {
            put(text);
            continue;
        }
        switch (*++template) {
        case 'a': put(ONE_OF(axes)); break;
        case 't': put(ONE_OF(types)); break;
        case 'd': generate(depth > 3 ? "M" : ONE_OF(dim_templates), depth + 1); break;
        default: generate(depth > 2 ? "x" : ONE_OF(templates), depth + 1);
        }
    }
}

static void generate_model(void) {
    input_size = 0;
    put("kc: 1\nfunctions:\n  f:\n    dims: {N: {min: 8, multiple_of: 4}}\n    inputs:\n      x: "
        "f32[M, N]\n      h: f16[M, N]\n"
        "      n: i32[M, N]\n      u: u8[N]\n      b: bool[M, N]\n      v: bf16[N]\n      s: f32\n "
        "     w: f32[N, K]\n"
        "    outputs: {y: f32}\n    body: |\n");
    char name[32];
    for (size_t i = 0, n = 1 + pick(3); i < n; i++) {
        snprintf(name, sizeof name, "      a%zu = ", i);
        put(name);
        generate(ONE_OF(templates), 0);
        put("\n");
    }
    put("      y = 1.0\n");
}

static void next_input(void) {
    if (pick(2)) {
        generate_model();
        return;
    }
    const seed_file *seed = &seeds[pick((size_t)n_seeds)];
    memcpy(input, seed->text, input_size = seed->size);
    for (size_t n = 1 + pick(6); n > 0; n--)
        mutate();
}

int main(int argc, char **argv) {
    double limit = argc > 1 ? atof(argv[1]) : 0;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    if (!random_state) random_state = 1;
    crash_watch("fuzz_model.crash", input, &input_size);
    read_folder("tests/fuzz/corpus/model");
    read_folder("tests/golden/frontend");
    read_folder("tests/golden/frontend/ops");
    for (int i = 0; i < n_seeds; i++) {
        memcpy(input, seeds[i].text, input_size = seeds[i].size);
        run_input();
    }
    if (limit > 0) printf("fuzz_model: seed %llu\n", (unsigned long long)random_state);
    long runs = 0;
    for (time_t end = time(NULL) + (time_t)limit; limit > 0 && time(NULL) < end; runs++) {
        next_input();
        alarm(20); // a hang is a finding
        run_input();
    }
    printf("fuzz_model: %d files, %ld inputs, %ld models accepted\n", n_seeds, runs, accepted);
    for (int i = 0; i < n_seeds; i++)
        free(seeds[i].text);
    return n_seeds ? 0 : 1;
}
