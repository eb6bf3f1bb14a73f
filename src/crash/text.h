/* Text for a descriptor, put together in a buffer without stdio, heap or locale. */
#ifndef SFB_CRASH_TEXT_H
#define SFB_CRASH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a pipe takes in one piece. */
enum { SFB_TEXT_SIZE = 4096 };

struct sfb_text {
    int fd;
    bool waits;         /* writing to fd may block for ever: it is asked beforehand */
    bool is_terminal;   /* is given little at a time */
    bool failed;        /* nothing is written any more */
    char last;          /* character put */
    unsigned waited_ms; /* for fd, so far */
    size_t used;
    char bytes[SFB_TEXT_SIZE];
};

void sfb_text_begin(struct sfb_text *out, int fd, bool waits, bool is_terminal);

/* Writes what is there. What cannot be written is lost, and so is all that follows. */
void sfb_text_flush(struct sfb_text *text);

void sfb_text_char(struct sfb_text *text, char c);
void sfb_text_string(struct sfb_text *text, const char *string);
void sfb_text_decimal(struct sfb_text *text, int64_t value);
void sfb_text_bytes(struct sfb_text *text, const uint8_t *bytes, size_t size); /* two digits each */

/* "0x" and as many digits as it takes */
void sfb_text_hex(struct sfb_text *text, uint64_t value);

/*
 * A character of a name that somebody else chose: what is not printable ASCII, backslashes and the
 * character `quote` become \ and three octal digits, as in /proc/PID/maps. UTF-8 stays.
 */
void sfb_text_foreign(struct sfb_text *text, char c, char quote);

/* A file's size is no limit here; a pipe's reader has this long, all in all. */
enum { SFB_TEXT_WAIT_MS = 5000 };

#endif
