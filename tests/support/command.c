#include "support/command.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Reads a stream to its end. */
static char *slurp(FILE *stream)
{
    char *text = NULL, block[4096];
    size_t size = 0, n;
    FILE *out = open_memstream(&text, &size);

    cr_assert_not_null(out);
    while ((n = fread(block, 1, sizeof block, stream)) > 0)
        cr_assert_eq(fwrite(block, 1, n, out), n);
    cr_assert_eq(fclose(out), 0);
    return text;
}

static char *make_line(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static char *make_line(const char *format, va_list arguments)
{
    char *line = NULL;

    cr_assert_geq(vasprintf(&line, format, arguments), 0);
    return line;
}

static struct command run(const char *line)
{
    struct command result;
    char *both = NULL;
    FILE *pipe;
    int status;

    cr_assert_geq(asprintf(&both, "{ %s\n} 2>&1", line), 0);
    fflush(NULL);
    pipe = popen(both, "r");
    cr_assert_not_null(pipe, "no shell");
    result.output = slurp(pipe);
    status = pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    free(both);
    return result;
}

struct command command_run(const char *format, ...)
{
    struct command result;
    va_list arguments;
    char *line;

    va_start(arguments, format);
    line = make_line(format, arguments);
    va_end(arguments);
    result = run(line);
    free(line);
    return result;
}

char *command_output(const char *format, ...)
{
    struct command result;
    va_list arguments;
    char *line;

    va_start(arguments, format);
    line = make_line(format, arguments);
    va_end(arguments);
    result = run(line);
    cr_assert_eq(result.status, 0, "%s\nexit status %d\n%s", line, result.status, result.output);
    free(line);
    return result.output;
}

char *text_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text;

    cr_assert_not_null(file, "%s cannot be read", path);
    text = slurp(file);
    fclose(file);
    return text;
}
