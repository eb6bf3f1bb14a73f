#define ZLIB_CONST /* what it reads is const */
#include "profiler/report/formats/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* Window bits as zlib wants them for a gzip header, and its default of memory. */
enum { WINDOW_GZIP = 15 + 16, MEMORY_LEVEL = 8, OUT_SIZE = 1 << 16 };

struct report_gzip {
    FILE *to;
    z_stream stream;
    Bytef out[OUT_SIZE];
};

struct report_gzip *report_gzip_open(FILE *to)
{
    struct report_gzip *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->to = to;
    if (deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return g;
    free(g);
    return NULL;
}

/* With room for output, deflate() fails on misuse only. */
static void pump(struct report_gzip *g, int flush)
{
    do {
        g->stream.next_out = g->out;
        g->stream.avail_out = OUT_SIZE;
        deflate(&g->stream, flush);
        fwrite(g->out, 1, OUT_SIZE - g->stream.avail_out, g->to);
    } while (g->stream.avail_out == 0);
}

void report_gzip_put(struct report_gzip *g, const void *bytes, size_t size)
{
    const Bytef *at = bytes;

    while (size > 0) {
        const uInt part = size < UINT_MAX ? (uInt)size : UINT_MAX;

        g->stream.next_in = at;
        g->stream.avail_in = part;
        pump(g, Z_NO_FLUSH);
        at += part;
        size -= part;
    }
}

void report_gzip_close(struct report_gzip *g)
{
    if (!g)
        return;
    pump(g, Z_FINISH);
    deflateEnd(&g->stream);
    free(g);
}
