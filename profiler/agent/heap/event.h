/*
 * Writes events into the calling thread's ring: "Records of the heap" in profiler/protocol/shared.h. Only the thread
 * itself writes, in the state AT_WORK.
 *
 * If the ring is full, the thread waits for the recorder, a second at most. Then the event is lost and counted.
 * Signals: safe; errno is preserved.
 */
#ifndef PROFILER_AGENT_HEAP_EVENT_H
#define PROFILER_AGENT_HEAP_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/heap/heap.h"
#include "profiler/agent/python/python_calls.h"
#include "profiler/protocol/counter.h"
#include "profiler/protocol/shared.h"
#include "unwind/capture/stack_name.h"

enum { SFB_HEAP_CBF = 9 * SFB_STACK_NAME_FRAMES + 64 };

/* A thread: its ring in shared memory, and the hooks' own state. */
struct sfb_heap_thread {
    uint8_t *at;    /* in the ring: the next record's address */
    uint8_t *limit; /* end of the room granted: sfb_heap_make_room() */
    uint64_t bias;  /* at + bias: bytes written */
    struct sfb_shared_ring *ring;
    bool ended; /* its destructor ran: later events come from the C library's own thread exit */
    uint8_t in_vain; /* consecutive waits in which the recorder read nothing */
    uint8_t rounds;  /* of destructors at the thread's exit */
    bool nested;     /* an event came while the allocator ran: it may run again unnoticed */
    uint64_t in_vain_tail;
    uint32_t looks; /* checks of the name */
    pid_t tid;
    char name[16];

    struct sfb_stack_namer namer;
    struct sfb_python_thread python;
    struct sfb_python_runs python_runs; /* of the event at hand: not on the program's stack */
    uint8_t cbf[SFB_HEAP_CBF];
};

/* Counts a loss in the thread's own counters, which the recorder reads. */
static inline void sfb_heap_lose(struct sfb_heap_thread *t, enum sfb_recording_loss reason)
{
    uint64_t *at = &t->ring->lost[reason];

    __atomic_store_n(at, *at + 1, __ATOMIC_RELAXED); /* the only writer is this thread */
}

enum {
    SFB_HEAP_KNOWN = 1 << 20, /* entries; the hash's top bits choose one */
    SFB_HEAP_KNOWN_SHIFT = 64 - 20,
    SFB_HEAP_KNOWN_STEPS = 8
};

/* sfb_heap_reserve() when the granted room is used up. @return NULL: the event is lost and counted */
uint64_t *sfb_heap_make_room(struct sfb_heap_thread *thread, uint32_t size);

/* @return room for a record; NULL: the event is lost */
static inline uint64_t *sfb_heap_reserve(struct sfb_heap_thread *t, uint32_t size)
{
    if (__builtin_expect((size_t)(t->limit - t->at) < size, 0))
        return sfb_heap_make_room(t, size);
    return (uint64_t *)(void *)t->at;
}

/*
 * Reads the clock for the first word of a record. From here on the recorder waits for the record.
 *
 * The fence stops the compiler only. A reordering by the processor is shorter than the recorder's patience.
 */
static inline uint64_t sfb_heap_open_record(struct sfb_heap_thread *t,
                                            enum sfb_shared_heap_record kind)
{
    __atomic_store_n(&t->ring->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return (sfb_counter_read(sfb_heap.counter) - sfb_heap.counter_start) << SFB_HEAP_KIND_BITS |
           (uint64_t)kind;
}

/* The recorder has read these cache lines, so this processor has lost them: prefetched a few records ahead. */
enum { SFB_HEAP_AHEAD = 192 };

/* Publishes the record as a whole. */
static inline void sfb_heap_close_record(struct sfb_heap_thread *t, uint32_t size)
{
    t->at += size;
    __builtin_prefetch(t->at + SFB_HEAP_AHEAD, 1);
    __atomic_store_n(&t->ring->head, (uint64_t)(uintptr_t)t->at + t->bias, __ATOMIC_RELEASE);
    __atomic_store_n(&t->ring->busy, 0, __ATOMIC_RELEASE);
}

static inline void sfb_heap_put_free(struct sfb_heap_thread *t, enum sfb_shared_heap_record kind,
                                     const void *block)
{
    enum { SIZE = 2 * sizeof(uint64_t) };
    uint64_t *record = sfb_heap_reserve(t, SIZE);

    if (!record)
        return;
    record[1] = (uintptr_t)block;
    record[0] = sfb_heap_open_record(t, kind);
    sfb_heap_close_record(t, SIZE);
}

/*
 * Sends a new stack and remembers that it was sent.
 *
 * @param calls  of thread->python, each with its frame
 * @return its hash; 0: lost
 */
uint64_t sfb_heap_tell_stack(struct sfb_heap_thread *thread, const struct sfb_regs *caller,
                             uint64_t hash, uint32_t calls);

static inline bool sfb_heap_is_known(uint64_t hash)
{
    const size_t home = (size_t)(hash >> SFB_HEAP_KNOWN_SHIFT);

    for (size_t i = 0; i < SFB_HEAP_KNOWN_STEPS; i++) {
        const uint64_t found =
            __atomic_load_n(&sfb_heap.known[(home + i) % SFB_HEAP_KNOWN], __ATOMIC_RELAXED);

        if (found == hash || found == 0)
            return found == hash;
    }
    return false;
}

/* @param slack  usable bytes beyond size */
static inline void sfb_heap_put_alloc(struct sfb_heap_thread *t, enum sfb_shared_heap_record kind,
                                      const void *block, size_t size, size_t slack, uint64_t hash)
{
    enum { SIZE = 4 * sizeof(uint64_t) };
    const uint64_t most = ((uint64_t)1 << SFB_HEAP_SLACK_SHIFT) - 1;
    uint64_t *record = sfb_heap_reserve(t, SIZE);

    if (!record)
        return;
    record[1] = (uintptr_t)block;
    record[2] = (size < most ? size : most) | (uint64_t)(slack < UINT16_MAX ? slack : UINT16_MAX)
                                                  << SFB_HEAP_SLACK_SHIFT;
    record[3] = hash;
    record[0] = sfb_heap_open_record(t, kind);
    sfb_heap_close_record(t, SIZE);
}

/* Writes the thread's name if it has changed. */
void sfb_heap_look_at_name(struct sfb_heap_thread *thread);

/* Forgets which stacks were sent: after a change of modules a hash may mean another stack. Threads: safe. */
void sfb_heap_forget_stacks(void);

/* Called once. @return false: no memory */
bool sfb_heap_events_prepare(void);

#endif
