#include "profiler/report/page/html_pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/gzip.h"
#include "util/base64_group.h"

/* --- As it is ---------------------------------------------------------------------------------- */

static ssize_t plain_write(void *cookie, const char *bytes, size_t count)
{
    FILE *to = cookie;
    const char *at = bytes, *end = bytes + count;

    for (const char *next; at < end; at = next + 1) {
        next = memchr(at, '<', (size_t)(end - at));
        if (!next)
            next = end;
        fwrite(at, 1, (size_t)(next - at), to);
        if (next < end)
            fputs("\\u003c", to);
    }
    return (ssize_t)count;
}

FILE *html_plain_open(FILE *to)
{
    return fopencookie(to, "w", (cookie_io_functions_t){ .write = plain_write });
}

/* --- Base64 ------------------------------------------------------------------------------------ */

struct base64 {
    FILE *to;
    uint8_t left[3]; /* that wait for their group of three */
    size_t count;
};

static void put_group(struct base64 *b)
{
    char group[SFB_BASE64_GROUP];

    sfb_base64_group(group, b->left, b->count);
    fwrite(group, 1, sizeof group, b->to);
    b->count = 0;
}

static ssize_t base64_write(void *cookie, const char *bytes, size_t count)
{
    struct base64 *b = cookie;

    for (size_t i = 0; i < count; i++) {
        b->left[b->count++] = (uint8_t)bytes[i];
        if (b->count == sizeof b->left)
            put_group(b);
    }
    return (ssize_t)count;
}

static int base64_close(void *cookie)
{
    struct base64 *b = cookie;

    if (b->count > 0)
        put_group(b);
    free(b);
    return 0;
}

static FILE *base64_open(FILE *to)
{
    struct base64 *b = calloc(1, sizeof *b);
    FILE *out;

    if (!b)
        return NULL;
    b->to = to;
    out = fopencookie(b, "w",
                      (cookie_io_functions_t){ .write = base64_write, .close = base64_close });
    if (!out)
        free(b);
    return out;
}

/* --- Packed ------------------------------------------------------------------------------------ */

struct packed {
    FILE *letters;
    struct report_gzip *gzip;
};

static ssize_t packed_write(void *cookie, const char *bytes, size_t count)
{
    report_gzip_put(((struct packed *)cookie)->gzip, bytes, count);
    return (ssize_t)count;
}

static int packed_close(void *cookie)
{
    struct packed *p = cookie;
    int status;

    report_gzip_close(p->gzip);
    status = fclose(p->letters);
    free(p);
    return status;
}

FILE *html_packed_open(FILE *to)
{
    struct packed *p = calloc(1, sizeof *p);
    FILE *out = NULL;

    if (!p)
        return NULL;
    p->letters = base64_open(to);
    p->gzip = p->letters ? report_gzip_open(p->letters) : NULL;
    if (p->gzip)
        out = fopencookie(p, "w",
                          (cookie_io_functions_t){ .write = packed_write, .close = packed_close });
    if (!out) {
        report_gzip_close(p->gzip);
        if (p->letters)
            fclose(p->letters);
        free(p);
    }
    return out;
}
