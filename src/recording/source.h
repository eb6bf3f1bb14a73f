/* Where a recording is read from: a file, or bytes. Its size is what it was when it was opened. */
#ifndef SFB_RECORDING_SOURCE_H
#define SFB_RECORDING_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_recording_source {
    int fd; /* -1: bytes */
    const uint8_t *bytes;
    uint64_t size;
};

/* @return false: errno says why */
bool sfb_recording_source_open(struct sfb_recording_source *out, const char *path);

/* @return how many of the `size` bytes at an offset were copied: fewer at the end, or where reading fails */
size_t sfb_recording_source_read(const struct sfb_recording_source *source, uint64_t offset,
                                 void *out, size_t size);

void sfb_recording_source_close(struct sfb_recording_source *source);

#endif
