/*
 * What the parts of the sampler share: what is kept of each thread's samples, and of each difference.
 *
 *     sampler.c   timers, handlers, threads
 *     compare.c   one sample: both walks, and whether they agree
 *     report.c    what is written at exit
 *
 * The other walk, and what of it depends on the machine, is that of tests/oracles.
 */
#ifndef SFB_SAMPLED_SAMPLER_H
#define SFB_SAMPLED_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "oracles/loaded.h"
#include "oracles/stack.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"

enum { SAMPLERS_MAX = 64, ARENA_SIZE = 32 << 20, KINDS_MAX = 64, END_MAX = 128 };

/* Written by its own thread only; the totals are atomic so that the end of the program may read. */
struct sampler {
    atomic_bool used;
    timer_t timer;
    struct timespec next;
    atomic_uint_least32_t burst_left;
    atomic_uint_least64_t stacks, identical, sp_rule, stray, link_signed, frames, bytes, failed,
        own_ns, their_ns;
    atomic_uint_least64_t deepest; /* frames */
    atomic_uint_least64_t by_source[SFB_SOURCE_COUNT];
    atomic_uint_least64_t end[END_MAX];
    struct stack ours, theirs;
    struct sfb_context context;
    struct sfb_walker walker;
    struct oracle_state oracle;
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

extern struct sampler *samplers_all;
extern uint8_t *sampler_arena;
extern atomic_size_t sampler_arena_used;
extern atomic_uint_least64_t sampler_unrecorded; /* differences for which there was no room */
extern uint64_t sampler_spoil;                   /* every how many-th stack is spoilt, 0: none */
extern const char *sampler_report_path;

/* The one that SFB_AGENT_ORACLE names. */
extern const struct oracle *sampler_oracle;

/* Takes a stack twice and compares; safe in a handler. */
void compare_sample(struct sampler *s, ucontext_t *uc);

#endif
