// A main for fuzz targets that have LLVMFuzzerTestOneInput and nothing else, where libFuzzer is not installed.
//
//     fuzz_NAME [SECONDS [SEED]]
//
// Without arguments the corpus (tests/fuzz/corpus/NAME) is run once, each file whole and cut at many places. With a time,
// inputs are mutated for so long; the seed is printed, and the input that brought the program down is written to
// fuzz_NAME.crash in the current folder. `fuzz_NAME FILE` runs one file, as libFuzzer does.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/crash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_LIMIT = 1 << 16, SEED_LIMIT = 1024, HANG_SECONDS = 20 };

typedef struct {
    uint8_t *bytes;
    size_t size;
} seed_file;

static seed_file seeds[SEED_LIMIT];
static int seed_count;
static uint8_t input[INPUT_LIMIT];
static size_t input_size;
static uint64_t random_state;

static size_t pick(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)((random_state >> 11) % n) : 0;
}

// An exact copy, so that a read past the end is seen.
static void run_input(void) {
    uint8_t *exact = malloc(input_size ? input_size : 1);
    if (!exact) abort();
    memcpy(exact, input, input_size);
    alarm(HANG_SECONDS);
    LLVMFuzzerTestOneInput(exact, input_size);
    alarm(0);
    free(exact);
}

static int read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    input_size = fread(input, 1, INPUT_LIMIT, file);
    fclose(file);
    return 1;
}

static void read_corpus(const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && seed_count < SEED_LIMIT && read_file(path)) {
            seed_file *seed = &seeds[seed_count++];
            seed->bytes = malloc(input_size ? input_size : 1);
            if (!seed->bytes) abort();
            memcpy(seed->bytes, input, seed->size = input_size);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

static void run_corpus(void) {
    for (int i = 0; i < seed_count; i++)
        for (size_t cut = 0; cut <= seeds[i].size; cut += 1 + seeds[i].size / 40) {
            memcpy(input, seeds[i].bytes, input_size = seeds[i].size - cut);
            run_input();
        }
}

static void replace(size_t at, size_t removed, const uint8_t *added, size_t size) {
    if (removed > input_size - at) removed = input_size - at;
    if (input_size - removed + size > INPUT_LIMIT) return;
    memmove(input + at + size, input + at + removed, input_size - at - removed);
    if (size) memcpy(input + at, added, size);
    input_size += size - removed;
}

static int in_word(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%';
}

// A word (or a single sign) of some seed: takes another word's place, so that text keeps most of its shape.
static void word_at(const uint8_t *bytes, size_t size, size_t *at, size_t *length) {
    size_t end = *at;
    while (*at > 0 && in_word(bytes[*at]) && in_word(bytes[*at - 1])) --*at;
    while (end < size && in_word(bytes[end])) end++;
    *length = end > *at ? end - *at : 1;
}

static void mutate(void) {
    const seed_file *other = &seeds[pick((size_t)seed_count)];
    uint8_t byte = (uint8_t)pick(256);
    size_t at = pick(input_size), length = pick(pick(4) ? 8 : 200), from = pick(other->size), taken;
    if (!input_size || !other->size) return;
    switch (pick(5)) {
    case 0: input[at] = byte; break;
    case 1: replace(at, length, NULL, 0); break;
    case 2: replace(at, 0, &byte, 1); break;
    case 3:
        if (length > other->size - from) length = other->size - from;
        replace(at, pick(2) ? length : 0, other->bytes + from, length);
        break;
    default:
        word_at(input, input_size, &at, &length);
        word_at(other->bytes, other->size, &from, &taken);
        replace(at, length, other->bytes + from, taken);
    }
}

static long run_for(double seconds) {
    long runs = 0;
    for (time_t end = time(NULL) + (time_t)seconds; time(NULL) < end; runs++) {
        const seed_file *seed = &seeds[pick((size_t)seed_count)];
        memcpy(input, seed->bytes, input_size = seed->size);
        for (size_t n = 1 + pick(6); n > 0; n--) mutate();
        run_input();
    }
    return runs;
}

int main(int argc, char **argv) {
    crash_watch("fuzz_" KC_FUZZ_NAME ".crash", input, &input_size);
    if (argc == 2 && strspn(argv[1], "0123456789.") != strlen(argv[1])) {
        if (!read_file(argv[1])) return perror(argv[1]), 1;
        run_input();
        return 0;
    }
    double limit = argc > 1 ? atof(argv[1]) : 0;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    if (!random_state) random_state = 1;
    read_corpus("tests/fuzz/corpus/" KC_FUZZ_NAME);
    if (!seed_count) return fprintf(stderr, "no corpus: run it from the root of the repository\n"), 1;
    run_corpus();
    if (limit > 0) printf("fuzz_" KC_FUZZ_NAME ": seed %llu\n", (unsigned long long)random_state);
    long runs = limit > 0 ? run_for(limit) : 0;
    printf("fuzz_" KC_FUZZ_NAME ": %d files, %ld inputs\n", seed_count, runs);
    for (int i = 0; i < seed_count; i++) free(seeds[i].bytes);
    return 0;
}
