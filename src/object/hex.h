/*
 * Hexadecimal text: digits, numbers, bytes. What reads it anywhere in tools reads it here.
 *
 * Either case is read, lower case is written.
 */
#ifndef OBJECT_HEX_H
#define OBJECT_HEX_H

#include <stddef.h>
#include <stdint.h>

/* @return the value of a digit; -1: it is none */
int object_hex_digit(char c);

/**
 * Reads a number of digits alone: no 0x, no sign, no blank.
 *
 * @param size  bytes at text that may be read
 *
 * @return how many digits it has, up to the first character that is none; 0: there is none, or the
 *         number is wider than 64 bits, and out is untouched
 */
size_t object_hex_number(const char *text, size_t size, uint64_t *out);

/**
 * Turns text into bytes, in place: two digits a byte, white space anywhere between bytes.
 *
 * @param size    of the text; of the bytes afterwards
 * @param offset  of the character that is wrong; written on failure only
 *
 * @return NULL, or the cause
 */
const char *object_hex_bytes(uint8_t *text, size_t *size, size_t *offset);

/* Writes two digits a byte and a zero: out has room for 2 * size + 1. */
void object_hex_text(char *out, const uint8_t *bytes, size_t size);

#endif
