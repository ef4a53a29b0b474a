/* Variables: `.align 16 .b8 name[64] = {1, 2, other+4};`. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/ptx_parser.h"
#include "runtime/sim/cuda/ptx_tables.h"

#define MOST_BYTES ((uint64_t)1 << 40)
#define MOST_INITIALISED ((uint64_t)1 << 28)

bool ptx_space_from_name(const ptx_token *token, ptx_space *space) {
    for (int i = PTX_SPACE_GLOBAL; i <= PTX_SPACE_CONST; i++)
        if (ptx_token_is(token, ptx_space_name((ptx_space)i))) {
            *space = (ptx_space)i;
            return true;
        }
    return false;
}

static uint32_t parse_alignment(ptx_parser *parser) {
    uint64_t align = ptx_expect_integer(parser, "an alignment", 1 << 20);
    if (align == 0 || (align & (align - 1)))
        ptx_parser_fail(parser, parser->token.line, "an alignment must be a power of two");
    return align ? (uint32_t)align : 1;
}

/* `(.managed)`, `(.unified(uuid))`, from behind the word. */
static bool parse_attribute(ptx_parser *parser) {
    bool managed = false;
    uint32_t depth = 0;
    do {
        ptx_token token = ptx_take(parser);
        if (token.kind == PTX_TOKEN_SYMBOL && token.symbol == '(') depth++;
        if (token.kind == PTX_TOKEN_SYMBOL && token.symbol == ')') depth--;
        managed |= ptx_token_is(&token, "managed");
    } while (depth > 0 && parser->token.kind != PTX_TOKEN_END);
    return managed;
}

/* `.align N`, `.ptr .space`, `.attribute(...)`, and the type. */
static ptx_type parse_prefix(ptx_parser *parser, uint32_t *align, bool *managed, bool parameter) {
    bool in_ptr = false;
    ptx_type found = PTX_NO_TYPE;
    *align = 0;
    *managed = false;
    while (ptx_accept_symbol(parser, '.')) {
        ptx_token name = ptx_expect_name(parser, "a type");
        ptx_type type = ptx_find_type(name.text, name.length);
        ptx_space space;
        if (ptx_token_is(&name, "align")) {
            uint32_t value = parse_alignment(parser);
            if (!in_ptr) *align = value; /* after .ptr it speaks of what is pointed to */
        } else if (parameter && ptx_token_is(&name, "ptr")) {
            in_ptr = true;
        } else if (in_ptr && ptx_space_from_name(&name, &space)) {
            continue;
        } else if (ptx_token_is(&name, "attribute")) {
            *managed |= parse_attribute(parser);
        } else if (type != PTX_NO_TYPE && found == PTX_NO_TYPE && ptx_types[type].bits >= 8) {
            found = type;
        } else {
            ptx_parser_fail(parser, name.line, "expected a type, found '.%.*s'", (int)name.length,
                            name.text);
        }
    }
    if (found == PTX_NO_TYPE) ptx_parser_expected(parser, "a type");
    return found;
}

/* The product of `[a][b]`; *open is set for `[]`. */
static uint64_t parse_dimensions(ptx_parser *parser, bool *open) {
    uint64_t count = 1;
    while (ptx_accept_symbol(parser, '[')) {
        if (ptx_accept_symbol(parser, ']')) {
            *open = true;
            continue;
        }
        uint64_t extent = ptx_expect_integer(parser, "a size", MOST_BYTES);
        if (extent && count > MOST_BYTES / extent)
            ptx_parser_fail(parser, parser->token.line, "the array is too large");
        count = count * extent;
        ptx_expect_symbol(parser, ']');
    }
    return count;
}

typedef struct initialiser {
    uint8_t *data;
    size_t used, capacity;
    uint32_t element; /* bytes */
} initialiser;

static void put(ptx_parser *parser, initialiser *init, uint64_t bits) {
    while (init->used + init->element > init->capacity) {
        size_t wanted = init->capacity ? init->capacity * 2 : 64;
        uint8_t *grown = wanted <= MOST_INITIALISED ? realloc(init->data, wanted) : NULL;
        if (!grown) {
            ptx_parser_fail(parser, parser->token.line, "the initialiser is too large");
            return;
        }
        init->data = grown;
        init->capacity = wanted;
    }
    memset(init->data + init->used, 0, init->element);
    memcpy(init->data + init->used, &bits, init->element < 8 ? init->element : 8);
    init->used += init->element;
}

/* An address: `name`, `name+4`, `generic(name)+4`. */
static void put_address(ptx_parser *parser, initialiser *init, ptx_variable *variable) {
    ptx_relocation *relocation = ptx_need(parser, sizeof *relocation);
    if (!relocation) return;
    ptx_token name = ptx_take(parser);
    relocation->line = name.line;
    if (ptx_token_is(&name, "generic") && ptx_accept_symbol(parser, '(')) {
        relocation->generic = true;
        name = ptx_expect_name(parser, "a variable");
        ptx_expect_symbol(parser, ')');
    }
    relocation->symbol = ptx_copy_token(parser, &name);
    relocation->scope = parser->scope;
    if (ptx_peek_symbol(parser, '+') || ptx_peek_symbol(parser, '-'))
        relocation->addend = ptx_signed_integer(parser);
    if (init->element != 8)
        ptx_parser_fail(parser, name.line, "an address does not fit an element of %u bytes",
                        init->element);
    relocation->offset = init->used;
    relocation->bytes = 8;
    relocation->next = variable->relocations;
    variable->relocations = relocation;
    put(parser, init, 0);
}

static void put_constant(ptx_parser *parser, initialiser *init, ptx_variable *variable,
                         ptx_type type) {
    bool negative = false;
    while (ptx_peek_symbol(parser, '-') || ptx_peek_symbol(parser, '+'))
        negative ^= ptx_take(parser).symbol == '-';
    ptx_token token = parser->token;
    if (token.kind == PTX_TOKEN_NAME) {
        put_address(parser, init, variable);
    } else if (token.kind == PTX_TOKEN_INTEGER) {
        ptx_take(parser);
        put(parser, init, negative ? 0 - token.value : token.value);
    } else if (token.kind == PTX_TOKEN_FLOAT32) {
        ptx_take(parser);
        put(parser, init, token.value ^ (negative ? 0x80000000u : 0));
    } else if (token.kind == PTX_TOKEN_FLOAT64) {
        ptx_take(parser);
        double value;
        memcpy(&value, &token.value, sizeof value);
        if (negative) value = -value;
        float narrow = (float)value;
        uint64_t bits = 0;
        memcpy(&bits, ptx_types[type].bits == 32 ? (void *)&narrow : (void *)&value,
               ptx_types[type].bits / 8);
        put(parser, init, bits);
    } else {
        ptx_parser_expected(parser, "a constant");
    }
}

/* Nested braces of several dimensions are read flat: LLVM and nvcc write every element. */
static void parse_initialiser(ptx_parser *parser, ptx_variable *variable, ptx_type type,
                              bool open) {
    initialiser init = {.element = ptx_types[type].bits / 8u};
    uint32_t depth = 0;
    do {
        if (ptx_accept_symbol(parser, '{')) {
            depth++;
        } else if (ptx_accept_symbol(parser, '}')) {
            depth--;
        } else if (!ptx_accept_symbol(parser, ',')) {
            put_constant(parser, &init, variable, type);
        }
    } while (depth > 0 && parser->token.kind != PTX_TOKEN_END);
    if (open) variable->bytes = init.used;
    if (init.used > variable->bytes)
        ptx_parser_fail(parser, variable->line, "'%s' has more initial values than elements",
                        variable->name);
    else if (variable->bytes > MOST_INITIALISED)
        ptx_parser_fail(parser, variable->line, "'%s' is too large to be initialised",
                        variable->name);
    else if ((variable->data = ptx_need(parser, variable->bytes)) && init.used)
        memcpy(variable->data, init.data, init.used);
    free(init.data);
}

/* A declaration meets what other texts (or this one) said: the variable that stands for both. A
 * second definition that is weak, and a declaration of what is defined, change nothing: they fill a
 * variable that nobody sees. */
static ptx_variable *meet(ptx_parser *parser, const ptx_token *name, ptx_variable *known,
                          ptx_space space, ptx_linkage linkage) {
    bool declares = linkage == PTX_LINKAGE_EXTERN;
    if (known->space != space || (!declares && !known->external && linkage != PTX_LINKAGE_WEAK)) {
        ptx_parser_fail(parser, name->line, "'%.*s' is declared twice", (int)name->length,
                        name->text);
        return NULL;
    }
    bool completes = known->external && !declares;
    return completes ? known : ptx_need(parser, sizeof *known);
}

/* Static variables of a routine live as long as the module: they are kept with the others. */
static void keep(ptx_parser *parser, ptx_variable *variable) {
    if (variable->space == PTX_SPACE_PARAM || variable->space == PTX_SPACE_LOCAL) return;
    if (parser->module->last_variable) parser->module->last_variable->next = variable;
    else parser->module->variables = variable;
    parser->module->last_variable = variable;
}

static ptx_variable *make_variable(ptx_parser *parser, const ptx_token *name, ptx_space space,
                                   ptx_linkage linkage) {
    bool of_module = parser->scope == parser->unit && space != PTX_SPACE_PARAM;
    bool linked = of_module && linkage != PTX_LINKAGE_NONE;
    bool nameless = ptx_token_is(name, "_"); /* of a prototype */
    ptx_name *known = of_module ? ptx_parser_known(parser, name, linked) : NULL;
    ptx_variable *variable;
    if (known && known->kind == PTX_NAME_VARIABLE && linked) {
        variable = meet(parser, name, known->variable, space, linkage);
    } else {
        variable = ptx_need(parser, sizeof *variable);
        ptx_name *entry =
            nameless || known
                ? NULL
                : ptx_scope_add(&parser->module->arena, linked ? parser->linked : parser->scope,
                                name->text, name->length, PTX_NAME_VARIABLE);
        if (!variable || (!entry && !nameless)) {
            ptx_parser_fail(parser, name->line, "'%.*s' is declared twice", (int)name->length,
                            name->text);
            return NULL;
        }
        if (entry) entry->variable = variable;
        variable->in_routine = parser->routine != NULL;
        /* A .param variable inside a routine carries arguments of its calls: memory of the thread.
         */
        variable->space =
            parser->routine && space == PTX_SPACE_PARAM ? PTX_SPACE_LOCAL : space;
        if (space != PTX_SPACE_PARAM) keep(parser, variable);
    }
    if (!variable) return NULL;
    variable->name = ptx_copy_token(parser, name);
    variable->line = name->line;
    return variable;
}

ptx_variable *ptx_parse_variable(ptx_parser *parser, ptx_space space, ptx_linkage linkage,
                                 bool parameter) {
    bool external = linkage == PTX_LINKAGE_EXTERN;
    uint32_t align;
    bool managed;
    ptx_type type = parse_prefix(parser, &align, &managed, parameter);
    ptx_token name = ptx_expect_name(parser, "a name");
    if (name.kind != PTX_TOKEN_NAME) return NULL;
    ptx_variable *variable = make_variable(parser, &name, space, linkage);
    if (!variable) return NULL;
    bool open = false;
    uint64_t count = parse_dimensions(parser, &open);
    uint32_t element = ptx_types[type].bits / 8u;
    variable->align = align ? align : element;
    variable->external = external;
    variable->managed = managed && space == PTX_SPACE_GLOBAL;
    variable->bytes = open ? 0 : count * element;
    if (variable->bytes > MOST_BYTES)
        ptx_parser_fail(parser, name.line, "'%s' is too large", variable->name);
    bool has_values = !parameter && ptx_accept_symbol(parser, '=');
    if (has_values && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
        ptx_parser_fail(parser, name.line, "only .global and .const variables have initial values");
    if (has_values) parse_initialiser(parser, variable, type, open);
    if (open && !external && !has_values)
        ptx_parser_fail(parser, name.line, "'%s' needs a size", variable->name);
    return parser->module->error[0] ? NULL : variable;
}
