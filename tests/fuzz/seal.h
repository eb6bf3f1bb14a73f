/* Sums for a recording that a fuzzer made: no mutation hits a CRC, and what lies behind one has to be reached. */
#ifndef FUZZ_SEAL_H
#define FUZZ_SEAL_H

#include <stdint.h>
#include <string.h>

#include "profiler/format/block.h"
#include "profiler/format/crc32c.h"

/* Makes the sums right, and sizes that lead out of the file as large as can be. */
static inline void fuzz_seal(uint8_t *bytes, size_t size)
{
    size_t at = RECORDING_HEADER_SIZE;

    if (size < RECORDING_HEADER_SIZE)
        return;
    memcpy(bytes, RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
    recording_put_le(bytes + 8, RECORDING_MAJOR, 1);
    recording_put_le(bytes + 10, RECORDING_HEADER_SIZE, 2);
    recording_put_le(bytes + RECORDING_HEADER_CRC, sfb_crc32c(0, bytes, RECORDING_HEADER_CRC), 4);
    while (size - at >= RECORDING_BLOCK_HEADER_SIZE) {
        uint8_t *header = bytes + at;
        const size_t left = size - at - RECORDING_BLOCK_HEADER_SIZE;
        size_t stored = recording_get_le(header + 28, 4);

        if (stored > left)
            stored = left;
        memcpy(header, RECORDING_BLOCK_MAGIC, RECORDING_BLOCK_MAGIC_SIZE);
        recording_put_le(header + 28, stored, 4);
        if (!(header[6] & RECORDING_ZSTD))
            recording_put_le(header + 32, stored, 4);
        recording_put_le(header + 36, sfb_crc32c(0, header + RECORDING_BLOCK_HEADER_SIZE, stored),
                         4);
        recording_put_le(header + RECORDING_BLOCK_CRC, sfb_crc32c(0, header, RECORDING_BLOCK_CRC),
                         4);
        at += RECORDING_BLOCK_HEADER_SIZE + stored;
    }
}

#endif
