/* Finding a row by its text. */
#ifndef KCSIM_PTX_TABLES_H
#define KCSIM_PTX_TABLES_H

#include "runtime/sim/cuda/ptx.h"

/* PTX_NO_TYPE when there is none. */
ptx_type ptx_find_type(const char *text, size_t length);
/* The instruction that `mnemonic` begins with, taking the longest; PTX_OP_COUNT when none. *used:
 * its length. */
ptx_op ptx_find_op(const char *mnemonic, size_t length, size_t *used);
/* `m64n128k16` as three numbers; false when the word is something else. */
bool ptx_find_tile(const char *text, size_t length, uint16_t tile[3]);
/* The modifier of that text in a group that `op` takes, if there is one in a group that is not taken
 * yet; PTX_M_NONE when none. */
ptx_modifier ptx_find_modifier(ptx_op op, const char *text, size_t length, const uint8_t *taken,
                               ptx_group *group);
/* PTX_SPECIAL_COUNT when there is none. */
ptx_special ptx_find_special(const char *text, size_t length);

#endif
