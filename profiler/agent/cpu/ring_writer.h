/*
 * The writer's side of a thread's ring. Only the thread itself writes: in its handler, or elsewhere with busy set.
 *
 * A record that does not fit is dropped and counted: a handler cannot wait. Signals: safe.
 */
#ifndef PROFILER_AGENT_CPU_RING_WRITER_H
#define PROFILER_AGENT_CPU_RING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/cpu/thread.h"
#include "profiler/protocol/shared.h"

/*
 * Writes a sample, followed by the CBF of its stack.
 *
 * @param sample  all members but head
 * @param cbf     NULL: the stack was written before, or there is no stack
 */
bool sfb_ring_put_sample(struct sfb_thread *thread, const struct sfb_shared_sample *sample,
                         const void *cbf, size_t cbf_size);

/* @param name  16 bytes */
bool sfb_ring_put_name(struct sfb_thread *thread, const char *name);

#endif
