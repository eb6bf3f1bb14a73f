/* The slot of the process in the shared memory: taken at start and in a child of fork(). */
#ifndef SFB_RECORD_SLOT_H
#define SFB_RECORD_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/agent.h"

/* Keeps the path of the program and its arguments, which it may change later. Once, at start. */
void sfb_slot_describe(int argument_count, char *const arguments[]);

/* The arguments that were kept, each with '\0'. */
const char *sfb_slot_arguments(size_t *size);

/*
 * Takes a slot for the calling process, and fills it in.
 *
 * @param parent     how it came to be: slot of the parent + 1, which forked it; 0: a program that was started
 * @param cpu_start  CPU time of the process from which on it is recorded
 *
 * @return false: no slot is left, which is counted
 */
bool sfb_slot_take(uint32_t parent, uint64_t cpu_start);

#endif
