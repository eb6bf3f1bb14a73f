/*
 * Follows recorded processes: opens events for their threads, and notices their exits and their children without an
 * agent.
 *
 * The pid and tid that an agent reports are checked against /proc before a signal is sent: the program may have
 * overwritten them.
 */
#ifndef PROFILER_COLLECTOR_PROCESSES_FOLLOW_H
#define PROFILER_COLLECTOR_PROCESSES_FOLLOW_H

#include "profiler/collector/processes/elsewhere.h"
#include "profiler/collector/processes/perf_events.h"
#include "profiler/collector/rings/drain.h"

struct sfb_recorder_follow; /* opaque */

struct sfb_recorder_follow_options {
    struct sfb_shared *shared;
    struct sfb_recorder_events *events;  /* NULL: no events */
    pid_t first;                         /* the program that was started */
    struct sfb_recording_writer *writer; /* receives the perf maps of processes */
    bool no_children;                    /* children have no agent on purpose */
    struct sfb_recorder_elsewhere elsewhere;
    const char *alone; /* why there is no other way; "", NULL: not stated */
};

/* @return NULL: no memory */
struct sfb_recorder_follow *sfb_recorder_follow_open(
    const struct sfb_recorder_follow_options *options);

/* @return the callbacks for the drain */
struct sfb_recorder_watcher sfb_recorder_follow_watcher(struct sfb_recorder_follow *follow);

/* Sets the drain. Called before the first sfb_recorder_follow_look(). */
void sfb_recorder_follow_drain(struct sfb_recorder_follow *follow,
                               struct sfb_recorder_drain *drain);

/*
 * Notices and reaps exits, and reports them to the drain. Now and then also looks for threads without a ring, and
 * children without an agent. Called every 10 ms.
 */
void sfb_recorder_follow_look(struct sfb_recorder_follow *follow);

/* Sets the right period of events that have sent their first signal. Called when an agent has woken the recorder. */
void sfb_recorder_follow_settle(struct sfb_recorder_follow *follow);

/* The recording is paused, or goes on: meanwhile events send few signals. */
void sfb_recorder_follow_pause(struct sfb_recorder_follow *follow, bool paused);

/* A process has executed another program, whose agent has not come yet. */
void sfb_recorder_follow_executed(struct sfb_recorder_follow *follow, pid_t pid, uint64_t time);

/* @return since when an agent has reported a process that is not found here yet; 0: all are found */
uint64_t sfb_recorder_follow_unsure(const struct sfb_recorder_follow *follow);

/* @return the id of a process with an agent, by its pid here; 0: none has it */
uint32_t sfb_recorder_follow_id(const struct sfb_recorder_follow *follow, pid_t pid);

/* The first program's exit. @return false: it still runs */
bool sfb_recorder_follow_ended(const struct sfb_recorder_follow *follow, int *wait_status);

/* @return number of recorded processes that run, as far as known */
size_t sfb_recorder_follow_running(const struct sfb_recorder_follow *follow);

/* After the program's exit: reports to the drain what programs without an agent used. */
void sfb_recorder_follow_end(struct sfb_recorder_follow *follow);

void sfb_recorder_follow_close(struct sfb_recorder_follow *follow);

#endif
