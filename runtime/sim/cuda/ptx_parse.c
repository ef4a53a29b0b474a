/* The outer level of a PTX file: the header, module variables, routines with their parameters and
 * limits. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/ptx_parser.h"
#include "runtime/sim/machine.h"

void ptx_error(ptx_module *module, uint32_t line, const char *format, ...) {
    if (module->error[0]) return;
    int used = line ? snprintf(module->error, sizeof module->error, "line %u: ", line) : 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(module->error + used, sizeof module->error - (size_t)used, format, arguments);
    va_end(arguments);
    if (!module->status) module->status = KCSIM_INVALID_PTX;
}

void ptx_parser_fail(ptx_parser *parser, uint32_t line, const char *format, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ptx_error(parser->module, line, "%s", text);
    parser->lexer.at = parser->lexer.end;
    parser->token = (ptx_token){.kind = PTX_TOKEN_END, .text = parser->lexer.end};
}

void ptx_parser_expected(ptx_parser *parser, const char *what) {
    if (parser->token.kind == PTX_TOKEN_END)
        ptx_parser_fail(parser, parser->lexer.line, "expected %s, found the end of the text", what);
    else
        ptx_parser_fail(parser, parser->token.line, "expected %s, found '%.*s'", what,
                        (int)(parser->token.length < 60 ? parser->token.length : 60),
                        parser->token.text);
}

ptx_token ptx_take(ptx_parser *parser) {
    ptx_token taken = parser->token;
    parser->last_end = taken.text + taken.length;
    parser->token = ptx_next_token(&parser->lexer);
    if (parser->token.kind == PTX_TOKEN_BAD)
        ptx_parser_fail(parser, parser->token.line, "this is no PTX: '%.*s'",
                        (int)(parser->token.length < 20 ? parser->token.length : 20),
                        parser->token.text);
    return taken;
}

bool ptx_peek_symbol(const ptx_parser *parser, char symbol) {
    return parser->token.kind == PTX_TOKEN_SYMBOL && parser->token.symbol == symbol;
}

bool ptx_accept_symbol(ptx_parser *parser, char symbol) {
    bool found = ptx_peek_symbol(parser, symbol);
    if (found) ptx_take(parser);
    return found;
}

void ptx_expect_symbol(ptx_parser *parser, char symbol) {
    char what[4] = {'\'', symbol, '\'', 0};
    if (!ptx_accept_symbol(parser, symbol)) ptx_parser_expected(parser, what);
}

bool ptx_token_is(const ptx_token *token, const char *text) {
    return token->kind == PTX_TOKEN_NAME && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

bool ptx_peek_name(const ptx_parser *parser, const char *text) {
    return ptx_token_is(&parser->token, text);
}

ptx_token ptx_expect_name(ptx_parser *parser, const char *what) {
    if (parser->token.kind != PTX_TOKEN_NAME) {
        ptx_parser_expected(parser, what);
        return parser->token;
    }
    return ptx_take(parser);
}

uint64_t ptx_expect_integer(ptx_parser *parser, const char *what, uint64_t limit) {
    if (parser->token.kind != PTX_TOKEN_INTEGER) {
        ptx_parser_expected(parser, what);
        return 0;
    }
    ptx_token token = ptx_take(parser);
    if (token.value > limit) ptx_parser_fail(parser, token.line, "%s is too large", what);
    return token.value;
}

int64_t ptx_signed_integer(ptx_parser *parser) {
    bool negative = false;
    while (ptx_peek_symbol(parser, '-') || ptx_peek_symbol(parser, '+'))
        negative ^= ptx_take(parser).symbol == '-';
    uint64_t value = ptx_expect_integer(parser, "an integer", UINT64_MAX);
    return (int64_t)(negative ? 0 - value : value);
}

void *ptx_need(ptx_parser *parser, size_t bytes) {
    void *block = kcsim_arena_alloc(&parser->module->arena, bytes);
    if (!block) {
        parser->module->status = KCSIM_NO_MEMORY;
        ptx_parser_fail(parser, 0, "out of host memory");
    }
    return block;
}

char *ptx_copy_token(ptx_parser *parser, const ptx_token *token) {
    char *copy = ptx_need(parser, token->length + 1);
    if (copy) memcpy(copy, token->text, token->length);
    return copy;
}

static void skip_line(ptx_parser *parser, uint32_t line) {
    while (parser->token.kind != PTX_TOKEN_END && parser->token.line == line)
        ptx_take(parser);
}

static void skip_braces(ptx_parser *parser) {
    uint32_t depth = 0;
    do {
        if (ptx_peek_symbol(parser, '{')) depth++;
        if (ptx_peek_symbol(parser, '}')) depth--;
        if (parser->token.kind == PTX_TOKEN_END) ptx_parser_expected(parser, "'}'");
        ptx_take(parser);
    } while (depth > 0 && parser->token.kind != PTX_TOKEN_END);
}

static void parse_version(ptx_parser *parser) {
    /* "8.7" is one decimal token, and so is "6.0". */
    ptx_token token = ptx_take(parser);
    unsigned major = 0, minor = 0;
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)(token.length < 15 ? token.length : 15), token.text);
    if (token.kind != PTX_TOKEN_FLOAT64 || sscanf(text, "%2u.%2u", &major, &minor) != 2 ||
        minor > 9) {
        ptx_parser_fail(parser, token.line, "expected a version such as 8.7, found '%s'", text);
        return;
    }
    int version = (int)(major * 10 + minor);
    if (version > parser->module->version) parser->module->version = version;
}

static void parse_target(ptx_parser *parser) {
    do {
        ptx_token token = ptx_expect_name(parser, "a target such as sm_80");
        if (token.length < 5 || token.length > 8 || memcmp(token.text, "sm_", 3) != 0) continue;
        char *rest;
        char *text = ptx_copy_token(parser, &token);
        if (!text) return;
        int target = (int)strtol(text + 3, &rest, 10);
        bool more = target > parser->module->target || *rest; /* of linked texts */
        if (!more) continue;
        parser->module->target = target;
        parser->module->target_suffix = *rest;
    } while (ptx_accept_symbol(parser, ','));
}

/* x, y, z: absent ones are 1. */
static void parse_extent(ptx_parser *parser, uint32_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        out[i] = (uint32_t)ptx_expect_integer(parser, "a size", UINT32_MAX);
        if (!ptx_accept_symbol(parser, ',')) return;
    }
}

static void parse_limits(ptx_parser *parser, ptx_routine *routine) {
    while (ptx_accept_symbol(parser, '.')) {
        ptx_token name = ptx_expect_name(parser, "a directive");
        if (ptx_token_is(&name, "maxntid")) {
            parse_extent(parser, routine->maxntid);
        } else if (ptx_token_is(&name, "reqntid")) {
            parse_extent(parser, routine->reqntid);
        } else if (ptx_token_is(&name, "reqnctapercluster")) {
            parse_extent(parser, routine->cluster);
        } else if (ptx_token_is(&name, "minnctapersm")) {
            routine->minnctapersm = (uint32_t)ptx_expect_integer(parser, "a count", UINT32_MAX);
        } else if (ptx_token_is(&name, "maxnreg")) {
            routine->maxnreg = (uint32_t)ptx_expect_integer(parser, "a count", UINT32_MAX);
        } else if (ptx_token_is(&name, "maxclusterrank")) {
            routine->max_cluster = (uint32_t)ptx_expect_integer(parser, "a count", UINT32_MAX);
        } else if (ptx_token_is(&name, "pragma")) {
            while (parser->token.kind == PTX_TOKEN_STRING || ptx_peek_symbol(parser, ','))
                ptx_take(parser);
            ptx_accept_symbol(parser, ';');
        } else if (ptx_token_is(&name, "explicitcluster")) {
            routine->explicit_cluster = true;
        } else if (ptx_token_is(&name, "blocksareclusters")) {
            routine->blocks_are_clusters = true;
            if (parser->module->version < 90)
                ptx_parser_fail(parser, name.line, ".blocksareclusters needs PTX 9.0");
        } else if (!ptx_token_is(&name, "noreturn")) {
            ptx_parser_fail(parser, name.line, "unknown directive '.%.*s' of a routine",
                            (int)name.length, name.text);
        }
    }
    if (routine->blocks_are_clusters && (!routine->reqntid[0] || !routine->cluster[0]))
        ptx_parser_fail(parser, parser->token.line,
                        ".blocksareclusters needs .reqntid and .reqnctapercluster");
}

/* `( .param ... , .param ... )`; an entry's parameters are laid out one after the other. */
static ptx_variable **parse_parameters(ptx_parser *parser, uint32_t *count, uint64_t *bytes) {
    ptx_variable **list = NULL;
    size_t capacity = 0, used = 0;
    *count = 0;
    if (!ptx_accept_symbol(parser, '(')) return NULL;
    while (!ptx_peek_symbol(parser, ')') && parser->token.kind != PTX_TOKEN_END) {
        ptx_expect_symbol(parser, '.');
        ptx_token space = ptx_expect_name(parser, "param");
        if (!ptx_token_is(&space, "param"))
            ptx_parser_fail(parser, space.line,
                            "parameters in '.%.*s' are not supported, only .param",
                            (int)space.length, space.text);
        ptx_variable *parameter =
            ptx_parse_variable(parser, PTX_SPACE_PARAM, PTX_LINKAGE_NONE, true);
        if (!parameter || !kcsim_array_grow((void **)&list, used, &capacity, sizeof *list)) break;
        parameter->address = (*bytes + parameter->align - 1) / parameter->align * parameter->align;
        *bytes = parameter->address + parameter->bytes;
        list[used++] = parameter;
        if (!ptx_accept_symbol(parser, ',')) break;
    }
    ptx_expect_symbol(parser, ')');
    ptx_variable **kept = ptx_need(parser, (used + 1) * sizeof *list);
    if (kept && used) memcpy(kept, list, used * sizeof *list);
    free(list);
    *count = kept ? (uint32_t)used : 0;
    return kept;
}

ptx_name *ptx_parser_known(const ptx_parser *parser, const ptx_token *name, bool has_linkage) {
    ptx_name *own = ptx_scope_here(parser->unit, name->text, name->length);
    return own || !has_linkage ? own : ptx_scope_here(parser->linked, name->text, name->length);
}

static ptx_routine *new_routine(ptx_parser *parser) {
    ptx_routine *routine = ptx_need(parser, sizeof *routine);
    if (!routine) return NULL;
    routine->name = "";
    if (parser->module->last_routine) parser->module->last_routine->next = routine;
    else parser->module->routines = routine;
    parser->module->last_routine = routine;
    return routine;
}

/* A routine may be declared before it is defined, in this text or another: both are the same one.
 * What is declared again, or is weak and there already, is read and forgotten. */
static ptx_routine *declare_routine(ptx_parser *parser, const ptx_token *token,
                                    ptx_linkage linkage) {
    bool linked = linkage != PTX_LINKAGE_NONE;
    ptx_name *known = ptx_parser_known(parser, token, linked);
    if (known && known->kind == PTX_NAME_ROUTINE) {
        bool spare = known->routine->has_body &&
                     (linkage == PTX_LINKAGE_WEAK || linkage == PTX_LINKAGE_EXTERN);
        return spare ? new_routine(parser) : known->routine;
    }
    ptx_name *name =
        known ? NULL
              : ptx_scope_add(&parser->module->arena, linked ? parser->linked : parser->unit,
                              token->text, token->length, PTX_NAME_ROUTINE);
    ptx_routine *routine = new_routine(parser);
    if (!name || !routine) {
        ptx_parser_fail(parser, token->line, "'%.*s' is declared twice", (int)token->length,
                        token->text);
        return NULL;
    }
    name->routine = routine;
    routine->name = ptx_copy_token(parser, token);
    return routine;
}

static void parse_routine(ptx_parser *parser, bool is_entry, ptx_linkage linkage) {
    ptx_scope *scope = ptx_scope_open(&parser->module->arena, parser->unit, 128);
    if (!scope) return;
    parser->scope = scope;
    uint32_t result_count = 0, parameter_count;
    uint64_t bytes = 0;
    ptx_variable **results = is_entry ? NULL : parse_parameters(parser, &result_count, &bytes);
    ptx_token token = ptx_expect_name(parser, "the routine's name");
    bytes = 0;
    ptx_variable **parameters = parse_parameters(parser, &parameter_count, &bytes);
    ptx_routine *routine =
        token.kind == PTX_TOKEN_NAME ? declare_routine(parser, &token, linkage) : NULL;
    if (!routine) return;
    if (routine->has_body)
        ptx_parser_fail(parser, token.line, "'%s' is defined twice", routine->name);
    uint64_t most = parser->module->version < 81 ? 4352 : 32764; /* as ptxas has it */
    if (is_entry && bytes > most)
        ptx_parser_fail(parser, token.line,
                        "'%s' takes %" PRIu64 " bytes of parameters, the limit is %" PRIu64 "%s",
                        routine->name, bytes, most,
                        most < 32764 ? " before PTX ISA 8.1" : "");
    routine->line = token.line;
    routine->is_entry = is_entry && routine->name[0];
    routine->external = linkage == PTX_LINKAGE_EXTERN;
    routine->parameters = parameters;
    routine->parameter_count = parameter_count;
    routine->parameter_bytes = bytes;
    routine->results = results;
    routine->result_count = result_count;
    parse_limits(parser, routine);
    if (ptx_accept_symbol(parser, '{')) ptx_parse_body(parser, routine);
    else ptx_expect_symbol(parser, ';');
    parser->scope = parser->unit;
}

ptx_routine *ptx_parse_prototype(ptx_parser *parser) {
    uint64_t bytes = 0;
    ptx_routine *routine = ptx_need(parser, sizeof *routine);
    if (!routine) return NULL;
    routine->name = "_";
    routine->results = parse_parameters(parser, &routine->result_count, &bytes);
    ptx_expect_name(parser, "_");
    routine->parameters = parse_parameters(parser, &routine->parameter_count, &bytes);
    parse_limits(parser, routine);
    ptx_expect_symbol(parser, ';');
    return parser->module->error[0] ? NULL : routine;
}

static ptx_routine *known_routine(ptx_parser *parser) {
    ptx_token token = ptx_expect_name(parser, "a function");
    ptx_name *name = token.kind == PTX_TOKEN_NAME
                         ? ptx_parser_known(parser, &token, true)
                         : NULL;
    if (name && name->kind == PTX_NAME_ROUTINE) return name->routine;
    ptx_parser_fail(parser, token.line, "'%.*s' is no function", (int)token.length, token.text);
    return NULL;
}

/* `.alias other_name, function;` */
static void parse_alias(ptx_parser *parser) {
    uint32_t line = parser->token.line;
    ptx_routine *alias = known_routine(parser);
    ptx_expect_symbol(parser, ',');
    ptx_routine *routine = known_routine(parser);
    ptx_expect_symbol(parser, ';');
    if (!alias || !routine) return;
    if (alias->has_body || !routine->has_body || alias->is_entry || routine->is_entry)
        ptx_parser_fail(parser, line, "an alias is of a function with a body, and has none");
    else alias->alias_of = routine;
}

static void parse_module_variable(ptx_parser *parser, ptx_space space, ptx_linkage linkage) {
    ptx_variable *variable;
    do
        variable = ptx_parse_variable(parser, space, linkage, false);
    while (variable && ptx_accept_symbol(parser, ','));
    ptx_expect_symbol(parser, ';');
}

/* What a linked module still lacks. */
static void find_missing(ptx_module *module) {
    for (const ptx_variable *variable = module->variables; variable; variable = variable->next)
        if (variable->external && variable->space != PTX_SPACE_SHARED)
            ptx_error(module, variable->line, "'%s' is external, and nothing here defines it",
                      variable->name);
}

/* Texts behind one another are linked: each begins with its .version. */
static void begin_text(ptx_parser *parser) {
    ptx_scope *scope = ptx_scope_open(&parser->module->arena, parser->linked, 256);
    if (!scope) {
        ptx_parser_fail(parser, 0, "out of host memory");
        return;
    }
    parser->scope = parser->unit = scope;
}

static ptx_linkage parse_linkage(ptx_parser *parser, ptx_token *name) {
    ptx_linkage linkage = PTX_LINKAGE_NONE;
    for (;;) {
        if (ptx_token_is(name, "extern")) linkage = PTX_LINKAGE_EXTERN;
        else if (ptx_token_is(name, "weak") || ptx_token_is(name, "common"))
            linkage = PTX_LINKAGE_WEAK;
        else if (ptx_token_is(name, "visible")) linkage = PTX_LINKAGE_VISIBLE;
        else return linkage;
        ptx_expect_symbol(parser, '.');
        *name = ptx_expect_name(parser, "a directive");
        if (parser->module->error[0]) return linkage;
    }
}

static void parse_directive(ptx_parser *parser) {
    ptx_token name = ptx_expect_name(parser, "a directive");
    ptx_linkage linkage = parse_linkage(parser, &name);
    ptx_space space;
    if (ptx_token_is(&name, "version")) {
        if (parser->module->version) begin_text(parser);
        parse_version(parser);
    } else if (ptx_token_is(&name, "target")) {
        parse_target(parser);
    } else if (ptx_token_is(&name, "address_size")) {
        if (ptx_expect_integer(parser, "64", 64) != 64)
            ptx_parser_fail(parser, name.line, "only .address_size 64 is supported");
    } else if (ptx_token_is(&name, "entry") || ptx_token_is(&name, "func")) {
        parse_routine(parser, ptx_token_is(&name, "entry"), linkage);
    } else if (ptx_space_from_name(&name, &space) && space != PTX_SPACE_PARAM &&
               space != PTX_SPACE_LOCAL) {
        parse_module_variable(parser, space, linkage);
    } else if (ptx_token_is(&name, "alias")) {
        parse_alias(parser);
    } else if (ptx_token_is(&name, "file") || ptx_token_is(&name, "loc")) {
        skip_line(parser, name.line);
    } else if (ptx_token_is(&name, "section")) {
        while (!ptx_peek_symbol(parser, '{') && parser->token.kind != PTX_TOKEN_END)
            ptx_take(parser);
        skip_braces(parser);
    } else if (ptx_token_is(&name, "pragma")) {
        while (!ptx_accept_symbol(parser, ';') && parser->token.kind != PTX_TOKEN_END)
            ptx_take(parser);
    } else {
        ptx_parser_fail(parser, name.line, "unknown directive '.%.*s'", (int)name.length,
                        name.text);
    }
}

bool ptx_parse(ptx_module *module, const char *text, size_t size) {
    const char *copy = kcsim_arena_text(&module->arena, text, size);
    ptx_scope *scope = ptx_scope_open(&module->arena, NULL, 256);
    if (!copy || !scope) {
        ptx_error(module, 0, "out of host memory");
        module->status = KCSIM_NO_MEMORY;
        return false;
    }
    ptx_parser parser = {
        .module = module, .linked = scope, .lexer = {.at = copy, .end = copy + size, .line = 1}};
    begin_text(&parser);
    ptx_take(&parser);
    while (parser.token.kind != PTX_TOKEN_END) {
        if (ptx_accept_symbol(&parser, '.')) parse_directive(&parser);
        else ptx_parser_expected(&parser, "a directive");
    }
    free(parser.labels);
    find_missing(module);
    if (!module->version) ptx_error(module, 0, "there is no .version: this is no PTX");
    if (!module->target) ptx_error(module, 0, "there is no .target");
    return !module->error[0];
}

void ptx_module_free(ptx_module *module) {
    for (ptx_routine *routine = module->routines; routine; routine = routine->next) {
        free(routine->registers);
        free(routine->statements);
    }
    kcsim_arena_free(&module->arena);
    module->routines = NULL;
}
