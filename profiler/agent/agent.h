/*
 * The agent's own state, once per process. Set at start and after fork() by the only thread there is then, or before
 * other threads can see it.
 */
#ifndef PROFILER_AGENT_AGENT_H
#define PROFILER_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "profiler/protocol/shared.h"

struct sfb_thread;

struct sfb_agent {
    struct sfb_shared *shared;              /* NULL: not recorded */
    const struct sfb_shared_beacon *beacon; /* of shared */
    struct sfb_shared_process *process;
    uint32_t slot;       /* of the process */
    pid_t pid;           /* owner of the slot: sfb_agent_is_here() */
    uint32_t ring_bytes; /* size of each ring's data */
    uint64_t period_ns;
    uintptr_t process_base, ring_base;   /* as if all of the memory were mapped there: space.h */
    uint32_t process_first, process_end; /* mapped slots */
    uint32_t ring_first, ring_end;       /* mapped rings, each with a thread's own part */
    struct sfb_thread *threads;          /* private memory, indexed by ring */
    uint32_t generation;                 /* counts recordings, also in ancestors before fork() */
    uint32_t threads_used;               /* later ones were never used, and have no pages */
    uint32_t ending;                     /* the process is ending: no more samples */
    uint32_t left_alone; /* after a seccomp filter: no system call of ours is allowed. filter.h */
    bool others;         /* threads may be older than the recording, and have a ring already */
    uint32_t wants_sampler;  /* a thread has no timer */
    uint32_t at_work;        /* threads that use the rings: sfb_agent_enter() */
    uint32_t handlers_block; /* a handler of the program blocks SIGPROF: it may be pending there */
    uint32_t has_notified; /* the sampler has sent signals, here or in an ancestor before fork() */
    void (*end)(void);     /* ends the recording of this process; set by each agent */
    void (*modules_are_new)(void); /* after a list of modules was written; NULL: no callback */
    void (*filter_comes)(void);    /* before a seccomp filter is set; NULL: no callback */
    void (*library_hides)(void);   /* before a load with RTLD_DEEPBIND; NULL: no callback */
    void (*libraries_change)(
        bool unloaded); /* around a load or unload without a recording; NULL: no callback */
};

extern struct sfb_agent sfb_agent;

/*
 * A late handler may run while another recording begins. It finds the previous one over; once that test passes again, it
 * sees all of the new one.
 */
static inline struct sfb_shared *sfb_agent_shared(void)
{
    return __atomic_load_n(&sfb_agent.shared, __ATOMIC_RELAXED);
}

/*
 * Whether this process is the recorded one. False in a child of vfork(), which shares this memory, and of _Fork() or
 * clone(), where no handler of fork() ran: these must not change anything.
 */
static inline bool sfb_agent_is_here(void)
{
    return sfb_agent_shared() && !__atomic_load_n(&sfb_agent.left_alone, __ATOMIC_RELAXED) &&
           getpid() == __atomic_load_n(&sfb_agent.pid, __ATOMIC_RELAXED);
}

/* Whether the recording is paused: nothing new is recorded. @return enum sfb_shared_paused; not without a recording */
static inline uint32_t sfb_agent_paused(void)
{
    return __atomic_load_n(&sfb_agent_shared()->paused, __ATOMIC_RELAXED);
}

/* Whether the recorder has stopped or died, or the process is ending. */
static inline bool sfb_agent_is_over(void)
{
    return __atomic_load_n(&sfb_agent.ending, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&sfb_agent_shared()->ended, __ATOMIC_RELAXED) ||
           !sfb_shared_beacon_is_lit(__atomic_load_n(&sfb_agent.beacon, __ATOMIC_ACQUIRE));
}

/*
 * Around each use of rings and threads: a new recording begins only when no thread uses them. After entering, first check
 * whether this recording is over.
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
 * Waits until no thread uses the rings, for at most a thousand pauses of pause_ns. Not for handlers, nor between enter
 * and leave.
 *
 * @return false: a thread still uses them
 */
bool sfb_agent_wait_for_others(uint32_t pause_ns);

/* The first mapped ring. The end is sfb_agent_ring_end() when claiming one, sfb_agent_threads_used() when reading them. */
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

/* Whether the recorder allows an engine. */
static inline bool sfb_agent_may_use(enum sfb_recording_engine engine)
{
    return sfb_agent_shared()->engines & 1U << engine;
}

/* Only for mapped slots. */
struct sfb_shared_process *sfb_agent_process(uint32_t slot);
struct sfb_shared_ring *sfb_agent_ring(uint32_t slot);

/* Counts a loss of the process. */
void sfb_agent_lose(enum sfb_recording_loss reason);

/* Ends the recording for good, here and in later children: the agent makes no more system calls. Counted as a loss. */
void sfb_agent_leave_alone(void);

/* Wakes the recorder for something that cannot wait. Safe in a signal handler. */
void sfb_agent_wake_recorder(void);

/* Take a free process slot, or ring, among the mapped ones. @return false: all are taken */
bool sfb_agent_claim_process(uint32_t *out);
bool sfb_agent_claim_ring(uint32_t *out);

#endif
