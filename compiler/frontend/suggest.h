// "did you mean": the candidate nearest to a word that is not known.
#ifndef KC_COMPILER_FRONTEND_SUGGEST_H
#define KC_COMPILER_FRONTEND_SUGGEST_H

#include "ir/arena.h"

typedef struct {
    const char *word;
    size_t length;
    const char *best; // NULL: none is near
    size_t distance;
} kc_suggest;

void kc_suggest_start(kc_suggest *, const char *word);
void kc_suggest_offer(kc_suggest *, const char *candidate); // borrowed
// `; did you mean 'x'?`, or the empty string.
const char *kc_suggest_text(const kc_suggest *, kc_arena *);
// The same for a fixed list: words separated by blanks.
const char *kc_suggest_from(kc_arena *, const char *word, const char *candidates);

#endif
