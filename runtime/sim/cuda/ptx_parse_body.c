/* The inside of a routine: declarations, labels, statements and their operands. */
#include <ctype.h>
#include <string.h>

#include "runtime/sim/cuda/ptx_parser.h"
#include "runtime/sim/cuda/ptx_tables.h"

#define MOST_REGISTERS 200000
#define MOST_ELEMENTS 256
#define MOST_DEPTH 64
#define MOST_IN_BRACES 128 /* the accumulators of a wgmma of 64 x 256 */

static void parse_operand(ptx_parser *parser, ptx_operand *operand);

/* ---- registers ---- */

static uint32_t add_registers(ptx_parser *parser, uint32_t count, uint8_t bytes) {
    ptx_routine *routine = parser->routine;
    uint32_t first = (uint32_t)routine->register_count;
    if (count > MOST_REGISTERS || first + count > MOST_REGISTERS) {
        ptx_parser_fail(parser, parser->token.line, "too many registers: at most %d a routine",
                        MOST_REGISTERS);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!kcsim_array_grow((void **)&routine->registers, routine->register_count,
                              &routine->register_capacity, sizeof *routine->registers)) {
            ptx_parser_fail(parser, 0, "out of host memory");
            return 0;
        }
        routine->registers[routine->register_count++].bytes = bytes;
    }
    return first;
}

/* `.reg .b32 %r<5>, %x;` or `.reg .v2 .b32 v;` */
static void parse_registers(ptx_parser *parser) {
    ptx_expect_symbol(parser, '.');
    ptx_token type_name = ptx_expect_name(parser, "a register type");
    uint32_t vector = ptx_token_is(&type_name, "v2") ? 2 : ptx_token_is(&type_name, "v4") ? 4 : 0;
    if (vector) {
        ptx_expect_symbol(parser, '.');
        type_name = ptx_expect_name(parser, "a register type");
    }
    ptx_type type = ptx_find_type(type_name.text, type_name.length);
    if (type == PTX_NO_TYPE || type == PTX_B1 || (vector && type == PTX_PRED))
        ptx_parser_fail(parser, type_name.line, "unknown register type '.%.*s'",
                        (int)type_name.length, type_name.text);
    uint8_t bits = ptx_types[type].bits;
    uint8_t bytes = type == PTX_PRED ? 0 : bits <= 16 ? 2 : bits / 8;
    do {
        ptx_token token = ptx_expect_name(parser, "a register");
        ptx_name *name = ptx_scope_add(&parser->module->arena, parser->scope, token.text,
                                       token.length, PTX_NAME_REGISTERS);
        if (!name) {
            ptx_parser_fail(parser, token.line, "'%.*s' is declared twice", (int)token.length,
                            token.text);
            return;
        }
        if (ptx_accept_symbol(parser, '<')) {
            name->count = (uint32_t)ptx_expect_integer(parser, "a number of registers", UINT32_MAX);
            ptx_expect_symbol(parser, '>');
        }
        uint32_t count = name->count ? name->count : 1;
        name->vector = vector;
        if (vector && count < MOST_REGISTERS) count *= vector;
        name->first = add_registers(parser, count, bytes);
    } while (ptx_accept_symbol(parser, ','));
    ptx_expect_symbol(parser, ';');
}

/* ---- labels ---- */

static ptx_label *label_of(ptx_parser *parser, const ptx_token *token) {
    uint32_t reg;
    ptx_name *name = ptx_scope_find(parser->scope, token->text, token->length, &reg);
    if (name) return name->kind == PTX_NAME_LABEL ? name->label : NULL;
    name = ptx_scope_add(&parser->module->arena, parser->scope, token->text, token->length,
                         PTX_NAME_LABEL);
    ptx_label *label = ptx_need(parser, sizeof *label);
    if (!name || !label ||
        !kcsim_array_grow((void **)&parser->labels, parser->label_count, &parser->label_capacity,
                          sizeof *parser->labels))
        return NULL;
    label->name = ptx_copy_token(parser, token);
    label->at = token->line; /* until it is defined: where it was first used */
    name->label = label;
    parser->labels[parser->label_count++] = label;
    return label;
}

/* A label used in inner braces and defined outside them: forward uses made an entry inside. They
 * meet here. */
static void parse_label_targets(ptx_parser *parser, ptx_label *list) {
    ptx_label *targets[MOST_ELEMENTS];
    uint32_t count = 0;
    do {
        ptx_token token = ptx_expect_name(parser, "a label");
        if (token.kind != PTX_TOKEN_NAME) return;
        ptx_label *label = label_of(parser, &token);
        if (!label || count == MOST_ELEMENTS) {
            ptx_parser_fail(parser, token.line, "bad list of labels");
            return;
        }
        targets[count++] = label;
    } while (ptx_accept_symbol(parser, ','));
    ptx_expect_symbol(parser, ';');
    list->targets = ptx_need(parser, count * sizeof *targets);
    list->target_count = list->targets ? count : 0;
    if (list->targets) memcpy(list->targets, targets, count * sizeof *targets);
}

/* `.calltargets f, g;` */
static void parse_call_targets(ptx_parser *parser, ptx_label *list) {
    ptx_routine *routines[MOST_ELEMENTS];
    uint32_t count = 0;
    do {
        uint32_t reg;
        ptx_token token = ptx_expect_name(parser, "a function");
        ptx_name *name = token.kind == PTX_TOKEN_NAME
                             ? ptx_scope_find(parser->scope, token.text, token.length, &reg)
                             : NULL;
        if (!name || name->kind != PTX_NAME_ROUTINE || count == MOST_ELEMENTS) {
            ptx_parser_fail(parser, token.line, "bad list of functions");
            return;
        }
        routines[count++] = name->routine;
    } while (ptx_accept_symbol(parser, ','));
    ptx_expect_symbol(parser, ';');
    list->routines = ptx_need(parser, count * sizeof(ptx_routine *));
    list->routine_count = list->routines ? count : 0;
    if (list->routines) memcpy(list->routines, routines, count * sizeof(ptx_routine *));
}

/* What a label may stand for instead of a place: a list of targets, a type of functions. */
static void parse_list_directive(ptx_parser *parser, ptx_label *label) {
    if (!ptx_peek_symbol(parser, '.')) return;
    ptx_lexer before = parser->lexer;
    ptx_token dot = parser->token;
    ptx_take(parser);
    ptx_token name = parser->token;
    bool branches = ptx_token_is(&name, "branchtargets"), calls = ptx_token_is(&name, "calltargets");
    bool prototype = ptx_token_is(&name, "callprototype");
    if (!branches && !calls && !prototype) {
        parser->lexer = before;
        parser->token = dot;
        return;
    }
    ptx_take(parser);
    if (branches) parse_label_targets(parser, label);
    else if (calls) parse_call_targets(parser, label);
    else label->prototype = ptx_parse_prototype(parser);
}

static void define_label(ptx_parser *parser, const ptx_token *token) {
    ptx_name *here = ptx_scope_here(parser->scope, token->text, token->length);
    if (!here) { /* the same name further out is another label */
        here = ptx_scope_add(&parser->module->arena, parser->scope, token->text, token->length,
                             PTX_NAME_LABEL);
        ptx_label *label = ptx_need(parser, sizeof *label);
        if (!here || !label) return;
        label->name = ptx_copy_token(parser, token);
        here->label = label;
    }
    if (here->kind != PTX_NAME_LABEL || here->label->defined) {
        ptx_parser_fail(parser, token->line, "'%.*s' is declared twice", (int)token->length,
                        token->text);
        return;
    }
    here->label->defined = true;
    here->label->at = (uint32_t)parser->routine->statement_count;
    parse_list_directive(parser, here->label);
}

/* ---- operands ---- */

static void set_special(ptx_parser *parser, ptx_operand *operand, const ptx_token *token) {
    char text[40];
    size_t length = token->length;
    if (length < sizeof text - 3) memcpy(text, token->text, length);
    if (length < sizeof text - 3 && ptx_peek_symbol(parser, '.') && !parser->token.spaced) {
        ptx_take(parser);
        ptx_token part = ptx_expect_name(parser, "x, y or z");
        text[length++] = '.';
        text[length++] = part.length == 1 ? part.text[0] : '?';
    }
    operand->kind = PTX_OPERAND_SPECIAL;
    operand->special = length < sizeof text ? ptx_find_special(text, length) : PTX_SPECIAL_COUNT;
    bool known = operand->special != PTX_SPECIAL_COUNT;
    if (!known && length > 7 && memcmp(token->text, "%envreg", 7) == 0)
        ptx_parser_fail(parser, token->line,
                        "'%.*s': of the environment registers only those are here by which the "
                        "blocks of a cooperative grid meet, %%envreg1 and %%envreg2",
                        (int)token->length, token->text);
    else if (!known)
        ptx_parser_fail(parser, token->line, "unknown register '%.*s'", (int)token->length,
                        token->text);
}

/* `v`, all of a vector of registers, or `v.x`. PTX ISA, "Vectors as Operands". */
static void set_vector(ptx_parser *parser, ptx_operand *operand, const ptx_name *name,
                       uint32_t first) {
    static const char names[2][5] = {"xyzw", "rgba"};
    if (!ptx_peek_symbol(parser, '.') || parser->token.spaced) {
        ptx_operand *elements = ptx_need(parser, name->vector * sizeof *elements);
        if (!elements) return;
        for (uint32_t i = 0; i < name->vector; i++)
            elements[i] = (ptx_operand){.kind = PTX_OPERAND_REGISTER, .reg = first + i};
        operand->kind = PTX_OPERAND_VECTOR;
        operand->elements = elements;
        operand->element_count = name->vector;
        return;
    }
    ptx_take(parser);
    ptx_token part = ptx_expect_name(parser, "x, y, z or w");
    operand->kind = PTX_OPERAND_REGISTER;
    for (int i = 0; i < 2; i++) {
        const char *at = part.length == 1 ? strchr(names[i], part.text[0]) : NULL;
        if (!at || at >= names[i] + name->vector) continue;
        operand->reg = first + (uint32_t)(at - names[i]);
        return;
    }
    ptx_parser_fail(parser, part.line, "a vector of %u has no '.%.*s'", name->vector,
                    (int)part.length, part.text);
}

static void set_name(ptx_parser *parser, ptx_operand *operand, const ptx_token *token) {
    uint32_t reg = 0;
    ptx_name *name = ptx_scope_find(parser->scope, token->text, token->length, &reg);
    if (ptx_token_is(token, "_")) {
        operand->kind = PTX_OPERAND_SINK;
    } else if (!name && ptx_token_is(token, "WARP_SZ")) {
        operand->kind = PTX_OPERAND_INTEGER;
        operand->integer = 32;
    } else if (!name && token->text[0] == '%') {
        set_special(parser, operand, token);
    } else if (!name || name->kind == PTX_NAME_LABEL) {
        operand->kind = PTX_OPERAND_LABEL;
        operand->label = label_of(parser, token);
    } else if (name->kind == PTX_NAME_REGISTERS && name->vector) {
        set_vector(parser, operand, name, name->first + (reg - name->first) * name->vector);
    } else if (name->kind == PTX_NAME_REGISTERS) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->reg = reg;
    } else if (name->kind == PTX_NAME_ROUTINE) {
        operand->kind = PTX_OPERAND_ROUTINE;
        operand->routine = name->routine;
    } else {
        operand->kind = PTX_OPERAND_VARIABLE;
        operand->variable = name->variable;
        if (ptx_peek_symbol(parser, '+') || ptx_peek_symbol(parser, '-'))
            operand->integer = ptx_signed_integer(parser);
    }
}

static void parse_number(ptx_parser *parser, ptx_operand *operand) {
    bool negative = false;
    while (ptx_peek_symbol(parser, '-') || ptx_peek_symbol(parser, '+'))
        negative ^= ptx_take(parser).symbol == '-';
    ptx_token token = ptx_take(parser);
    operand->integer = (int64_t)token.value;
    if (token.kind == PTX_TOKEN_INTEGER) {
        operand->kind = PTX_OPERAND_INTEGER;
        if (negative) operand->integer = (int64_t)(0 - token.value);
    } else if (token.kind == PTX_TOKEN_FLOAT32) {
        operand->kind = PTX_OPERAND_FLOAT32;
        if (negative) operand->integer ^= 0x80000000;
    } else if (token.kind == PTX_TOKEN_FLOAT64) {
        operand->kind = PTX_OPERAND_FLOAT64;
        if (negative) operand->integer ^= INT64_MIN;
    } else {
        ptx_parser_fail(parser, token.line, "expected an operand, found '%.*s'",
                        (int)(token.length % 60), token.text);
    }
}

/* Elements up to `close`. */
static void parse_elements(ptx_parser *parser, ptx_operand *operand, ptx_operand_kind kind,
                           char close) {
    ptx_operand elements[MOST_IN_BRACES];
    uint32_t count = 0;
    operand->kind = kind;
    while (!ptx_peek_symbol(parser, close) && parser->token.kind != PTX_TOKEN_END) {
        if (count == MOST_IN_BRACES) {
            ptx_parser_fail(parser, parser->token.line, "more than %d elements",
                            MOST_IN_BRACES);
            return;
        }
        if (ptx_peek_symbol(parser, '{') || ptx_peek_symbol(parser, '[') ||
            ptx_peek_symbol(parser, '(')) {
            ptx_parser_expected(parser, "an element");
            return;
        }
        parse_operand(parser, &elements[count++]);
        if (!ptx_accept_symbol(parser, ',')) break;
    }
    ptx_expect_symbol(parser, close);
    operand->elements = ptx_need(parser, (count + 1) * sizeof *elements);
    operand->element_count = operand->elements ? count : 0;
    if (operand->elements && count) memcpy(operand->elements, elements, count * sizeof *elements);
}

/* [reg], [reg+4], [name], [name+4], [4096], [reg, {x, y}] */
static void parse_memory(ptx_parser *parser, ptx_operand *operand) {
    ptx_operand base = {0};
    operand->kind = PTX_OPERAND_MEMORY;
    operand->reg = PTX_NO_REGISTER;
    uint32_t line = parser->token.line;
    if (parser->token.kind == PTX_TOKEN_NAME) {
        ptx_token token = ptx_take(parser);
        set_name(parser, &base, &token);
    } else {
        parse_number(parser, &base);
    }
    operand->integer = base.integer;
    if (base.kind == PTX_OPERAND_REGISTER) {
        operand->reg = base.reg;
        operand->integer = 0;
    } else if (base.kind == PTX_OPERAND_VARIABLE) {
        operand->variable = base.variable;
    } else if (base.kind != PTX_OPERAND_INTEGER) {
        ptx_parser_fail(parser, line, "an address must be a register, a variable or a number");
    }
    if (ptx_peek_symbol(parser, '+') || ptx_peek_symbol(parser, '-'))
        operand->integer += ptx_signed_integer(parser);
    if (ptx_accept_symbol(parser, ',')) {
        ptx_expect_symbol(parser, '{');
        parse_elements(parser, operand, PTX_OPERAND_MEMORY, '}');
    }
    ptx_expect_symbol(parser, ']');
}

static void parse_pair(ptx_parser *parser, ptx_operand *operand) {
    ptx_operand *elements = ptx_need(parser, 2 * sizeof *elements);
    if (!elements) return;
    elements[0] = *operand;
    *operand = (ptx_operand){.kind = PTX_OPERAND_PAIR, .elements = elements, .element_count = 2};
    ptx_token token = ptx_expect_name(parser, "a predicate");
    set_name(parser, &elements[1], &token);
}

static void parse_operand(ptx_parser *parser, ptx_operand *operand) {
    *operand = (ptx_operand){.reg = PTX_NO_REGISTER};
    if (ptx_accept_symbol(parser, '{')) {
        parse_elements(parser, operand, PTX_OPERAND_VECTOR, '}');
    } else if (ptx_accept_symbol(parser, '(')) {
        parse_elements(parser, operand, PTX_OPERAND_LIST, ')');
    } else if (ptx_accept_symbol(parser, '[')) {
        parse_memory(parser, operand);
    } else if (ptx_peek_symbol(parser, '!') || parser->token.kind == PTX_TOKEN_NAME) {
        bool negated = ptx_accept_symbol(parser, '!');
        ptx_token token = ptx_expect_name(parser, "an operand");
        if (token.kind != PTX_TOKEN_NAME) return;
        set_name(parser, operand, &token);
        operand->negated = negated;
        if (ptx_accept_symbol(parser, '|')) parse_pair(parser, operand);
    } else {
        parse_number(parser, operand);
    }
}

/* ---- statements ---- */

static void take_modifier(ptx_parser *parser, ptx_statement *statement, const char *text,
                          size_t length) {
    ptx_type type = ptx_find_type(text, length);
    ptx_group group;
    if (type != PTX_NO_TYPE) {
        if (statement->type_count == PTX_MAX_TYPES) {
            ptx_parser_fail(parser, statement->line, "too many types after '%s'",
                            ptx_ops[statement->op].mnemonic);
            return;
        }
        statement->types[statement->type_count++] = type;
        return;
    }
    if (ptx_op_takes(statement->op, PTX_GROUP_TILE) &&
        ptx_find_tile(text, length, statement->tile))
        return;
    ptx_modifier modifier = ptx_find_modifier(statement->op, text, length, statement->modifiers, &group);
    if (modifier == PTX_M_NONE)
        ptx_parser_fail(parser, statement->line,
                        "'%s' takes no '.%.*s' here, or this machine does not know it",
                        ptx_ops[statement->op].mnemonic, (int)length, text);
    else if (group == PTX_GROUP_SPACE && statement->modifiers[group] &&
             !statement->modifiers[PTX_GROUP_FROM] && ptx_op_takes(statement->op, PTX_GROUP_FROM))
        statement->modifiers[PTX_GROUP_FROM] = (uint8_t)modifier; /* .to.from */
    else if (statement->modifiers[group] && statement->op != PTX_OP_CPASYNC)
        ptx_parser_fail(parser, statement->line, "'.%.*s' contradicts an earlier modifier of '%s'",
                        (int)length, text, ptx_ops[statement->op].mnemonic);
    else statement->modifiers[group] = (uint8_t)modifier;
}

/* `first` was taken; the rest of the mnemonic follows it without white space. Returns its length. */
static size_t parse_mnemonic(ptx_parser *parser, ptx_statement *statement, const ptx_token *first) {
    while (ptx_peek_symbol(parser, '.')) {
        ptx_take(parser);
        if (parser->token.kind == PTX_TOKEN_INTEGER) ptx_take(parser); /* of .2d */
        ptx_expect_name(parser, "a modifier");
    }
    const char *text = first->text;
    size_t length = (size_t)(parser->last_end - text), used;
    if (parser->module->error[0]) return 0;
    statement->op = ptx_find_op(text, length, &used);
    if (statement->op == PTX_OP_COUNT) {
        ptx_parser_fail(parser, first->line, "unknown instruction '%.*s'",
                        (int)(length < 80 ? length : 80), text);
        return 0;
    }
    while (used < length && !parser->module->error[0]) {
        const char *word = text + used + 1;
        size_t size = 0;
        while (used + 1 + size < length && word[size] != '.')
            size++;
        take_modifier(parser, statement, word, size);
        used += size + 1;
    }
    return length;
}

/* Operands that a modifier brings with it are there exactly when it is. */
static bool operands_fit(const ptx_statement *statement) {
    const ptx_op_info *info = &ptx_ops[statement->op];
    if (statement->operand_count < info->least || statement->operand_count > info->most)
        return false;
    switch (info->family) {
    case PTX_FAMILY_SETP:
    case PTX_FAMILY_SET:
        return statement->operand_count == info->least + (ptx_has(statement, PTX_GROUP_BOOL) != 0);
    case PTX_FAMILY_LD:
    case PTX_FAMILY_ST:
    case PTX_FAMILY_ATOM:
    case PTX_FAMILY_RED:
        return statement->operand_count ==
               info->least + (ptx_has(statement, PTX_GROUP_L2HINT) != 0) +
                   (ptx_has(statement, PTX_GROUP_ATOMIC) == PTX_M_CAS);
    default: return true;
    }
}

/* The source of a statement with white space squeezed, for findings. */
static const char *statement_text(ptx_parser *parser, const char *from, const char *to) {
    char *copy = ptx_need(parser, (size_t)(to - from) + 1);
    size_t used = 0;
    if (!copy) return "";
    for (; from < to; from++) {
        bool blank = isspace((unsigned char)*from);
        if (blank && (used == 0 || copy[used - 1] == ' ')) continue;
        copy[used++] = blank ? ' ' : *from;
    }
    return copy;
}

static void parse_guard(ptx_parser *parser, ptx_statement *statement) {
    statement->guard_negated = ptx_accept_symbol(parser, '!');
    ptx_token token = ptx_expect_name(parser, "a predicate");
    uint32_t reg = 0;
    ptx_name *name = token.kind == PTX_TOKEN_NAME
                         ? ptx_scope_find(parser->scope, token.text, token.length, &reg)
                         : NULL;
    if (!name || name->kind != PTX_NAME_REGISTERS || parser->routine->registers[reg].bytes != 0)
        ptx_parser_fail(parser, token.line, "'%.*s' is no predicate", (int)token.length,
                        token.text);
    statement->guard = reg;
}

static void parse_statement(ptx_parser *parser, const ptx_token *first, ptx_statement *statement,
                            const char *from) {
    statement->line = first->line;
    size_t length = parse_mnemonic(parser, statement, first);
    while (!ptx_peek_symbol(parser, ';') && parser->token.kind != PTX_TOKEN_END) {
        if (statement->operand_count == PTX_MAX_OPERANDS) {
            ptx_parser_fail(parser, first->line, "too many operands");
            return;
        }
        parse_operand(parser, &statement->operands[statement->operand_count++]);
        if (!ptx_accept_symbol(parser, ',')) break;
    }
    statement->text = statement_text(parser, from, parser->last_end);
    statement->function = parser->routine->name;
    ptx_expect_symbol(parser, ';');
    if (parser->module->error[0]) return;
    const ptx_op_info *info = &ptx_ops[statement->op];
    ptx_check_form(parser, first->line, first->text, length, statement->operand_count);
    if (!operands_fit(statement)) {
        ptx_parser_fail(parser, first->line, "'%s' takes %u to %u operands, not %u", info->mnemonic,
                        info->least, info->most, statement->operand_count);
        return;
    }
    ptx_routine *routine = parser->routine;
    if (!kcsim_array_grow((void **)&routine->statements, routine->statement_count,
                          &routine->statement_capacity, sizeof *routine->statements)) {
        ptx_parser_fail(parser, 0, "out of host memory");
        return;
    }
    routine->statements[routine->statement_count++] = *statement;
}

static void parse_local_directive(ptx_parser *parser) {
    ptx_token name = ptx_expect_name(parser, "a directive");
    ptx_space space;
    bool external = ptx_token_is(&name, "extern");
    if (external) {
        ptx_expect_symbol(parser, '.');
        name = ptx_expect_name(parser, "a space");
    }
    if (ptx_token_is(&name, "reg")) {
        parse_registers(parser);
    } else if (ptx_space_from_name(&name, &space)) {
        ptx_variable *variable;
        do
            variable = ptx_parse_variable(
                parser, space, external ? PTX_LINKAGE_EXTERN : PTX_LINKAGE_NONE, false);
        while (variable && ptx_accept_symbol(parser, ','));
        ptx_expect_symbol(parser, ';');
    } else if (ptx_token_is(&name, "loc") || ptx_token_is(&name, "file")) {
        while (parser->token.kind != PTX_TOKEN_END && parser->token.line == name.line)
            ptx_take(parser);
    } else if (ptx_token_is(&name, "pragma")) {
        while (!ptx_accept_symbol(parser, ';') && parser->token.kind != PTX_TOKEN_END)
            ptx_take(parser);
    } else {
        ptx_parser_fail(parser, name.line, "unknown directive '.%.*s' in a routine",
                        (int)name.length, name.text);
    }
}

/* Labels met before their definition inside braces that closed: the definition is further out, or
 * missing. */
static void close_scope(ptx_parser *parser, ptx_scope *outermost) {
    ptx_scope *scope = parser->scope;
    for (size_t i = 0; scope != outermost && i < scope->bucket_count; i++)
        for (ptx_name *name = scope->buckets[i]; name; name = name->next) {
            if (name->kind != PTX_NAME_LABEL || name->label->defined) continue;
            uint32_t reg;
            ptx_name *outer = ptx_scope_find(scope->outer, name->text, name->length, &reg);
            if (!outer) {
                outer = ptx_scope_add(&parser->module->arena, scope->outer, name->text,
                                      name->length, PTX_NAME_LABEL);
                if (outer) outer->label = name->label;
            } else if (outer->kind == PTX_NAME_LABEL) {
                name->label->targets = ptx_need(parser, sizeof *name->label->targets);
                if (name->label->targets) name->label->targets[0] = outer->label;
                name->label->target_count =
                    UINT32_MAX; /* stands for the outer one: resolve_labels */
            }
        }
    parser->scope = scope->outer;
}

static void resolve_labels(ptx_parser *parser) {
    for (size_t i = 0; i < parser->label_count; i++) {
        ptx_label *label = parser->labels[i];
        const ptx_label *end = label;
        while (!end->defined && end->target_count == UINT32_MAX && end->targets)
            end = end->targets[0];
        if (!end->defined) {
            ptx_parser_fail(parser, label->at, "'%s' is declared nowhere", label->name);
            return;
        }
        *label = *end;
    }
}

void ptx_parse_body(ptx_parser *parser, ptx_routine *routine) {
    ptx_scope *outermost = parser->scope;
    int depth = 1;
    parser->routine = routine;
    parser->label_count = 0;
    routine->has_body = true;
    while (depth > 0 && parser->token.kind != PTX_TOKEN_END) {
        ptx_statement statement = {.guard = PTX_NO_REGISTER};
        const char *from = parser->token.text;
        if (ptx_accept_symbol(parser, '}')) {
            if (--depth > 0) close_scope(parser, outermost);
        } else if (ptx_accept_symbol(parser, '{')) {
            ptx_scope *inner = ptx_scope_open(&parser->module->arena, parser->scope, 16);
            if (!inner || ++depth > MOST_DEPTH)
                ptx_parser_fail(parser, parser->token.line, "braces nested too deeply");
            else parser->scope = inner;
        } else if (ptx_accept_symbol(parser, '.')) {
            parse_local_directive(parser);
        } else if (!ptx_accept_symbol(parser, ';')) {
            bool guarded = ptx_accept_symbol(parser, '@');
            if (guarded) parse_guard(parser, &statement);
            ptx_token first = ptx_expect_name(parser, "an instruction");
            if (first.kind != PTX_TOKEN_NAME) break;
            if (!guarded && ptx_accept_symbol(parser, ':')) define_label(parser, &first);
            else parse_statement(parser, &first, &statement, from);
        }
    }
    if (depth > 0) ptx_parser_expected(parser, "'}'");
    if (!parser->module->error[0]) resolve_labels(parser);
    parser->routine = NULL;
}
