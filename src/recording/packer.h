/* How payloads are packed: zstd.c has the only one there is. */
#ifndef SFB_RECORDING_PACKER_H
#define SFB_RECORDING_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"

struct sfb_recording_packer {
    uint32_t flag; /* of the block: enum recording_flags */

    /* @return what each call of pack() is given, and the last of release(); NULL: no memory */
    void *(*open)(void);
    void (*release)(void *state);

    /*
     * @param fast  there are many such blocks: time counts more than size
     * @return bytes at `out`; 0: they do not fit `room`, or there was no memory
     */
    size_t (*pack)(void *state, void *out, size_t room, const void *in, size_t size, bool fast);
};

#endif
