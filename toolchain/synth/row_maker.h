/* Rows of .eh_frame -> rows of .sframe, for a stretch of code. */
#ifndef TOOLCHAIN_SYNTH_ROW_MAKER_H
#define TOOLCHAIN_SYNTH_ROW_MAKER_H

#include <sfb/eh_frame.h>

#include "toolchain/synth/builder.h"

/*
 * Adds the current row of `rows`, up to `end`. A varying rule is evaluated at each byte.
 *
 * @return false: no memory; builder->bad: an expression cannot be decoded
 */
bool synthesis_add_stretch(struct synthesis_builder *builder, const struct sfb_cfi_rows *rows,
                           uint64_t end);

/*
 * Records that a later version than the encoder's could state the function, and why this one
 * cannot.
 */
void synthesis_note_newer(struct synthesis_builder *builder, const char *reason);

#endif
