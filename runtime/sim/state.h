/* The machine from inside: what memory, modules and launches share. Only files of runtime/sim
 * include this. */
#ifndef KCSIM_STATE_H
#define KCSIM_STATE_H

#include <pthread.h>

#include "runtime/sim/conflicts.h"
#include "runtime/sim/counters.h"
#include "runtime/sim/earlier.h"
#include "runtime/sim/findings.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/memory.h"

#define KCSIM_FAULT_TEXT 704 /* bytes of what ended a launch: a finding and where it was */

struct kcsim_machine {
    const kcsim_arch *arch;
    kcsim_options options;
    pthread_mutex_t lock; /* memory, modules, findings, counters; held for the whole of a launch */
    kcsim_memory memory;
    kcsim_finding_set findings;
    kcsim_counters counters;
    kcsim_conflicts *conflicts;   /* made when a launch first needs it */
    kcsim_earlier *earlier;       /* and this */
    struct kcsim_module *modules; /* linked through kcsim_module.next */
    uint64_t launches;
    uint64_t stack_bytes, heap_limit;
    uint64_t heap_used; /* by kernels' malloc */
    uint64_t workspace; /* where the blocks of a cooperative grid meet; 0 before there was one */
    uint64_t code_next; /* addresses that functions have so far */
    kcsim_output output;
    void *output_context;
    char fault[KCSIM_FAULT_TEXT];
};

/* Frees every module still loaded. The vendor's half provides it. */
void kcsim_modules_free(kcsim_machine *machine);

#endif
