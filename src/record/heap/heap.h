/*
 * What the heap hooks know: one of it in a process, and one of it in a thread. Written when a recording begins and ends,
 * and in a child of fork().
 *
 *     next.h      the functions behind those that are interposed
 *     pool.h      memory for the time before these are known
 *     hooks*.c    malloc() and the like, operator new and delete, mmap()
 *     event.h     an event, into the thread's ring
 *     thread.h    a thread gets its ring, and gives it back
 *     sample.h    few blocks instead of all
 *     table.h     nothing is recorded: the process has a live table
 *     tail.h      its blocks
 *     process.h   beginning, fork(), end
 */
#ifndef SFB_RECORD_HEAP_HEAP_H
#define SFB_RECORD_HEAP_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct sfb_heap_thread;

enum sfb_heap_mode {
    SFB_HEAP_UNDECIDED, /* nobody has looked yet whether something is to be recorded */
    SFB_HEAP_OFF,
    SFB_HEAP_EVERY,
    SFB_HEAP_SAMPLED,
    SFB_HEAP_TABLE /* the live table: tail.h */
};

struct sfb_heap {
    uint32_t mode;  /* enum sfb_heap_mode */
    bool counter;   /* see struct sfb_shared */
    bool maps;      /* mmap() and the like, too */
    bool waits;     /* for room as long as the recorder lives */
    bool used_pool; /* pool.h */
    bool
        tails; /* blocks have been given tails: no size that the program knows is the allocator's */
    const uint32_t
        *here; /* 1; 0 in a child of _Fork() and the like, where nothing may be written */
    uint64_t counter_start;
    uint64_t rate;                   /* SAMPLED: mean bytes between two samples */
    uint64_t *known;                 /* hashes of stacks that have been sent: event.h */
    struct sfb_heap_thread *threads; /* of the ring of that number */
};

extern struct sfb_heap sfb_heap;

static inline enum sfb_heap_mode sfb_heap_mode(void)
{
    return (enum sfb_heap_mode)__atomic_load_n(&sfb_heap.mode, __ATOMIC_RELAXED);
}

/*
 * Set once, before the mode or the block from which another thread knows of it: a thread that has such a block sees them.
 */
static inline bool sfb_heap_has_tails(void)
{
    return __atomic_load_n(&sfb_heap.tails, __ATOMIC_RELAXED);
}

static inline bool sfb_heap_has_used_pool(void)
{
    return __atomic_load_n(&sfb_heap.used_pool, __ATOMIC_RELAXED);
}

/* What the hooks are doing in a thread: what they call may be interposed, too, and a signal may come. */
enum sfb_heap_state {
    SFB_HEAP_IDLE,
    SFB_HEAP_IN_CALL, /* the allocator is at work: what it maps is its own */
    SFB_HEAP_IN_NEW,  /* so is operator new or delete: what that allocates is counted already */
    SFB_HEAP_AT_WORK  /* the hooks themselves: what comes now, comes from a signal handler */
};

struct sfb_heap_local {
    uint64_t until;   /* SAMPLED: bytes up to the next sample; else 0: each call is looked at */
    uint32_t state;   /* enum sfb_heap_state */
    uint32_t refused; /* events since no ring was left */
    struct sfb_heap_thread *thread; /* NULL: none yet */
    uint64_t random;                /* SAMPLED: 0: not seeded */
    uint64_t until_before;          /* IN_NEW: what until will be again */
};

/* In the static block, which needs no allocation. */
extern _Thread_local struct sfb_heap_local sfb_heap_local
    __attribute__((tls_model("initial-exec")));

#endif
