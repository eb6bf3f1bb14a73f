#include "fuzz/pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct sfb_reader open_bytes(const uint8_t *bytes, size_t size)
{
    return (struct sfb_reader){ .pos = bytes,
                                .left = size,
                                .swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ };
}

const char *pack_open(struct pack *out, const uint8_t *bytes, size_t size)
{
    struct pack pack = { .rest = open_bytes(bytes, size) };
    char magic[sizeof PACK_MAGIC - 1];
    struct sfb_reader all;

    if (!sfb_reader_copy(&pack.rest, magic, sizeof magic) ||
        memcmp(magic, PACK_MAGIC, sizeof magic) != 0)
        return "no pack: it does not begin with " PACK_MAGIC;
    pack.count = sfb_reader_u32(&pack.rest);
    if (pack.rest.failed || pack.count == 0)
        return "the pack holds no inputs";
    all = pack.rest;
    for (uint32_t i = 0; i < pack.count && !all.failed; i++)
        sfb_reader_skip(&all, sfb_reader_u32(&all));
    if (all.failed)
        return "the pack ends before its last input does";
    if (all.left > 0)
        return "bytes follow the last input of the pack";
    *out = pack;
    return NULL;
}

bool pack_next(struct pack *pack, const uint8_t **input, size_t *size)
{
    if (pack->given == pack->count)
        return false;
    *size = sfb_reader_u32(&pack->rest);
    *input = pack->rest.pos;
    sfb_reader_skip(&pack->rest, *size);
    pack->given++;
    return true;
}

bool pack_is_named(const char *path)
{
    size_t length = strlen(path);

    return length > 5 && strcmp(path + length - 5, ".pack") == 0;
}

uint8_t *pack_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    struct stat found;

    if (file == NULL)
        return NULL;
    if (fstat(fileno(file), &found) == 0) {
        *size = (size_t)found.st_size;
        bytes = malloc(*size > 0 ? *size : 1);
        if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
            errno = EIO;
        }
    }
    fclose(file);
    return bytes;
}
