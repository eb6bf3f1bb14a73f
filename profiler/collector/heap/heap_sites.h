/*
 * The sites of a process's heap: a site is a thread with a stack that allocates. Each has its sums.
 *
 * Sums at the process's peak are kept lazily. A new peak starts a new epoch of the process. A site first touched in an
 * epoch saves its sums as peak sums. So the cost of an event does not depend on the number of sites.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_SITES_H
#define PROFILER_COLLECTOR_HEAP_HEAP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/collector/heap/heap_weight.h"

struct sfb_heap_site {
    struct sfb_heap_sum live, allocated;
    struct sfb_heap_sum peak;
    uint64_t epoch;
    uint64_t slack, live_slack;
    uint32_t id; /* in the recording */
    uint32_t thread, stack, kind;
    bool changed; /* since its sums were last written */
    struct sfb_heap_sum temporary;
    uint64_t reallocated, longest_chain, freed_elsewhere; /* first and last: in units */
    struct sfb_heap_variance live_variance, allocated_variance, peak_variance, temporary_variance;
    uint64_t sizes[SFB_HEAP_CLASSES], lifetimes[SFB_HEAP_CLASSES]; /* in units */
};

/* Limits per process; a site takes a KiB. Beyond the first, threads still get sites without a stack. */
enum { SFB_HEAP_SITES_MAX = 1 << 19, SFB_HEAP_SITES_BARE = 1 << 16 };

struct sfb_heap_site_key {
    uint64_t hash; /* of the stack; 0: no stack */
    uint32_t thread, kind;
};

struct sfb_heap_sites {
    struct {
        struct sfb_heap_site_key key;
        uint32_t site; /* index + 1; 0: empty */
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

/* @return index + 1; 0: missing */
uint32_t sfb_heap_sites_find(const struct sfb_heap_sites *sites,
                             const struct sfb_heap_site_key *key);

/* Adds a missing site, zeroed. @return index + 1; 0: no memory, or too many */
uint32_t sfb_heap_sites_add(struct sfb_heap_sites *sites, const struct sfb_heap_site_key *key);

/* Saves its live sums as the last peak's. Called before `live` changes. */
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
