// What a failing run said.
#ifndef KC_TESTS_IR_EXPECT_REPORT_H
#define KC_TESTS_IR_EXPECT_REPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"

static inline void expect_report(const kc_diag *diag, const char *part) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    kc_diag_print(diag, out);
    fclose(out);
    if (!strstr(text, part)) fprintf(stderr, "expected \"%s\" in: %s\n", part, text);
    assert_non_null(strstr(text, part));
    free(text);
}

#endif
