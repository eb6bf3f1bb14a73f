#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "object/foreign.h"

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

/* The letters of options, as getopt() wants them: each long option with a letter as its `val`. */
static void list_letters(char *to, size_t size, const struct tool_command *command,
                         const struct option *options)
{
    size_t n = (size_t)snprintf(to, size, "%s:h", command->runs_program ? "+" : "");

    for (; options->name; options++) {
        if (options->val >= TOOL_OPTION_HELP || n + 3 > size)
            continue;
        to[n++] = (char)options->val;
        if (options->has_arg == required_argument)
            to[n++] = ':';
        to[n] = '\0';
    }
}

/* Whether optopt is an option, and so was given an argument that it does not take. */
static bool is_known(const struct option *options)
{
    for (; options->name; options++)
        if (options->val == optopt)
            return true;
    return false;
}

int tool_option(const struct tool_command *command, int argc, char **argv,
                const struct option *options, enum tool_exit *exit_status)
{
    char letters[64];
    int option;

    opterr = 0; /* getopt's own messages have no hint at --help */
    list_letters(letters, sizeof letters, command, options);
    option = getopt_long(argc, argv, letters, options, NULL);
    if (option == 'h' || option == TOOL_OPTION_HELP) {
        printf("usage: %s%s", command->usage, command->usage_more ? command->usage_more : "");
        *exit_status = TOOL_DONE;
        return '?';
    }
    if (option != '?' && option != ':')
        return option;

    if (option == ':')
        *exit_status = tool_misused(command, "'%s' needs an argument", argv[optind - 1]);
    else if (is_known(options))
        *exit_status =
            tool_misused(command, "'%s': this option takes no argument", argv[optind - 1]);
    else if (optopt != 0)
        *exit_status = tool_misused(command, "unknown option '-%c'", optopt);
    else
        *exit_status = tool_misused(command, "unknown option '%s'", argv[optind - 1]);
    return '?';
}

enum tool_exit tool_worse(enum tool_exit a, enum tool_exit b)
{
    return a > b ? a : b;
}
