#include "profiler/collector/heap/heap_account.h"

static inline struct sfb_heap_weight weight_of(const struct sfb_heap_process *p, uint64_t size)
{
    if (sfb_heap_is_sampled(p))
        return sfb_heap_weight_sampled(size, p->heap->rate);
    return (struct sfb_heap_weight){ .blocks = 1, .bytes = size };
}

static inline void add(struct sfb_heap_sum *sum, struct sfb_heap_variance *variance,
                       const struct sfb_heap_weight *w, bool sampled)
{
    sum->blocks += w->blocks;
    sum->bytes += w->bytes;
    if (!sampled)
        return;
    sum->samples++;
    variance->blocks += w->blocks_variance;
    variance->bytes += w->bytes_variance;
}

static inline void take_away(struct sfb_heap_sum *sum, struct sfb_heap_variance *variance,
                             const struct sfb_heap_weight *w, bool sampled)
{
    sum->blocks -= w->blocks;
    sum->bytes -= w->bytes;
    if (!sampled)
        return;
    sum->samples--;
    variance->blocks -= w->blocks_variance;
    variance->bytes -= w->bytes_variance;
}

static void put_event(struct sfb_heap_process *p, const struct sfb_heap_site *site, uint64_t size,
                      uint64_t time, bool freed)
{
    struct sfb_heap *heap = p->heap;

    heap->events++;
    p->happened = true;
    if ((heap->flags & SFB_HEAP_AGGREGATE) || heap->status != SFB_OK)
        return;
    const struct sfb_recording_heap_event event = { .process = p->id,
                                                    .site = site->id,
                                                    .time = sfb_heap_clock_ns(&heap->clock, time),
                                                    .size = size,
                                                    .freed = freed };

    sfb_heap_put(heap, sfb_recording_put_heap_event(heap->writer, &event));
}

void sfb_heap_account_allocation(struct sfb_heap_process *p, const struct sfb_heap_action *action)
{
    struct sfb_heap_site *site = sfb_heap_site_at(&p->sites, action->site);
    const bool sampled = sfb_heap_is_sampled(p);
    const struct sfb_heap_weight w = weight_of(p, action->size);

    sfb_heap_site_touch(site, p->epoch, sampled);
    add(&site->live, &site->live_variance, &w, sampled);
    add(&site->allocated, &site->allocated_variance, &w, sampled);
    site->slack += sfb_heap_weighed(action->slack, &w, sampled);
    site->live_slack += sfb_heap_weighed(action->slack, &w, sampled);
    site->sizes[sfb_heap_class(action->size)] += w.blocks;
    if (action->reallocates)
        site->reallocated += w.blocks;
    if (action->chain > site->longest_chain)
        site->longest_chain = action->chain;
    site->changed = true;
    p->allocated.blocks += w.blocks;
    p->allocated.bytes += w.bytes;
    p->live.blocks += w.blocks;
    p->live.bytes += w.bytes;
    if (p->live.bytes > p->peak.bytes) {
        p->peak = p->live;
        p->peak_time = action->time;
        p->epoch++;
    }
    put_event(p, site, action->size, action->time, false);
}

void sfb_heap_account_free(struct sfb_heap_process *p, const struct sfb_heap_block *block,
                           const struct sfb_heap_action *action)
{
    struct sfb_heap_site *site = sfb_heap_site_at(&p->sites, block->site);
    const bool sampled = sfb_heap_is_sampled(p);
    const struct sfb_heap_weight w = weight_of(p, block->size);

    sfb_heap_site_touch(site, p->epoch, sampled);
    take_away(&site->live, &site->live_variance, &w, sampled);
    site->live_slack -= sfb_heap_weighed(block->slack, &w, sampled);
    site->changed = true;
    p->live.blocks -= w.blocks;
    p->live.bytes -= w.bytes;
    if (action) {
        const uint64_t lived = action->time > block->time ? action->time - block->time : 0;
        const double ns = (double)lived * p->heap->clock.ns_per_count;

        site->lifetimes[sfb_heap_class((uint64_t)ns)] += w.blocks;
        if (action->thread != site->thread)
            site->freed_elsewhere += w.blocks;
        if (action->temporary)
            add(&site->temporary, &site->temporary_variance, &w, sampled);
    }
    put_event(p, site, block->size, action ? action->time : p->time, true);
}
