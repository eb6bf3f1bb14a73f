/* The lock of a beacon: by which agents know that its holder lives. struct sfb_shared_beacon. */
#ifndef RECORDER_BEACON_HOLD_H
#define RECORDER_BEACON_HOLD_H

#include "recorder/shared.h"

/* By the thread that holds it. The mapping stays. */
void sfb_beacon_put_out(struct sfb_shared_beacon *beacon);

/* Takes the lock, of a beacon in any shared memory: lit until the thread dies. @return false: errno says why */
bool sfb_beacon_hold(struct sfb_shared_beacon *beacon);

#endif
