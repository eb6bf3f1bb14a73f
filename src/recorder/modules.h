/* Lists of modules, from the shared memory to the recording. */
#ifndef RECORDER_MODULES_H
#define RECORDER_MODULES_H

#include "recorder/slots.h"

/* Copies the list of a process that waits, if one does, and says that the agent may write the next. */
void sfb_recorder_modules_take(struct sfb_recorder_drain *drain, uint32_t slot);

#endif
