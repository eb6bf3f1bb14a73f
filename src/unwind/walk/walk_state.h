/*
 * What a walk keeps from step to step: the inside of struct sfb_walker. Each group says who writes it;
 * everybody in this folder reads it.
 */
#ifndef SFB_UNWIND_WALK_WALK_STATE_H
#define SFB_UNWIND_WALK_WALK_STATE_H

#include "sfb/walk.h"

struct sfb_walk {
    /* Where the walk stands. Sources write regs, position.h module; walker.c the rest. */
    struct sfb_regs regs;            /* of the frame given last */
    struct sfb_frame current;        /* the frame given last; missed: by each source */
    const struct sfb_module *module; /* that of the last lookup, or NULL */
    struct sfb_module *scratch;      /* during a step in a module that stands nowhere else */
    bool begun;
    bool unproven;     /* a guess led here that nothing proves, so no end is one. Sources */
    uint8_t signals;   /* trampolines walked through. source_signal */
    bool sp_lost : 1;  /* regs.sp is a lower bound: records say no more. source_frame_pointer */
    bool followed : 1; /* the code of the frame before returns to this one. source_frame_pointer */

    /* Notes about the step that is being made, from a source to walker.c. */
    bool stray; /* it failed, and the frame given last is no frame. walker.c */
    bool
        interrupted : 1; /* the frame reached was interrupted. source_tables, source_frame_pointer */
    bool
        wants_registers : 1; /* it failed for a register that the anchor may lead to. source_tables */
    bool registers_lost : 1; /* ... but it does not. walker.c */
    bool guess_unproven : 1; /* it was made by a guess that nothing proves. source_frame_pointer */

    /*
     * The nearest inner frame of which all registers are known: the start, or written over it. All
     * zeros where they were lost. Written by replay.c and source_signal.c.
     */
    uint8_t anchor_kind; /* enum sfb_frame_kind */
    struct sfb_context *anchor;

    /* Given: what it reads, and how much work is left. */
    struct sfb_memory *memory; /* of the stack */
    const struct sfb_modules *modules;
    enum sfb_status status; /* SFB_OK while there is more. walker.c */
    uint32_t flags;
    uint32_t libunwind_reads; /* that are left to it. source_libunwind */
    uint32_t work;            /* see max_work. position.h */
    struct sfb_memory own_memory;
    struct sfb_memory table_memory; /* of code and unwind tables */
};

_Static_assert(sizeof(struct sfb_walk) <= sizeof(struct sfb_walker), "it has room");
_Static_assert(_Alignof(struct sfb_walk) == sizeof(uint64_t), "as struct sfb_walker");

#endif
