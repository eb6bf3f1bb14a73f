/* Names as they are shown: escaped (object/foreign.h), and no wider than there is room. */
#ifndef REPORT_NAME_H
#define REPORT_NAME_H

#include <stdio.h>

#include "report/text/style.h"

/* @return columns that a name takes */
unsigned report_name_width(const char *name);

/*
 * Writes a name. One that is too long loses arguments first, those of templates too: "map<...>::insert(...)".
 * Then its middle: the end says which function of a class it is.
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
