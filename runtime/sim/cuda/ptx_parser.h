/* What the parser's files share. A parser that failed sees only the end of the text, so that loops
 * end by themselves. */
#ifndef KCSIM_PTX_PARSER_H
#define KCSIM_PTX_PARSER_H

#include "runtime/sim/cuda/ptx.h"
#include "runtime/sim/cuda/ptx_lex.h"
#include "runtime/sim/cuda/ptx_scope.h"

typedef struct ptx_parser {
    ptx_module *module;
    ptx_lexer lexer;
    ptx_token token; /* the next one, not yet taken */
    ptx_scope *scope, *unit; /* the innermost; that of this text's own names */
    ptx_scope *linked;       /* names with linkage: of all texts */
    ptx_routine *routine; /* the one whose body is being read */
    ptx_label **labels;   /* of this routine */
    size_t label_count, label_capacity;
    const char *last_end; /* where the last taken token ended */
    struct {
        const char *text;
        size_t length;
        unsigned operands;
    } passed[64]; /* mnemonics that ptx_check_form has seen, by their hash */
} ptx_parser;

void ptx_parser_fail(ptx_parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with "expected X, found 'token'". */
void ptx_parser_expected(ptx_parser *parser, const char *what);

ptx_token ptx_take(ptx_parser *parser);
bool ptx_peek_symbol(const ptx_parser *parser, char symbol);
bool ptx_accept_symbol(ptx_parser *parser, char symbol);
void ptx_expect_symbol(ptx_parser *parser, char symbol);
bool ptx_peek_name(const ptx_parser *parser, const char *text);
bool ptx_token_is(const ptx_token *token, const char *text);
ptx_token ptx_expect_name(ptx_parser *parser, const char *what);
/* An unsigned constant that fits `limit`. */
uint64_t ptx_expect_integer(ptx_parser *parser, const char *what, uint64_t limit);
/* [+-] integer. */
int64_t ptx_signed_integer(ptx_parser *parser);
void *ptx_need(ptx_parser *parser, size_t bytes);
char *ptx_copy_token(ptx_parser *parser, const ptx_token *token);

/* What other texts of a linked module have to do with a name. */
typedef enum ptx_linkage {
    PTX_LINKAGE_NONE,
    PTX_LINKAGE_VISIBLE,
    PTX_LINKAGE_WEAK,  /* and .common: the first definition is taken */
    PTX_LINKAGE_EXTERN /* declared here, defined elsewhere */
} ptx_linkage;

/* ptx_parse_variable.c: `.align 4 .b8 name[16] = {...}` after the space has been read; the `;` or
 * what else ends it stays. A parameter of a routine may also carry `.ptr .global .align 4`. */
ptx_variable *ptx_parse_variable(ptx_parser *parser, ptx_space space, ptx_linkage linkage,
                                 bool parameter);
/* Where a name of the module belongs, and the entry that it has there already or NULL. */
ptx_name *ptx_parser_known(const ptx_parser *parser, const ptx_token *name, bool has_linkage);
bool ptx_space_from_name(const ptx_token *token, ptx_space *space);

/* ptx_parse.c: what follows `.callprototype`, up to the `;`. NULL after an error. */
ptx_routine *ptx_parse_prototype(ptx_parser *parser);

/* ptx_parse_body.c: from after `{` to the matching `}`. */
void ptx_parse_body(ptx_parser *parser, ptx_routine *routine);

/* ptx_forms.c: fails where PTX has no such form, or none for this target or version. */
void ptx_check_form(ptx_parser *parser, uint32_t line, const char *mnemonic, size_t length,
                    unsigned operands);

#endif
