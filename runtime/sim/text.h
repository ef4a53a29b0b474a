/* A string that grows, and JSON pieces. When the host is out of memory the text stays NULL. */
#ifndef KCSIM_TEXT_H
#define KCSIM_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct kcsim_text {
    char *data;
    size_t length, capacity;
    int failed;
} kcsim_text;

void kcsim_text_add(kcsim_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "quoted", with escapes; NULL is null. Bytes that are no UTF-8 become '?'. */
void kcsim_text_add_quoted(kcsim_text *text, const char *value);
/* A number, or above 2^53 a decimal string, as the package's manifest does. */
void kcsim_text_add_u64(kcsim_text *text, uint64_t value);
char *kcsim_text_take(kcsim_text *text);

/* In a buffer of `size` bytes, at least 8: `text`, or its beginning up to a word's end and "...". */
void kcsim_text_fit(char *out, size_t size, const char *text);
/* One more item at the end of a list in a buffer of `size` bytes, or "..." where that does not
 * fit; nothing behind that. */
void kcsim_text_list(char *list, size_t size, const char *comma, const char *item);

#endif
