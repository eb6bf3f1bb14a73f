/* The source of a recording: a file, or bytes in memory. The size is that of the opening. */
#ifndef PROFILER_FORMAT_SOURCE_H
#define PROFILER_FORMAT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_recording_source {
    int fd; /* -1: bytes in memory */
    const uint8_t *bytes;
    uint64_t size;
};

/* @return false: see errno */
bool sfb_recording_source_open(struct sfb_recording_source *out, const char *path);

/* @return how many of `size` bytes at an offset were copied: fewer at the end, or on an error */
size_t sfb_recording_source_read(const struct sfb_recording_source *source, uint64_t offset,
                                 void *out, size_t size);

void sfb_recording_source_close(struct sfb_recording_source *source);

#endif
