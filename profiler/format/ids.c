#include "profiler/format/ids.h"

#include <stdlib.h>

#include "util/grow.h"

bool sfb_ids_has(const struct sfb_ids *ids, uint32_t id)
{
    size_t low = 0, high = ids->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (id < ids->ranges[middle].first)
            high = middle;
        else if (id > ids->ranges[middle].last)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

uint32_t sfb_ids_last(const struct sfb_ids *ids)
{
    return ids->count > 0 ? ids->ranges[ids->count - 1].last : 0;
}

bool sfb_ids_add(struct sfb_ids *ids, uint32_t id)
{
    const uint32_t last = sfb_ids_last(ids);
    struct sfb_id_range *grown;

    if (id <= last)
        return false;
    if (ids->count > 0 && id == last + 1) {
        ids->ranges[ids->count - 1].last = id;
        return true;
    }
    grown = array_grow(ids->ranges, ids->count, &ids->room, sizeof *grown, SFB_ID_RANGES_MAX);
    if (grown == NULL)
        return false;
    ids->ranges = grown;
    ids->ranges[ids->count++] = (struct sfb_id_range){ id, id };
    return true;
}

void sfb_ids_free(struct sfb_ids *ids)
{
    free(ids->ranges);
    *ids = (struct sfb_ids){ 0 };
}
