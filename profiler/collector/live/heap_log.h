/*
 * Dumps of live tables in a log: lines with ~h#, ~i# and ~c#, docs/FORMATS.md, "Log lines". The last dump of each process
 * counts.
 */
#ifndef PROFILER_COLLECTOR_LIVE_HEAP_LOG_H
#define PROFILER_COLLECTOR_LIVE_HEAP_LOG_H

#include <stdbool.h>

#include "profiler/protocol/live_view.h"
#include "util/input.h"
#include "util/reporter.h"

struct heap_log; /* opaque */

/* Whether a text has a line that begins a dump. */
bool heap_log_is_in(const struct input *input);

/*
 * Reads all dumps of a text. Faults are reported with their lines.
 *
 * @return NULL: no memory, which was reported
 */
struct heap_log *heap_log_read(const struct input *input, const struct reporter *reporter);

/* Visits the last dump of each process. @return false: the visitor stopped it, or no dump was found */
bool heap_log_visit(const struct heap_log *log, const struct sfb_live_visitor *visitor);

void heap_log_free(struct heap_log *log);

#endif
