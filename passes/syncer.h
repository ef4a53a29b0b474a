// Shared by the files of the sync pass.
#ifndef KC_PASSES_SYNCER_H
#define KC_PASSES_SYNCER_H

#include "passes/pass.h"

// ---- sync_in_place.c: barriers between the reading of elements and their writing by other threads
void kc_sync_in_place(kc_module *, kc_op *kernel);

#endif
