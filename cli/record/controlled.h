/* Which processes `sfb ctl` may ask about, what all of them have used, and how much of that in pauses. */
#ifndef CLI_RECORD_CONTROLLED_H
#define CLI_RECORD_CONTROLLED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether a process is this recorder, or what it records, or what either has started. Orphans are the recorder's. */
bool record_controls(pid_t recorded, pid_t asked);

/*
 * CPU time of a process, of its children and of theirs, with what they have waited for, in ns; as exact as a tick. A process
 * has the CPU time of its children once it has waited for them.
 *
 * @param itself  false: of its children alone
 */
uint64_t record_used_by_tree(pid_t root, bool itself);

/* CPU time that is used while the recording is paused is missed by no sample. */
struct record_pauses {
    bool paused;
    bool ran;       /* it was recorded for a while */
    uint64_t begun; /* CPU time of all when the last one began, in ns */
    uint64_t used;  /* in those before */
};

/* @param used  CPU time of all so far, in ns */
void record_pauses_set(struct record_pauses *pauses, bool paused, uint64_t used);

/*
 * At the end of the recording.
 *
 * @return what was used in pauses, at most: the clocks of processes that run are as exact as a tick
 */
uint64_t record_pauses_end(struct record_pauses *pauses, uint64_t used);

#endif
