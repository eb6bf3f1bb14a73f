#include "profiler/collector/heap/heap_process.h"

#include <stdlib.h>

static const uint64_t step_ns = 10000000, aggregate_step_ns = 100000000;

void sfb_heap_put(struct sfb_heap *heap, enum sfb_status status)
{
    if (heap->status == SFB_OK && status != SFB_OK)
        heap->status = status;
}

struct sfb_heap_process *sfb_heap_process_open(struct sfb_heap *heap, uint32_t id, uint64_t time_ns)
{
    struct sfb_heap_process *p = calloc(1, sizeof *p);
    const struct sfb_recording_heap event = {
        .process = id, .flags = heap->flags, .time = time_ns, .rate = heap->rate
    };

    if (!p)
        return NULL;
    p->heap = heap;
    p->id = id;
    p->epoch = 1;
    sfb_heap_put(heap, sfb_recording_put_heap(heap->writer, &event));
    return p;
}

/* When the table is full, a thread gets one site for all further stacks. */
static uint32_t add_site(struct sfb_heap_process *p, struct sfb_heap_site_key key)
{
    uint32_t site = sfb_heap_sites_add(&p->sites, &key);
    struct sfb_heap_site *new;
    struct sfb_recording_heap_site event;

    if (site == 0 && key.hash != 0) {
        key.hash = 0;
        site = sfb_heap_sites_find(&p->sites, &key);
        if (site != 0)
            return site;
        site = sfb_heap_sites_add(&p->sites, &key);
    }
    if (site == 0)
        return 0;
    new = sfb_heap_site_at(&p->sites, site - 1);
    event = (struct sfb_recording_heap_site){
        .id = ++p->heap->last_site,
        .thread = key.thread,
        .stack = sfb_recorder_dictionary_find(&p->stacks, key.hash),
        .kind = key.kind,
    };
    new->id = event.id;
    new->thread = event.thread;
    new->stack = event.stack;
    new->kind = event.kind;
    sfb_heap_put(p->heap, sfb_recording_put_heap_site(p->heap->writer, &event));
    return site;
}

bool sfb_heap_process_site(struct sfb_heap_process *p, uint32_t *out, uint32_t thread,
                           uint64_t hash, uint32_t kind)
{
    const struct sfb_heap_site_key key = { hash, thread, kind };
    uint32_t site = sfb_heap_sites_find(&p->sites, &key);

    if (site == 0)
        site = add_site(p, key);
    *out = site - 1;
    return site != 0;
}

/* --- the time line ------------------------------------------------------------------------------- */

static struct sfb_recording_heap_sum in_blocks(const struct sfb_heap_process *p,
                                               const struct sfb_recording_heap_sum *units)
{
    return (struct sfb_recording_heap_sum){ sfb_heap_blocks(units->blocks, sfb_heap_is_sampled(p)),
                                            units->bytes };
}

/* A process's reported exit may be before the last state written. */
static void put_state(struct sfb_heap_process *p, uint64_t time_ns)
{
    if (time_ns < p->state_ns)
        time_ns = p->state_ns;
    p->state_ns = time_ns;
    const struct sfb_recording_heap_state state = {
        .process = p->id,
        .time = time_ns,
        .live = in_blocks(p, &p->live),
        .allocated = in_blocks(p, &p->allocated),
        .peak = in_blocks(p, &p->peak),
        .peak_time = p->peak_time == 0 ? 0 : sfb_heap_clock_ns(&p->heap->clock, p->peak_time),
        .resident = p->resident,
        .unknown_frees = p->unknown,
        .conflicts = p->conflicts,
        .allocator_used = p->allocator_used,
        .allocator_held = p->allocator_held,
    };

    sfb_heap_put(p->heap, sfb_recording_put_heap_state(p->heap->writer, &state));
    p->happened = false;
}

void sfb_heap_process_pass(struct sfb_heap_process *p, uint64_t time)
{
    const bool aggregate = (p->heap->flags & SFB_HEAP_AGGREGATE) != 0;
    const uint64_t step =
        sfb_heap_clock_counts(&p->heap->clock, aggregate ? aggregate_step_ns : step_ns) + 1;

    if (p->happened)
        put_state(p, sfb_heap_clock_ns(&p->heap->clock, p->next_state));
    p->next_state = time - time % step + step;
}

/* --- sums ---------------------------------------------------------------------------------------- */

static void put_totals(struct sfb_heap_process *p, struct sfb_heap_site *site, uint64_t time_ns)
{
    const bool sampled = sfb_heap_is_sampled(p);
    struct sfb_recording_heap_totals totals = {
        .site = site->id,
        .time = time_ns,
        .allocated = sfb_heap_amount(&site->allocated, &site->allocated_variance, sampled),
        .live = sfb_heap_amount(&site->live, &site->live_variance, sampled),
        .peak = sfb_heap_amount(&site->peak, &site->peak_variance, sampled),
        .temporary = sfb_heap_amount(&site->temporary, &site->temporary_variance, sampled),
        .reallocated = sfb_heap_blocks(site->reallocated, sampled),
        .longest_chain = site->longest_chain,
        .freed_elsewhere = sfb_heap_blocks(site->freed_elsewhere, sampled),
        .slack_bytes = site->slack,
        .live_slack_bytes = site->live_slack,
    };

    for (unsigned i = 0; i < SFB_HEAP_CLASSES; i++) {
        totals.sizes[i] = sfb_heap_blocks(site->sizes[i], sampled);
        totals.lifetimes[i] = sfb_heap_blocks(site->lifetimes[i], sampled);
    }
    site->changed = false;
    sfb_heap_put(p->heap, sfb_recording_put_heap_totals(p->heap->writer, &totals));
}

/* A new peak changes the peak sums of untouched sites too. */
void sfb_heap_process_snapshot(struct sfb_heap_process *p, uint64_t time_ns)
{
    for (uint32_t i = 0; i < p->sites.count; i++) {
        struct sfb_heap_site *site = sfb_heap_site_at(&p->sites, i);

        site->changed |= site->epoch != p->epoch;
        sfb_heap_site_touch(site, p->epoch, sfb_heap_is_sampled(p));
        if (site->changed)
            put_totals(p, site, time_ns);
    }
    put_state(p, time_ns);
}

void sfb_heap_process_close(struct sfb_heap_process *p)
{
    if (!p)
        return;
    p->heap->blocks -= p->table.count;
    sfb_heap_table_free(&p->table);
    sfb_heap_maps_free(&p->maps);
    sfb_heap_sites_free(&p->sites);
    sfb_heap_deferred_free(&p->deferred);
    sfb_recorder_dictionary_free(&p->stacks);
    free(p);
}
