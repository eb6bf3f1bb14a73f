/*
 * Maps the hash of a stack to its id in the recording, per process.
 *
 * Agents send a stack once, and then only its hash. The dictionary is bounded: agents remember SFB_SHARED_KNOWN hashes,
 * and only these come without their stack.
 */
#ifndef PROFILER_COLLECTOR_RINGS_DICTIONARY_H
#define PROFILER_COLLECTOR_RINGS_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/shared.h"

struct sfb_recorder_dictionary {
    struct {
        uint64_t hash; /* 0: empty */
        uint32_t id;
    } * entries;
    size_t room; /* a power of two; 0: not allocated */
    size_t count;
};

/* @return the id; 0: not found */
uint32_t sfb_recorder_dictionary_find(const struct sfb_recorder_dictionary *dictionary,
                                      uint64_t hash);

/*
 * Adds a hash, or changes its id.
 *
 * @param known  the agents' table: at its limit, the dictionary drops hashes that are not in it. NULL: for the heap,
 *             limited to two million stacks; more are not added
 * @return false: no memory
 */
bool sfb_recorder_dictionary_add(struct sfb_recorder_dictionary *dictionary, uint64_t hash,
                                 uint32_t id, const uint64_t *known);

void sfb_recorder_dictionary_free(struct sfb_recorder_dictionary *dictionary);

#endif
