/* Functions that pack payloads; zstd.c has the only ones. */
#ifndef PROFILER_FORMAT_PACKER_H
#define PROFILER_FORMAT_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"

struct sfb_recording_packer {
    uint32_t flag; /* of the block: enum recording_flags */

    /* @return state for pack() and release(); NULL: no memory */
    void *(*open)(void);
    void (*release)(void *state);

    /*
     * @param fast  for frequent blocks: speed before size
     * @return bytes written to `out`; 0: more than `room`, or no memory
     */
    size_t (*pack)(void *state, void *out, size_t room, const void *in, size_t size, bool fast);
};

#endif
