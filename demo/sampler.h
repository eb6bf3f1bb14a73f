/*
 * What the parts of the agent share: what is kept of each thread's samples, and of each difference.
 *
 *     oracle*.c   the other walk, names of functions
 *     compare.c   one sample: both walks, and whether they agree
 *     agent.c     timers, handlers, threads
 *     report.c    what is written at exit
 *     machine*.c  what depends on the architecture
 *     stubs.c     where modules have their linkage stubs
 */
#ifndef SFB_DEMO_SAMPLER_H
#define SFB_DEMO_SAMPLER_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "sfb/walk.h"
#include "sframe_backtrace.h"

enum {
    SAMPLERS_MAX = 64,
    FRAMES_MAX = 2048,
    CBF_SIZE = 8192,
    ARENA_SIZE = 32 << 20,
    KINDS_MAX = 64,
    STUBS_MAX = 4, /* interrupted ones on one stack */
    END_MAX = 128
};

/* The oracle's status if it read what cannot be read. */
enum { ORACLE_FAULT = -1000 };

/* How a walk ended, in terms that both walkers have. */
enum end { END_OUTERMOST, END_LIMIT, END_STOPPED };

struct stack {
    size_t count;
    enum end end;
    int status;   /* as the walker says it */
    bool sp_rule; /* the oracle passed over a rule for sp: see oracle_libunwind.c */
    uint64_t address[FRAMES_MAX];
    uint8_t kind[FRAMES_MAX];
};

/* Backtraces that are worth a look in the report: the largest by some measure. */
enum keep { KEEP_DEEPEST, KEEP_MIXED, KEEP_SIGNAL, KEEP_READABLE, KEEP_COUNT };

struct kept {
    uint32_t measure;
    uint32_t frames;
    size_t size;
    uint8_t cbf[CBF_SIZE];
};

/* A linkage stub that was interrupted, while the oracle is shown the call that led there. */
struct stub {
    ucontext_t *uc;
    uint64_t pc;       /* as it was, and has to be again */
    uint64_t call, ra; /* what is shown, and the return address of that call */
};

/* Written by its own thread only; the totals are atomic so that the end of the program may read. */
struct sampler {
    atomic_bool used;
    timer_t timer;
    struct timespec next;
    atomic_uint_least32_t burst_left;
    atomic_uint_least64_t stacks, identical, sp_rule, stray, link_signed, frames, bytes, failed,
        own_ns, their_ns;
    atomic_uint_least64_t by_source[SFB_SOURCE_COUNT];
    atomic_uint_least64_t end[END_MAX];
    struct kept kept[KEEP_COUNT];
    struct stack ours, theirs;
    struct sfb_context context;
    struct sfb_walker walker;
    unw_cursor_t cursor;
    sigjmp_buf before_oracle;
    volatile sig_atomic_t in_oracle;
    struct stub stubs[STUBS_MAX];
    size_t stub_count;
    uint8_t cbf[CBF_SIZE];
    uint8_t their_cbf[CBF_SIZE];
};

struct difference {
    struct difference *next;
    atomic_bool complete;
    uint64_t pc;    /* of the last common frame that a signal interrupted */
    uint32_t first; /* index of the first frame that differs */
    uint32_t our_count, their_count;
    int our_status, their_status;
    bool sp_rule;       /* as in struct stack */
    bool walker_agrees; /* the second walk, taken for the sources, gave the same addresses */
    uint8_t source;     /* who found our frame `first`, or SFB_SOURCE_COUNT: there is none */
    uint8_t missed[SFB_SOURCE_COUNT];
    uint64_t parting; /* lookup address of the last common frame that is in a module */
    uint32_t strays;  /* common frames behind it, which are in none */
    struct sfb_context context;
    size_t our_size, their_size;
    uint8_t cbf[]; /* ours, then theirs */
};

static inline uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

extern struct sampler *agent_samplers;
extern uint8_t *agent_arena;
extern atomic_size_t agent_arena_used;
extern atomic_uint_least64_t agent_unrecorded; /* differences for which there was no room */
extern uint64_t agent_spoil;                   /* see spoil_stack() */
extern const char *agent_report_path;

/* Takes a stack twice and compares; safe in a handler. */
void compare_sample(struct sampler *s, ucontext_t *uc);

#endif
