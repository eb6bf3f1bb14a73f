/*
 * The sites of a process's heap: who allocates is a thread with a stack. Each keeps its sums.
 *
 * What lived at the peak of the process is kept lazily: a new peak gives the process a new epoch, and a site that is
 * touched in an epoch for the first time takes over what it had until then. So an event costs the same, however many
 * sites there are.
 */
#ifndef RECORDER_HEAP_SITES_H
#define RECORDER_HEAP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/heap_weight.h"

struct sfb_heap_site {
    struct sfb_heap_sum live, allocated;
    struct sfb_heap_sum peak;
    uint64_t epoch;
    uint64_t slack, live_slack;
    uint32_t id; /* in the recording */
    uint32_t thread, stack, kind;
    bool changed; /* since its sums were written */
    struct sfb_heap_sum temporary;
    uint64_t reallocated, longest_chain, freed_elsewhere; /* the first and the last in units */
    struct sfb_heap_variance live_variance, allocated_variance, peak_variance, temporary_variance;
    uint64_t sizes[SFB_HEAP_CLASSES], lifetimes[SFB_HEAP_CLASSES]; /* units */
};

/* Of a process, of a KiB each. Beyond, threads still get those without a stack. */
enum { SFB_HEAP_SITES_MAX = 1 << 19, SFB_HEAP_SITES_BARE = 1 << 16 };

struct sfb_heap_site_key {
    uint64_t hash; /* of the stack; 0: none */
    uint32_t thread, kind;
};

struct sfb_heap_sites {
    struct {
        struct sfb_heap_site_key key;
        uint32_t site; /* index + 1; 0: the place is empty */
    } * places;
    size_t room;
    struct sfb_heap_site **chunks;
    size_t count, chunk_count, chunk_room;
};

static inline struct sfb_heap_site *sfb_heap_site_at(const struct sfb_heap_sites *sites,
                                                     uint32_t index)
{
    return &sites->chunks[index >> 6][index & 63];
}

/* @return index + 1; 0: there is none */
uint32_t sfb_heap_sites_find(const struct sfb_heap_sites *sites,
                             const struct sfb_heap_site_key *key);

/* Adds a site that is not there, all zeros. @return index + 1; 0: no memory, or too many */
uint32_t sfb_heap_sites_add(struct sfb_heap_sites *sites, const struct sfb_heap_site_key *key);

/* Takes over what it had up to the last peak. To be called before `live` changes. */
static inline void sfb_heap_site_touch(struct sfb_heap_site *site, uint64_t epoch, bool sampled)
{
    if (site->epoch == epoch)
        return;
    site->epoch = epoch;
    site->peak = site->live;
    if (sampled)
        site->peak_variance = site->live_variance;
}

void sfb_heap_sites_free(struct sfb_heap_sites *sites);

#endif
