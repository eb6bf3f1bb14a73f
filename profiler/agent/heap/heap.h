/*
 * State of the heap hooks, per process and per thread. Written when a recording begins and ends, and in a child of fork().
 *
 *     next.h          the interposed functions' originals
 *     pool.h          memory for the time before the originals are known
 *     hook*.h         malloc() and the like, operator new and delete, mmap(); entry_*.S enters them
 *     python_objects.c  objects of Python, which malloc() does not show
 *     event.h         writes an event into the thread's ring
 *     heap_stack.h    names its stack
 *     thread_state.h  gives a thread its ring, and takes it back
 *     heap_sample.h   samples blocks instead of recording all
 *     live_hooks.h    instead of a recording, the process has a live table
 *     tail.h          the tails of its blocks
 *     lifecycle.h     beginning, fork(), end
 */
#ifndef PROFILER_AGENT_HEAP_HEAP_H
#define PROFILER_AGENT_HEAP_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct sfb_heap_thread;

enum sfb_heap_mode {
    SFB_HEAP_UNDECIDED, /* not yet checked whether to record */
    SFB_HEAP_OFF,
    SFB_HEAP_EVERY,
    SFB_HEAP_SAMPLED,
    SFB_HEAP_TABLE /* the live table: tail.h */
};

/* Allocators of Python: python_objects.c */
enum sfb_heap_objects {
    SFB_HEAP_NO_OBJECTS,
    SFB_HEAP_OBJECTS_WRAPPED, /* no object has come: the program may have set allocators of its own */
    SFB_HEAP_OBJECTS_COME,
    SFB_HEAP_OBJECTS_MISSED /* Python runs, and still no object has come: counted */
};

struct sfb_heap {
    uint32_t mode;  /* enum sfb_heap_mode */
    bool counter;   /* struct sfb_shared */
    bool maps;      /* also records mmap() and the like */
    bool waits;     /* a full ring waits for room as long as the recorder lives */
    bool used_pool; /* pool.h */
    bool
        tails; /* some blocks have tails: sizes that the program knows differ from the allocator's */
    void (*look_at_allocator)(void); /* allocator.h; NULL: the allocator has no statistics */
    uint32_t objects;                /* enum sfb_heap_objects */
    const uint32_t *here; /* 1; 0 in a child of _Fork() and the like, which must not write */
    uint64_t counter_start;
    uint64_t rate;                   /* SAMPLED: mean bytes between two samples */
    uint64_t *known;                 /* hashes of the stacks already sent: event.h */
    struct sfb_heap_thread *threads; /* indexed by ring */
};

extern struct sfb_heap sfb_heap;

static inline enum sfb_heap_mode sfb_heap_mode(void)
{
    return (enum sfb_heap_mode)__atomic_load_n(&sfb_heap.mode, __ATOMIC_RELAXED);
}

/* Set once, before the mode or the block by which another thread learns of it. A thread that has such a block sees it set. */
static inline bool sfb_heap_has_tails(void)
{
    return __atomic_load_n(&sfb_heap.tails, __ATOMIC_RELAXED);
}

static inline bool sfb_heap_has_used_pool(void)
{
    return __atomic_load_n(&sfb_heap.used_pool, __ATOMIC_RELAXED);
}

/* What the hooks are doing in a thread. Functions that they call may be interposed too, and a signal may arrive. */
enum sfb_heap_state {
    SFB_HEAP_IDLE,
    SFB_HEAP_IN_CALL, /* the allocator runs: its mappings are its own */
    SFB_HEAP_IN_NEW,  /* operator new or delete, or free_sized() runs: the call is counted */
    SFB_HEAP_AT_WORK  /* the hooks themselves run: further events come from a signal handler */
};

struct sfb_heap_local {
    uint64_t until;   /* SAMPLED: bytes until the next sample; else 0: the slow path */
    uint32_t state;   /* enum sfb_heap_state */
    uint32_t refused; /* events since no ring was free; 0: a ring was not refused */
    struct sfb_heap_thread *thread; /* NULL: no ring yet */
    uint64_t random;                /* SAMPLED: 0: not seeded */
    uint64_t until_before;          /* IN_NEW: saved value of until */
};

/* In the static TLS block, which needs no allocation. */
extern _Thread_local struct sfb_heap_local sfb_heap_local
    __attribute__((tls_model("initial-exec")));

#endif
