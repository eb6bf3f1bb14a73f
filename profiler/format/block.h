/* Encodes and decodes a block's header. */
#ifndef PROFILER_FORMAT_BLOCK_H
#define PROFILER_FORMAT_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/format/format.h"

struct sfb_block {
    uint32_t type, version, flags;
    uint32_t process, thread;
    uint64_t sequence;
    uint32_t records;
    uint32_t stored, unpacked; /* payload size in bytes */
    uint32_t crc;              /* of the payload */
};

void sfb_block_write(uint8_t out[RECORDING_BLOCK_HEADER_SIZE], const struct sfb_block *block);

/* @return false: not a header, or its sizes are impossible */
bool sfb_block_read(struct sfb_block *out, const uint8_t in[RECORDING_BLOCK_HEADER_SIZE]);

#endif
