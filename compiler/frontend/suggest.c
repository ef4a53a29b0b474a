#include "compiler/frontend/suggest.h"

#include <string.h>

enum { MAX_WORD = 32 }; // longer words are not compared

// Edits (insert, delete, replace, swap neighbours) that turn a into b.
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[3][MAX_WORD + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *second = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t least = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < least) least = before[j] + 1;
            if (now[j - 1] + 1 < least) least = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                second[j - 2] + 1 < least)
                least = second[j - 2] + 1;
            now[j] = least;
        }
    }
    return row[n % 3][m];
}

void kc_suggest_start(kc_suggest *suggest, const char *word) {
    size_t length = strlen(word);
    *suggest = (kc_suggest){.word = word, .length = length, .distance = length / 3 + 1};
    if (suggest->distance > 3) suggest->distance = 3;
    suggest->distance++; // strictly less is accepted
}

void kc_suggest_offer(kc_suggest *suggest, const char *candidate) {
    size_t length = strlen(candidate);
    if (suggest->length > MAX_WORD || length > MAX_WORD) return;
    size_t d = distance(suggest->word, suggest->length, candidate, length);
    if (d >= suggest->distance || d >= length) return;
    suggest->distance = d;
    suggest->best = candidate;
}

const char *kc_suggest_text(const kc_suggest *suggest, kc_arena *arena) {
    if (!suggest->best) return "";
    return kc_arena_printf(arena, "; did you mean '%s'?", suggest->best);
}

const char *kc_suggest_from(kc_arena *arena, const char *word, const char *candidates) {
    kc_suggest suggest;
    kc_suggest_start(&suggest, word);
    char *list = kc_arena_strdup(arena, candidates);
    for (char *state = NULL, *one = strtok_r(list, " ", &state); one;
         one = strtok_r(NULL, " ", &state))
        kc_suggest_offer(&suggest, one);
    return kc_suggest_text(&suggest, arena);
}
