// Bytes into the parser of IR text. What it accepts must print to text that parses again to the
// same text, and the verifier must come back with an answer at every level.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void verify(const kc_module *module, kc_diag *diag) {
    for (int level = KC_LEVEL_COMPOSITE; level <= KC_LEVEL_LAYOUT; level *= 2)
        kc_module_verify(module, level, diag);
}

static void require_same(const kc_module *module, const char *text) {
    char *printed = kc_module_to_text(module, NULL);
    if (strcmp(text, printed)) abort();
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, "fuzz", (const char *)data, size);
    kc_module *module = kc_module_parse(arena, (const char *)data, size, diag);
    if (module) {
        verify(module, diag);
        size_t length;
        char *text = kc_module_to_text(module, &length);
        kc_diag *none = kc_diag_create(arena, "again", text, length);
        kc_module *again = kc_module_parse(arena, text, length, none);
        if (!again) {
            kc_diag_print(none, stderr);
            abort();
        }
        require_same(again, text);
        require_same(kc_module_clone(arena, module), text);
        free(text);
    }
    FILE *null = fopen("/dev/null", "w");
    if (null) {
        kc_diag_print(diag, null);
        kc_diag_print_json(diag, null);
        fclose(null);
    }
    kc_arena_destroy(arena);
    return 0;
}
