/* What a walk keeps from step to step: the inside of struct sfb_walker. */
#ifndef SFB_UNWIND_WALK_STATE_H
#define SFB_UNWIND_WALK_STATE_H

#include "sfb/walk.h"

struct sfb_walk {
    struct sfb_regs regs;      /* of the frame given last */
    struct sfb_frame current;  /* the frame given last */
    struct sfb_memory *memory; /* of the stack */
    const struct sfb_modules *modules;
    const struct sfb_module *module; /* that of the last lookup, or NULL */
    struct sfb_module *room;         /* during a step in a module that stands nowhere else */
    uint32_t flags;
    enum sfb_status status; /* SFB_OK while there is more */
    uint8_t signals;        /* trampolines walked through */
    bool begun;
    bool sp_stayed;       /* a step since `full` left sp where it was; it may, once */
    bool interrupted;     /* the frame reached is one that a signal interrupted, a row says */
    bool sp_lost;         /* regs.sp is a lower bound: the chain of frame records says no more */
    bool wants_registers; /* this step failed for a register that `full` may lead to */
    bool registers_lost;  /* ... but it does not */
    uint8_t full_kind;    /* enum sfb_frame_kind, of: */

    /*
     * The nearest inner frame of which all registers are known: the start, or written over it. All
     * zeros where they were lost.
     */
    struct sfb_context *full;
    uint32_t libunwind_reads; /* that are left to it */
    uint32_t work;            /* that is left: see max_work */

    struct sfb_memory own_memory;
    struct sfb_memory table_memory; /* of code and unwind tables */
};

#endif
