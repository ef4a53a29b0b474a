/* A stub for each call that is not there. */
#include "runtime/sim/cuda/driver_unsupported.h"

#include "runtime/sim/cuda/driver.h"

#define STUB(name)                                                                                 \
    CUresult name(void) {                                                                          \
        return driver_unsupported(#name);                                                          \
    }

DRIVER_UNSUPPORTED(STUB)
