/* The ends of processes that are followed: who is waited for here, and who elsewhere. */
#ifndef RECORDER_ENDS_H
#define RECORDER_ENDS_H

#include "recorder/followed.h"

/* Tells the drain of an end, once. */
void sfb_recorder_ends_tell(struct sfb_recorder_follow *follow, uint32_t slot, uint32_t end,
                            uint32_t status, uint64_t cpu_ns);

/* The same of a process that ended, and was waited for, before its slot was looked at. @return whether it did */
bool sfb_recorder_ends_tell_of_reaped(struct sfb_recorder_follow *follow, uint32_t slot);

/* Waits for what has ended, and looks what others have waited for. */
void sfb_recorder_ends_look(struct sfb_recorder_follow *follow);

#endif
