#include "unwind/fallback_signal.h"

#include "unwind/arch.h"

/* Signals nest as deep as there are different ones at the most, if each is handled once. */
#define SIGNALS_MAX 64

enum sfb_status sfb_signal_step(struct sfb_walk *w)
{
    enum sfb_status status;

    if (!sfb_arch_is_trampoline(&w->table_memory, w->regs.pc))
        return SFB_NO_SHAPE;
    if (w->sp_lost)
        return SFB_NO_REGISTER;
    if (w->signals++ == SIGNALS_MAX)
        return SFB_SIGNAL_LIMIT;
    status = sfb_arch_signal_context(w->full, w->memory, w->regs.sp);
    if (status != SFB_OK)
        return status;
    sfb_arch_regs(&w->regs, w->full);
    /* All registers are known again, and the stack may be another one. */
    w->full_kind = SFB_FRAME_PC;
    w->sp_stayed = false;
    return SFB_OK;
}
