/*
 * Notes of allocations in the lines of a log: `~m#` and base64, anywhere in a line, or a line that is nothing else but
 * the base64 of a note. All other lines are passed over.
 */
#ifndef CONTRIB_LWS_LWS_LINES_H
#define CONTRIB_LWS_LWS_LINES_H

#include "contrib/lws/lws_note.h"
#include "util/input.h"
#include "util/reporter.h"

/*
 * Calls for each note of a log. A line that is wrong is reported once, with its number; the others go on.
 *
 * @param visit  its argument is good for the call only; @return false: it wants no more, and has said why
 * @return false after a report: a line is wrong, or no line has a note
 */
bool lws_lines_each(const struct input *input, enum lws_dialect dialect,
                    bool (*visit)(void *user, const struct lws_note *note), void *user,
                    const struct reporter *reporter);

#endif
