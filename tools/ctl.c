/* sfb ctl: live tables of programs that keep track of their own heap. */
#include <string.h>

#include "ctl.h"

enum { OPTION_LIST = TOOL_OPTION_FIRST, OPTION_REMOVE, OPTION_CHECK_TAILS };

/* @return false after a complaint */
static bool take_option(struct ctl_request *r, int option)
{
    switch (option) {
    case OPTION_LIST: r->list = true; return true;
    case OPTION_REMOVE: r->remove = true; return true;
    case OPTION_CHECK_TAILS: r->check_tails = true; return true;
    case 'o': r->output = optarg; return true;
    case 'f': r->force = true; return true;
    default: return false;
    }
}

static enum tool_exit execute(struct ctl_request *r, char **arguments, int count)
{
    if (r->list) {
        if (count > 0 || r->output || r->check_tails)
            return tool_misused(r->command, "--list goes with --remove alone");
        return ctl_list(r);
    }
    if (r->remove)
        return tool_misused(r->command, "--remove goes with --list");
    if (count == 0)
        return tool_misused(r->command, "no process given");
    if (count == 1)
        return tool_misused(r->command, "what is to be done? 'dump'");
    if (count > 2 || strcmp(arguments[1], "dump") != 0)
        return tool_misused(r->command, "'%s' is nothing that can be done", arguments[count - 1]);
    r->target = arguments[0];
    return ctl_dump(r);
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "list", no_argument, NULL, OPTION_LIST },
                                             { "remove", no_argument, NULL, OPTION_REMOVE },
                                             { "check-tails", no_argument, NULL,
                                               OPTION_CHECK_TAILS },
                                             { "output", required_argument, NULL, 'o' },
                                             { "force", no_argument, NULL, 'f' },
                                             { NULL, 0, NULL, 0 } };
    enum tool_exit exit_status = TOOL_DONE;
    struct ctl_request r = { .command = command };

    for (int o; (o = tool_option(command, argc, argv, options, &exit_status)) != -1;)
        if (o == '?' || !take_option(&r, o))
            return exit_status;
    return execute(&r, argv + optind, argc - optind);
}

const struct tool_command tool_ctl = {
    .name = "ctl",
    .summary = "show what lives in programs that keep a live table",
    .usage =
        "sfb ctl [OPTION...] PID|FILE dump\n"
        "       sfb ctl --list [--remove]\n"
        "\n"
        "A program that runs with libsfb-agent-heap.so and SFB_HEAP_LIVE=64M keeps a table of its\n"
        "live blocks, each with the stack that allocated it. `dump` reads it, by stack, while the\n"
        "program goes on, and also after it was killed:\n"
        "\n"
        "  LD_PRELOAD=libsfb-agent-heap.so SFB_HEAP_LIVE=64M ./server &\n"
        "  sfb ctl $! dump -o heap.sfbr && sfb report heap.sfbr\n"
        "\n"
        "Without -o the dump is lines of text on stdout, which survive in a log. `sfb report LOG`\n"
        "reads them back.\n"
        "\n"
        "  -o, --output FILE  write a recording\n"
        "  -f, --force        overwrite FILE\n"
        "  --check-tails      look at the last bytes of each live block of a program that runs:\n"
        "                     where they are overwritten, say which stack allocated the block\n"
        "  --list             show the tables here: process, state, program, file. A program that\n"
        "                     is gone was killed, or called _exit(); one that is replaced has\n"
        "                     executed another program; a table that is held is mapped by a "
        "process\n"
        "                     that is not to be seen from here: of another namespace, or a child\n"
        "  --remove           with --list: remove the files of those that are gone or replaced\n"
        "  --help             this text\n"
        "\n"
        "FILE is a table's own, or a copy of it. Tables are in $XDG_RUNTIME_DIR, /run/user/UID\n"
        "and /dev/shm, and go when their program exits. By PID only those are read that are of\n"
        "the process's user, of root, or yours; a FILE is read whose ever it is.\n"
        "\n"
        "Exit status 1: a table is damaged, or blocks were overrun.\n",
    .run = run,
};
