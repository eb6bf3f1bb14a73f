/*
 * How much address space the agent takes. Without a limit it maps the whole session. Where RLIMIT_AS stands, or the program
 * sets it, it keeps an eighth of the limit: the header, and a window each of slots, rings and the threads' own parts.
 *
 * What is in use stays, also above an eighth: the process's own slot, the rings of its threads, the tables of the heap. So
 * do a few to spare, for children and threads to come.
 */
#ifndef SFB_RECORD_SPACE_H
#define SFB_RECORD_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/agent.h"

enum {
    SFB_SPACE_SHARE = 8, /* the limit by this is the agent's part */
    SFB_SPACE_SPARE = 4  /* slots, and rings beside those in use, that stay in any case */
};

/* Numbers from first on, below end. */
struct sfb_space_range {
    uint32_t first, end;
};

/* What an agent has besides the shared memory. */
struct sfb_space_kind {
    size_t thread_size;                                /* bytes of a thread's own part */
    size_t (*tables)(const struct sfb_shared *shared); /* bytes that have one size; NULL: none */
    /* Of the mapped rings those that this process may use, from the first to the last; end 0: none. */
    struct sfb_space_range (*used)(struct sfb_space_range mapped);
};

/* What is mapped. What may be used stands in sfb_agent. */
struct sfb_space {
    const struct sfb_space_kind *kind;
    struct sfb_space_range slots, rings; /* numbers that are mapped */
    uintptr_t threads;                   /* address of ring 0's own part, mapped or not */
    uint32_t at_it;                      /* a thread gives something back */
    bool shrinks; /* the memory is another process's, and may be given back */
    bool
        prof_ignored; /* the slot of the program before exec said so, and lies outside the window */
};

extern struct sfb_space sfb_space;

/* How many slots and rings fit, at least one slot. @return false: no ring does */
bool sfb_space_fit(uint32_t *slots, uint32_t *rings, uint64_t limit, uint32_t ring_bytes,
                   const struct sfb_shared *shared);

/* All of the memory is mapped, from shared on. shrinks: sfb_space_limit_comes() may give parts of it back. */
void sfb_space_whole(struct sfb_shared *shared, bool shrinks);

/* Makes the threads' own parts zero. */
void sfb_space_clear_threads(void);

/*
 * The program is about to set RLIMIT_AS: gives back what the limit leaves no room for. Waits up to 100 ms for handlers in
 * other threads; if they do not end, nothing is given back. Signals: safe; errno is left alone.
 */
void sfb_space_limit_comes(uint64_t limit);

#endif
