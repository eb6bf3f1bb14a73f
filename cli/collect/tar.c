#include "cli/collect/tar.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "cli/tool_files.h"
#include "util/grow.h"

enum { BLOCK = 512 };

/* "ustar" of POSIX.1-1988: numbers are octal text. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
    char type;
    char target[100], magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155];
    char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

enum { REGULAR = '0', LINK = '2', EXTENDED = 'x' };

/* What a size of 12 octal digits, the last a zero, cannot say. */
#define SIZE_MAX_OCTAL (((uint64_t)1 << 33) - 1)

/* Adds bytes, and as many zeros as fill their last block. */
static void add(struct tar *t, const void *data, size_t size)
{
    if (size == 0 || t->failed)
        return;
    if (!array_make_room(&t->parts, t->count, &t->room, sizeof *t->parts)) {
        t->failed = true;
        return;
    }
    t->parts[t->count++] = (struct output_part){ t->size, data, size };
    t->size += (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* @return bytes that live as long as the file; NULL: no memory */
static void *take(struct tar *t, size_t size)
{
    void *bytes = calloc(1, size);

    if (!bytes ||
        !array_make_room(&t->headers, t->header_count, &t->header_room, sizeof *t->headers)) {
        free(bytes);
        t->failed = true;
        return NULL;
    }
    t->headers[t->header_count++] = bytes;
    return bytes;
}

static void octal(char *out, size_t digits, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%0*" PRIo64, (int)digits, value);
    memcpy(out, text, digits + 1);
}

static void add_header(struct tar *t, char type, const char *name, const char *target,
                       uint64_t size)
{
    struct header *h = take(t, sizeof *h);
    unsigned sum = 0;

    if (!h)
        return;
    memcpy(h->name, name, strnlen(name, sizeof h->name));
    memcpy(h->target, target, strnlen(target, sizeof h->target));
    octal(h->mode, 7, type == LINK ? 0777 : 0644);
    octal(h->uid, 7, 0);
    octal(h->gid, 7, 0);
    octal(h->size, 11, size <= SIZE_MAX_OCTAL ? size : 0);
    octal(h->mtime, 11, t->mtime);
    h->type = type;
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < sizeof *h; i++)
        sum += ((const uint8_t *)h)[i];
    octal(h->checksum, 6, sum);
    add(t, h, sizeof *h);
}

/* "30 path=...\n": the number counts the whole record, itself too. */
static size_t put_record(char *out, const char *key, const char *value)
{
    const size_t rest = strlen(key) + strlen(value) + 3;
    size_t digits = 1;

    while ((size_t)snprintf(NULL, 0, "%zu", rest + digits) != digits)
        digits++;
    return (size_t)sprintf(out, "%zu %s=%s\n", rest + digits, key, value);
}

/* What the header has no room for. */
static void add_extended(struct tar *t, const char *name, const char *target, uint64_t size)
{
    char number[24], *records = take(t, strlen(name) + strlen(target) + 128), *at = records;

    if (!records)
        return;
    if (strlen(name) > sizeof((struct header *)0)->name)
        at += put_record(at, "path", name);
    if (strlen(target) > sizeof((struct header *)0)->target)
        at += put_record(at, "linkpath", target);
    snprintf(number, sizeof number, "%" PRIu64, size);
    if (size > SIZE_MAX_OCTAL)
        at += put_record(at, "size", number);
    if (at == records)
        return;
    add_header(t, EXTENDED, "pax", "", (uint64_t)(at - records));
    add(t, records, (size_t)(at - records));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_new(struct tar *t, const char *name)
{
    char *copy;
    void *found;

    if (tfind(name, &t->names, by_name))
        return false;
    copy = strdup(name);
    found = copy ? tsearch(copy, &t->names, by_name) : NULL;
    if (!found)
        free(copy);
    t->failed |= !found;
    return found != NULL;
}

bool tar_add_file(struct tar *t, const char *name, const void *data, size_t size)
{
    if (!is_new(t, name))
        return false;
    add_extended(t, name, "", size);
    add_header(t, REGULAR, name, "", size);
    add(t, data, size);
    return !t->failed;
}

bool tar_add_link(struct tar *t, const char *name, const char *target)
{
    if (!is_new(t, name))
        return false;
    add_extended(t, name, target, 0);
    add_header(t, LINK, name, target, 0);
    return !t->failed;
}

bool tar_write(struct tar *t, const char *path)
{
    static const uint8_t end[2 * BLOCK];

    add(t, end, sizeof end);
    if (t->failed) {
        tool_complain(TOOL_USAGE, "%s: %s", path, strerror(ENOMEM));
        return false;
    }
    return tool_write(path, 0644, t->parts, t->count);
}

void tar_free(struct tar *t)
{
    for (size_t i = 0; i < t->header_count; i++)
        free(t->headers[i]);
    free(t->headers);
    free(t->parts);
    tdestroy(t->names, free);
    *t = (struct tar){ .count = 0 };
}
