/*
 * What the agent knows of itself: one of it in a process. Set at start and after fork(), by the one thread that there
 * is then, or before others see it.
 */
#ifndef SFB_RECORD_AGENT_H
#define SFB_RECORD_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "recorder/shared.h"

struct sfb_thread;

struct sfb_agent {
    struct sfb_shared *shared;              /* NULL: nothing is recorded here */
    const struct sfb_shared_beacon *beacon; /* of shared */
    struct sfb_shared_process *process;
    uint32_t slot;       /* of the process */
    pid_t pid;           /* of the process that the slot is of: see sfb_agent_is_here() */
    uint32_t ring_bytes; /* data of each ring */
    uint64_t period_ns;
    uintptr_t process_base, ring_base;   /* of the memory, were all of it mapped there: space.h */
    uint32_t process_first, process_end; /* slots that are mapped here */
    uint32_t ring_first, ring_end;       /* rings that are, each with a thread's part */
    struct sfb_thread *threads;          /* of this process alone; a ring has the same number */
    uint32_t
        generation; /* of recordings in this process, those of its ancestors before fork() included */
    uint32_t threads_used; /* those behind were never used: their pages are not there */
    uint32_t ending;       /* the process ends: nothing more is sampled */
    uint32_t left_alone;   /* a filter of system calls: no call of ours may be made. filter.h */
    bool others; /* threads that are older than the recording: each may have a ring already */
    uint32_t wants_sampler;  /* a thread has no timer */
    uint32_t at_work;        /* handlers and others that use the rings: sfb_agent_enter() */
    uint32_t handlers_block; /* SIGPROF may wait while a handler of the program runs */
    uint32_t has_notified;   /* a sampler has sent signals, here or in an ancestor before fork() */
    void (*end)(void);       /* ends the recording of this process: of each agent */
    void (*modules_are_new)(void); /* a list of modules was written; NULL: nobody asks */
    void (*filter_comes)(void); /* a filter of system calls is about to be set; NULL: nobody asks */
    void (*libraries_change)(
        bool unloaded); /* one comes, or has gone, and nothing is recorded; NULL: nobody asks */
};

extern struct sfb_agent sfb_agent;

/*
 * A handler that is late may come while another recording begins. It sees that the one before is over; and once it is not
 * over any more, all of the new one.
 */
static inline struct sfb_shared *sfb_agent_shared(void)
{
    return __atomic_load_n(&sfb_agent.shared, __ATOMIC_RELAXED);
}

/*
 * Whether this process is the one that is recorded. It is not in a child of vfork(), which shares this memory, and in
 * one of _Fork() or clone(), where no handler of fork() ran: there nothing may be changed.
 */
static inline bool sfb_agent_is_here(void)
{
    return sfb_agent_shared() && !__atomic_load_n(&sfb_agent.left_alone, __ATOMIC_RELAXED) &&
           getpid() == __atomic_load_n(&sfb_agent.pid, __ATOMIC_RELAXED);
}

/* Whether the recorder wants no more, or is dead. */
static inline bool sfb_agent_is_over(void)
{
    return __atomic_load_n(&sfb_agent.ending, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&sfb_agent_shared()->ended, __ATOMIC_RELAXED) ||
           !sfb_shared_beacon_is_lit(__atomic_load_n(&sfb_agent.beacon, __ATOMIC_ACQUIRE));
}

/*
 * Around all that uses rings and threads: another recording begins when nobody does. Who has entered looks first whether
 * this one is over.
 */
static inline void sfb_agent_enter(void)
{
    __atomic_fetch_add(&sfb_agent.at_work, 1, __ATOMIC_SEQ_CST);
}

static inline void sfb_agent_leave(void)
{
    __atomic_fetch_sub(&sfb_agent.at_work, 1, __ATOMIC_RELEASE);
}

/*
 * Waits until none is at work: a thousand pauses of so many nanoseconds. Not for handlers, nor between enter and leave.
 *
 * @return false: one still is
 */
bool sfb_agent_wait_for_others(uint32_t pause_ns);

/* The first ring that is mapped. Other ends: sfb_agent_ring_end() to claim one, sfb_agent_threads_used() to look at. */
static inline uint32_t sfb_agent_ring_first(void)
{
    return __atomic_load_n(&sfb_agent.ring_first, __ATOMIC_RELAXED);
}

static inline uint32_t sfb_agent_ring_end(void)
{
    return __atomic_load_n(&sfb_agent.ring_end, __ATOMIC_RELAXED);
}

static inline uint32_t sfb_agent_threads_used(void)
{
    return __atomic_load_n(&sfb_agent.threads_used, __ATOMIC_ACQUIRE);
}

/* Whether an engine may be used. */
static inline bool sfb_agent_may_use(enum sfb_recording_engine engine)
{
    return sfb_agent.shared->engines & 1U << engine;
}

/* Only of those that are mapped. */
struct sfb_shared_process *sfb_agent_process(uint32_t slot);
struct sfb_shared_ring *sfb_agent_ring(uint32_t slot);

/* Counts a loss of the process. */
void sfb_agent_lose(enum sfb_recording_loss reason);

/* Ends it for good, here and in children to come: from now on the agent makes no system call. Counted. */
void sfb_agent_leave_alone(void);

/* Tells the recorder that something cannot wait. Safe in a signal handler. */
void sfb_agent_wake_recorder(void);

/* Tries to take a slot. */
bool sfb_agent_claim(uint32_t *state);

#endif
