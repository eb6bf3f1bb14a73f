/*
 * The writer's side of a thread's ring. Only the thread itself writes: in its handler, or elsewhere with busy set.
 *
 * A record that does not fit is dropped, for a handler cannot wait. A sample is counted then. A name or a function is no
 * loss: it is sent later. Signals: safe.
 */
#ifndef PROFILER_AGENT_CPU_RING_WRITER_H
#define PROFILER_AGENT_CPU_RING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/cpu/thread.h"
#include "profiler/protocol/shared.h"

/*
 * Writes a sample, followed by the CBF of its stack, and sample->calls of thread->python.
 *
 * @param sample  all members but head
 * @param cbf     NULL: the stack was written before, or there is no stack
 */
bool sfb_ring_put_sample(struct sfb_thread *thread, const struct sfb_shared_sample *sample,
                         const void *cbf, size_t cbf_size);

/* Reserves room for a function of an interpreter. @return NULL: no room */
uint8_t *sfb_ring_begin_code(struct sfb_thread *thread, size_t size);

/* Publishes it. @param size  as it was reserved */
void sfb_ring_put_code(struct sfb_thread *thread, struct sfb_shared_code *code, size_t size);

/* @param name  16 bytes */
bool sfb_ring_put_name(struct sfb_thread *thread, const char *name);

#endif
