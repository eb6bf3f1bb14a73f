/* The only file that knows zstd: who writes without it does not link it. */
#include "recording/zstd.h"

#include <zstd.h>

#include "recording/format.h"
#include "recording/packer.h"

/* Blocks are small and few: a millisecond each. But those of events of the heap come one behind the other. */
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
