#include "profiler/format/block.h"

#include <string.h>

#include "profiler/format/crc32c.h"

void sfb_block_write(uint8_t out[RECORDING_BLOCK_HEADER_SIZE], const struct sfb_block *block)
{
    memcpy(out, RECORDING_BLOCK_MAGIC, RECORDING_BLOCK_MAGIC_SIZE);
    recording_put_le(out + 4, block->type, 1);
    recording_put_le(out + 5, block->version, 1);
    recording_put_le(out + 6, block->flags, 2);
    recording_put_le(out + 8, block->process, 4);
    recording_put_le(out + 12, block->thread, 4);
    recording_put_le(out + 16, block->sequence, 8);
    recording_put_le(out + 24, block->records, 4);
    recording_put_le(out + 28, block->stored, 4);
    recording_put_le(out + 32, block->unpacked, 4);
    recording_put_le(out + 36, block->crc, 4);
    recording_put_le(out + RECORDING_BLOCK_CRC, sfb_crc32c(0, out, RECORDING_BLOCK_CRC), 4);
}

bool sfb_block_read(struct sfb_block *out, const uint8_t in[RECORDING_BLOCK_HEADER_SIZE])
{
    if (memcmp(in, RECORDING_BLOCK_MAGIC, RECORDING_BLOCK_MAGIC_SIZE) != 0 ||
        recording_get_le(in + RECORDING_BLOCK_CRC, 4) != sfb_crc32c(0, in, RECORDING_BLOCK_CRC))
        return false;
    *out = (struct sfb_block){
        .type = (uint32_t)recording_get_le(in + 4, 1),
        .version = (uint32_t)recording_get_le(in + 5, 1),
        .flags = (uint32_t)recording_get_le(in + 6, 2),
        .process = (uint32_t)recording_get_le(in + 8, 4),
        .thread = (uint32_t)recording_get_le(in + 12, 4),
        .sequence = recording_get_le(in + 16, 8),
        .records = (uint32_t)recording_get_le(in + 24, 4),
        .stored = (uint32_t)recording_get_le(in + 28, 4),
        .unpacked = (uint32_t)recording_get_le(in + 32, 4),
        .crc = (uint32_t)recording_get_le(in + 36, 4),
    };
    return out->stored <= RECORDING_PAYLOAD_MAX && out->unpacked <= RECORDING_PAYLOAD_MAX;
}
