/* Which processes `sfb ctl` may ask about, and what all of them have used. */
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

#endif
