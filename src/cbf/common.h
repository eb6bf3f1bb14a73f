/*
 * Decodes the instruction that nearly all bytes are of, inline and with one load: an address whose operand is far from
 * every limit. Anything else is for sfb_cbf_decoder_next().
 */
#ifndef SFB_CBF_COMMON_H
#define SFB_CBF_COMMON_H

#include <stdbool.h>
#include <string.h>

#include "cbf/format.h"
#include "cbf/put.h"
#include "sfb/cbf.h"

/*
 * Reads the next address. Of d->item kind, value and count are written.
 *
 * @return bytes of the instruction; 0: nothing was read
 */
static inline size_t cbf_next_common(struct sfb_cbf_decoder *d)
{
    const uint8_t *at = d->data + d->offset;
    unsigned opcode, size;
    uint64_t v;

    if ((d->pending | d->ended) != 0 || d->word != sizeof v || !d->have_last ||
        d->offset >= d->size || d->size - d->offset <= sizeof v || d->frames >= d->max_frames)
        return 0;
    opcode = at[0];
    size = (opcode & CBF_ADDRESS_COUNT) + 1;
    if (opcode < CBF_OP_PC || opcode >= CBF_OP_OMIT)
        return 0;
    memcpy(&v, at + 1, sizeof v);
    v = (uint64_t)((int64_t)cbf_big_endian(v) >> (64 - 8 * size));
    v += (opcode & CBF_ADDRESS_ABSOLUTE) == 0 ? d->last : 0;
    d->last = v;
    d->frames++;
    d->offset += 1 + size;
    d->item.kind = (enum sfb_frame_kind)((opcode >> 4) - 1);
    d->item.value = v;
    d->item.count = 1;
    return 1 + size;
}

#endif
