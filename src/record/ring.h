/*
 * The writer's side of a thread's ring. Only the thread itself writes: in its handler, or outside with busy set.
 *
 * A record that does not fit is dropped and counted: a handler cannot wait. Signals: safe.
 */
#ifndef SFB_RECORD_RING_H
#define SFB_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/thread.h"
#include "recorder/shared.h"

/*
 * Writes a sample, and the CBF of its stack behind it.
 *
 * @param sample  all but head
 * @param cbf     NULL: the stack has been named before, or there is none
 */
bool sfb_ring_put_sample(struct sfb_thread *thread, const struct sfb_shared_sample *sample,
                         const void *cbf, size_t cbf_size);

/* @param name  16 bytes */
bool sfb_ring_put_name(struct sfb_thread *thread, const char *name);

#endif
