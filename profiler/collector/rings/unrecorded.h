/* CPU time that processes used and the recording lacks. */
#ifndef PROFILER_COLLECTOR_RINGS_UNRECORDED_H
#define PROFILER_COLLECTOR_RINGS_UNRECORDED_H

#include <stddef.h>
#include <stdint.h>

struct sfb_recorder_drain;

/* A program without an agent used CPU time. */
void sfb_recorder_drain_unrecorded(struct sfb_recorder_drain *drain, const char *program,
                                   uint64_t cpu_ns);

/*
 * Compares the recording with the kernel's count, and writes a loss if more than a hundredth is missing. Called after
 * sfb_recorder_drain_finish().
 *
 * @param used_ns       CPU time of all ended processes
 * @param elsewhere_ns  part of it: recorded another way
 * @param text          written: the programs, as far as known; "" without a loss
 */
void sfb_recorder_drain_account(struct sfb_recorder_drain *drain, uint64_t used_ns,
                                uint64_t elsewhere_ns, char *text, size_t room);

#endif
