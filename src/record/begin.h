/* The agent begins to record its process: preloaded, or when the program asks. */
#ifndef SFB_RECORD_BEGIN_H
#define SFB_RECORD_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/shared.h"

/*
 * Waits until nobody uses the memory of the recording before, which is over: handlers of threads that were interrupted.
 *
 * @return false: somebody still does after a second
 */
bool sfb_begin_may(void);

/*
 * @param shared     there for as long as the process
 * @param cpu_start  CPU time of the process from which on it is recorded
 * @param others     there may be other threads: these are recorded from now on
 *
 * @return false: something is missing; the process is as it was
 */
bool sfb_begin(struct sfb_shared *shared, uint64_t cpu_start, bool others);

#endif
