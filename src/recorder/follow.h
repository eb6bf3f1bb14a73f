/*
 * Follows processes that are recorded: opens events for their threads, notices their ends, and those of their children
 * that have no agent.
 *
 * What an agent says of itself (pid, tid) is checked against /proc before a signal goes anywhere: the program may have
 * overwritten it.
 */
#ifndef RECORDER_FOLLOW_H
#define RECORDER_FOLLOW_H

#include "recorder/drain.h"
#include "recorder/events.h"

struct sfb_recorder_follow; /* opaque */

struct sfb_recorder_follow_options {
    struct sfb_shared *shared;
    struct sfb_recorder_events *events;  /* NULL: none are opened */
    pid_t first;                         /* the program that was started */
    struct sfb_recording_writer *writer; /* for the perf maps of processes */
    bool no_children;                    /* those without an agent are meant to be */
};

/* @return NULL: no memory */
struct sfb_recorder_follow *sfb_recorder_follow_open(
    const struct sfb_recorder_follow_options *options);

/* What the drain is given. */
struct sfb_recorder_watcher sfb_recorder_follow_watcher(struct sfb_recorder_follow *follow);

/* Whom to tell. Before the first sfb_recorder_follow_look(). */
void sfb_recorder_follow_drain(struct sfb_recorder_follow *follow,
                               struct sfb_recorder_drain *drain);

/*
 * Looks what has ended, reaps it, and tells the drain. Now and then also: threads that have no ring, and children that
 * have no agent. To be called each 10 ms.
 */
void sfb_recorder_follow_look(struct sfb_recorder_follow *follow);

/* The first program's end. @return false: it runs */
bool sfb_recorder_follow_ended(const struct sfb_recorder_follow *follow, int *wait_status);

/* Recorded processes that run, as far as is known. */
size_t sfb_recorder_follow_running(const struct sfb_recorder_follow *follow);

/* The program has ended: what programs without an agent used is known to the drain after it. */
void sfb_recorder_follow_end(struct sfb_recorder_follow *follow);

void sfb_recorder_follow_close(struct sfb_recorder_follow *follow);

#endif
