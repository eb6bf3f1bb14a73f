/* Names as they are shown: escaped (util/foreign.h), and no wider than there is room. */
#ifndef PROFILER_REPORT_TEXT_NAME_H
#define PROFILER_REPORT_TEXT_NAME_H

#include <stdio.h>

#include "profiler/report/text/style.h"

/* @return columns that a name takes */
unsigned report_name_width(const char *name);

/*
 * Writes a name. A name that is too long loses its arguments first, template arguments too: "map<...>::insert(...)".
 * Then it loses its middle: the end names the function in its class.
 *
 * @param room  columns; 0: no limit
 * @return columns written
 */
unsigned report_name_put(FILE *to, const struct report_style *style, const char *name,
                         unsigned room);

/*
 * Writes a line of a text: with blanks for tabs, escaped but for backslashes, without its end where there is no room.
 *
 * @param size  bytes, without the newline
 */
void report_line_put(FILE *to, const struct report_style *style, const char *line, size_t size,
                     unsigned room);

/*
 * A name and where it is from, "name (module)". The module is left out where both have no room.
 *
 * @param module  "": none
 */
void report_name_put_in(FILE *to, const struct report_style *style, const char *name,
                        const char *module, unsigned room);

#endif
