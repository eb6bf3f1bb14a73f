/* Dumps of live tables in a log: lines with ~h#, ~i# and ~c#, docs/FORMATS.md, "Log lines". Of each process the last one. */
#ifndef HEAP_LOG_H
#define HEAP_LOG_H

#include <stdbool.h>

#include "input.h"
#include "recorder/live_view.h"
#include "tool.h"

struct heap_log; /* opaque */

/* Whether a text has a line that begins a dump. */
bool heap_log_is_in(const struct input *input);

/*
 * Reads all dumps of a text. What is wrong is complained about, with its line.
 *
 * @param exit_status  written after a complaint
 * @return NULL: no memory, after a complaint
 */
struct heap_log *heap_log_read(const struct input *input, enum tool_exit *exit_status);

/* Tells the last dump of each process. @return false: the visitor stopped it, or there is none */
bool heap_log_visit(const struct heap_log *log, const struct sfb_live_visitor *visitor);

void heap_log_free(struct heap_log *log);

#endif
