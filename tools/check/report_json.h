/* Values of JSON, written at once. */
#ifndef CHECK_REPORT_JSON_H
#define CHECK_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A string of any bytes: what is no UTF-8 is written as '?'. */
json_t *report_json_string(const char *text);

json_t *report_json_number(uint64_t value);

/* "0x1234": numbers of JSON are exact up to 2^53 in most readers. */
json_t *report_json_hex(uint64_t value);

/*
 * Writes a value on one line, and gives it up. What foreign.h escapes is escaped here, too, as JSON
 * has it: \u009b. jansson itself leaves all but C0 as it is.
 *
 * @param is_inside  members of an object, without its braces
 * @return false: NULL, or it cannot be written
 */
bool report_json_put(FILE *to, json_t *value, bool is_inside);

#endif
