/* zstd, as the reader uses it. */
#ifndef PROFILER_FORMAT_ZSTD_H
#define PROFILER_FORMAT_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

/* @return whether `in` unpacks to exactly `size` bytes at `out` */
bool sfb_recording_unpack(void *out, size_t size, const void *in, size_t in_size);

#endif
