/*
 * State of a walk between steps: the inside of struct sfb_walker. Each group names the files that write
 * it; all files of this folder read it.
 */
#ifndef SFB_UNWIND_WALK_WALK_STATE_H
#define SFB_UNWIND_WALK_WALK_STATE_H

#include "sfb/walk.h"

struct sfb_walk {
    /* Position of the walk. Sources write regs, position.h writes module, walker.c the rest. */
    struct sfb_regs regs;            /* of the frame given last */
    struct sfb_frame current;        /* the frame given last; missed: by each source */
    const struct sfb_module *module; /* of the last lookup; NULL: not found */
    struct sfb_module *scratch;      /* room for a module that is not cached, during a step */
    bool begun;
    bool unproven;   /* an unproven guess led here, so an end is unproven too. Sources */
    uint8_t signals; /* trampolines walked through. source_signal */
    bool
        sp_lost : 1; /* regs.sp is a lower bound, after a step by a frame record. source_frame_pointer */
    bool followed : 1; /* the code of the frame before returns to this one. source_frame_pointer */

    /* Notes about the present step, from a source to walker.c. */
    bool spurious; /* it failed, and the frame given last is not real. walker.c */
    bool
        interrupted : 1; /* the frame reached was interrupted. source_tables, source_frame_pointer */
    bool
        wants_registers : 1; /* it failed for a register that a replay from the anchor may find. source_tables */
    bool registers_lost : 1; /* the replay failed. walker.c */
    bool guess_unproven : 1; /* it was an unproven guess. source_frame_pointer */

    /*
     * The anchor: the nearest inner frame with all registers known. It is the start, overwritten by
     * later frames. All zeros if the registers were lost. Written by replay.c and source_signal.c.
     */
    uint8_t anchor_kind; /* enum sfb_frame_kind */
    struct sfb_context *anchor;

    /* Input of the walk, and its budget. */
    struct sfb_memory *memory; /* of the stack */
    const struct sfb_modules *modules;
    enum sfb_status status; /* SFB_OK while there is more. walker.c */
    uint32_t flags;
    uint32_t libunwind_reads; /* words that libunwind may still read. source_libunwind */
    uint32_t work;            /* see max_work. position.h */
    struct sfb_memory own_memory;
    struct sfb_memory table_memory; /* of code and unwind tables */
};

_Static_assert(sizeof(struct sfb_walk) <= sizeof(struct sfb_walker), "it has room");
_Static_assert(_Alignof(struct sfb_walk) == sizeof(uint64_t), "as struct sfb_walker");

#endif
