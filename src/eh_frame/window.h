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

/* The entry at an offset, without its length. @return false: it ends past the view */
static inline bool sfb_eh_entry(const struct sfb_eh_frame *eh, uint32_t offset,
                                struct sfb_reader *r)
{
    uint64_t length;

    *r = sfb_eh_window(eh, offset, eh->size);
    length = sfb_reader_u32(r);
    if (length == UINT32_MAX)
        length = sfb_reader_u64(r);
    if (r->failed || length > r->left)
        return false;
    r->left = (size_t)length;
    return true;
}

static inline uint32_t sfb_eh_offset(const struct sfb_eh_frame *eh, const struct sfb_reader *r)
{
    return (uint32_t)(r->pos - eh->data);
}

#endif
