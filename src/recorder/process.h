/* A process: its beginning and its end. */
#ifndef RECORDER_PROCESS_H
#define RECORDER_PROCESS_H

#include "recorder/slots.h"

/* A slot that nobody has: takes it if a process is in it. One that executed another program ends before. */
void sfb_recorder_process_begin(struct sfb_recorder_drain *drain, uint32_t slot);

/* Reads what its threads have left, ends them and it, and makes its slot free. */
void sfb_recorder_process_end(struct sfb_recorder_drain *drain, uint32_t slot);

#endif
