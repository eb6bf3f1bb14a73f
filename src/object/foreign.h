/*
 * Text that somebody else chose: names of symbols, files, sections, threads, and what is echoed of
 * the input.
 *
 * A name may hold what moves a cursor, sets a title or ends a line. Of such characters only an
 * escape is written, in the notation of crash reports: a backslash and three octal digits for each
 * byte. Escaped are:
 *
 *     C0 and DEL       0x00 to 0x1f, 0x7f
 *     C1               U+0080 to U+009F
 *     marks            U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: they turn
 *                      the order of letters around, or end a line
 *     what is no UTF-8 a byte 0x9b alone is a C1 character to some terminals
 *     the backslash    so that each text can be read back
 *
 * All other letters stay as they are.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the longest escape of one byte; a text grows by this factor at most. */
enum { FOREIGN_ESCAPE = 4 };

#define FOREIGN_NO_UTF8 UINT32_MAX

/* How the backslash of a text is taken. */
enum foreign_kind {
    FOREIGN_NAME,   /* as a letter of the name: it is escaped */
    FOREIGN_ESCAPED /* as the start of an escape: the text comes from a crash report */
};

/*
 * Escapes a text.
 *
 * @param room  bytes at out, at least 1; what does not fit is left out, never half an escape
 * @return bytes written, without the zero behind them
 */
size_t foreign_escape(char *out, size_t room, const char *text, size_t size,
                      enum foreign_kind kind);

/* @return the escaped text, to be freed; NULL: no memory */
char *foreign_copy(const char *text, enum foreign_kind kind);

/* Writes a name escaped. @return bytes written */
size_t foreign_print(FILE *to, const char *text);

/*
 * Reads the character at the start of a text.
 *
 * @param value  FOREIGN_NO_UTF8 for a byte that is none
 * @return its bytes, 1 to 4
 */
size_t foreign_character(const char *text, size_t size, uint32_t *value);

/* Whether a character is escaped in every text. The backslash is not: it is in names only. */
bool foreign_is_unprintable(uint32_t value);

#endif
