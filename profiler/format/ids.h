/* The set of introduced ids. They ascend from 1, so there are few ranges; memory depends on the number of gaps. */
#ifndef PROFILER_FORMAT_IDS_H
#define PROFILER_FORMAT_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sfb_id_range {
    uint32_t first, last;
};

struct sfb_ids {
    struct sfb_id_range *ranges; /* ascending, with gaps between them */
    size_t count, room;
};

/* Limit of gaps: a recording has one per lost block. */
enum { SFB_ID_RANGES_MAX = 1 << 16 };

bool sfb_ids_has(const struct sfb_ids *ids, uint32_t id);

/* @return the highest id; 0: empty */
uint32_t sfb_ids_last(const struct sfb_ids *ids);

/*
 * Adds an id above all others.
 *
 * @return false: not above them, too many gaps, or no memory
 */
bool sfb_ids_add(struct sfb_ids *ids, uint32_t id);

void sfb_ids_free(struct sfb_ids *ids);

#endif
