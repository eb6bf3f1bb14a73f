/* Every row of an .eh_frame -> the functions of an SFrame section, and a list of what is left out.
 */
#ifndef TOOLCHAIN_SYNTH_SYNTHESIS_H
#define TOOLCHAIN_SYNTH_SYNTHESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/eh_frame.h>

#include "toolchain/synth/sframe_encoder.h"
#include "toolchain/synth/synthesis_sums.h"

enum synthesis_result { SYNTHESIS_DONE, SYNTHESIS_BAD_DATA, SYNTHESIS_NO_MEMORY };

/*
 * Adds all functions to an encoder, in the order of the table of .eh_frame_hdr. Of overlapping
 * entries the one that starts last holds, as in a search of that table.
 *
 * @param object  functions outside of its code are left out
 * @param error   written on SYNTHESIS_BAD_DATA; its offset counts from eh->data
 */
enum synthesis_result synthesize(struct synthesis *out, struct synth_encoder *encoder,
                                 const struct sfb_eh_frame *eh, const struct object *object,
                                 struct sfb_error *error);

void synthesis_free(struct synthesis *synthesis);

#endif
