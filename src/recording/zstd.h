/* What the reader asks of zstd. */
#ifndef SFB_RECORDING_ZSTD_H
#define SFB_RECORDING_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

/* @return whether `in` unpacks to exactly `size` bytes at `out` */
bool sfb_recording_unpack(void *out, size_t size, const void *in, size_t in_size);

#endif
