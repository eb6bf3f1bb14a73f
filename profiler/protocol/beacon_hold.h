/* The lock of a beacon: agents see by it that its holder lives. See struct sfb_shared_beacon. */
#ifndef PROFILER_PROTOCOL_BEACON_HOLD_H
#define PROFILER_PROTOCOL_BEACON_HOLD_H

#include "profiler/protocol/shared.h"

/* Releases the lock; called by the thread that holds it. The mapping stays. */
void sfb_beacon_put_out(struct sfb_shared_beacon *beacon);

/* Takes the lock of a beacon in any shared memory: lit until the thread dies. @return false: errno says why */
bool sfb_beacon_hold(struct sfb_shared_beacon *beacon);

#endif
