/*
 * The places searched for a module's files, with each result: for `sfb symbolize --why` and for
 * error messages.
 */
#ifndef SYMBOLS_TRAIL_H
#define SYMBOLS_TRAIL_H

#include <stddef.h>

#include "symbols/build_id.h"

/* The file to find. */
enum object_part {
    OBJECT_FILE,  /* the loaded file */
    OBJECT_DEBUG, /* its symbols and debug information */
    OBJECT_ALT    /* shared by several debug files: dwz's */
};

enum object_verdict {
    OBJECT_USED,
    OBJECT_ABSENT,         /* no file */
    OBJECT_OTHER_BUILD_ID, /* a file of another build */
    OBJECT_NO_DEBUG,       /* a file without debug information */
    OBJECT_UNOPENED,       /* not a regular file, or no permission */
    OBJECT_REFUSED,        /* it does not fit */
    OBJECT_PASSED          /* skipped; see the cause */
};

struct object_try {
    enum object_part part;
    enum object_verdict verdict;
    char *place; /* a path, or a source without one: "debuginfod" */
    char *cause; /* may be NULL */
};

struct object_trail {
    struct object_try *tries; /* in order of the search */
    size_t count, room;
    size_t lost; /* dropped: no memory, or beyond OBJECT_TRAIL_MAX */
};

/* More would not help; a folder may have a million files of one name. */
enum { OBJECT_TRAIL_MAX = 256 };

/* Adds a place. @param format  of the cause, as for printf(); may be NULL */
void object_trail_add(struct object_trail *trail, enum object_part part, const char *place,
                      enum object_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* "file", "debug" or "alt" */
const char *object_part_text(enum object_part part);

/* "used", "not there", ... */
const char *object_verdict_text(enum object_verdict verdict);

void object_trail_free(struct object_trail *trail);

#endif
