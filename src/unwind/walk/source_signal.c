#include "unwind/walk/source_signal.h"

#include "unwind/machine/arch.h"

/* Signals nest at most as deep as there are signal numbers, if each is handled once. */
#define SIGNALS_MAX 64

enum sfb_status sfb_signal_step(struct sfb_walk *w)
{
    enum sfb_status status;

    if (!sfb_arch_is_trampoline(&w->table_memory, w->regs.pc))
        return SFB_NO_CODE_PATTERN;
    if (w->sp_lost)
        return SFB_NO_REGISTER;
    if (w->signals++ == SIGNALS_MAX)
        return SFB_SIGNAL_LIMIT;
    status = sfb_arch_signal_context(w->anchor, w->memory, w->regs.sp);
    if (status != SFB_OK)
        return status;
    sfb_arch_regs(&w->regs, w->anchor);
    /* All registers are known again, and the stack may be another one. */
    w->anchor_kind = SFB_FRAME_PC;
    return SFB_OK;
}
