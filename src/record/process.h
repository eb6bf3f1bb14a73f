/* What the CPU agent does with its process: exec, the end, the child of fork(). slot.h: how it gets its slot. */
#ifndef SFB_RECORD_PROCESS_H
#define SFB_RECORD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/agent.h"

/*
 * exec is to come, and SIGPROF will be ignored. Only the next agent in this process can know that the program has not
 * asked for that.
 */
void sfb_process_before_exec(bool program_ignores);

/* Whether that was so here. Before sfb_slot_take(). */
bool sfb_process_was_made_to_ignore(void);

/*
 * The process ends by itself: ends all its threads, and then says so. Once; later calls do nothing. Signals: safe.
 */
void sfb_process_end(void);

/* In the child of fork(): the calling thread goes on as the first one of a new process. */
void sfb_process_continue_in_child(void);

#endif
