/*
 * Does a JSON value keep to a schema? Of JSON Schema, draft 7, what toolchain/docs/check.schema.json uses; a
 * keyword that is not known here is a failure, so that nothing goes unchecked.
 */
#ifndef SUPPORT_JSON_SCHEMA_H
#define SUPPORT_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* @param why  written on failure: where in the value, and what does not hold */
bool json_keeps_to(json_t *schema, json_t *value, char *why, size_t size);

#endif
