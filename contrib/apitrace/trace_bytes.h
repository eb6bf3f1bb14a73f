/* The bytes of a trace of apitrace: chunks that snappy packed, behind "at". What is wrong is sticky: later reads give 0. */
#ifndef CONTRIB_APITRACE_TRACE_BYTES_H
#define CONTRIB_APITRACE_TRACE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_bytes {
    const uint8_t *file; /* borrowed */
    size_t file_size;
    size_t next;    /* chunk, in the file */
    size_t this;    /* chunk, in the file */
    uint8_t *chunk; /* unpacked */
    size_t size, room, pos;
    uint64_t before; /* bytes of the chunks before this one */
    const char *why; /* what is wrong; NULL: nothing */
};

/* Whether a file begins as such a trace does. */
bool trace_bytes_are(const uint8_t *file, size_t size);

void trace_bytes_open(struct trace_bytes *out, const uint8_t *file, size_t size);

/* @return whether there is a further byte; false at the end, and after a fault */
bool trace_bytes_more(struct trace_bytes *bytes);

/* Keeps the first fault. @return false */
bool trace_bytes_fail(struct trace_bytes *bytes, const char *why);

/* Of all that follow: behind the end of the data the trace is cut off, which is a fault. */
uint8_t trace_byte(struct trace_bytes *bytes);

/* A number of 7 bits a byte, the lowest first. */
uint64_t trace_number(struct trace_bytes *bytes);

void trace_skip(struct trace_bytes *bytes, uint64_t size);

/* Passes over a string. */
void trace_skip_string(struct trace_bytes *bytes);

/* Copies so many bytes. @return false: a fault */
bool trace_copy(struct trace_bytes *bytes, void *out, size_t size);

void trace_bytes_close(struct trace_bytes *bytes);

#endif
