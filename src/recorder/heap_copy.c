#include "recorder/heap_copy.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ACQUIRE(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

/* Who waits has said so before it looked at tail for the last time. */
static void give_back(struct sfb_shared_ring *shared, uint64_t tail)
{
    uint64_t *at = &shared->tail;

    __atomic_store_n(at, tail, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&shared->waiting, __ATOMIC_SEQ_CST) != 0)
        syscall(SYS_futex, (uint32_t *)(void *)at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void copy(uint8_t *out, const struct sfb_shared_ring *shared, uint32_t ring_bytes,
                 uint64_t tail, size_t size)
{
    const size_t at = (size_t)(tail % ring_bytes);
    const size_t first = size < ring_bytes - at ? size : ring_bytes - at;

    memcpy(out, shared->data + at, first);
    memcpy(out + first, shared->data, size - first);
}

/* It takes some ns, but for a thread that was stopped just then. */
static bool stays_busy(const struct sfb_shared_ring *shared)
{
    enum { LOOKS = 400 };

    for (int i = 0; i < LOOKS; i++)
        if (__atomic_load_n(&shared->busy, __ATOMIC_SEQ_CST) == 0)
            return false;
    return true;
}

bool sfb_recorder_heap_copy(struct sfb_recorder_drain *d, uint32_t slot, size_t *behind)
{
    struct sfb_shared_ring *shared = sfb_recorder_shared_ring(d, slot);
    struct sfb_recorder_ring *own = &d->ring[slot];
    /* First this: what is published behind this look was not begun before it. */
    const bool busy = stays_busy(shared);
    const uint64_t head = ACQUIRE(shared->head);
    const uint64_t size = head - own->tail;
    uint8_t *out;

    if (size == 0)
        return busy;
    if (size > d->ring_bytes || head % 8 != 0) {
        sfb_recorder_lost(d, d->process[own->process].id, own->id, SFB_LOSS_BAD_RING, 1,
                          "its positions contradict each other");
        own->tail = head - head % 8;
        own->heap->from = own->heap->size = 0;
        own->heap->position = own->tail;
        give_back(shared, own->tail);
        return false;
    }
    if (*behind + size > SFB_HEAP_BEHIND_MAX ||
        (out = sfb_heap_ring_room(own->heap, (size_t)size)) == NULL)
        return busy;
    copy(out, shared, d->ring_bytes, own->tail, (size_t)size);
    *behind += (size_t)size;
    own->tail = head;
    give_back(shared, head);
    return busy;
}
