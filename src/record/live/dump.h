/* The live table of this process, as lines of a log, at any time: docs/FORMATS.md, "Log lines". */
#ifndef SFB_RECORD_LIVE_DUMP_H
#define SFB_RECORD_LIVE_DUMP_H

#include <stdbool.h>

#include "sfb/status.h"

/*
 * Writes them. Other threads go on: a slot that changes while it is read is left out, and counted.
 *
 * @param check  looks at the tail of each block, too
 * @return SFB_OK; SFB_BAD_ARGUMENT: this process has no table; SFB_NO_RESOURCE: another dump is being written, there is
 *         no memory, or the descriptor takes nothing: errno says why
 *
 * Signals: safe; errno changes. Memory is mapped for it and given back.
 */
enum sfb_status sfb_live_dump(int fd, bool check);

#endif
