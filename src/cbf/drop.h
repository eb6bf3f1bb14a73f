/* Takes back what an encoder has written last. */
#ifndef SFB_CBF_DROP_H
#define SFB_CBF_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/cbf.h"

/*
 * Takes back the last frame, which has to be an address that differs from the one before. Only an end
 * may be written behind it.
 *
 * @param before  the address before; written if there is one
 * @return whether there is one
 *
 * Threads: safe, each with its own encoder.   Signals: safe.
 * Cost: all that was written is read once, some 5 ns a frame.
 */
bool sfb_cbf_encoder_drop(struct sfb_cbf_encoder *encoder, uint64_t *before);

#endif
