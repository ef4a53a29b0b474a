// compiler/frontend/body_ops.def and op_examples.txt -> docs/OPS.md, on standard output. A row
// without an example, or an example without a row, is an error.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const examples_path = "compiler/frontend/op_examples.txt";

typedef struct {
    const char *group; // a heading; nothing else is set
    const char *name, *signature, *types, *shape, *meaning, *bound;
} row;

// An operator has its text for a signature and no name.
static const row rows[] = {
#define GROUP(TITLE) {.group = TITLE},
#define OP(CODE, NAME, EMITTER, VALUES, SIGNATURE, REFUSES, TYPES, EXTENTS, MEANING, BOUND)        \
    {NULL, NAME, SIGNATURE, TYPES, EXTENTS, MEANING, BOUND},
#define OPERATOR(ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND)                                \
    {NULL, NULL, TEXT, TYPES, EXTENTS, MEANING, BOUND},
#define PREFIX(TOKEN, ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND)                           \
    {NULL, NULL, TEXT, TYPES, EXTENTS, MEANING, BOUND},
#include "compiler/frontend/body_ops.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows };

// ---- examples

typedef struct {
    char heading[128];
    char *lines; // with their indentation and newlines
    bool used;
} example;

static example *examples;
static int n_examples;

static void append(example *e, const char *line) {
    size_t n = e->lines ? strlen(e->lines) : 0;
    e->lines = realloc(e->lines, n + strlen(line) + 1);
    strcpy(e->lines + n, line);
}

static void read_examples(void) {
    FILE *file = fopen(examples_path, "r");
    char line[1024];
    while (file && fgets(line, sizeof line, file)) {
        if (*line == '#' || *line == '\n') continue;
        if (*line != ' ') {
            examples = realloc(examples, sizeof *examples * (size_t)(n_examples + 1));
            examples[n_examples] = (example){.lines = NULL};
            sscanf(line, "%127[^\n]", examples[n_examples++].heading);
        } else if (n_examples) append(&examples[n_examples - 1], line + strspn(line, " "));
    }
    if (file) fclose(file);
}

// What an example is headed with: the op with the parameters that must be given.
static void heading_of(const row *r, char *out, size_t size) {
    char parameters[256], *state;
    if (!r->name) {
        snprintf(out, size, "%s", r->signature);
        return;
    }
    size_t n = (size_t)snprintf(out, size, "%s(", r->name);
    snprintf(parameters, sizeof parameters, "%s", r->signature);
    for (char *one = strtok_r(parameters, ", ", &state); one; one = strtok_r(NULL, ", ", &state))
        if (!strchr(one, '=') && strcmp(one, "*") != 0)
            n += (size_t)snprintf(out + n, size - n, "%s%s", out[n - 1] == '(' ? "" : ", ", one);
    snprintf(out + n, size - n, ")");
}

static int print_examples(const row *r) {
    char heading[256];
    int found = 0;
    heading_of(r, heading, sizeof heading);
    for (int i = 0; i < n_examples; i++) {
        if (strcmp(examples[i].heading, heading) != 0) continue;
        printf("%s\n%s", found++ ? "" : "```", examples[i].lines);
        examples[i].used = true;
    }
    if (found) printf("```\n");
    else
        fprintf(stderr, "%s: no example of %s; add one under that heading\n", examples_path,
                heading);
    return !found;
}

// ---- the page

static void print_text(const char *text) {
    for (; *text; text++)
        printf(*text == '*' || *text == '<' ? "\\%c" : "%c", *text);
}

static void print_fact(const char *label, const char *text) {
    if (!*text) return;
    printf("- %s: ", label);
    print_text(text);
    printf("\n");
}

static int print_row(const row *r) {
    if (r->group) return printf("\n## %s\n", r->group) < 0;
    if (r->name) printf("\n### `%s(%s)`\n\n", r->name, r->signature);
    else printf("\n### `%s`\n\n", r->signature);
    print_text(r->meaning);
    printf("\n\n");
    print_fact("types", r->types);
    print_fact("shape", r->shape);
    print_fact("error", r->bound);
    printf("\n");
    return print_examples(r);
}

// One line a group: what there is, at a glance.
static void print_contents(void) {
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].group) printf("%s\n**%s**", i ? "\n" : "", rows[i].group);
        else printf(" `%s`", rows[i].name ? rows[i].name : rows[i].signature);
    printf("\n");
}

int main(void) {
    int trouble = 0;
    read_examples();
    printf("# Ops of model files\n\n"
           "Made by `make docs` from `compiler/frontend/body_ops.def` and `op_examples.txt`; edit "
           "these. "
           "`docs/MODEL.md` describes the\nlanguage around them, `docs/IR_OPS.md` the ops of the "
           "IR.\n\n"
           "A parameter with `=` may be left out; one after `*` is passed by keyword. *types*: "
           "what is "
           "taken and what the result has;\nnumbers and dimensions take the type that they meet. "
           "*error*: the bound in f32; ops that say nothing are composed of others.\n\n"
           "Each example has inputs, statements and outputs; the tests run it on the reference and "
           "on a "
           "simulated GPU. Values of six\ndigits or more are rounded to what stands there, shorter "
           "ones "
           "are exact.\n");
    print_contents();
    for (int i = 0; i < N_ROWS; i++)
        trouble += print_row(&rows[i]);
    for (int i = 0; i < n_examples; i++) {
        if (examples[i].used) continue;
        fprintf(stderr, "%s: no row of body_ops.def is '%s'\n", examples_path, examples[i].heading);
        trouble++;
    }
    return trouble ? EXIT_FAILURE : EXIT_SUCCESS;
}
