/*
 * Which function of .sframe holds for which code: stretches that ascend and do not overlap, each
 * with one function, and the row that holds at a pc of it.
 */
#ifndef CHECK_STRETCHES_H
#define CHECK_STRETCHES_H

#include "check.h"

/* [start, end), all of it code. */
struct stretch {
    uint64_t start, end;
    struct check_function function;
};

struct stretches {
    struct stretch *list;
    size_t count, capacity;
};

/* Where functions overlap the one that starts last holds, as in the library's search. @return
 * false: no memory */
bool stretches_make(struct stretches *out, const struct check *c);

void stretches_free(struct stretches *s);

/* The row at a pc that only ascends. */
struct row_cursor {
    struct check_function function;
    uint64_t position; /* of the row behind `row` */
    uint32_t next;     /* its number */
    bool held;         /* there is a row that starts at or before the pc */
    bool ahead;        /* `after` is the row behind it */
    struct sframe_row row, after;
    uint32_t index; /* of row */
};

void row_cursor_open(struct row_cursor *cursor, struct check_function function);

/*
 * Goes to the row that holds at a pc of the function.
 *
 * @param end  written: up to where the answer is the same, at most the end of the function
 * @return false: no row does
 */
bool row_cursor_seek(struct row_cursor *cursor, uint64_t pc, uint64_t *end);

#endif
