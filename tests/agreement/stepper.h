/*
 * What the parts of the stepper share.
 *
 *     stepper.c          when to take a stack: the trap flag, or a timer; threads, signals
 *     judge.c            one stack: three walks, and which of them agree
 *     report.c           what is written at exit
 *     guard_<machine>.c  system calls that would end the stepping
 *
 * The oracles, and what of them depends on the machine, are those of tests/oracles.
 */
#ifndef SFB_AGREEMENT_STEPPER_H
#define SFB_AGREEMENT_STEPPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "oracles/loaded.h"
#include "oracles/stack.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"

enum { THREADS_MAX = 128, ARENA_SIZE = 64 << 20, END_MAX = 128, EXAMPLE_FRAMES = 40 };

/* Who agrees with us. The report and `run` go by the names. */
enum verdict { SAME_AS_BOTH, SAME_AS_LIBUNWIND, SAME_AS_LIBGCC, ALONE, ORACLES_AGREE, VERDICTS };

extern const char *const verdict_names[VERDICTS];

/* Written by its own thread only; the totals are atomic so that the end of the program may read. */
struct stepper {
    atomic_bool used;
    atomic_bool on;     /* its thread is stepped */
    bool may_fork;      /* the last instruction was a system call that makes a process */
    uint32_t countdown; /* instructions until the next stack */
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
    uint8_t cbf[CBF_SIZE];
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

/* Takes a stack and judges it. In the handler that uc was given to. */
void judge(struct stepper *s, ucontext_t *uc);

/*
 * Looks at the instruction that comes next. A SIGTRAP that is blocked, or has no handler, kills:
 * libc blocks all signals where it makes threads and processes, and some programs take all handlers
 * away. Such a system call is done here instead, without the signals that the stepper needs.
 */
void guard_next_instruction(struct stepper *s, ucontext_t *uc);

/* @return whether uc is that of a child in which the last instruction made this process */
bool guard_is_child(struct stepper *s, const ucontext_t *uc);

/* Installs what the program wanted as handler of a fault, if the guard kept it from that. */
void guard_give_back(int signo);

/* For programs that know the stepper: it is to go on in this thread, or in this handler. */
__attribute__((weak, visibility("default"))) void sfb_step_here(void);

#endif
