/* The CPU agent at exec, at exit, and in the child of fork(). slot.h: how a process gets its slot. */
#ifndef PROFILER_AGENT_CPU_CPU_PROCESS_H
#define PROFILER_AGENT_CPU_CPU_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/agent.h"

/*
 * Before an exec during which SIGPROF is ignored. It leaves a note for the next agent in this process: whether the
 * program ignores the signal itself.
 */
void sfb_process_before_exec(bool program_ignores);

/* Whether this process began with SIGPROF ignored by an agent, not by the program. Call it before sfb_slot_take(). */
bool sfb_process_was_made_to_ignore(void);

/* At the process's exit: ends all its threads, then marks its slot as ended. Later calls do nothing. Signals: safe. */
void sfb_process_end(void);

/* In the child of fork(): the calling thread continues as the first thread of a new process. */
void sfb_process_continue_in_child(void);

#endif
