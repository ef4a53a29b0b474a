// What printer and parser share: how names, strings, numbers and layouts are spelled. See
// docs/IR.md.
#ifndef KC_IR_TEXT_H
#define KC_IR_TEXT_H

#include <locale.h>

#include "ir/internal.h"
#include "ir/map.h"

static inline bool kc_is_digit(char c) {
    return c >= '0' && c <= '9';
}
static inline bool kc_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool kc_is_name_char(char c) {
    return kc_is_letter(c) || kc_is_digit(c) || c == '.';
}
bool kc_is_name(const char *text, size_t length); // a letter, then letters, digits and dots

// Numbers are spelled as in the C locale, whatever the process is in. Give what `enter` gave to
// `leave`.
locale_t kc_locale_enter(void);
void kc_locale_leave(locale_t);

enum { KC_FLOAT_TEXT = 40 };
void kc_float_to_text(
    double, char text[KC_FLOAT_TEXT]);      // shortest that reads back bit for bit; inf, -inf, nan
void kc_print_string(const char *, FILE *); // in quotes, with escapes
void kc_print_symbol(const char *, FILE *); // a name as it is, anything else in quotes
void kc_print_expr(const kc_expr_pool *, const kc_expr *, FILE *);

void kc_print_layout(const kc_layout *, FILE *);

// Names of the values of one isolated region. The first value called x is %x, the next ones %x_1,
// %x_2 ...; the parser undoes that, so that names do not grow when dumps are fed back.
typedef struct {
    kc_arena *arena;
    kc_map *taken, *suffixes; // the text; and of a name, the first suffix that may be free
} kc_namer;

kc_namer *kc_namer_create(kc_arena *);
void kc_namer_take(kc_namer *, const char *text);
const char *kc_namer_unique(kc_namer *,
                            const char *name); // what the next value called that is printed as
const char *kc_namer_original(kc_namer *,
                              const char *text); // the name that would be printed as this text now

extern const kc_expr_facts kc_facts_default; // of a symbol that nothing is said about

#endif
