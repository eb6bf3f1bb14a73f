#include "profiler/collector/heap/heap_records.h"

#include <string.h>

#include "profiler/collector/rings/module_lists.h"
#include "profiler/collector/rings/ring_reader.h"
#include "profiler/collector/rings/stack.h"

/* --- bad records --------------------------------------------------------------------------------- */

void sfb_heap_records_tell_wrong(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_heap_ring *ring = d->ring[slot].heap;

    if (ring->unreported > 0)
        sfb_recorder_lost(d, d->process[d->ring[slot].process].id, d->ring[slot].id,
                          SFB_LOSS_BAD_RING, ring->unreported, ring->unreported_text);
    ring->unreported = 0;
}

/* A program may write millions of bad records: they are reported together, now and then. */
static void note_wrong(struct sfb_recorder_drain *d, uint32_t slot, const char *text)
{
    struct sfb_heap_ring *ring = d->ring[slot].heap;

    if (ring->unreported > 0 && ring->unreported_text != text)
        sfb_heap_records_tell_wrong(d, slot);
    ring->unreported_text = text;
    ring->unreported++;
}

/* --- records ------------------------------------------------------------------------------------- */

/* @return its fault; NULL: no fault, and *id is 0 if nothing more can be written */
static const char *put_stack(struct sfb_recorder_drain *d, struct sfb_recorder_process *process,
                             const struct sfb_heap_record *record, uint32_t *id)
{
    const char *wrong = NULL;
    bool missing; /* its function was sent before, but in a record that was lost: it is 0 */

    if (record->call_count == 0) {
        sfb_recorder_put(d, sfb_recording_put_stack(d->writer, id, process->id, record->stack,
                                                    record->stack_size));
        return *id != 0 || d->failed ? NULL : "a stack cannot be written";
    }
    if (record->call_count > SFB_SHARED_CALLS_MAX)
        return "a stack has an impossible number of calls";
    wrong = sfb_recorder_codes_frames(d->calls, &process->codes, record->calls, record->call_count,
                                      &missing);
    if (wrong)
        return wrong;
    sfb_recorder_put(d, sfb_recording_put_stack_with_code(d->writer, id, process->id, record->stack,
                                                          record->stack_size, d->calls,
                                                          record->call_count));
    return *id != 0 || d->failed ? NULL : "a stack cannot be written";
}

static const char *take_stack(struct sfb_recorder_drain *d, uint32_t slot,
                              const struct sfb_heap_record *record)
{
    struct sfb_recorder_process *process = &d->process[d->ring[slot].process];
    const uint64_t hash = record->words[1];
    const uint32_t modules = (uint32_t)(record->words[2] >> SFB_HEAP_MODULES_SHIFT);
    const char *wrong;
    uint32_t id = 0;

    /* The stack belongs to a later module list: that is written before it. */
    if (((modules - process->modules - 1) & 0xffffff) < 0x800000)
        sfb_recorder_modules_take(d, d->ring[slot].process);
    if (hash == 0 || !sfb_recorder_is_cbf(record->stack, record->stack_size))
        return "a stack cannot be decoded";
    wrong = put_stack(d, process, record, &id);
    if (wrong || id == 0)
        return wrong;
    if (!sfb_recorder_dictionary_add(&process->heap->stacks, hash, id, NULL))
        sfb_recorder_put(d, SFB_NO_RESOURCE);
    return NULL;
}

static const char *take_allocation(struct sfb_recorder_drain *d, uint32_t slot,
                                   const struct sfb_heap_record *record)
{
    struct sfb_recorder_process *process = &d->process[d->ring[slot].process];
    const struct sfb_heap_allocation allocation = {
        .time = record->time,
        .pointer = record->words[1],
        .size = record->words[2] & ((UINT64_C(1) << SFB_HEAP_SLACK_SHIFT) - 1),
        .slack = (uint16_t)(record->words[2] >> SFB_HEAP_SLACK_SHIFT),
        .hash = record->words[3],
        .reallocates = record->kind == SFB_HEAP_ALLOC_REALLOC,
        .maps = record->kind == SFB_HEAP_ALLOC_MMAP,
    };
    size_t sites;

    if (allocation.pointer == 0)
        return "a block lies at 0";
    if (allocation.maps &&
        (allocation.size == 0 || allocation.pointer > UINT64_MAX - allocation.size))
        return "a mapping has an impossible size";
    sites = process->heap->sites.count;
    sfb_heap_thread_allocated(process->heap, &d->ring[slot].heap->thread, &allocation);
    return allocation.hash != 0 && process->heap->sites.count != sites &&
                   sfb_recorder_dictionary_find(&process->heap->stacks, allocation.hash) == 0
               ? "a stack is named that was not sent"
               : NULL;
}

static const char *take_free(struct sfb_recorder_drain *d, uint32_t slot,
                             const struct sfb_heap_record *record)
{
    struct sfb_heap_process *process = d->process[d->ring[slot].process].heap;
    struct sfb_heap_thread *thread = &d->ring[slot].heap->thread;
    const uint64_t pointer = record->words[1], size = record->words[2];

    switch (record->kind) {
    case SFB_HEAP_FREE_REALLOC:
        sfb_heap_thread_moves(process, thread, record->time, pointer);
        return NULL;
    case SFB_HEAP_REALLOC_FAILED: sfb_heap_thread_failed(process, thread); return NULL;
    case SFB_HEAP_FREE_MMAP:
        if (size == 0 || pointer > UINT64_MAX - size)
            return "a mapping has an impossible size";
        sfb_heap_thread_unmapped(process, thread, record->time, pointer, size);
        return NULL;
    default:
        if (pointer == 0)
            return "a block lies at 0";
        sfb_heap_thread_freed(process, thread, record->time, pointer);
        return NULL;
    }
}

void sfb_heap_records_take(struct sfb_recorder_drain *d, uint32_t slot,
                           const struct sfb_heap_record *record)
{
    const char *wrong = NULL;
    char name[17] = "";

    switch (record->kind) {
    case SFB_HEAP_STACK: wrong = take_stack(d, slot, record); break;
    case SFB_HEAP_ALLOC:
    case SFB_HEAP_ALLOC_REALLOC:
    case SFB_HEAP_ALLOC_MMAP: wrong = take_allocation(d, slot, record); break;
    case SFB_HEAP_CODE: wrong = sfb_recorder_take_code(d, slot, record->whole, record->size); break;
    case SFB_HEAP_NAME:
        memcpy(name, &record->words[1], sizeof name - 1);
        sfb_recorder_put_thread(d, slot, sfb_heap_clock_ns(&d->heap->heap.clock, record->time),
                                name);
        break;
    default: wrong = take_free(d, slot, record); break;
    }
    if (wrong)
        note_wrong(d, slot, wrong);
}

bool sfb_heap_records_peek(struct sfb_recorder_drain *d, uint32_t slot, struct sfb_heap_record *out)
{
    struct sfb_heap_ring *ring = d->ring[slot].heap;
    const bool good = sfb_heap_ring_peek(ring, out, d->ring_bytes, d->heap->latest);

    if (ring->wrong)
        note_wrong(d, slot, ring->wrong);
    ring->wrong = NULL;
    return good;
}
