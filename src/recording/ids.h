/*
 * Which ids were introduced. They ascend from 1: ranges are few, and memory depends on how many gaps there are.
 */
#ifndef SFB_RECORDING_IDS_H
#define SFB_RECORDING_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_id_range {
    uint32_t first, last;
};

struct sfb_ids {
    struct sfb_id_range *ranges; /* ascending, apart from each other */
    size_t count, room;
};

/* More gaps than that are not remembered: a recording has one for each block that is lost. */
enum { SFB_ID_RANGES_MAX = 1 << 16 };

bool sfb_ids_has(const struct sfb_ids *ids, uint32_t id);

/* @return the highest one; 0: there is none */
uint32_t sfb_ids_last(const struct sfb_ids *ids);

/*
 * Introduces an id above all others.
 *
 * @return false: it is not above them, there are too many gaps, or no memory
 */
bool sfb_ids_add(struct sfb_ids *ids, uint32_t id);

void sfb_ids_free(struct sfb_ids *ids);

#endif
