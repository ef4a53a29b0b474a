// `kc targets`: every architecture with its attributes.
#include "targets/target.h"

static const char *const policies[] = {"fixed", "may be lowered", "may be raised", "free"};
static const char *const policy_words[] = {"fixed", "limit", "raise", "free"};

static void list_text(FILE *out) {
    for (int k = 0; k < kc_target_kind_count(); k++) {
        const kc_target_kind *kind = kc_target_kind_at(k);
        for (int i = 0; i < kind->n_archs; i++) {
            const kc_target_arch *arch = &kind->archs[i];
            const kc_target_attributes *a = &arch->defaults;
            char name[64];
            snprintf(name, sizeof name, "%s:%s", kind->name, arch->name);
            fprintf(out, "%-20s %-26s warp %2d, %3d KB shared, %3d multiprocessors, %d GB/s\n",
                    name, arch->example, (int)a->warp_size, (int)(a->max_shared_memory / 1024),
                    (int)a->multiprocessors, (int)a->dram_bandwidth);
        }
    }
    fprintf(out, "\nattributes (after the architecture: ,NAME=VALUE):\n");
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++) {
        const kc_target_attribute_info *row = &kc_target_attribute_table[i];
        fprintf(out, "  %-32s %s%s%s (%s)\n", row->name, row->meaning, *row->unit ? ", " : "",
                row->unit, policies[row->policy]);
    }
}

static void list_arch(FILE *out, const kc_target_kind *kind, const kc_target_arch *arch) {
    kc_target target = {kind, arch, arch->defaults};
    fprintf(out,
            "{\"target\": \"%s:%s\", \"kind\": \"%s\", \"arch\": \"%s\", \"triple\": \"%s\", "
            "\"example\": \"%s\", \"portable\": ",
            kind->name, arch->name, kind->name, arch->name, kind->triple, arch->example);
    fprintf(out, arch->portable ? "\"%s\"" : "null", arch->portable);
    fputs(", \"attributes\": {", out);
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++)
        fprintf(out, "%s\"%s\": %lld", i ? ", " : "", kc_target_attribute_table[i].name,
                (long long)kc_target_get(&target, (kc_target_attribute)i));
    fputs("}}", out);
}

static void list_json(FILE *out) {
    fputs("{\"targets\": [", out);
    for (int k = 0, n = 0; k < kc_target_kind_count(); k++)
        for (int i = 0; i < kc_target_kind_at(k)->n_archs; i++) {
            fputs(n++ ? ",\n" : "\n", out);
            list_arch(out, kc_target_kind_at(k), &kc_target_kind_at(k)->archs[i]);
        }
    fputs("],\n\"attributes\": [", out);
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++) {
        const kc_target_attribute_info *row = &kc_target_attribute_table[i];
        fprintf(out,
                "%s\n{\"name\": \"%s\", \"policy\": \"%s\", \"unit\": \"%s\", \"meaning\": \"%s\"}",
                i ? "," : "", row->name, policy_words[row->policy], row->unit, row->meaning);
    }
    fputs("]}\n", out);
}

void kc_target_list(FILE *out, bool json) {
    (json ? list_json : list_text)(out);
}
