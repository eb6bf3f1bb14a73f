/*
 * Untrusted text: names of symbols, files, sections, threads, and echoed input.
 *
 * A name may hold characters that move a cursor, set a title or end a line. They are escaped as in
 * crash reports: a backslash and three octal digits for each byte:
 *
 *     C0 and DEL       0x00 to 0x1f, 0x7f
 *     C1               U+0080 to U+009F
 *     marks            U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: they reorder
 *                      text, or end a line
 *     invalid UTF-8    a byte 0x9b alone is a C1 character to some terminals
 *     the backslash    so that each text can be decoded
 *
 * All other characters stay.
 */
#ifndef UTIL_FOREIGN_H
#define UTIL_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the longest escape of one byte: the maximum growth of a text. */
enum { FOREIGN_ESCAPE = 4 };

#define FOREIGN_NO_UTF8 UINT32_MAX

/* The meaning of a text's backslash. */
enum foreign_kind {
    FOREIGN_NAME,   /* a letter of the name: it is escaped */
    FOREIGN_ESCAPED /* the start of an escape: the text comes from a crash report */
};

/*
 * Escapes a text.
 *
 * @param room  bytes at out, at least 1; the rest is left out, never half an escape
 * @return bytes written, without the terminating zero
 */
size_t foreign_escape(char *out, size_t room, const char *text, size_t size,
                      enum foreign_kind kind);

/* @return the escaped text, for free(); NULL: no memory */
char *foreign_copy(const char *text, enum foreign_kind kind);

/* Writes a name escaped. @return bytes written */
size_t foreign_print(FILE *to, const char *text);

/*
 * Decodes the character at the start of a text.
 *
 * @param value  FOREIGN_NO_UTF8 for an invalid byte
 * @return its bytes, 1 to 4
 */
size_t foreign_character(const char *text, size_t size, uint32_t *value);

/* Whether a character is escaped in every text. The backslash is escaped in names only. */
bool foreign_is_unprintable(uint32_t value);

#endif
