/* The slot of the process in the shared memory: taken at start and in a child of fork(), given back at the end. */
#ifndef SFB_RECORD_PROCESS_H
#define SFB_RECORD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/agent.h"

/* Keeps the path of the program and its arguments, which it may change later. Once, at start. */
void sfb_process_describe(int argument_count, char *const arguments[]);

/* The arguments that were kept, each with '\0'. */
const char *sfb_process_arguments(size_t *size);

/*
 * Takes a slot for the calling process, and fills it in.
 *
 * @param parent     how it came to be: slot of the parent + 1, which forked it; 0: a program that was started
 * @param cpu_start  CPU time of the process from which on it is recorded
 *
 * @return false: no slot is left, which is counted
 */
bool sfb_process_begin(uint32_t parent, uint64_t cpu_start);

/*
 * exec is to come, and SIGPROF will be ignored. Only the next agent in this process can know that the program has not
 * asked for that.
 */
void sfb_process_before_exec(bool program_ignores);

/* Whether that was so here. Before sfb_process_begin(). */
bool sfb_process_was_made_to_ignore(void);

/*
 * The process ends by itself: ends all its threads, and then says so. Once; later calls do nothing. Signals: safe.
 */
void sfb_process_end(void);

/* Ends it for good, here and in children to come: from now on the agent makes no system call. Counted. */
void sfb_process_leave_alone(void);

/* In the child of fork(): the calling thread goes on as the first one of a new process. */
void sfb_process_continue_in_child(void);

#endif
