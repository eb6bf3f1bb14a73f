/* The Python frames of a thread, innermost first, and which C frames run them. */
#ifndef SFB_UNWIND_RUNTIME_CPYTHON_FRAMES_H
#define SFB_UNWIND_RUNTIME_CPYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/runtime/cpython.h"

enum sfb_cpython_event {
    SFB_CPYTHON_FRAME, /* the next frame, innermost first */
    SFB_CPYTHON_RUN,   /* the frames since the last run are of the C frame that contains `anchor` */
    SFB_CPYTHON_END,   /* there are no more */
    SFB_CPYTHON_TORN /* what follows is not certain: no frame, a circle, a limit, or changed meanwhile */
};

struct sfb_cpython_frame {
    uint64_t code; /* its code object */
    uint32_t
        instruction;  /* bytes from its first instruction; SFB_CPYTHON_BEFORE: it is being called */
    uint64_t address; /* SFB_CPYTHON_FRAME: of the frame itself */
    uint64_t anchor;  /* SFB_CPYTHON_RUN: an address on the C stack */
};

struct sfb_cpython_walk {
    const struct sfb_cpython *cpython;
    struct sfb_memory *memory;
    uint64_t frame;               /* to be given next; 0: none */
    uint64_t cframe, next_cframe; /* 3.11: of the run, and of the one behind it */
    uint64_t mark;                /* a frame seen before: a circle comes back to it */
    uint32_t given;
    bool at_run, torn;
    bool pending; /* frames were given that belong to no run yet */
};

/* Frames of one walk: a circle ends at last there. */
enum { SFB_CPYTHON_FRAMES_MAX = 65536 };

/* Begins with the innermost frame of a thread's state. */
void sfb_cpython_walk_begin(struct sfb_cpython_walk *out, const struct sfb_cpython *cpython,
                            struct sfb_memory *memory, uint64_t state);

/*
 * Gives frames and the ends of runs. Frames behind the last SFB_CPYTHON_RUN belong to no C frame: they are not
 * proven.
 *
 * Signals: safe; no allocation.   Cost: six words a frame.
 */
enum sfb_cpython_event sfb_cpython_walk_next(struct sfb_cpython_walk *walk,
                                             struct sfb_cpython_frame *out);

#endif
