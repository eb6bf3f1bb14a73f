/*
 * For tests of the sfb command: runs a line of shell and keeps its two output streams apart, with
 * bytes of the test's choice as its input. (command.h is for tools that are only asked something.)
 */
#ifndef SUPPORT_RUN_H
#define SUPPORT_RUN_H

#include <stddef.h>

struct run {
    int status;      /* exit status; 128 + n if signal n ended it, as a shell counts */
    char *out;       /* what it wrote to stdout; a zero byte follows it */
    size_t out_size; /* bytes, without that zero */
    char *err;
};

/*
 * Runs a line, put together as printf() does. Arguments are not quoted: put '%s' around paths. It
 * has a process group of its own, which is killed after a minute; then the test is aborted.
 *
 * @param input  what it reads from stdin; NULL: nothing
 * @return what it did, to be freed; a line that cannot be started aborts the test
 */
struct run run_with_input(const void *input, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same without input. */
#define run_line(...) run_with_input(NULL, 0, __VA_ARGS__)

void run_free(struct run *run);

/* Fails the test, at the first line that differs, unless two texts are equal. */
void run_expect_text(const char *name, const char *got, const char *want);

/* How many lines a text has; one that does not end in a newline counts, too. */
size_t run_count_lines(const char *text);

#endif
