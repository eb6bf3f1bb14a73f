/*
 * A recorded thread: a ring in shared memory, and the agent's own state in memory of the process.
 *
 * A thread finds its own through the static TLS block, which needs no allocation.
 */
#ifndef PROFILER_AGENT_CPU_THREAD_H
#define PROFILER_AGENT_CPU_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/python/python_calls.h"
#include "sframe_backtrace.h"

enum {
    SFB_THREAD_MEMO_FRAMES = 256,
    SFB_THREAD_CBF = 24000 /* bytes of a stack: a frame usually takes 4, at most 9 */
};

enum sfb_thread_state { SFB_THREAD_NONE, SFB_THREAD_LIVE, SFB_THREAD_ENDED };

struct sfb_thread {
    struct sfb_shared_ring *ring;
    uint32_t state; /* enum sfb_thread_state */
    pid_t tid;
    int32_t timer;       /* the kernel's id; -1: no timer */
    uint32_t timer_runs; /* 0: disarmed */
    uint32_t timer_near; /* it fires at each tick */
    uint64_t head;       /* of the ring: the program may overwrite the ring's own */
    uint64_t sampled;    /* CPU time recorded so far */
    bool has_event;      /* an event has sent a signal */
    uint64_t owed;       /* kernel time that no sample has yet: weight.h */
    uint64_t lost;       /* weight of samples that found no room in the ring */
    uint64_t looked_at;  /* CPU time at the sampler's last check */
    uint64_t gap;        /* mean CPU time between two samples by its timer */
    uint64_t moved;      /* CPU time between the sampler's last two checks */
    struct {
        uint64_t at, system, faults; /* CPU time, its kernel part, page faults */
    } usage;                         /* at the last tick: weight.c */
    uint32_t
        notified; /* the sampler's signal is under way; the kernel may drop its value (RLIMIT_SIGPENDING) */
    uint64_t deep_after; /* deep stacks are walked to their end only after this CPU time */
    uint32_t samples;
    uint32_t rounds; /* of destructors at its exit */
    char name[16];

    struct sfb_python_thread python;
    struct sfb_python_runs python_runs; /* of the sample: a handler may run on a small stack */

    _Alignas(8) uint8_t memo[SFRAME_BACKTRACE_MEMO_SIZE(SFB_THREAD_MEMO_FRAMES)];
    uint8_t cbf[SFB_THREAD_CBF];
};

struct sfb_thread_local {
    struct sfb_thread *thread; /* NULL: not begun, or ended */
    uint32_t generation;       /* sfb_agent.generation of `thread` and `gone` */
    bool gone;                 /* ended, or not to be recorded: do not begin */
    bool busy;                 /* the agent runs in it, outside the handler */
    bool blocks, waits;        /* SIGPROF as the program sees it: blocked, pending */
};

extern _Thread_local struct sfb_thread_local sfb_thread_local
    __attribute__((tls_model("initial-exec")));

#endif
