/* Lines and parts of lines that a report has in more than one place. */
#ifndef SFB_CRASH_LINES_H
#define SFB_CRASH_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "crash/text.h"
#include "sfb/cbf.h"

/* A word, which ends in a blank, and a number. */
void sfb_crash_put_number(struct sfb_text *text, const char *what, int64_t value);
void sfb_crash_put_address(struct sfb_text *text, const char *what, uint64_t value);

/* A backtrace in CBF, 32 bytes a line. @param first  words before each line's own, or "" */
void sfb_crash_put_cbf(struct sfb_text *text, const char *first, const uint8_t *cbf, size_t size);

/* One frame, a repeat or an omit. @return the number of the next frame */
uint64_t sfb_crash_put_frame(struct sfb_text *text, const struct sfb_cbf_item *item,
                             uint64_t number);

#endif
