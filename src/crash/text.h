/* Text for a descriptor: buffered, without stdio, heap or locale. */
#ifndef SFB_CRASH_TEXT_H
#define SFB_CRASH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that a pipe takes in one piece. */
enum { SFB_TEXT_SIZE = 4096 };

struct sfb_text {
    int fd;
    bool waits;         /* writing to fd may block for ever: it is polled first */
    bool is_terminal;   /* gets little at a time */
    bool failed;        /* nothing more is written */
    char last;          /* last character put */
    unsigned waited_ms; /* for fd, so far */
    size_t used;
    char bytes[SFB_TEXT_SIZE];
};

void sfb_text_begin(struct sfb_text *out, int fd, bool waits, bool is_terminal);

/* Writes the buffer. If that fails, its text and all further text is lost. */
void sfb_text_flush(struct sfb_text *text);

void sfb_text_char(struct sfb_text *text, char c);
void sfb_text_string(struct sfb_text *text, const char *string);
void sfb_text_decimal(struct sfb_text *text, int64_t value);
void sfb_text_bytes(struct sfb_text *text, const uint8_t *bytes, size_t size); /* two digits each */

/* "0x" and as many digits as it takes */
void sfb_text_hex(struct sfb_text *text, uint64_t value);

/*
 * Writes a character of a foreign name. Unprintable characters, backslashes and the character `quote`
 * become \ and three octal digits, as in /proc/PID/maps. UTF-8 stays.
 */
void sfb_text_foreign(struct sfb_text *text, char c, char quote);

/* Time for a pipe's reader, in total. */
enum { SFB_TEXT_WAIT_MS = 5000 };

#endif
