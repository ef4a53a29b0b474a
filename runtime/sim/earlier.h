/* What the last few launches did to global memory: for a launch that may begin before they have
 * ended, and must wait before it touches what they use (programmatic dependent launch).
 *
 * By sectors of 32 bytes: which bytes were written and which were read, the least line that did so,
 * and whether all that did were strong. Each launch has a table; one that began before its
 * predecessor ended may be that of a third. */
#ifndef KCSIM_EARLIER_H
#define KCSIM_EARLIER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/sim/memory.h"

typedef struct kcsim_earlier kcsim_earlier;

typedef struct kcsim_touch {
    uint64_t address;
    uint32_t size, line; /* line: of the instruction */
    bool writes, strong;
    uint32_t warp, time; /* of all the launch's warps; its clock */
} kcsim_touch;

/* What an earlier launch did with the same bytes. */
typedef struct kcsim_trace {
    const char *kernel;
    uint32_t line;
    bool wrote;
    bool behind; /* it comes before the predecessor, which did not wait for it */
    bool heard;  /* both are strong, and what it wrote may say that it is done */
} kcsim_trace;

/* NULL when the host has no address space for it. */
kcsim_earlier *kcsim_earlier_create(const kcsim_memory *memory);
void kcsim_earlier_destroy(kcsim_earlier *earlier);
/* Launch `number` begins. It does not wait for launch `after` to end, and for no other; 0: all that
 * came before have ended. `warps`: how many it has, when it may hand over; else 0. */
void kcsim_earlier_begin(kcsim_earlier *earlier, uint64_t number, const char *kernel,
                         uint64_t after, uint64_t warps);
/* What the launch's warps from `first` on did up to these times comes before the start of a launch
 * that does not wait for it. Not for one warp by two threads at once. */
void kcsim_earlier_hand_over(kcsim_earlier *earlier, uint32_t first, const uint32_t *times,
                             uint32_t count);
/* Some launch may not have ended. */
bool kcsim_earlier_is_open(const kcsim_earlier *earlier);
/* A thread of the launch has waited for its predecessor. */
void kcsim_earlier_waited(kcsim_earlier *earlier);
/* Notes what the launch itself does. Thread-safe. */
void kcsim_earlier_note(kcsim_earlier *earlier, const kcsim_touch *touch);
/* Whether a launch that may not have ended uses the same bytes, one of the two writing; `waited`:
 * the predecessor has ended. */
bool kcsim_earlier_find(const kcsim_earlier *earlier, const kcsim_touch *touch, bool waited,
                        kcsim_trace *found);

#endif
