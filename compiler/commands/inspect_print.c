// The table that `kc inspect` prints.
#include <inttypes.h>
#include <string.h>

#include "compiler/commands/inspect_command.h"

typedef struct {
    const kc_package_file *file;
    FILE *out;
    const kcrt_signature *function;
} printer;

static void print_term(const printer *p, const kcrt_term *term) {
    char text[1024];
    kc_expr_print(p->function->pool, term->expr, text, sizeof text);
    fputs(text, p->out);
}

static void print_value(FILE *out, const kcrt_json *value) {
    kc_json j = kc_json_to(out, 0);
    if (value->kind == KCRT_JSON_STRING) fputs(value->text, out);
    else kc_json_copy(&j, value);
}

// ---- the top ------------------------------------------------------------------------------------

static void print_images(const printer *p) {
    const kcrt_manifest *m = &p->file->manifest;
    fprintf(p->out, "\n%5s  %-6s %-16s %-6s %10s  sha256\n", "image", "triple", "arch", "role",
            "bytes");
    for (int i = 0; i < m->image_count; i++)
        fprintf(p->out, "%5d  %-6s %-16s %-6s %10" PRIu64 "  %.16s\n", i, m->images[i].triple,
                m->images[i].arch, m->images[i].role, m->images[i].size, m->images[i].sha256);
}

static void print_top(const printer *p) {
    const kcrt_json *tools = kcrt_json_get(p->file->root, "tools");
    const char *ptxas = kc_json_text_or(tools, "ptxas", NULL),
               *note = kc_json_text_or(p->file->root, "note", NULL);
    fprintf(p->out, "%s: module %s, %zu bytes, made by kc %s with LLVM %s%s%s\n", p->file->path,
            p->file->manifest.module, p->file->size, kc_json_text_or(tools, "kc", "?"),
            kc_json_text_or(tools, "llvm", "?"), ptxas ? " and ptxas " : "", ptxas ? ptxas : "");
    if (note) fprintf(p->out, "note: %s\n", note);
}

// ---- functions ----------------------------------------------------------------------------------

static void print_terms(const printer *p, int n, const kcrt_term *terms) {
    fputc('[', p->out);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", p->out);
        print_term(p, &terms[i]);
    }
    fputc(']', p->out);
}

static void print_arg(const printer *p, const kcrt_arg *arg) {
    fprintf(p->out, "  %-6s %s: %s", arg->is_inout ? "inout" : arg->is_output ? "output" : "input", arg->name, arg->type);
    if (!arg->is_scalar) print_terms(p, arg->rank, arg->shape);
    if (arg->strides) {
        fputs(" strides ", p->out);
        print_terms(p, arg->rank, arg->strides);
    }
    if (arg->alias >= 0) fprintf(p->out, " may be %s", p->function->args[arg->alias].name);
    fputc('\n', p->out);
}

static void print_constant(const printer *p, const kcrt_constant_use *use) {
    fprintf(p->out, "  const  %s: %s[", use->name, use->type);
    for (int d = 0; d < use->rank; d++)
        fprintf(p->out, "%s%" PRId64, d ? ", " : "", use->shape[d]);
    fprintf(p->out, "], image %d\n", p->file->manifest.constants[use->index].image);
}

static void print_symbols(const printer *p) {
    const kcrt_signature *s = p->function;
    for (int i = 0; i < s->dim_count + s->stride_count; i++) {
        const kcrt_symbol *symbol = &s->symbols[i];
        fprintf(p->out, "  %-6s %s: %" PRId64 "..%" PRId64, i < s->dim_count ? "dim" : "stride",
                symbol->name, symbol->facts.min, symbol->facts.max);
        if (symbol->facts.multiple_of > 1)
            fprintf(p->out, ", a multiple of %" PRId64, symbol->facts.multiple_of);
        fputs(symbol->is_passed ? ", passed by the caller\n" : "\n", p->out);
    }
}

// ---- targets ------------------------------------------------------------------------------------

static void print_place(const printer *p, const kcrt_step_place *place) {
    if (place->arg >= 0) fputs(p->function->args[place->arg].name, p->out);
    else fputs("workspace", p->out);
    if (place->offset.form == KCRT_TERM_CONST && place->offset.value == 0) return;
    fputs(" + ", p->out);
    print_term(p, &place->offset);
}

// As the function calls it.
static const char *constant_name(const printer *p, int index) {
    for (int i = 0; i < p->function->constant_count; i++)
        if (p->function->constants[i].index == index) return p->function->constants[i].name;
    return p->file->manifest.constants[index].name;
}

static void print_param(const printer *p, const kcrt_param *param) {
    switch (param->kind) {
    case KCRT_PARAM_PLACE: print_place(p, &param->place); break;
    case KCRT_PARAM_CONSTANT: fputs(constant_name(p, param->index), p->out); break;
    case KCRT_PARAM_SCALAR: fputs(p->function->args[param->index].name, p->out); break;
    case KCRT_PARAM_EXPR: print_term(p, &param->expr); break;
    }
}

static void print_kernel(const printer *p, const kcrt_step *step, const kcrt_json *variant) {
    fprintf(p->out, "      %s(", step->kernel);
    for (int i = 0; i < step->param_count; i++) {
        if (i) fputs(", ", p->out);
        print_param(p, &step->params[i]);
    }
    fputs(")\n        grid ", p->out);
    for (int i = 0; i < 3; i++) {
        if (i) fputs(" x ", p->out);
        print_term(p, &step->grid[i]);
    }
    fprintf(p->out, ", block %u x %u x %u, shared ", step->block[0], step->block[1],
            step->block[2]);
    print_term(p, &step->shared);
    fputc('\n', p->out);
    const kcrt_json *of[] = {
        kcrt_json_get(kcrt_json_get(variant, "resources"), step->kernel),
        kcrt_json_get(kcrt_json_get(kcrt_json_get(variant, "schedule"), "kernels"), step->kernel)};
    static const char *const names[] = {"resources", "schedule"};
    for (int i = 0; i < 2; i++) {
        if (!of[i] || !of[i]->first) continue;
        fprintf(p->out, "        %s:", names[i]);
        for (const kcrt_json *item = of[i]->first; item; item = item->next) {
            fprintf(p->out, "%s %s ", item == of[i]->first ? "" : ",", item->key);
            print_value(p->out, item);
        }
        fputc('\n', p->out);
    }
}

static void print_step(const printer *p, const kcrt_step *step, const kcrt_json *variant) {
    if (step->kind == KCRT_STEP_KERNEL) {
        print_kernel(p, step, variant);
        return;
    }
    fputs(step->kind == KCRT_STEP_COPY ? "      copy to " : "      fill ", p->out);
    print_place(p, &step->to);
    if (step->kind == KCRT_STEP_COPY) {
        fputs(" from ", p->out);
        print_place(p, &step->from);
    } else {
        fprintf(p->out, " with %d", step->value);
    }
    fputs(", bytes ", p->out);
    print_term(p, &step->bytes);
    fputc('\n', p->out);
}

static void print_variant(const printer *p, const kcrt_variant *v, int index,
                          const kcrt_json *json) {
    const char *reason = kc_json_text_or(kcrt_json_get(json, "schedule"), "reason", NULL);
    fprintf(p->out, "    variant %d%s%s: ", index, reason ? ", " : "", reason ? reason : "");
    if (v->has_when) fputs("when ", p->out), print_term(p, &v->when);
    else fputs("always", p->out);
    if (v->workspace.form != KCRT_TERM_CONST || v->workspace.value) {
        fputs("\n      workspace ", p->out);
        print_term(p, &v->workspace);
        fputs(" bytes", p->out);
    }
    fputc('\n', p->out);
    for (int i = 0; i < v->step_count; i++)
        print_step(p, &v->steps[i], json);
}

static void print_target(const printer *p, const kcrt_target *t, const kcrt_json *json) {
    fprintf(p->out, "  %s:%s, image%s", t->triple, t->arch, t->image_count == 1 ? "" : "s");
    for (int i = 0; i < t->image_count; i++)
        fprintf(p->out, " %d", t->images[i]);
    const kcrt_json *attributes = kcrt_json_get(json, "attributes");
    for (const kcrt_json *item = attributes ? attributes->first : NULL; item; item = item->next) {
        fprintf(p->out, ", %s=", item->key);
        print_value(p->out, item);
    }
    fputc('\n', p->out);
    const kcrt_json *variants = kcrt_json_get(json, "variants");
    for (int i = 0; i < t->variant_count; i++)
        print_variant(p, &t->variants[i], i, kc_json_item(variants, i));
}

static void print_function(printer *p, int index) {
    const kcrt_signature *s = p->function = &p->file->manifest.functions[index];
    const kcrt_json *json = kc_json_item(kcrt_json_get(p->file->root, "functions"), index);
    fprintf(p->out, "\nfunction %s%s%s\n", s->name, *s->doc ? ": " : "", s->doc);
    for (int i = 0; i < s->arg_count; i++)
        print_arg(p, &s->args[i]);
    for (int i = 0; i < s->constant_count; i++)
        print_constant(p, &s->constants[i]);
    print_symbols(p);
    if (s->ir < 0) fputs("  no IR: device `ref` cannot run it\n", p->out);
    for (int i = 0; i < s->target_count; i++)
        print_target(p, &s->targets[i], kc_json_item(kcrt_json_get(json, "targets"), i));
}

void kc_inspect_print(const kc_package_file *file, FILE *out) {
    printer p = {file, out, NULL};
    print_top(&p);
    print_images(&p);
    for (int i = 0; i < file->manifest.function_count; i++)
        print_function(&p, i);
}
