/*
 * A recorded thread: a ring in the shared memory, and what only the agent needs, in memory of the process.
 *
 * A thread finds its own in thread-local storage of the static block, which needs no allocation.
 */
#ifndef SFB_RECORD_THREAD_H
#define SFB_RECORD_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/agent.h"
#include "sframe_backtrace.h"

enum {
    SFB_THREAD_MEMO_FRAMES = 256,
    SFB_THREAD_CBF = 24000 /* bytes of a stack: a frame takes 4 as a rule, 9 at most */
};

enum sfb_thread_state { SFB_THREAD_NONE, SFB_THREAD_LIVE, SFB_THREAD_ENDED };

struct sfb_thread {
    struct sfb_shared_ring *ring;
    uint32_t state; /* enum sfb_thread_state */
    pid_t tid;
    int32_t timer;       /* the kernel's number; -1: none */
    uint32_t timer_runs; /* 0: it was disarmed */
    uint32_t timer_near; /* it fires at each tick */
    uint64_t head;       /* the ring's; that one may be overwritten by the program */
    uint64_t sampled;    /* CPU time up to which all is recorded */
    bool has_event;      /* a signal of one has come: until then the timer has all periods */
    uint64_t owed;       /* kernel time before that which no sample has yet: weight.h */
    uint64_t lost;       /* weight of samples for which the ring had no room */
    uint64_t looked_at;  /* CPU time when the sampler looked last */
    uint64_t gap;        /* CPU time between two samples by its timer, in the mean */
    uint64_t moved;      /* what it was more than at the look before */
    struct {
        uint64_t at, system, faults; /* CPU time, the kernel's part of it, page faults */
    } usage;                         /* at the last tick: weight.c */
    uint32_t
        notified; /* the sampler has sent it a signal. Above RLIMIT_SIGPENDING the kernel drops what that carries */
    uint64_t deep_after; /* CPU time before which no walk goes to the end of a deep stack */
    uint32_t samples;
    uint32_t rounds; /* of destructors at its end */
    char name[16];

    _Alignas(8) uint8_t memo[SFRAME_BACKTRACE_MEMO_SIZE(SFB_THREAD_MEMO_FRAMES)];
    uint8_t cbf[SFB_THREAD_CBF];
};

struct sfb_thread_local {
    struct sfb_thread *thread; /* NULL: has none yet, or has ended */
    uint32_t generation;       /* sfb_agent.generation for which these two hold */
    bool gone;                 /* has ended, or may have none: do not begin */
    bool busy;                 /* the agent is at work in it, outside of the handler */
    bool blocks, waits;        /* SIGPROF, as far as the program knows: prof_signal.h */
};

extern _Thread_local struct sfb_thread_local sfb_thread_local
    __attribute__((tls_model("initial-exec")));

#endif
