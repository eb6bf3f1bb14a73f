#include "profiler/format/heap_bodies_put.h"

void sfb_body_heap(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_heap *e = event;

    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->flags);
    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->rate);
}

void sfb_body_heap_site(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_heap_site *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->thread);
    sfb_bytes_put_uleb(body, e->stack);
    sfb_bytes_put_uleb(body, e->kind);
}

static void put_amount(struct sfb_bytes *body, const struct sfb_recording_heap_amount *a)
{
    sfb_bytes_put_uleb(body, a->blocks);
    sfb_bytes_put_uleb(body, a->bytes);
    sfb_bytes_put_uleb(body, a->samples);
    sfb_bytes_put_uleb(body, a->blocks_variance);
    sfb_bytes_put_uleb(body, a->bytes_variance);
}

/* Most are zero: writes the number of the others, then the index and value of each. */
static void put_classes(struct sfb_bytes *body, const uint64_t *classes)
{
    unsigned count = 0;

    for (unsigned i = 0; i < SFB_HEAP_CLASSES; i++)
        count += classes[i] != 0;
    sfb_bytes_put_uleb(body, count);
    for (unsigned i = 0; i < SFB_HEAP_CLASSES; i++)
        if (classes[i] != 0) {
            sfb_bytes_put_uleb(body, i);
            sfb_bytes_put_uleb(body, classes[i]);
        }
}

void sfb_body_heap_totals(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_heap_totals *e = event;

    sfb_bytes_put_uleb(body, e->site);
    sfb_bytes_put_uleb(body, e->time);
    put_amount(body, &e->allocated);
    put_amount(body, &e->live);
    put_amount(body, &e->peak);
    put_amount(body, &e->temporary);
    sfb_bytes_put_uleb(body, e->reallocated);
    sfb_bytes_put_uleb(body, e->longest_chain);
    sfb_bytes_put_uleb(body, e->freed_elsewhere);
    sfb_bytes_put_uleb(body, e->slack_bytes);
    sfb_bytes_put_uleb(body, e->live_slack_bytes);
    put_classes(body, e->sizes);
    put_classes(body, e->lifetimes);
    if (e->overruns + e->overruns_freed == 0)
        return; /* nearly always */
    sfb_bytes_put_uleb(body, e->overruns);
    sfb_bytes_put_uleb(body, e->overruns_freed);
}

static void put_sum(struct sfb_bytes *body, const struct sfb_recording_heap_sum *s)
{
    sfb_bytes_put_uleb(body, s->blocks);
    sfb_bytes_put_uleb(body, s->bytes);
}

void sfb_body_heap_state(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_heap_state *e = event;

    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->time);
    put_sum(body, &e->live);
    put_sum(body, &e->allocated);
    put_sum(body, &e->peak);
    sfb_bytes_put_uleb(body, e->peak_time);
    sfb_bytes_put_uleb(body, e->resident);
    sfb_bytes_put_uleb(body, e->unknown_frees);
    sfb_bytes_put_uleb(body, e->conflicts);
    if (e->allocator_held == 0)
        return;
    sfb_bytes_put_uleb(body, e->allocator_used);
    sfb_bytes_put_uleb(body, e->allocator_held);
}
