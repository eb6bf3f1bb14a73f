/* JSON values, written at once. */
#ifndef TOOLCHAIN_CHECK_REPORT_JSON_H
#define TOOLCHAIN_CHECK_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A string of any bytes: '?' replaces invalid UTF-8. */
json_t *report_json_string(const char *text);

json_t *report_json_number(uint64_t value);

/* "0x1234": many readers lose integers above 2^53. */
json_t *report_json_hex(uint64_t value);

/*
 * Writes a value on one line, and frees it. Characters that foreign.h escapes are written as
 * \\u009b; jansson escapes only C0.
 *
 * @param is_inside  members of an object, without its braces
 * @return false: NULL, or a failed write
 */
bool report_json_put(FILE *to, json_t *value, bool is_inside);

#endif
