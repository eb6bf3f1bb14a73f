/* A number that a user or an input gives: decimal, or hexadecimal after 0x. */
#ifndef UTIL_NUMBER_H
#define UTIL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a number; unlike strtoull(), no sign, no octal and no wrapping.
 *
 * @param out  written on success
 * @return NULL, or the cause: not a number, or wider than 64 bits
 */
const char *number_parse(const char *text, size_t size, uint64_t *out);

/* The same of an argument. */
bool number_of_argument(const char *text, uint64_t *out);

/* Reads a size: bytes, or with k, M or G. @return false: not a size, or wider than 64 bits */
bool number_of_bytes(const char *text, uint64_t *out);

/* An argument of seconds, "1.5", above 0. @param ns  written on success */
bool seconds_of_argument(const char *text, uint64_t *ns);

#endif
