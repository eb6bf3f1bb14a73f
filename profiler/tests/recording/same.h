/* Whether two events say the same. */
#ifndef RECORDING_SAME_H
#define RECORDING_SAME_H

#include <stdbool.h>

#include "sfb/recording.h"

bool same_event(const struct sfb_recording_event *a, const struct sfb_recording_event *b);

#endif
