/* Parts of bodies: what all kinds of records have. */
#ifndef SFB_RECORDING_BODY_PARTS_H
#define SFB_RECORDING_BODY_PARTS_H

#include "base/reader.h"

/* A number of 32 bits; a wider one is a failure. */
uint32_t sfb_body_u32(struct sfb_reader *body);

/* A size and so many bytes, which stay where they are. */
const void *sfb_body_bytes(struct sfb_reader *body, size_t *size);

#endif
