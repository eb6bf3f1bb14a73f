/*
 * What a library reports while its work goes on: a line for its user. The library prints nothing; its caller decides what
 * becomes of the line.
 */
#ifndef UTIL_REPORTER_H
#define UTIL_REPORTER_H

enum reported {
    REPORTED_NOTE,      /* something was passed over; the result is as good as without it */
    REPORTED_BAD_DATA,  /* data contradicts its format, or a file is not the one that was wanted */
    REPORTED_UNREADABLE /* a file cannot be read or written, or there is no memory */
};

/* Longest line with its zero; a longer one is cut. */
enum { REPORTER_LINE = 4096 };

struct reporter {
    /* @param line  without a newline; it may hold any bytes: foreign.h. NULL: reports are dropped */
    void (*take)(void *user, enum reported kind, const char *line);
    void *user;
};

void reporter_say(const struct reporter *reporter, enum reported kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
