#include "report/page/html_pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats/gzip.h"

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
    unsigned char left[3]; /* that wait for their group of three */
    size_t count;
};

static void put_group(FILE *to, const unsigned char bytes[3], size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t all = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
    const char group[4] = { letters[all >> 18], letters[all >> 12 & 63],
                            count > 1 ? letters[all >> 6 & 63] : '=',
                            count > 2 ? letters[all & 63] : '=' };

    fwrite(group, 1, sizeof group, to);
}

static ssize_t base64_write(void *cookie, const char *bytes, size_t count)
{
    struct base64 *b = cookie;

    for (size_t i = 0; i < count; i++) {
        b->left[b->count++] = (unsigned char)bytes[i];
        if (b->count == sizeof b->left) {
            put_group(b->to, b->left, b->count);
            b->count = 0;
        }
    }
    return (ssize_t)count;
}

static int base64_close(void *cookie)
{
    struct base64 *b = cookie;

    for (size_t i = b->count; i < sizeof b->left; i++)
        b->left[i] = 0;
    if (b->count > 0)
        put_group(b->to, b->left, b->count);
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
