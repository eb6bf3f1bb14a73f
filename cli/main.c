/* sfb: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/left_out.h"
#include "cli/tool.h"

static void print_head(void)
{
    printf("usage: sfb COMMAND [OPTION...] [FILE...]\n"
           "\n");
#ifdef SFB_HAVE_PROFILER
    printf("Records where a program spends CPU time, or what it allocates, and shows it:\n"
           "\n"
           "  sfb record -- ./program\n"
           "  sfb report\n"
           "\n");
#endif
    help_print_text("Names the functions of crash reports, and judges, makes and prints SFrame "
                    "sections and backtraces (Compact Backtrace Format, CBF).\n");
}

static void print_commands(void)
{
    for (const struct command_group *g = command_groups; g->title; g++) {
        printf("\n%s:\n", g->title);
        for (const struct tool_command *const *c = g->commands; *c; c++)
            printf("  %-10s %s\n", (*c)->name, (*c)->summary);
    }
}

static enum tool_exit print_help(void)
{
    print_head();
    print_commands();
    printf("\n"
           "options:\n"
           "  -h, --help     this text, or with a command the text for it: sfb help COMMAND\n"
           "  -V, --version  version of sframe-backtrace\n"
           "\n");
    help_print_text("Exit status: 0 done; 1 findings or bad data; 2 wrong usage, or input that "
                    "cannot be read or output that cannot be written.\n");
#ifdef SFB_HAVE_PROFILER
    help_print_text("`sfb record` exits as the program that it runs: sfb help record.\n");
#endif
    return TOOL_DONE;
}

static enum tool_exit print_version(void)
{
    printf("sfb (sframe-backtrace) %s\n", SFB_VERSION);
    return TOOL_DONE;
}

static enum tool_exit run_command(const char *name, int argc, char **argv)
{
    const struct tool_command *command = commands_find(name);
    enum tool_exit exit_status;

    if (command)
        return command->run(command, argc, argv);
    return left_out_say(name, &exit_status) ? exit_status : commands_complain(name);
}

/* `sfb help`, `sfb help X`; `sfb help --table` is all options as lines, for scripts. */
static enum tool_exit help(int argc, char **argv)
{
    char ask[] = "--help";

    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
        return print_help();
    if (strcmp(argv[1], "version") == 0)
        return print_version();
    if (strcmp(argv[1], "--table") != 0)
        return run_command(argv[1], 2, (char *[]){ argv[1], ask, NULL });
    for (const struct command_group *g = command_groups; g->title; g++)
        for (const struct tool_command *const *c = g->commands; *c; c++)
            help_print_table(*c);
    return TOOL_DONE;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static enum tool_exit run(int argc, char **argv)
{
    if (argc < 2)
        return tool_complain(TOOL_USAGE, "no command given; see 'sfb --help'");
    if (is_one_of(argv[1], "help", "--help", "-h"))
        return help(argc - 1, argv + 1);
    if (is_one_of(argv[1], "version", "--version", "-V"))
        return print_version();
    return run_command(argv[1], argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    enum tool_exit exit_status = run(argc, argv);

    return tool_flush() ? (int)exit_status : (int)TOOL_USAGE;
}
