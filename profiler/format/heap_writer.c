#include "profiler/format/heap_writer.h"

#include <errno.h>

#include "profiler/format/heap_bodies_put.h"

/* Unpacked. A larger block packs better but takes longer, while threads wait for room in their rings. */
enum { HEAP_BLOCK_SIZE = 128 << 10 };

/* Writes a heap block, after the events that introduce its sites. */
static enum sfb_status flush_heap(struct sfb_recording_writer *w, struct sfb_heap_events *heap)
{
    const uint32_t records = heap->records;
    enum sfb_status status = SFB_NO_RESOURCE;
    bool good;

    if (records == 0)
        return SFB_OK;
    if (sfb_writer_flush_to(w, sfb_writer_size_for_samples(w)) != SFB_OK)
        return SFB_NO_RESOURCE;
    w->payload.size = w->block.size = 0;
    good = sfb_heap_events_end(heap, &w->payload);
    if (good)
        status = sfb_writer_put_block(w, RECORDING_HEAP, RECORDING_COLUMNS, records,
                                      sfb_writer_size_for_samples(w));
    else
        sfb_writer_fail(w, ENOMEM);
    if (status != SFB_OK)
        w->dropped += w->payload.size;
    return status;
}

enum sfb_status sfb_heap_writer_flush(struct sfb_recording_writer *w, uint32_t process)
{
    enum sfb_status status = SFB_OK;

    for (size_t i = 0; i < WRITER_HEAP_OPEN && status == SFB_OK; i++)
        if (process == 0 || w->heap[i].process == process)
            status = flush_heap(w, &w->heap[i]);
    return status;
}

/* Past max_size: writes the pending sums, or drops them. Later events have room of their own. */
void sfb_heap_writer_flush_totals(struct sfb_recording_writer *w)
{
    if (w->totals_pending)
        sfb_writer_flush_to(w, sfb_writer_size_for_totals(w));
    w->totals_pending = false;
}

enum sfb_status sfb_recording_put_heap(struct sfb_recording_writer *w,
                                       const struct sfb_recording_heap *e)
{
    if (!sfb_ids_has(&w->processes, e->process))
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_HEAP, sfb_body_heap, e);
}

enum sfb_status sfb_recording_put_heap_site(struct sfb_recording_writer *w,
                                            const struct sfb_recording_heap_site *e)
{
    if (!sfb_ids_has(&w->threads, e->thread) ||
        e->stack >= w->events.first_stack + w->events.stacks || !sfb_ids_add(&w->sites, e->id))
        return SFB_BAD_ARGUMENT;
    w->site_count++;
    return sfb_writer_put(w, SFB_EVENT_HEAP_SITE, sfb_body_heap_site, e);
}

/* As put_end(), for sums, which may be many: with a limit of their own. */
static enum sfb_status put_sums(struct sfb_recording_writer *w, uint32_t kind,
                                sfb_body_writer *write, const void *event, bool is_in_file)
{
    if (w->error != EFBIG)
        return sfb_writer_put(w, kind, write, event);
    if (!is_in_file)
        return SFB_OK;
    sfb_events_put(&w->events, kind, write, event);
    w->totals_pending = true;
    if (sfb_events_size(&w->events) >= WRITER_BLOCK_SIZE)
        sfb_heap_writer_flush_totals(w);
    return SFB_OK;
}

enum sfb_status sfb_recording_put_heap_totals(struct sfb_recording_writer *w,
                                              const struct sfb_recording_heap_totals *e)
{
    if (!sfb_ids_has(&w->sites, e->site))
        return SFB_BAD_ARGUMENT;
    return put_sums(w, SFB_EVENT_HEAP_TOTALS, sfb_body_heap_totals, e, e->site <= w->last_site);
}

enum sfb_status sfb_recording_put_heap_state(struct sfb_recording_writer *w,
                                             const struct sfb_recording_heap_state *e)
{
    if (!sfb_ids_has(&w->processes, e->process))
        return SFB_BAD_ARGUMENT;
    return put_sums(w, SFB_EVENT_HEAP_STATE, sfb_body_heap_state, e, e->process <= w->last_process);
}

/* The pending events of a process; may replace another process's. NULL: those could not be written */
static struct sfb_heap_events *heap_of(struct sfb_recording_writer *w, uint32_t process)
{
    struct sfb_heap_events *oldest = &w->heap[0];

    for (size_t i = 0; i < WRITER_HEAP_OPEN; i++) {
        if (w->heap[i].process == process)
            return &w->heap[i];
        if (w->heap[i].used < oldest->used)
            oldest = &w->heap[i];
    }
    if (flush_heap(w, oldest) != SFB_OK)
        return NULL;
    oldest->process = process;
    return oldest;
}

enum sfb_status sfb_recording_put_heap_event(struct sfb_recording_writer *w,
                                             const struct sfb_recording_heap_event *e)
{
    struct sfb_heap_events *heap;

    if (!sfb_ids_has(&w->processes, e->process) || !sfb_ids_has(&w->sites, e->site))
        return SFB_BAD_ARGUMENT;
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    heap = heap_of(w, e->process);
    if (heap == NULL)
        return SFB_NO_RESOURCE;
    heap->used = ++w->heap_uses;
    if (!sfb_heap_events_put(heap, e))
        return sfb_writer_fail(w, ENOMEM);
    return sfb_heap_events_full(heap, sfb_writer_block_size(w, HEAP_BLOCK_SIZE))
               ? flush_heap(w, heap)
               : SFB_OK;
}
