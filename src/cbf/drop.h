/* Removes the last frame of an encoder. */
#ifndef SFB_CBF_DROP_H
#define SFB_CBF_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/cbf.h"

/*
 * Removes the last frame, which must be an address different from the one before. After this only an end
 * may be written.
 *
 * @param before  written on true: the address before
 * @return whether there is an address before
 *
 * Threads: safe, each with its own encoder.   Signals: safe.
 * Cost: reads all written bytes once, about 5 ns a frame.
 */
bool sfb_cbf_encoder_drop(struct sfb_cbf_encoder *encoder, uint64_t *before);

#endif
