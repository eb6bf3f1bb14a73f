#include "profiler/agent/cpu/ring_writer.h"

#include <string.h>

/* Clamped: tail is in shared memory, where the program may have overwritten it. */
static uint64_t used(const struct sfb_thread *t)
{
    uint64_t size = t->head - __atomic_load_n(&t->ring->tail, __ATOMIC_ACQUIRE);

    return size <= SFB_SHARED_CPU_RING ? size : SFB_SHARED_CPU_RING;
}

static struct sfb_shared_record_head *record_at(const struct sfb_thread *t, uint64_t position)
{
    return (struct sfb_shared_record_head *)(void *)(t->ring->data +
                                                     position % SFB_SHARED_CPU_RING);
}

/*
 * Reserves contiguous room for a record.
 *
 * @return NULL: no room
 */
static void *reserve(struct sfb_thread *t, uint32_t size)
{
    uint32_t to_end = (uint32_t)(SFB_SHARED_CPU_RING - t->head % SFB_SHARED_CPU_RING);
    uint32_t padding = size > to_end ? to_end : 0;

    if (SFB_SHARED_CPU_RING - used(t) < (uint64_t)padding + size)
        return NULL;
    if (padding) {
        struct sfb_shared_record_head *head = record_at(t, t->head);

        *head = (struct sfb_shared_record_head){ .size = padding, .kind = SFB_RECORD_PAD };
        t->head += padding;
    }
    return record_at(t, t->head);
}

/* Publishes the record as a whole. */
static void publish(struct sfb_thread *t, uint32_t size)
{
    uint64_t before = used(t);

    t->head += size;
    __atomic_store_n(&t->ring->head, t->head, __ATOMIC_RELEASE);
    if (before < SFB_SHARED_CPU_RING / 2 && before + size >= SFB_SHARED_CPU_RING / 2)
        sfb_agent_wake_recorder();
}

bool sfb_ring_put_sample(struct sfb_thread *t, const struct sfb_shared_sample *sample,
                         const void *cbf, size_t cbf_size)
{
    const size_t calls_at = sizeof *sample + ((cbf_size + 7) & ~(size_t)7);
    const size_t calls_size = cbf ? sample->calls * sizeof *t->python.calls : 0;
    uint32_t size = (uint32_t)(calls_at + calls_size);
    struct sfb_shared_sample *record = reserve(t, size);

    if (!record) {
        __atomic_fetch_add(&t->ring->lost[SFB_LOSS_RING_FULL], 1, __ATOMIC_RELAXED);
        return false;
    }
    *record = *sample;
    record->head.size = size;
    record->head.kind = cbf ? SFB_RECORD_STACK : SFB_RECORD_SAMPLE;
    record->head.cbf_size = (uint16_t)cbf_size;
    if (cbf)
        memcpy(record + 1, cbf, cbf_size);
    if (calls_size > 0)
        memcpy((uint8_t *)record + calls_at, t->python.calls, calls_size);
    publish(t, size);
    return true;
}

bool sfb_ring_put_name(struct sfb_thread *t, const char *name)
{
    struct sfb_shared_name *record = reserve(t, sizeof *record);

    if (!record)
        return false;
    record->head =
        (struct sfb_shared_record_head){ .size = sizeof *record, .kind = SFB_RECORD_NAME };
    memcpy(record->name, name, sizeof record->name);
    publish(t, sizeof *record);
    return true;
}

uint8_t *sfb_ring_begin_code(struct sfb_thread *t, size_t size)
{
    return reserve(t, (uint32_t)((size + 7) & ~(size_t)7));
}

void sfb_ring_put_code(struct sfb_thread *t, struct sfb_shared_code *code, size_t size)
{
    code->head = (struct sfb_shared_record_head){ .size = (uint32_t)((size + 7) & ~(size_t)7),
                                                  .kind = SFB_RECORD_CODE };
    publish(t, code->head.size);
}
