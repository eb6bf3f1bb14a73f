/*
 * A program that crashes, for the demo: a line of its settings has no value.
 *
 *     cc -g -O2 demo/crash.c -lsframe-backtrace -o crash && ./crash
 */
#include <sframe_backtrace_crash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_setting(char *line)
{
    char *name = strtok(line, "=");
    char *value = strtok(NULL, "=");

    printf("%s is %ld\n", name, strtol(value, NULL, 10));
    return 0;
}

static int read_settings(const char *text)
{
    char copy[64], *rest = copy;
    int bad = 0;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *line; (line = strsep(&rest, "\n"));)
        bad += read_setting(line);
    return bad;
}

int main(void)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;

    setvbuf(stdout, NULL, _IONBF, 0);
    options.fd = 2; /* a program that is no demo opens a file */
    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK)
        return 1;
    return read_settings("width=80\nheight\ndepth=8");
}
