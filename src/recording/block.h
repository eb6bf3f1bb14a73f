/* A block's header, to bytes and back. */
#ifndef SFB_RECORDING_BLOCK_H
#define SFB_RECORDING_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/format.h"

struct sfb_block {
    uint32_t type, version, flags;
    uint32_t process, thread;
    uint64_t sequence;
    uint32_t records;
    uint32_t stored, unpacked; /* bytes of the payload */
    uint32_t crc;              /* of the payload */
};

void sfb_block_write(uint8_t out[RECORDING_BLOCK_HEADER_SIZE], const struct sfb_block *block);

/* @return whether these are a header, and say sizes that a payload may have */
bool sfb_block_read(struct sfb_block *out, const uint8_t in[RECORDING_BLOCK_HEADER_SIZE]);

#endif
