/*
 * The agent's share of the address space. Without a limit it maps the whole session. Under RLIMIT_AS, set before or by
 * the program, it keeps an eighth of the limit: the header, and a window each of slots, rings and the threads' own parts.
 *
 * Parts in use stay, even above an eighth: the process's own slot, the rings of its threads, the tables of the heap. So
 * do a few spare ones, for later children and threads.
 */
#ifndef PROFILER_AGENT_SPACE_H
#define PROFILER_AGENT_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/agent/agent.h"

enum {
    SFB_SPACE_SHARE = 8, /* limit / this is the agent's share */
    SFB_SPACE_SPARE = 4  /* slots and rings kept in addition to those in use */
};

/* Indices from first to end, end excluded. */
struct sfb_space_range {
    uint32_t first, end;
};

/* Memory that an agent needs besides the shared memory. */
struct sfb_space_kind {
    size_t thread_size;                                /* size of a thread's own part, in bytes */
    size_t (*tables)(const struct sfb_shared *shared); /* bytes of tables; NULL: no tables */
    /* @return the range of mapped rings that this process may use; end 0: empty */
    struct sfb_space_range (*used)(struct sfb_space_range mapped);
};

/* What is mapped. What may be used is in sfb_agent. */
struct sfb_space {
    const struct sfb_space_kind *kind;
    struct sfb_space_range slots, rings; /* mapped ones */
    uintptr_t threads;                   /* address of ring 0's own part, mapped or not */
    uint32_t at_it;                      /* a thread is shrinking the windows */
    bool shrinks;                        /* the memory is another process's, and may be unmapped */
    bool prof_ignored; /* noted in a slot outside the window, by the program before exec */
};

extern struct sfb_space sfb_space;

/* How many slots and rings fit, at least one slot. @return false: not a single ring fits */
bool sfb_space_fit(uint32_t *slots, uint32_t *rings, uint64_t limit, uint32_t ring_bytes,
                   const struct sfb_shared *shared);

/* All of the memory is mapped at `shared`. shrinks: sfb_space_limit_comes() may unmap parts. */
void sfb_space_whole(struct sfb_shared *shared, bool shrinks);

/* Zeroes the threads' own parts. */
void sfb_space_clear_threads(void);

/*
 * Before RLIMIT_AS is set: unmaps what exceeds the share. Waits up to 100 ms for handlers in other threads; if they do
 * not end, everything stays mapped. Signals: safe; errno is preserved.
 */
void sfb_space_limit_comes(uint64_t limit);

#endif
