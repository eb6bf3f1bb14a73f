/* Good sections for tests to damage: `sfb dump` and `sfb check` run on a copy, in this process. */
#ifndef CHECK_SUBJECT_H
#define CHECK_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/input.h"

enum { SUBJECT_HEADER = 28 };

struct subject {
    struct input input;
    uint8_t *section; /* in the input */
    size_t size;
    size_t entry_size, count;
    bool big;
    int fd;        /* a copy of the file, for dump */
    char path[32]; /* of the copy */
    char *good;    /* the text of dump */
};

/* Opens a file with an .sframe without errors and warnings. @param bare  hides its .eh_frame */
bool subject_open(struct subject *s, const char *path, bool bare);

void subject_close(struct subject *s);

/* Overwrites bytes of the section. */
void subject_put(struct subject *s, size_t at, const uint8_t *bytes, size_t size);

/* stdout and stderr of `sfb dump`, and its exit status; for free(). */
char *subject_dump(struct subject *s);

/* The levels of `sfb check` that run. */
enum subject_levels {
    SUBJECT_STRUCTURE, /* levels 1 to 3 */
    SUBJECT_NO_CODE,   /* ... and .eh_frame */
    SUBJECT_ALL        /* ... and the code, by default */
};

/* Whether there are errors or warnings. @param slowest  raised to the time of this check */
bool subject_is_found(struct subject *s, enum subject_levels levels, double *slowest);

/* A random number; state: not 0. */
uint64_t subject_random(uint64_t *state);

/* Prints the first changed line of dump's text. */
void subject_show(const struct subject *s, const char *text);

#endif
