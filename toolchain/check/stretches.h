/*
 * Maps code to functions of .sframe: ascending stretches without overlap, one function each, and
 * the row at a pc.
 */
#ifndef TOOLCHAIN_CHECK_STRETCHES_H
#define TOOLCHAIN_CHECK_STRETCHES_H

#include "toolchain/check/check.h"

/* The code [start, end). */
struct stretch {
    uint64_t start, end;
    struct check_function function;
};

struct stretches {
    struct stretch *list;
    size_t count, capacity;
};

/*
 * Of overlapping functions the one that starts last holds, as in the library's search. @return
 * false: no memory
 */
bool stretches_make(struct stretches *out, const struct check *c);

void stretches_free(struct stretches *s);

/* The row at an ascending pc. */
struct row_cursor {
    struct check_function function;
    uint64_t position; /* position of the row behind `row` */
    uint32_t next;     /* its number */
    bool held;         /* `row` starts at or before the pc */
    bool ahead;        /* `after` is the row behind `row` */
    struct sframe_row row, after;
    uint32_t index; /* of row */
};

void row_cursor_open(struct row_cursor *cursor, struct check_function function);

/*
 * Moves to the row at a pc of the function.
 *
 * @param end  written: end of the answer's range, at most the function's end
 * @return false: no row
 */
bool row_cursor_seek(struct row_cursor *cursor, uint64_t pc, uint64_t *end);

#endif
