// Bytes into the frontend: it must neither crash nor hang, and what it accepts must verify and read
// back.
//
//     fuzz_model [SECONDS [SEED]]
//
// Without arguments the corpus and the goldens are run once. With a time, inputs are mutated for so
// long; the seed is printed, and the input that brought the program down is written to
// fuzz_model.crash in the current folder.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/frontend/frontend.h"

enum { INPUT_LIMIT = 1 << 16, SEED_LIMIT = 1024 };

static char input[INPUT_LIMIT + 1];
static size_t input_size;
static long accepted;

static void save_input(void) {
    int file = open("fuzz_model.crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, input, input_size) < 0) return;
    close(file);
}

static void on_signal(int number) {
    save_input();
    signal(number, SIG_DFL);
    raise(number);
}

void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

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
    case 0:
        replace(at, 0, word, strlen(word));
        break;
    case 1:
        replace(at, length, word, strlen(word));
        break;
    case 2:
        replace(at, length, "", 0);
        break;
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

int main(int argc, char **argv) {
    double limit = argc > 1 ? atof(argv[1]) : 0;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    if (!random_state) random_state = 1;
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(save_input);
    read_folder("tests/fuzz/corpus/model");
    read_folder("tests/golden/frontend");
    for (int i = 0; i < n_seeds; i++) {
        memcpy(input, seeds[i].text, input_size = seeds[i].size);
        run_input();
    }
    if (limit > 0) printf("fuzz_model: seed %llu\n", (unsigned long long)random_state);
    long runs = 0;
    for (time_t end = time(NULL) + (time_t)limit; limit > 0 && time(NULL) < end; runs++) {
        const seed_file *seed = &seeds[pick((size_t)n_seeds)];
        memcpy(input, seed->text, input_size = seed->size);
        for (size_t n = 1 + pick(6); n > 0; n--)
            mutate();
        alarm(20); // a hang is a finding
        run_input();
    }
    printf("fuzz_model: %d files, %ld mutations, %ld models accepted\n", n_seeds, runs, accepted);
    for (int i = 0; i < n_seeds; i++)
        free(seeds[i].text);
    return n_seeds ? 0 : 1;
}
