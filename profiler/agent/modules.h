/*
 * The list of modules of the process, in its slot: written at the start or with the first sample, after each dlopen(), and
 * after each dlclose(). Libraries loaded in other ways (dlmopen(), iconv_open(), name services) are looked for ten times a
 * second.
 *
 * A list is written once the recorder has taken the previous one. If that fails, a flag is set, and the next sample of
 * any thread tries again.
 */
#ifndef PROFILER_AGENT_MODULES_H
#define PROFILER_AGENT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/agent.h"

/*
 * Begins the lists of a process, and forgets all previous ones.
 *
 * @param later  write the first list with the first sample: many processes end before they have one
 */
void sfb_modules_begin(bool later);

/* dlopen() is about to run: for a second, samples check whether the list has changed. Signals: safe. */
void sfb_modules_expect(void);

/*
 * Renews the list after a possible change. Waits at most 10 ms for the recorder to take the previous one, then sets the
 * flag. Not for handlers.
 *
 * @param until_taken  also waits, within the same time, for the recorder to take the new list
 */
void sfb_modules_renew(bool until_taken);

/*
 * Around dlclose(): no thread makes a list meanwhile, or begins to read modules. begin() waits for a list and for other
 * threads' reads in progress, at most a second, because their threads may have no processor. Not for handlers.
 */
void sfb_modules_unload_begin(void);
void sfb_modules_unload_end(void);

/*
 * Around reads of a module's memory that dlclose() may unmap.
 *
 * @return false: a thread is in dlclose(). Nothing may be read, and end() is not called
 *
 * Threads, signals: safe, wait-free. A thread's dlclose() does not wait for its own reads.   Cost: 2 atomic additions.
 */
bool sfb_modules_read_begin(void);
void sfb_modules_read_end(void);

/* After fork() in the child: only reads of the calling thread go on. */
void sfb_modules_continue_in_child(void);

/* Renews the list if the flag is set, or if it is due. Signals: safe. */
void sfb_modules_look(uint64_t now);

/* @return the number of the current list */
static inline uint32_t sfb_modules_written(void)
{
    return __atomic_load_n(&sfb_agent.process->modules_written, __ATOMIC_ACQUIRE);
}

#endif
