#include "remote/core_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "remote/core_fault.h"
#include "util/read_all.h"
#include "util/write_all.h"

enum { PAGE = 4096 };

/* What other programs make of cores. Of these, zstd alone is unpacked here. */
static const struct {
    uint8_t magic[6];
    size_t size;
    const char *name, *command;
} packers[] = {
    { { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, "xz", "xz -dc" },
    { { 0x04, 0x22, 0x4d, 0x18 }, 4, "lz4", "lz4 -dc" },
    { { 0x1f, 0x8b }, 2, "gzip", "gzip -dc" },
    { { 'B', 'Z', 'h' }, 3, "bzip2", "bzip2 -dc" },
};

static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

struct unpacking {
    int from, to;
    ZSTD_DStream *stream;
    uint8_t *in, *out;
    size_t in_room, out_room;
    uint64_t size, max; /* of what was unpacked */
};

/* @return false: errno says why */
static bool open_target(int *fd)
{
    const char *folder = getenv("TMPDIR");

    *fd = open(folder && folder[0] ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return *fd >= 0;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* @return false: errno says why */
static bool put(struct unpacking *u, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const size_t some = size < PAGE ? size : PAGE;
        const bool good = is_zero(bytes, some) ? lseek(u->to, (off_t)some, SEEK_CUR) >= 0
                                               : sfb_write_all(u->to, bytes, some) == some;

        if (!good)
            return false;
        u->size += some;
        bytes += some;
        size -= some;
    }
    return true;
}

/* @return whether one piece of input is unpacked; *left is 0 at the end of a frame */
static bool unpack_piece(struct unpacking *u, size_t got, size_t *left,
                         struct sfb_remote_fault *fault)
{
    ZSTD_inBuffer in = { u->in, got, 0 };
    ZSTD_outBuffer out;

    do {
        out = (ZSTD_outBuffer){ u->out, u->out_room, 0 };
        *left = ZSTD_decompressStream(u->stream, &out, &in);
        if (ZSTD_isError(*left))
            return remote_core_fault(fault, "its zstd data is damaged: %s",
                                     ZSTD_getErrorName(*left));
        if (out.pos > u->max - u->size)
            return remote_core_fault(fault,
                                     "it unpacks to more than %llu bytes: --max-core allows more",
                                     (unsigned long long)u->max);
        if (!put(u, u->out, out.pos))
            return remote_core_fault(fault, "unpacking it: %s", strerror(errno));
    } while (in.pos < in.size || out.pos == out.size);
    return true;
}

/* What is cut off is unpacked up to there: the core says itself what it misses. */
static bool unpack_all(struct unpacking *u, struct sfb_remote_fault *fault)
{
    size_t got, left = 0;

    lseek(u->from, 0, SEEK_SET);
    while ((got = sfb_read_all(u->from, u->in, u->in_room)) > 0)
        if (!unpack_piece(u, got, &left, fault))
            return false;
    if (u->size == 0)
        return remote_core_fault(fault, "its zstd data is cut off before its first block ends");
    return ftruncate(u->to, (off_t)u->size) == 0 ||
           remote_core_fault(fault, "unpacking it: %s", strerror(errno));
}

static bool unpack(int *fd, uint64_t max, struct sfb_remote_fault *fault)
{
    struct unpacking u = { .from = *fd,
                           .to = -1,
                           .stream = ZSTD_createDStream(),
                           .in_room = ZSTD_DStreamInSize(),
                           .out_room = ZSTD_DStreamOutSize(),
                           .max = max };
    bool good;

    u.in = malloc(u.in_room);
    u.out = malloc(u.out_room);
    if (!u.stream || !u.in || !u.out)
        good = remote_core_fault(fault, "out of memory");
    else if (!open_target(&u.to))
        good = remote_core_fault(fault, "no file to unpack it to in $TMPDIR or /var/tmp: %s",
                                 strerror(errno));
    else
        good = unpack_all(&u, fault);
    ZSTD_freeDStream(u.stream);
    free(u.in);
    free(u.out);
    if (good) {
        close(*fd);
        *fd = u.to;
    } else if (u.to >= 0) {
        close(u.to);
    }
    return good;
}

bool remote_core_unpack(int *fd, uint64_t max, struct sfb_remote_fault *fault)
{
    uint8_t head[8] = { 0 };

    sfb_read_all_at(*fd, head, sizeof head, 0);
    if (memcmp(head, zstd_magic, sizeof zstd_magic) == 0)
        return unpack(fd, max, fault);
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
        if (memcmp(head, packers[i].magic, packers[i].size) == 0)
            return remote_core_fault(fault,
                                     "it is packed by %s, and zstd alone is unpacked here: '%s' "
                                     "first",
                                     packers[i].name, packers[i].command);
    return true;
}
