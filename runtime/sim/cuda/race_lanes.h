/* What a word of shared memory remembers of the lanes of one warp: race_lanes.c. */
#ifndef KCSIM_RACE_LANES_H
#define KCSIM_RACE_LANES_H

#include "runtime/sim/cuda/exec.h"

/* Of `written`: by atomics alone; of `read`: some of only a part of the word. */
#define KCSIM_TRACE_FLAG 16u
#define KCSIM_ROUNDS ((uint32_t)1 << 22) /* in the last one nothing is looked for */

typedef struct kcsim_lane_trace {
    uint32_t round_and_warp;
    uint32_t writers, readers;        /* lanes */
    uint32_t write_place, read_place; /* instructions, of the last */
    uint8_t written, read;            /* bytes, and KCSIM_TRACE_FLAG */
    uint8_t write_tick, read_tick;    /* of the last */
} kcsim_lane_trace;

/* A lane that another one races with. */
typedef struct kcsim_rival {
    int lane; /* -1: none */
    uint32_t place;
} kcsim_rival;

static inline uint32_t kcsim_trace_owner(const kcsim_warp *warp) {
    return warp->round << 10 | (warp->id & 1023);
}

/* The first of `lanes` whose accesses up to `tick` this lane has not heard of; -1: none. */
static inline int kcsim_trace_unordered(const kcsim_warp *warp, uint32_t lane, uint32_t lanes,
                                        uint8_t tick) {
    for (lanes &= ~(1u << lane); lanes; lanes &= lanes - 1) {
        int other = __builtin_ctz(lanes);
        if (!warp->partly_met || warp->known[lane][other] < tick) return other;
    }
    return -1;
}

/* Before a lane's store or atomic is noted. Several lanes may have written the same to a word at
 * once; one of them is not told of the others. Of readers of parts of a word it is not known who
 * read which. */
static inline kcsim_rival kcsim_trace_look(const kcsim_lane_trace *at, const kcsim_warp *warp,
                                           uint32_t lane, uint32_t bytes, bool atomic) {
    kcsim_rival rival = {.lane = -1, .place = at->write_place};
    if (at->round_and_warp != kcsim_trace_owner(warp)) return rival;
    if ((at->written & bytes) && !(at->writers >> lane & 1) &&
        !(atomic && at->written & KCSIM_TRACE_FLAG))
        rival.lane = kcsim_trace_unordered(warp, lane, at->writers, at->write_tick);
    if (rival.lane >= 0 || !(at->read & bytes)) return rival;
    rival.place = at->read_place;
    if (!(at->readers >> lane & 1 && at->read & KCSIM_TRACE_FLAG))
        rival.lane = kcsim_trace_unordered(warp, lane, at->readers, at->read_tick);
    return rival;
}

static inline void kcsim_trace_write(kcsim_lane_trace *at, const kcsim_warp *warp, uint32_t lane,
                                     uint32_t bytes, bool atomic) {
    uint32_t owner = kcsim_trace_owner(warp);
    if (at->round_and_warp != owner) *at = (kcsim_lane_trace){.round_and_warp = owner};
    /* Other atomics would not see a plain store any more that this one hides. */
    if (atomic && at->written && !(at->written & KCSIM_TRACE_FLAG)) return;
    bool apart = at->write_tick == warp->tick &&
                 kcsim_trace_unordered(warp, lane, at->writers, at->write_tick) >= 0;
    if (!apart) at->writers = at->written = 0;
    bool still = atomic && (at->written & KCSIM_TRACE_FLAG || !at->writers);
    at->writers |= 1u << lane;
    at->written = (uint8_t)(((at->written & 15) | bytes) | (still ? KCSIM_TRACE_FLAG : 0));
    at->write_tick = warp->tick;
    at->write_place = warp->pc;
    at->readers = at->read = 0;
}

/* Most accesses by far: one look and one note a word. */
static inline kcsim_rival kcsim_trace_read(kcsim_lane_trace *at, const kcsim_warp *warp,
                                           uint32_t lane, uint32_t bytes) {
    kcsim_rival rival = {.lane = -1, .place = at->write_place};
    uint32_t read = bytes | (bytes == 15 ? 0 : KCSIM_TRACE_FLAG), readers = 1u << lane;
    if (at->round_and_warp != kcsim_trace_owner(warp)) {
        at->round_and_warp = kcsim_trace_owner(warp);
        at->writers = at->written = 0;
    } else {
        if ((at->written & bytes) && !(at->writers >> lane & 1))
            rival.lane = kcsim_trace_unordered(warp, lane, at->writers, at->write_tick);
        if (at->read_tick == warp->tick) {
            read |= at->read;
            readers |= at->readers;
        }
    }
    at->readers = readers;
    at->read = (uint8_t)read;
    at->read_tick = warp->tick;
    at->read_place = warp->pc;
    return rival;
}

#endif
