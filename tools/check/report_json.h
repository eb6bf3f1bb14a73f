#ifndef CHECK_REPORT_JSON_H
#define CHECK_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>

/* A string of any bytes: what is no UTF-8 is written as '?'. */
json_t *report_json_string(const char *text);

/*
 * Writes a value to stdout, and a newline. What foreign.h escapes is escaped here, too, as JSON has
 * it: \u009b. jansson itself leaves all but C0 as it is.
 */
bool report_json_write(const json_t *value);

#endif
