/* The walker's front door. Memory and modules default to this process's. */
#include <stddef.h>

#include "base/sized.h"
#include "unwind/machine/arch.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/walk/walker.h"

/*
 * A caller's sp within this distance above this code's frame is on the same stack: its page needs no
 * probe. (Not for an interrupted frame: its stack may have overflowed into the page above this one.)
 */
#define NEAR 8192u

enum sfb_status sfb_walker_init(struct sfb_walker *walker, struct sfb_context *start,
                                enum sfb_frame_kind kind, const struct sfb_walker_options *options)
{
    struct sfb_walker_options how = { .size = sizeof how };
    struct sfb_walk *out = (struct sfb_walk *)walker;
    enum sfb_status status;
    bool doubt;

    if (!out || !start || (kind != SFB_FRAME_PC && kind != SFB_FRAME_RA))
        return SFB_BAD_ARGUMENT;
    if (options) {
        status = sfb_sized_read(&how, sizeof how, options);
        if (status != SFB_OK)
            return status;
    }
    if (how.flags & ~(uint32_t)(SFB_WALKER_NO_LIBUNWIND | SFB_WALKER_NO_CACHE | SFB_WALKER_DOUBT))
        return SFB_BAD_ARGUMENT;
    if (!sfb_may_capture())
        return SFB_NO_RESOURCE;

    doubt = how.flags & SFB_WALKER_DOUBT;
    sfb_walker_start(out, start, kind, how.flags,
                     how.modules ? how.modules : sfb_modules_live(doubt), how.memory);
    out->work = how.max_work ? how.max_work : SFB_WALKER_WORK;
    if (how.memory)
        return SFB_OK;
    /* Modules given by the caller, of this process, without a read() of their own. */
    if (!out->table_memory.read)
        sfb_memory_doubted(&out->table_memory);
    if (doubt)
        sfb_memory_doubted(&out->own_memory);
    else
        sfb_memory_live(&out->own_memory, out->regs.sp,
                        kind == SFB_FRAME_RA &&
                            out->regs.sp - (uintptr_t)__builtin_frame_address(0) < NEAR);
    return SFB_OK;
}
