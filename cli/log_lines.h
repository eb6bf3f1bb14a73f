/*
 * Backtraces in lines of a log: `~c#` and one backtrace as base64, anywhere in a line. Where no file
 * can be opened, a program still can log. docs/FORMATS.md, "Log lines".
 */
#ifndef CLI_LOG_LINES_H
#define CLI_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/input.h"

#define LOG_LINE_PREFIX "~c#"

/* Longer ones are not read: 100,000 frames need less. */
enum { LOG_LINE_MAX = 1 << 20 };

/* Where a search goes on. */
struct log_lines {
    const struct input *input;
    size_t at;         /* from here on nothing was searched */
    size_t line_start; /* of the line that at is in */
    uint64_t line;     /* its number, from 1 */
};

struct log_line {
    uint64_t number;    /* of the line */
    size_t offset;      /* of the prefix, in the input */
    const char *before; /* what the line has before it: a time, a name */
    size_t before_size; /* no more than LOG_LINE_BEFORE */
    const char *base64;
    size_t size;
};

enum { LOG_LINE_BEFORE = 200 };

/* Starts at the beginning of an input. */
void log_lines_begin(struct log_lines *lines, const struct input *input);

/* Finds the next line with a backtrace. @return false: end of input */
bool log_lines_next(struct log_lines *lines, struct log_line *out);

/*
 * Decodes the backtrace of a line.
 *
 * @param cbf   to be freed; what there is before the fault, too
 * @return NULL, or what is wrong with it
 */
const char *log_line_decode(const struct log_line *line, uint8_t **cbf, size_t *size);

#endif
