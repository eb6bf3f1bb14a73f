/** A stack through modules: each part is in the program, or in a library that is opened. */
#ifndef BENCH_FIXED_PART_H
#define BENCH_FIXED_PART_H

#include "sframe_backtrace.h"

struct walk;

typedef void part_function(struct walk *);

/* What the innermost function does. */
enum walk_kind { WALK_ADDRESSES, WALK_INFO, WALK_CONTEXT, WALK_CBF, WALK_SHORT };

struct walk {
    part_function *const *next; /* to be called; the last one walks */
    enum walk_kind kind;
    struct sframe_backtrace_options options;
    struct sframe_backtrace_info info; /* WALK_INFO */
    int size;                          /* of addresses; WALK_SHORT */
    void *addresses[64];
    uint8_t cbf[512];
    int result; /* frames, or bytes of CBF; negative: it failed */
};

/* Of each part: calls the next function, and walks. */
part_function part_step, part_turn, part_walk;

#endif
