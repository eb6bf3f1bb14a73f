/* Rows of .eh_frame -> rows of .sframe, of a stretch of code. */
#ifndef SYNTHESIS_ROWS_H
#define SYNTHESIS_ROWS_H

#include "synthesis_builder.h"

/*
 * Adds the current row of `rows`, up to `end`. A rule that varies within it is asked at each byte.
 *
 * @return false: no memory; builder->bad: an expression cannot be read
 */
bool synthesis_add_stretch(struct synthesis_builder *builder, const struct sfb_cfi_rows *rows,
                           uint64_t end);

/* Notes that a version later than the encoder's could state the function, and why this one cannot. */
void synthesis_note_newer(struct synthesis_builder *builder, const char *reason);

#endif
