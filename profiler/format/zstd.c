/* The only file that uses zstd: a writer that does not pack does not link it. */
#include "profiler/format/zstd.h"

#include <zstd.h>

#include "profiler/format/format.h"
#include "profiler/format/packer.h"

/* Ordinary blocks are small and rare: a millisecond each. Heap blocks follow each other closely. */
enum { LEVEL = 9, LEVEL_FAST = 5 };

static void *zstd_open(void)
{
    return ZSTD_createCCtx();
}

static void zstd_release(void *state)
{
    ZSTD_freeCCtx(state);
}

static size_t zstd_pack(void *state, void *out, size_t room, const void *in, size_t size, bool fast)
{
    const size_t packed = ZSTD_compressCCtx(state, out, room, in, size, fast ? LEVEL_FAST : LEVEL);

    return ZSTD_isError(packed) ? 0 : packed;
}

const struct sfb_recording_packer sfb_recording_zstd = { RECORDING_ZSTD, zstd_open, zstd_release,
                                                         zstd_pack };

bool sfb_recording_unpack(void *out, size_t size, const void *in, size_t in_size)
{
    return ZSTD_decompress(out, size, in, in_size) == size;
}
