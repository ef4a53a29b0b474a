// Hexadecimal, 16 a line.
#include "compiler/package/embed.h"

void kc_embed_write_c(FILE *out, const char *module, const void *package, size_t size) {
    const unsigned char *bytes = package;
    fprintf(out,
            "/* The package of module %s: give it to kcrt_module_load_memory. */\n#include "
            "<stddef.h>\n\n",
            module);
    fprintf(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    fprintf(out, "extern const unsigned char kc_%s_kcb[];\nextern const size_t kc_%s_kcb_size;\n\n",
            module, module);
    fprintf(out, "const unsigned char kc_%s_kcb[] = {", module);
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%s0x%02x,", i % 16 ? " " : "\n    ", bytes[i]);
    fprintf(out, "\n};\nconst size_t kc_%s_kcb_size = sizeof kc_%s_kcb;\n\n", module, module);
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n");
}
