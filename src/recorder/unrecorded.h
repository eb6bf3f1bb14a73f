/* CPU time that the processes used and no process of the recording has. */
#ifndef RECORDER_UNRECORDED_H
#define RECORDER_UNRECORDED_H

#include <stddef.h>
#include <stdint.h>

struct sfb_recorder_drain;

/* A program without an agent used CPU time. */
void sfb_recorder_drain_unrecorded(struct sfb_recorder_drain *drain, const char *program,
                                   uint64_t cpu_ns);

/*
 * Compares what the recording has with what the kernel counted, and writes a loss where more than a hundredth is missing.
 * After sfb_recorder_drain_finish().
 *
 * @param used_ns  CPU time of all processes that have ended
 * @param text     written: which programs, if they are known; "" where there is no loss
 */
void sfb_recorder_drain_account(struct sfb_recorder_drain *drain, uint64_t used_ns, char *text,
                                size_t room);

#endif
