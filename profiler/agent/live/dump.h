/* Writes the live table of this process as lines of a log, at any time: docs/FORMATS.md, "Log lines". */
#ifndef PROFILER_AGENT_LIVE_DUMP_H
#define PROFILER_AGENT_LIVE_DUMP_H

#include <stdbool.h>

#include "sfb/status.h"

/*
 * Writes a dump. Other threads go on: a slot that changes while it is read is left out and counted.
 *
 * @param check  also checks the tail of each block
 * @return SFB_OK; SFB_BAD_ARGUMENT: this process has no table; SFB_NO_RESOURCE: another dump is being written, there is
 *         no memory, or the write failed: see errno
 *
 * Signals: safe; changes errno. Maps memory and unmaps it.
 */
enum sfb_status sfb_live_dump(int fd, bool check);

#endif
