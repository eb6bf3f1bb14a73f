/* The process's slot in the shared memory: taken at start and in a child of fork(). */
#ifndef PROFILER_AGENT_SLOT_H
#define PROFILER_AGENT_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/agent.h"

/* Copies the program's path and arguments, which it may change later. Called once, at start. */
void sfb_slot_describe(int argument_count, char *const arguments[]);

/* @return the copied arguments, each with '\0' */
const char *sfb_slot_arguments(size_t *size);

/*
 * Takes a slot for the calling process, and fills it in. Does not wake the recorder: the first thread that gets a ring
 * does, else the caller has to.
 *
 * @param parent     slot of the parent + 1, after fork(); 0: a new program
 * @param cpu_start  CPU time of the process at which its recording begins
 *
 * @return false: no slot is left; the loss is counted
 */
bool sfb_slot_take(uint32_t parent, uint64_t cpu_start);

#endif
