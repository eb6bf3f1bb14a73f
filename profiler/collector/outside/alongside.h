/*
 * Records from outside what has no agent in a session of agents: programs that no agent can enter, those whose
 * environment was cleared, processes behind a seccomp filter, and each program before its agent comes.
 *
 * Events of this thread, which the program inherits, do not count here. The kernel turns them on in each process that
 * executes a program, so nothing is missed; they are turned off again, in all processes at once, after an agent has come.
 * Processes without an agent get events of their own before that. Samples of a process are dropped from its agent's start
 * on, by their times.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_H
#define PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_H

#include <sys/types.h>

#include "profiler/collector/outside/outside_options.h"
#include "profiler/collector/processes/follow.h"

struct alongside; /* opaque */

/*
 * Opens the events. Called before the program's process is made, by the thread that makes it.
 *
 * @param why  written on failure: what the kernel refused
 * @return NULL: they cannot be had
 */
struct alongside *alongside_open(uint32_t rate_hz, char *why, size_t room);

/*
 * Begins to write.
 *
 * @param ids  shared with the drain; borrowed
 * @return false: no memory
 */
bool alongside_begin(struct alongside *beside, struct sfb_recording_writer *writer,
                     struct sfb_recorder_ids *ids);

/* What a follower reports and asks, for its options. */
struct sfb_recorder_elsewhere alongside_calls(struct alongside *beside);

void alongside_follow(struct alongside *beside, struct sfb_recorder_follow *follow);

/*
 * Takes the records up to the call before, by which time the drain has seen the agents that came. Called after each drain.
 *
 * @return false: the recording cannot be written, or no memory
 */
bool alongside_take(struct alongside *beside);

/* Pauses, or goes on, from a time on. @return false: no memory */
bool alongside_pause(struct alongside *beside, uint64_t time, bool paused);

/* @return number of processes without an agent that run and are recorded */
size_t alongside_running(const struct alongside *beside);

const struct outside_totals *alongside_totals(const struct alongside *beside);

/* Takes the last records, and ends all processes. Called before the drain's last call. */
bool alongside_end(struct alongside *beside);

/* @param beside  NULL: nothing */
void alongside_close(struct alongside *beside);

#endif
