/*
 * What the parts of the stepper share.
 *
 *     stepper.c          when to take a stack: the trap flag, or a timer; threads, signals
 *     preload.c          pthread_create() and dl_iterate_phdr(), as the program finds them
 *     judge.c            one stack: three walks, and which of them agree
 *     report.c           what is written at exit
 *     guard_<machine>.c  system calls that would end the stepping
 *     handlers.h         handlers that the program believes to have
 *     shadow.h           calls and returns that were executed, in bursts of steps
 *
 * The oracles, and what of them depends on the machine, are those of tests/oracles.
 */
#ifndef SFB_AGREEMENT_STEPPER_H
#define SFB_AGREEMENT_STEPPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "oracles/loaded.h"
#include "oracles/stack.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"
#include "shadow.h"

enum {
    THREADS_MAX = 128,
    ARENA_SIZE = 64 << 20,
    END_MAX = 128,
    EXAMPLE_FRAMES = 40,
    OWN_STACK = 1 << 16
};

/* Who agrees with us. The report and `run` go by the names. */
enum verdict { SAME_AS_BOTH, SAME_AS_LIBUNWIND, SAME_AS_LIBGCC, ALONE, ORACLES_AGREE, VERDICTS };

extern const char *const verdict_names[VERDICTS];

/* Written by its own thread only; the totals are atomic so that the end of the program may read. */
struct stepper {
    atomic_bool used;
    atomic_bool on;     /* its thread is stepped */
    bool may_fork;      /* the last instruction was a system call that makes a process */
    uint32_t countdown; /* instructions until the next stack */
    uint32_t burst;     /* instructions that are left of a burst; 0: there is none */
    timer_t timer;
    struct timespec next;
    struct oracle_state oracle;
    struct stack ours, libunwind, libgcc;
    struct sfb_walker walker;
    struct sfb_context context;
    atomic_uint_least64_t stacks, frames, failed, stray, verdict[VERDICTS];
    atomic_uint_least64_t libunwind_faults, libgcc_faults;
    atomic_uint_least64_t by_source[SFB_SOURCE_COUNT];   /* frames */
    atomic_uint_least64_t with_source[SFB_SOURCE_COUNT]; /* stacks that have such a frame */
    atomic_uint_least64_t end[END_MAX];
    /* Bursts alone: stacks that are longer by an oracle's walk, which the shadow does not contradict. */
    atomic_uint_least64_t shorter_than[2], spoilt;
    uint8_t cbf[CBF_SIZE];
    struct shadow shadow;
    _Alignas(64) uint8_t own_stack[OWN_STACK];
};

/* A stack that differs from that of an oracle, cut to what a reader needs. */
struct cut {
    uint32_t count; /* of all its frames */
    uint32_t first; /* the index of address[0] */
    int status;
    enum end end;
    uint64_t address[EXAMPLE_FRAMES];
    uint8_t kind[EXAMPLE_FRAMES];
};

struct difference {
    atomic_bool complete;
    enum verdict verdict;
    bool sp_rule;     /* libunwind passed over a rule for sp */
    uint8_t source;   /* who found our first differing frame, SFB_SOURCE_COUNT: there is none */
    uint64_t pc;      /* of the last common frame that a signal interrupted */
    uint64_t parting; /* what tables were asked for the last common frame */
    uint64_t ours_after, libunwind_after, libgcc_after; /* the frames behind it, 0: none */
    struct sfb_context context;
    struct cut ours, libunwind, libgcc;
};

extern struct stepper *stepper_all;     /* THREADS_MAX of them, mapped at start */
extern struct difference *differences;  /* as many as fit in ARENA_SIZE */
extern atomic_size_t differences_used;  /* may be larger than what fits */
extern const struct oracle *oracles[2]; /* libunwind and libgcc, or NULL: nobody is asked */
extern uint64_t spoil;                  /* every how many-th of libunwind's stacks is changed */
extern const char *report_path;
extern int report_pid; /* of the process that writes it: a child of fork() does not */

/* At the start and the end of a thread that is to be stepped, in it. */
void start_thread(void);
void stop_thread(void *unused);

/* libc's own: its threads are not stepped. */
int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*function)(void *), void *argument);

/* @return whether an oracle walks now, in this thread */
bool is_in_oracle(void);

/* Takes a stack and judges it. In the handler that uc was given to. */
void judge(struct stepper *s, ucontext_t *uc);

/* Takes a stack into s->ours, and counts nothing. @return false: the capture failed */
bool take_stack(struct stepper *s, ucontext_t *uc, struct sframe_backtrace_info *info);

/* Who found a frame of the stack of s->context. */
uint8_t source_of(struct stepper *s, size_t frame);

/* Bursts, begun by SIGPROF. */
extern uint32_t burst_steps; /* instructions of each, 0: no bursts */
extern uint64_t bursts_most; /* of all threads */
extern uint32_t step_every;  /* instructions, 0: not stepped */
void burst_start(struct stepper *s, ucontext_t *uc);
void burst_step(struct stepper *s, ucontext_t *uc);
bool bursts_are_over(void);

/* @return whether another stack may be taken */
bool may_take(void);
bool more_to_take(void); /* the same, and takes none */

/* Another shot of the thread's timer, not before the walks since `start` took. */
void arm_timer(struct stepper *s, uint64_t start);
uint64_t now_ns(void);
void write_report(void);

/*
 * Looks at the instruction that comes next. A SIGTRAP that is blocked, or has no handler, kills:
 * libc blocks all signals where it makes threads and processes, and some programs take all handlers
 * away. Such a system call is done here instead, without the signals that the stepper needs.
 */
void guard_next_instruction(struct stepper *s, ucontext_t *uc);

/* @return whether uc is that of a child in which the last instruction made this process */
bool guard_is_child(struct stepper *s, const ucontext_t *uc);

/*
 * Calls function(s, uc) on s->own_stack: the stack that a handler is on may be that of a runtime,
 * with little room.
 */
void guard_call(void (*function)(struct stepper *, ucontext_t *), struct stepper *s,
                ucontext_t *uc);

/* For programs that know the stepper: it is to go on in this thread, or in this handler. */
__attribute__((weak, visibility("default"))) void sfb_step_here(void);

#endif
