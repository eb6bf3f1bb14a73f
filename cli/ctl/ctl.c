/* sfb ctl: live tables of programs that keep track of their own heap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ctl/ctl.h"

#include "cli/options.h"
#include "util/number.h"

enum ctl_option {
    OPTION_OUTPUT = OPTION_FIRST,
    OPTION_FORCE,
    OPTION_CHECK_TAILS,
    OPTION_SINCE,
    OPTION_UNTIL,
    OPTION_EVERY,
    OPTION_AT_PEAK,
    OPTION_LIST,
    OPTION_REMOVE
};

static const struct tool_option options[] = {
    { OPTION_OUTPUT, 'o', "output", TAKES_ARGUMENT, "FILE", "write a recording" },
    { OPTION_FORCE, 'f', "force", TAKES_NOTHING, NULL, "overwrite FILE" },
    { OPTION_CHECK_TAILS, 0, "check-tails", TAKES_NOTHING, NULL,
      "look at the last bytes of each live block of a program that runs: where they are "
      "overwritten, say which stack allocated the block" },
    { OPTION_SINCE, 0, "since", TAKES_ARGUMENT, "MARK",
      "dump what was allocated from this mark on, and lives" },
    { OPTION_UNTIL, 0, "until", TAKES_ARGUMENT, "MARK",
      "dump what was allocated before this mark" },
    { OPTION_EVERY, 0, "every", TAKES_ARGUMENT, "S",
      "dump every S seconds until the process ends, or ^C: FILE-1, FILE-2, ..." },
    { OPTION_AT_PEAK, 0, "at-peak", TAKES_NOTHING, NULL,
      "look every second (or --every S), and keep in FILE the look at which most lived" },
    { OPTION_LIST, 0, "list", TAKES_NOTHING, NULL,
      "show the tables here: process, state, program, file. A program that is gone was killed, or "
      "called _exit(); one that is replaced has executed another program; a table that is held is "
      "mapped by a process that is not to be seen from here: of another namespace, or a child" },
    { OPTION_REMOVE, 0, "remove", TAKES_NOTHING, NULL,
      "with --list: remove the files of programs that are gone or replaced" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

/* @return false after a complaint */
static bool take_option(struct ctl_request *r, int option, enum tool_exit *exit_status)
{
    switch (option) {
    case OPTION_LIST: r->list = true; return true;
    case OPTION_REMOVE: r->remove = true; return true;
    case OPTION_CHECK_TAILS: r->check_tails = true; return true;
    case OPTION_OUTPUT: r->output = optarg; return true;
    case OPTION_FORCE: r->force = true; return true;
    case OPTION_SINCE: r->since = optarg; return true;
    case OPTION_UNTIL: r->until = optarg; return true;
    case OPTION_AT_PEAK: r->at_peak = true; return true;
    case OPTION_EVERY:
        if (seconds_of_argument(optarg, &r->every_ns))
            return true;
        *exit_status = tool_misused(r->command, "--every: '%s' is no time in seconds", optarg);
        return false;
    default: return false;
    }
}

/* Whether an option was given that only dumps have. */
static bool has_dump_option(const struct ctl_request *r)
{
    return r->output || r->check_tails || r->since || r->until || r->every_ns || r->at_peak;
}

static enum tool_exit find_block(struct ctl_request *r, char **arguments, int count)
{
    char *end;

    if (count != 1)
        return tool_misused(r->command, "block takes one address");
    if (has_dump_option(r))
        return tool_misused(r->command, "block takes no option");
    errno = 0;
    r->address = strtoull(arguments[0], &end, 16);
    if (end == arguments[0] || *end != '\0' || errno != 0 || arguments[0][0] == '-')
        return tool_misused(r->command, "'%s' is no address: hexadecimal digits", arguments[0]);
    return ctl_block(r);
}

static enum tool_exit mark(struct ctl_request *r, char **arguments, int count)
{
    if (count != 1)
        return tool_misused(r->command, "mark takes one name");
    if (has_dump_option(r))
        return tool_misused(r->command, "mark takes no option");
    r->mark = arguments[0];
    return ctl_mark(r);
}

static enum tool_exit dump(struct ctl_request *r)
{
    if (r->at_peak && !r->output)
        return tool_misused(r->command, "--at-peak needs -o FILE");
    return r->every_ns || r->at_peak ? ctl_dump_often(r) : ctl_dump(r);
}

static enum tool_exit execute(struct ctl_request *r, char **arguments, int count)
{
    if (r->list) {
        if (count > 0 || has_dump_option(r))
            return tool_misused(r->command, "--list goes with --remove alone");
        return ctl_list(r);
    }
    if (r->remove)
        return tool_misused(r->command, "--remove goes with --list");
    if (count == 0)
        return tool_misused(r->command, "no process given");
    if (count == 1)
        return tool_misused(r->command,
                            "what is to be done? 'start', 'stop', 'mark NAME', 'status', 'dump', "
                            "'block ADDRESS', 'marks'");
    r->target = arguments[0];
    if (strcmp(arguments[1], "block") == 0)
        return find_block(r, arguments + 2, count - 2);
    if (strcmp(arguments[1], "mark") == 0)
        return mark(r, arguments + 2, count - 2);
    if (count == 2 && strcmp(arguments[1], "start") == 0 && !has_dump_option(r))
        return ctl_pause(r, false);
    if (count == 2 && strcmp(arguments[1], "stop") == 0 && !has_dump_option(r))
        return ctl_pause(r, true);
    if (count == 2 && strcmp(arguments[1], "status") == 0 && !has_dump_option(r))
        return ctl_status(r);
    if (count == 2 && strcmp(arguments[1], "marks") == 0 && !has_dump_option(r))
        return ctl_marks(r);
    if (count > 2 || strcmp(arguments[1], "dump") != 0)
        return tool_misused(r->command, "'%s' is nothing that can be done", arguments[count - 1]);
    return dump(r);
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct ctl_request r = { .command = command };

    for (int o; (o = options_next(command, argc, argv, &exit_status)) != -1;)
        if (o == '?' || !take_option(&r, o, &exit_status))
            return exit_status;
    return execute(&r, argv + optind, argc - optind);
}

const struct tool_command tool_ctl = {
    .name = "ctl",
    .summary = "control recordings that run; show what lives in live tables",
    .usage = "sfb ctl [OPTION...] PID|FILE dump\n"
             "sfb ctl PID|FILE block ADDRESS\n"
             "sfb ctl PID|FILE mark NAME\n"
             "sfb ctl PID|FILE marks\n"
             "sfb ctl PID start|stop|status\n"
             "sfb ctl --list [--remove]",
    .about =
        "A program that runs with libsfb-agent-heap.so and SFB_HEAP_LIVE=64M keeps a table of "
        "its live blocks, each with the stack that allocated it. `dump` reads it, by stack, "
        "while the program goes on, and also after it was killed:\n"
        "\n"
        "  LD_PRELOAD=libsfb-agent-heap.so SFB_HEAP_LIVE=64M ./server &\n"
        "  sfb ctl $! dump -o heap.sfbr && sfb report heap.sfbr\n"
        "\n"
        "Without -o the dump is lines of text on stdout, which survive in a log. `sfb report "
        "LOG` reads them back.\n"
        "\n"
        "`block` says which live block an address is in, as a crash report or a debugger shows "
        "it, and which stack allocated that.\n"
        "\n"
        "`mark` names this moment. `marks` lists what was allocated from each mark to the next, "
        "and lives; `dump --since A --until B` has its stacks.\n"
        "\n"
        "Of a process that `sfb record` records, PID or the recorder's, `mark` names this moment "
        "in "
        "the recording: `sfb report --time mark:A..mark:B` shows what was between two. `stop` "
        "pauses "
        "it, `start` goes on, also after `sfb record --paused`; `status` says how it stands. A "
        "program "
        "that records itself is asked in the same way. Only its user and root may do any of it.\n",
    .options = groups,
    .more = "FILE is a table's own, or a copy of it. Tables are in $XDG_RUNTIME_DIR, /run/user/UID "
            "and /dev/shm, and go when their program exits. By PID only those are read that are of "
            "the process's only user, of root, or yours; a FILE is read whose ever it is.\n",
    .exits = "Exit status 1: a table is damaged, blocks were overrun, or an address is in no live "
             "block.\n",
    .run = run,
};
