/*
 * The list of modules of the process, in its slot: at start, after each dlopen(), after each dlclose(). What is loaded in
 * other ways (dlmopen(), iconv_open(), name services) is looked for ten times a second.
 *
 * A list is written when the recorder has taken the one before. Who cannot write now leaves a note, and the next sample
 * of any thread tries again.
 */
#ifndef SFB_RECORD_MODULES_H
#define SFB_RECORD_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/agent.h"

/* The first list of a process; nothing is remembered of lists before. */
void sfb_modules_begin(void);

/* A library comes that the caller cannot wait for: look whether the list has changed, for a second. Signals: safe. */
void sfb_modules_expect(void);

/*
 * The list may have changed: renews it. Waits 10 ms at most, as long as the recorder has not taken the one before; then
 * leaves a note. Not for handlers.
 *
 * @param until_taken  waits, as long, for the recorder to take the new one, too
 */
void sfb_modules_renew(bool until_taken);

/*
 * Around dlclose(): no list is made meanwhile, by any thread. The first waits for one that is being made, a second at most: its
 * thread may have no processor.
 * Not for handlers.
 */
void sfb_modules_unload_begin(void);
void sfb_modules_unload_end(void);

/* Renews it if somebody left a note, or it is time to look. Signals: safe. */
void sfb_modules_look(uint64_t now);

/* The number of the list that holds now. */
static inline uint32_t sfb_modules_written(void)
{
    return __atomic_load_n(&sfb_agent.process->modules_written, __ATOMIC_ACQUIRE);
}

#endif
