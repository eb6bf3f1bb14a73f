/*
 * Hash of a stack -> its id in the recording, for one process.
 *
 * Agents send a stack once and its hash from then on, so what a hash stands for has to be kept. It is bounded: agents
 * remember SFB_SHARED_KNOWN hashes, and only these can come without their stack.
 */
#ifndef RECORDER_DICTIONARY_H
#define RECORDER_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/shared.h"

struct sfb_recorder_dictionary {
    struct {
        uint64_t hash; /* 0: empty */
        uint32_t id;
    } * entries;
    size_t room; /* a power of two; 0: nothing yet */
    size_t count;
};

/* @return the id; 0: the hash is not in it */
uint32_t sfb_recorder_dictionary_find(const struct sfb_recorder_dictionary *dictionary,
                                      uint64_t hash);

/*
 * Adds a hash, or changes what it stands for.
 *
 * @param known  the agents' table: where the dictionary has grown to its limit, what is not in there is forgotten.
 *               NULL: of the heap, where the limit is two million stacks, and more are not added
 * @return false: no memory
 */
bool sfb_recorder_dictionary_add(struct sfb_recorder_dictionary *dictionary, uint64_t hash,
                                 uint32_t id, const uint64_t *known);

void sfb_recorder_dictionary_free(struct sfb_recorder_dictionary *dictionary);

#endif
