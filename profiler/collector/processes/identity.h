/*
 * Maps a slot to the host's pid. In another PID namespace the process has another pid, and two processes may report the
 * same one. An exec is not reported.
 *
 * The pid, parent and program in a slot are compared with /proc. They are not trusted: they only choose among the
 * descendants of this process.
 */
#ifndef PROFILER_COLLECTOR_PROCESSES_IDENTITY_H
#define PROFILER_COLLECTOR_PROCESSES_IDENTITY_H

#include "profiler/collector/processes/followed.h"

/* Reads /proc for a process whose pid here is known: followed.owner, .parent, .fresh. */
void sfb_recorder_identity_note(const struct sfb_recorder_follow *follow,
                                struct sfb_recorder_followed *process);

enum sfb_recorder_found {
    SFB_FOUND,
    SFB_FOUND_GONE,    /* it was here, and has ended */
    SFB_FOUND_NOWHERE, /* all processes were checked */
    SFB_FOUND_UNSURE   /* it may be there: search again */
};

/* Finds a process: followed.here, .same, and the fields of sfb_recorder_identity_note(). */
enum sfb_recorder_found sfb_recorder_identity_find(struct sfb_recorder_follow *follow,
                                                   uint32_t slot);

/* @return the slot of the process that executed the program in `slot`; SFB_SHARED_PROCESS_MAX: another process */
uint32_t sfb_recorder_identity_before(const struct sfb_recorder_follow *follow, uint32_t slot,
                                      pid_t pid);

/* Whether the process runs another program than its slot reports, where both paths mean the same file. */
bool sfb_recorder_identity_has_changed(const struct sfb_recorder_follow *follow, uint32_t slot);

/* @return ns that its CLOCK_MONOTONIC is ahead of ours, in a time namespace; 0: same clock, or unknown */
int64_t sfb_recorder_identity_clock(const struct sfb_recorder_follow *follow, pid_t here);

#endif
