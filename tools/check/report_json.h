#ifndef CHECK_REPORT_JSON_H
#define CHECK_REPORT_JSON_H

#include <jansson.h>

/* A string of any bytes: what is no UTF-8 is written as '?'. */
json_t *report_json_string(const char *text);

#endif
