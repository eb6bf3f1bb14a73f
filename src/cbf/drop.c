/*
 * The start of the last instruction is not in the bytes, and the encoder does not keep it: that would cost
 * a store a frame, and one walk in thousands needs it. So the bytes are decoded.
 */
#include "cbf/drop.h"

bool sfb_cbf_encoder_drop(struct sfb_cbf_encoder *encoder, uint64_t *before)
{
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item = { .count = 0 }, next;
    uint64_t last = 0;

    if (sfb_cbf_decoder_init(&decoder, encoder->start, (size_t)(encoder->pos - encoder->start),
                             NULL, NULL) != SFB_OK)
        return false;
    while (sfb_cbf_decoder_next(&decoder, &next, NULL) == SFB_OK) {
        last = item.value;
        item = next;
    }
    if (item.count == 0)
        return false;
    encoder->pos = encoder->start + item.offset;
    if (item.offset > 1)
        *before = last;
    return item.offset > 1;
}
