/*
 * Hexadecimal text, in either case: digits, numbers, bytes. The only reader of it in all tools; hex_text.h writes it.
 */
#ifndef UTIL_HEX_H
#define UTIL_HEX_H

#include <stddef.h>
#include <stdint.h>

/* @return the value of a digit; -1: not a digit */
int hex_digit(char c);

/**
 * Reads a number of digits alone: no 0x, no sign, no blank.
 *
 * @param size  readable bytes at text
 *
 * @return its digits, up to the first other character; 0: no digit, or a number wider than 64 bits:
 *         then out is untouched
 */
size_t hex_number(const char *text, size_t size, uint64_t *out);

/**
 * Decodes text in place: two digits a byte, white space anywhere between bytes.
 *
 * @param size    of the text; of the bytes afterwards
 * @param offset  of the wrong character; written on failure only
 *
 * @return NULL, or the cause
 */
const char *hex_bytes(uint8_t *text, size_t *size, size_t *offset);

#endif
