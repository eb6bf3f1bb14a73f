/* Encoded pointers: an address, a size or a count, in one of the forms of LSB Core. */
#ifndef SFB_EH_FRAME_POINTER_H
#define SFB_EH_FRAME_POINTER_H

#include "base/reader.h"
#include "sfb/eh_frame.h"

/* @return false: an unsupported encoding, or the bytes end */
bool sfb_eh_pointer(const struct sfb_eh_frame *eh, struct sfb_reader *r, uint8_t encoding,
                    uint64_t *out);

#endif
