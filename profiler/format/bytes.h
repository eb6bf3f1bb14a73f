/* A growing byte buffer. Failure is sticky: callers write everything, then check `failed` once. */
#ifndef PROFILER_FORMAT_BYTES_H
#define PROFILER_FORMAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_bytes {
    uint8_t *at;
    size_t size, room;
    bool failed; /* no memory */
};

/* @return n more bytes, which count as written; NULL: no memory */
uint8_t *sfb_bytes_add(struct sfb_bytes *bytes, size_t n);

void sfb_bytes_put(struct sfb_bytes *bytes, const void *from, size_t n);
void sfb_bytes_put_u8(struct sfb_bytes *bytes, unsigned value);
void sfb_bytes_put_uleb(struct sfb_bytes *bytes, uint64_t value); /* LEB128 */
void sfb_bytes_put_sleb(struct sfb_bytes *bytes, int64_t value);

/* Writes a size and as many bytes. */
void sfb_bytes_put_text(struct sfb_bytes *bytes, const void *from, size_t n);

void sfb_bytes_free(struct sfb_bytes *bytes);

#endif
