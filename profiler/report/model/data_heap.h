/* The heap of a recording in memory: allocating stacks, totals, the time line, each event. Part of data.h. */
#ifndef PROFILER_REPORT_MODEL_DATA_HEAP_H
#define PROFILER_REPORT_MODEL_DATA_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"
#include "util/array.h"
#include "util/index.h"

/* A process whose heap was recorded. */
struct report_heap {
    uint32_t process; /* index */
    uint32_t flags;   /* SFB_HEAP_MMAP, ... */
    uint64_t time;
    uint64_t rate;       /* mean bytes between two samples; 0: every allocation */
    uint32_t state;      /* index of its last one; REPORT_NONE */
    uint64_t totals;     /* time of its last totals; 0: without totals */
    uint64_t last;       /* time of what was read of it last */
    uint64_t incomplete; /* events were lost from this time on; 0: complete */
    bool
        computed; /* what was allocated, lived and was the peak is from its events: its totals are missing or old */
};

/* A thread with a stack. */
struct report_heap_site {
    uint32_t id;
    uint32_t heap, thread; /* indexes */
    uint32_t stack;        /* index; REPORT_NONE: none */
    uint32_t kind;         /* SFB_HEAP_MALLOC, SFB_HEAP_MAPPED */
    uint32_t totals;       /* index; REPORT_NONE: none */
    uint64_t modules;      /* time of the modules that the stack is of */
};

/* Blocks of one size of one site. */
struct report_heap_pair {
    uint32_t site; /* index */
    uint64_t size;
};

/* What follows happened from then on, until the next mark of the same process. */
struct report_heap_mark {
    uint64_t time;
    uint32_t event; /* index of the first */
};

/* What a site had at a snapshot. */
struct report_heap_snapshot {
    uint32_t site; /* index */
    uint64_t time;
    struct sfb_recording_heap_amount allocated, live;
};

struct report_heap_data {
    REPORT_ARRAY(struct report_heap) heaps;
    REPORT_ARRAY(uint32_t) of_process; /* index of its heap + 1; 0: without a heap */
    REPORT_ARRAY(struct report_heap_site) sites;
    REPORT_ARRAY(struct sfb_recording_heap_totals) totals; /* the last ones of a site */
    REPORT_ARRAY(struct report_heap_snapshot) snapshots;   /* by time; without events only */
    REPORT_ARRAY(struct sfb_recording_heap_state) states;  /* as in the file; process is an index */
    REPORT_ARRAY(struct report_heap_pair) pairs;
    REPORT_ARRAY(uint32_t) events; /* pair << 1 | freed */
    REPORT_ARRAY(struct report_heap_mark) marks;
    struct report_index pair_of; /* by site and size */
    uint64_t contradictions;     /* records of the file that cannot be true */
};

/* @return the heap of a process; NULL: none was recorded */
struct report_heap *report_heap_of(const struct report_heap_data *heap, uint32_t process);

/* Each takes a record; ids were looked up. @return false: no memory */
bool report_heap_add(struct report_heap_data *heap, uint32_t process,
                     const struct sfb_recording_heap *from);
bool report_heap_add_site(struct report_heap_data *heap, uint32_t process, uint32_t thread,
                          uint32_t stack, uint64_t modules,
                          const struct sfb_recording_heap_site *from);
bool report_heap_add_totals(struct report_heap_data *heap,
                            const struct sfb_recording_heap_totals *from);
bool report_heap_add_state(struct report_heap_data *heap, uint32_t process,
                           const struct sfb_recording_heap_state *from);
bool report_heap_add_event(struct report_heap_data *heap,
                           const struct sfb_recording_heap_event *from);

/* Events of a process, or of any with REPORT_NONE, were lost. */
void report_heap_add_loss(struct report_heap_data *heap, uint32_t process);

/* Finds or makes the totals of a site. @param site  index @return NULL: no memory */
struct sfb_recording_heap_totals *report_heap_totals_of(struct report_heap_data *heap,
                                                        uint32_t site);

void report_heap_free(struct report_heap_data *heap);

#endif
