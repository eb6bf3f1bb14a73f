/* One line at a clean exit, if blocks were written past their end: on stderr, unless that is another file by then. */
#ifndef PROFILER_AGENT_LIVE_EXIT_REPORT_H
#define PROFILER_AGENT_LIVE_EXIT_REPORT_H

#include "profiler/protocol/live.h"

/* Remembers stderr. Without this call sfb_live_exit_report() writes nothing. */
void sfb_live_exit_report_begin(void);

/* @param path  the table's file; "": it has no file */
void sfb_live_exit_report(const struct sfb_live *map, const char *path);

#endif
