/* For tests that ask a tool (nm, readelf, a compiler) and read what it prints. */
#ifndef SUPPORT_COMMAND_H
#define SUPPORT_COMMAND_H

struct command {
    int status;   /* exit status; 128 + n if signal n ended it, as a shell counts */
    char *output; /* what it wrote to both of its streams, never NULL */
};

/**
 * Runs a line of shell and waits for it.
 *
 * The line is put together as printf() does; arguments are not quoted, so put '%s' around paths.
 * A shell that cannot be started at all aborts the test.
 */
struct command command_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Runs a line as command_run() does, fails the test unless it exits with 0, and gives its output.
 */
char *command_output(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Reads a whole file as text, to be freed; aborts the test if it cannot. */
char *text_read(const char *path);

#endif
