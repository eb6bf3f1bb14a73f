#include "cli/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/foreign.h"

/* Longest complaint; file names that do not fit are cut, their end with the cause is not needed. */
#define LINE_SIZE 4096

static bool output_failed;

static void say(const char *text)
{
    char line[FOREIGN_ESCAPE * LINE_SIZE + 1];

    /* File names and input may hold anything, our own words no backslash. */
    foreign_escape(line, sizeof line, text, strlen(text), FOREIGN_NAME);
    fprintf(stderr, "sfb: %s\n", line);
}

bool tool_flush(void)
{
    char text[128];

    errno = 0;
    if (!output_failed && (fflush(stdout) != 0 || ferror(stdout))) {
        output_failed = true;
        /* errno is lost if an earlier printf hit the error; the fact is what counts. */
        snprintf(text, sizeof text, "standard output: %s", strerror(errno ? errno : EIO));
        say(text);
    }
    return !output_failed;
}

enum tool_exit tool_complain(enum tool_exit exit_status, const char *format, ...)
{
    char text[LINE_SIZE];
    va_list arguments;

    if (!tool_flush())
        return TOOL_USAGE;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say(text);
    return exit_status;
}

enum tool_exit tool_complain_of(enum tool_exit exit_status, const char *name,
                                const struct object_fault *fault)
{
    return tool_complain(exit_status, "%s: +0x%" PRIx64 ": %s%s%s", name, fault->offset,
                         fault->field ? fault->field : "", fault->field ? ": " : "", fault->cause);
}

enum tool_exit tool_misused(const struct tool_command *command, const char *format, ...)
{
    char text[LINE_SIZE / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tool_complain(TOOL_USAGE, "%s: %s; see 'sfb %s --help'", command->name, text,
                         command->name);
}

const char *tool_option_name(const struct tool_command *command, int value)
{
    for (const struct option_group *g = command->options; g->options; g++)
        for (const struct tool_option *row = g->options; row->name; row++)
            if (row->value == value)
                return row->name;
    return "";
}

const char *tool_guesses(char *to, size_t size, const struct nearest *nearest, const char *before)
{
    size_t used = 0;

    to[0] = '\0';
    for (size_t i = 0; i < nearest->count && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%s'%s%s'",
                                 i == 0 ? " (did you mean " : ", ", before, nearest->names[i].name);
    if (used > 0 && used < size)
        snprintf(to + used, size - used, "?)");
    return to;
}

enum tool_exit tool_worse(enum tool_exit a, enum tool_exit b)
{
    return a > b ? a : b;
}
