/*
 * Which process here is the one in a slot. In another PID namespace it knows itself by another number, and two of them
 * may say the same one; nobody says when a program was executed.
 *
 * What a slot says (number, parent, program) is compared with /proc. It is not trusted: it chooses among processes that
 * descend from this one.
 */
#ifndef RECORDER_IDENTITY_H
#define RECORDER_IDENTITY_H

#include "recorder/followed.h"

/*
 * Finds its number here: followed.here, followed.same.
 *
 * @return whether that is the last word: else it may be there, and is to be looked for again
 */
bool sfb_recorder_identity_find(struct sfb_recorder_follow *follow, uint32_t slot);

/*
 * The slot of the process that executed what is in another one.
 *
 * @return SFB_SHARED_PROCESS_MAX: none did, it is another process
 */
uint32_t sfb_recorder_identity_before(const struct sfb_recorder_follow *follow, uint32_t slot,
                                      pid_t pid);

/* Whether it runs another program than the one that its slot tells of, by the same name here as there. */
bool sfb_recorder_identity_has_changed(const struct sfb_recorder_follow *follow, uint32_t slot);

/* How far its CLOCK_MONOTONIC is ahead of ours, in ns: it may be in a time namespace. 0: it is not, or nobody knows. */
int64_t sfb_recorder_identity_clock(pid_t here);

#endif
