/*
 * Notes of allocations in the lines of a log: `~m#` and base64, anywhere in a line, or a line that is nothing else but
 * the base64 of a note. All other lines are passed over.
 */
#ifndef LWS_LINES_H
#define LWS_LINES_H

#include "input.h"
#include "lws_note.h"
#include "tool.h"

/*
 * Calls for each note of a log. A line that is wrong is complained of once, with its number; the others go on.
 *
 * @param visit  its argument is good for the call only; @return false: it wants no more, and has said why
 * @return TOOL_DONE; TOOL_BAD_DATA after a complaint: a line is wrong, or no line has a note
 */
enum tool_exit lws_lines_each(const struct input *input, enum lws_dialect dialect,
                              bool (*visit)(void *user, const struct lws_note *note), void *user);

#endif
