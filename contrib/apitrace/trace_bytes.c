#include "contrib/apitrace/trace_bytes.h"

#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 2,              /* "at" */
    CHUNK_HEAD = 4,        /* the size of what follows */
    CHUNK_MOST = 64 << 20, /* unpacked: apitrace writes 1 MiB */
    NUMBER_BYTES = 10      /* of 64 bits */
};

bool trace_bytes_are(const uint8_t *file, size_t size)
{
    return size >= HEAD && file[0] == 'a' && file[1] == 't';
}

void trace_bytes_open(struct trace_bytes *out, const uint8_t *file, size_t size)
{
    *out = (struct trace_bytes){ .file = file, .file_size = size, .next = HEAD, .this = HEAD };
}

bool trace_bytes_fail(struct trace_bytes *b, const char *why)
{
    if (!b->why)
        b->why = why;
    return false;
}

static bool make_room(struct trace_bytes *b, size_t size)
{
    uint8_t *chunk;

    if (size <= b->room)
        return true;
    chunk = realloc(b->chunk, size);
    if (!chunk)
        return trace_bytes_fail(b, "no memory");
    b->chunk = chunk;
    b->room = size;
    return true;
}

/* @return false: the file ends here, or a fault */
static bool next_chunk(struct trace_bytes *b)
{
    const size_t left = b->file_size - b->next;
    const uint8_t *at = b->file + b->next;
    size_t packed, size = 0;

    if (b->why || left == 0)
        return false;
    b->before += b->size;
    b->size = b->pos = 0;
    b->this = b->next;
    if (left < CHUNK_HEAD)
        return trace_bytes_fail(b, "the file ends within the size of a chunk");
    packed = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
    if (packed > left - CHUNK_HEAD)
        return trace_bytes_fail(b, "the file ends within a chunk");
    if (snappy_uncompressed_length((const char *)at + CHUNK_HEAD, packed, &size) != SNAPPY_OK)
        return trace_bytes_fail(b, "a chunk that snappy did not pack");
    if (size > CHUNK_MOST)
        return trace_bytes_fail(b, "a chunk of more than 64 MiB");
    if (!make_room(b, size))
        return false;
    if (snappy_uncompress((const char *)at + CHUNK_HEAD, packed, (char *)b->chunk, &size) !=
        SNAPPY_OK)
        return trace_bytes_fail(b, "a damaged chunk");
    b->size = size;
    b->next += CHUNK_HEAD + packed;
    return true;
}

bool trace_bytes_more(struct trace_bytes *b)
{
    while (b->pos == b->size)
        if (!next_chunk(b))
            return false;
    return !b->why;
}

uint8_t trace_byte(struct trace_bytes *b)
{
    if (trace_bytes_more(b))
        return b->chunk[b->pos++];
    trace_bytes_fail(b, "it ends within an event");
    return 0;
}

uint64_t trace_number(struct trace_bytes *b)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < NUMBER_BYTES; i++) {
        const uint8_t byte = trace_byte(b);

        if (i == NUMBER_BYTES - 1 && byte > 1)
            break;
        number |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            return b->why ? 0 : number;
    }
    trace_bytes_fail(b, "a number of more than 64 bits");
    return 0;
}

/* Takes bytes piece by piece, into out unless it is NULL. */
static void take(struct trace_bytes *b, uint8_t *out, uint64_t size)
{
    while (size > 0 && trace_bytes_more(b)) {
        const size_t here = b->size - b->pos, part = size < here ? (size_t)size : here;

        if (out) {
            memcpy(out, b->chunk + b->pos, part);
            out += part;
        }
        b->pos += part;
        size -= part;
    }
    if (size > 0)
        trace_bytes_fail(b, "it ends within an event");
}

void trace_skip(struct trace_bytes *b, uint64_t size)
{
    take(b, NULL, size);
}

void trace_skip_string(struct trace_bytes *b)
{
    trace_skip(b, trace_number(b));
}

bool trace_copy(struct trace_bytes *b, void *out, size_t size)
{
    take(b, out, size);
    return !b->why;
}

void trace_bytes_close(struct trace_bytes *b)
{
    free(b->chunk);
    b->chunk = NULL;
}
