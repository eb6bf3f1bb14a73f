/*
 * Which places were asked for the files of a module, and what each said: what `sfb symbolize --why`
 * prints, and what a complaint is made of.
 */
#ifndef OBJECT_TRAIL_H
#define OBJECT_TRAIL_H

#include <stddef.h>

#include "object/build_id.h"

/* What was looked for. */
enum object_part {
    OBJECT_FILE,  /* what was loaded */
    OBJECT_DEBUG, /* its symbols and debug information */
    OBJECT_ALT    /* what several debug files share: dwz's */
};

enum object_verdict {
    OBJECT_USED,
    OBJECT_ABSENT,         /* nothing is there */
    OBJECT_OTHER_BUILD_ID, /* a file of another build */
    OBJECT_NO_DEBUG,       /* a file without debug information */
    OBJECT_UNOPENED,       /* it is no regular file, or may not be read */
    OBJECT_REFUSED,        /* it is not what it should be */
    OBJECT_PASSED          /* the place was not asked; the cause says why */
};

struct object_try {
    enum object_part part;
    enum object_verdict verdict;
    char *place; /* a path, or a place without one, such as "debuginfod" */
    char *cause; /* NULL where there is no more to say */
};

struct object_trail {
    struct object_try *tries; /* in the order of asking */
    size_t count, room;
    size_t lost; /* for which there was no memory, or behind OBJECT_TRAIL_MAX */
};

/* More tell nobody anything; a folder may have a million files of one name. */
enum { OBJECT_TRAIL_MAX = 256 };

/* Adds a place. @param format  of the cause, as for printf(); NULL: none */
void object_trail_add(struct object_trail *trail, enum object_part part, const char *place,
                      enum object_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The last try with a verdict for a part. @return NULL: none */
const struct object_try *object_trail_last(const struct object_trail *trail, enum object_part part,
                                           enum object_verdict verdict);

/* "file", "debug" or "alt" */
const char *object_part_text(enum object_part part);

/* "used", "not there", ... */
const char *object_verdict_text(enum object_verdict verdict);

void object_trail_free(struct object_trail *trail);

#endif
