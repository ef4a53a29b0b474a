// The kinds that the registry lists: one row here and one folder make a target.
#ifndef KC_TARGETS_KINDS_H
#define KC_TARGETS_KINDS_H

#include "targets/target.h"

extern const kc_target_kind kc_target_cuda, kc_target_hip;

#endif
