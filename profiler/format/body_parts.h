/* Parts that bodies of all kinds share. */
#ifndef PROFILER_FORMAT_BODY_PARTS_H
#define PROFILER_FORMAT_BODY_PARTS_H

#include "base/reader.h"

/* A 32-bit number; a wider one fails the body. */
uint32_t sfb_body_u32(struct sfb_reader *body);

/* A size and as many bytes, which are not copied. */
const void *sfb_body_bytes(struct sfb_reader *body, size_t *size);

#endif
