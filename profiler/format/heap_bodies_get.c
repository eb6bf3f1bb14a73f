#include "profiler/format/heap_bodies_get.h"

#include <string.h>

#include "base/leb128.h"
#include "profiler/format/body_parts.h"

static void read_heap(struct sfb_recording_heap *e, struct sfb_reader *body)
{
    e->process = sfb_body_u32(body);
    e->flags = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    e->rate = sfb_reader_uleb(body);
}

static void read_site(struct sfb_recording_heap_site *e, struct sfb_reader *body)
{
    e->id = sfb_body_u32(body);
    e->thread = sfb_body_u32(body);
    e->stack = sfb_body_u32(body);
    e->kind = sfb_body_u32(body);
}

static void read_amount(struct sfb_recording_heap_amount *a, struct sfb_reader *body)
{
    a->blocks = sfb_reader_uleb(body);
    a->bytes = sfb_reader_uleb(body);
    a->samples = sfb_reader_uleb(body);
    a->blocks_variance = sfb_reader_uleb(body);
    a->bytes_variance = sfb_reader_uleb(body);
}

/* A later version's further classes are added to the last one. */
static void read_classes(uint64_t *classes, struct sfb_reader *body)
{
    memset(classes, 0, SFB_HEAP_CLASSES * sizeof *classes);
    for (uint64_t count = sfb_reader_uleb(body); count > 0 && !body->failed; count--) {
        const uint64_t number = sfb_reader_uleb(body);

        classes[number < SFB_HEAP_CLASSES ? number : SFB_HEAP_CLASSES - 1] += sfb_reader_uleb(body);
    }
}

static void read_totals(struct sfb_recording_heap_totals *e, struct sfb_reader *body)
{
    e->site = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    read_amount(&e->allocated, body);
    read_amount(&e->live, body);
    read_amount(&e->peak, body);
    read_amount(&e->temporary, body);
    e->reallocated = sfb_reader_uleb(body);
    e->longest_chain = sfb_reader_uleb(body);
    e->freed_elsewhere = sfb_reader_uleb(body);
    e->slack_bytes = sfb_reader_uleb(body);
    e->live_slack_bytes = sfb_reader_uleb(body);
    read_classes(e->sizes, body);
    read_classes(e->lifetimes, body);
    e->overruns = body->left > 0 ? sfb_reader_uleb(body) : 0;
    e->overruns_freed = body->left > 0 ? sfb_reader_uleb(body) : 0;
}

static void read_sum(struct sfb_recording_heap_sum *s, struct sfb_reader *body)
{
    s->blocks = sfb_reader_uleb(body);
    s->bytes = sfb_reader_uleb(body);
}

static void read_state(struct sfb_recording_heap_state *e, struct sfb_reader *body)
{
    e->process = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    read_sum(&e->live, body);
    read_sum(&e->allocated, body);
    read_sum(&e->peak, body);
    e->peak_time = sfb_reader_uleb(body);
    e->resident = sfb_reader_uleb(body);
    e->unknown_frees = sfb_reader_uleb(body);
    e->conflicts = sfb_reader_uleb(body);
    e->allocator_used = body->left > 0 ? sfb_reader_uleb(body) : 0;
    e->allocator_held = body->left > 0 ? sfb_reader_uleb(body) : 0;
}

bool sfb_heap_body_read(struct sfb_recording_event *out, uint32_t kind, struct sfb_reader *body)
{
    switch (kind) {
    case SFB_EVENT_HEAP: read_heap(&out->of.heap, body); return true;
    case SFB_EVENT_HEAP_SITE: read_site(&out->of.heap_site, body); return true;
    case SFB_EVENT_HEAP_TOTALS: read_totals(&out->of.heap_totals, body); return true;
    case SFB_EVENT_HEAP_STATE: read_state(&out->of.heap_state, body); return true;
    default: return false;
    }
}
