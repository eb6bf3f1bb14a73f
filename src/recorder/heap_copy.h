/* What a thread has published of its heap, from its ring to the recorder's own memory. */
#ifndef RECORDER_HEAP_COPY_H
#define RECORDER_HEAP_COPY_H

#include "recorder/heap_ring.h"
#include "recorder/slots.h"

/* That threads are behind the recorder by so many bytes is memory here; beyond, they wait. */
#define SFB_HEAP_BEHIND_MAX ((size_t)256 << 20)

/*
 * Copies what is there, gives the room back, and wakes the thread if it waits for that.
 *
 * @param behind  bytes of all rings that were copied and not read; what is copied is added
 * @return whether the thread was about to publish an event: one that is older than this look may come
 */
bool sfb_recorder_heap_copy(struct sfb_recorder_drain *drain, uint32_t slot, size_t *behind);

#endif
