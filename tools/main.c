/* sfb: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "left_out.h"
#include "tool.h"

static const struct tool_command *const commands[] = {
    &tool_dump,   &tool_check,  &tool_diff,      &tool_synth,
    &tool_decode, &tool_encode, &tool_symbolize, &tool_collect,
#ifdef SFB_HAVE_RECORDING
    &tool_record, &tool_report, &tool_ctl,
#endif
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_help(void)
{
    printf("usage: sfb COMMAND [OPTION...] [FILE...]\n"
           "\n"
           "Reads, checks and makes SFrame sections, and reads and writes Compact Backtrace Format "
           "(CBF).\n"
           "\n"
           "commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n"
           "options:\n"
           "  --help     this text, or with a command the text for it\n"
           "  --version  version of sframe-backtrace\n"
           "\n"
           "exit status: 0 done, 1 findings or bad data, 2 wrong usage, or input that cannot be\n"
           "read or output that cannot be written\n");
}

static enum tool_exit run(int argc, char **argv)
{
    enum tool_exit exit_status;

    if (argc < 2)
        return tool_complain(TOOL_USAGE, "no command given; see 'sfb --help'");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return TOOL_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sfb (sframe-backtrace) %s\n", SFB_VERSION);
        return TOOL_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc - 1, argv + 1);
    if (left_out_say(argv[1], &exit_status))
        return exit_status;
    return tool_complain(TOOL_USAGE, "%s '%s'; see 'sfb --help'",
                         argv[1][0] == '-' ? "unknown option" : "unknown command", argv[1]);
}

int main(int argc, char **argv)
{
    enum tool_exit exit_status = run(argc, argv);

    return tool_flush() ? (int)exit_status : (int)TOOL_USAGE;
}
