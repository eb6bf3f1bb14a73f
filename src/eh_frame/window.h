/* Windows on the section: bounds-checked readers of parts of the view. */
#ifndef SFB_EH_FRAME_WINDOW_H
#define SFB_EH_FRAME_WINDOW_H

#include "base/reader.h"
#include "sfb/eh_frame.h"

/* The bytes [from, end) of the view. */
static inline struct sfb_reader sfb_eh_window(const struct sfb_eh_frame *eh, uint64_t from,
                                              uint64_t end)
{
    struct sfb_reader r = { .swap = eh->swap };

    if (end > eh->size)
        end = eh->size;
    if (from < eh->gap_end && end > eh->gap)
        end = eh->gap;
    if (from <= end) {
        r.pos = eh->data + from;
        r.left = (size_t)(end - from);
    } else {
        r.failed = true;
    }
    return r;
}

static inline uint32_t sfb_eh_offset(const struct sfb_eh_frame *eh, const struct sfb_reader *r)
{
    return (uint32_t)(r->pos - eh->data);
}

#endif
