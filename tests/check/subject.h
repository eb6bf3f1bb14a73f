/* Good sections for tests to damage: `sfb dump` and `sfb check` are called on a copy, in this process. */
#ifndef CHECK_SUBJECT_H
#define CHECK_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input.h"

enum { SUBJECT_HEADER = 28 };

struct subject {
    struct input input;
    uint8_t *section; /* in the input */
    size_t size;
    size_t entry_size, count;
    bool big;
    int fd;        /* a copy of the file that dump reads */
    char path[32]; /* of it */
    char *good;    /* what dump says */
};

/* Opens a file whose .sframe has neither errors nor warnings. @param bare  it has no .eh_frame, whatever it had */
bool subject_open(struct subject *s, const char *path, bool bare);

void subject_close(struct subject *s);

/* Overwrites bytes of the section. */
void subject_put(struct subject *s, size_t at, const uint8_t *bytes, size_t size);

/* stdout and stderr of `sfb dump`, and its exit status; to be freed. */
char *subject_dump(struct subject *s);

/* What `sfb check` looks at. */
enum subject_levels {
    SUBJECT_STRUCTURE, /* levels 1 to 3 */
    SUBJECT_NO_CODE,   /* and .eh_frame */
    SUBJECT_ALL        /* and the code, where it does by itself */
};

/* Whether there are errors or warnings. @param slowest  the time that it takes, if that is more */
bool subject_is_found(struct subject *s, enum subject_levels levels, double *slowest);

/* A random number; state: not 0. */
uint64_t subject_random(uint64_t *state);

/* Prints the first line of what dump says that is another one. */
void subject_show(const struct subject *s, const char *text);

#endif
