/* sfb stack: the stacks of a process that runs, or of a core. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/stack/processes.h"
#include "cli/stack/stack_cbf.h"
#include "cli/stack/stack_core.h"
#include "cli/stack/stack_json.h"
#include "cli/stack/stack_request.h"
#include "cli/stack/stack_text.h"
#include "cli/tool_reporter.h"
#include "util/number.h"

enum stack_option {
    OPTION_THREAD = OPTION_FIRST,
    OPTION_CHILDREN,
    OPTION_WATCH,
    OPTION_NO_STOP,
    OPTION_CONSISTENT,
    OPTION_MAX_FRAMES,
    OPTION_CBF,
    OPTION_JSON,
    OPTION_NAMES,
    OPTION_NATIVE,
    OPTION_PYTHON,
    OPTION_ROOT,
    OPTION_MAX_CORE
};

/* --- One process ---------------------------------------------------------------------------------- */

/* Names come last: nothing of the process stands still for them. */
static enum tool_exit show(const struct stack_request *r, struct sfb_remote *remote, pid_t pid)
{
    enum tool_exit exit_status = TOOL_DONE;
    const struct reporter reporter = tool_reporter(&exit_status);
    struct stack_text print = {
        .remote = remote, .pid = pid, .names = r->names, .languages = r->languages
    };
    char name[64];
    size_t count;
    const struct sfb_remote_thread *threads = sfb_remote_threads(remote, &count);
    bool good = true;

    if (r->format == STACK_CBF) {
        good = stack_cbf_print(threads, count);
    } else {
        process_name(name, sizeof name, pid);
        print.name = name;
        print.symbols = symbols_open(&r->places.object, &tool_complaints);
        good = print.symbols != NULL;
        /* It may have ended meanwhile: then that is said, and its frames have no names. */
        if (good)
            symbols_add_process(print.symbols, sfb_remote_memory_pid(remote), &reporter);
        if (good && r->format == STACK_JSON)
            stack_json_print(&print);
        else if (good)
            good = stack_text_print(&print);
        symbols_close(print.symbols);
    }
    return good ? exit_status : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

static enum tool_exit read_process(const struct stack_request *r, pid_t pid)
{
    const struct sfb_remote_options options = { .size = sizeof options,
                                                .flags = r->no_stop      ? SFB_REMOTE_NO_STOP
                                                         : r->consistent ? SFB_REMOTE_CONSISTENT
                                                                         : 0,
                                                .max_frames = r->max_frames,
                                                .tid = r->tid };
    enum tool_exit exit_status = TOOL_DONE;
    struct sfb_remote_fault fault;
    struct sfb_remote *remote = sfb_remote_open(pid, &fault);

    if (!remote || !sfb_remote_read(remote, &options, &fault))
        exit_status = tool_complain(TOOL_USAGE, "process %d: %s", (int)pid, fault.why);
    else
        exit_status = show(r, remote, pid);
    sfb_remote_close(remote);
    return exit_status;
}

/* --- Rounds --------------------------------------------------------------------------------------- */

/* A child that ends meanwhile is no failure of the whole. */
static enum tool_exit read_all(const struct stack_request *r)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct process_list list = { .count = 0 };

    process_list_add(&list, r->pid, r->children);
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0 && r->format == STACK_TEXT)
            putchar('\n');
        exit_status = tool_worse(exit_status, read_process(r, list.pids[i]));
    }
    process_list_free(&list);
    return exit_status;
}

static void print_time(void)
{
    const time_t now = time(NULL);
    struct tm parts;
    char text[32];

    strftime(text, sizeof text, "%F %T", localtime_r(&now, &parts));
    printf("--- %s\n", text);
}

static void wait_for(double seconds)
{
    struct timespec left = { .tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - floor(seconds)) * 1e9) };

    nanosleep(&left, NULL);
}

/* Until the process ends, or this one is interrupted. */
static enum tool_exit watch(const struct stack_request *r)
{
    enum tool_exit exit_status;

    for (;;) {
        if (r->format == STACK_TEXT)
            print_time();
        exit_status = read_all(r);
        if (exit_status != TOOL_DONE || !tool_flush())
            return exit_status;
        wait_for(r->watch);
        if (r->format == STACK_TEXT)
            putchar('\n');
    }
}

/* --- The command ---------------------------------------------------------------------------------- */

static bool parse_number(const char *text, int *out)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    *out = (int)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value > 0 && value <= INT_MAX;
}

static bool parse_seconds(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0.01 && *out <= 1e6;
}

static bool misused(enum tool_exit *exit_status, const struct tool_command *command,
                    const char *format, const char *value)
{
    *exit_status = tool_misused(command, "'%s' is no %s", value, format);
    return false;
}

static bool take_format(struct stack_request *r, enum stack_format format)
{
    r->formats += r->formats == 0 || r->format != format;
    r->format = format;
    return true;
}

static bool take_languages(struct stack_request *r, enum stack_languages languages,
                           enum tool_exit *exit_status)
{
    const bool first = r->languages == STACK_MIXED || r->languages == languages;

    r->languages = languages;
    if (!first)
        *exit_status = tool_misused(r->command, "--native and --python: one of them");
    return first;
}

/* @return false after a complaint */
static bool take_option(struct stack_request *r, int option, enum tool_exit *exit_status)
{
    int number;

    switch (option) {
    case OPTION_CHILDREN: r->children = true; return true;
    case OPTION_NO_STOP: r->no_stop = true; return true;
    case OPTION_CONSISTENT: r->consistent = true; return true;
    case OPTION_CBF: return take_format(r, STACK_CBF);
    case OPTION_JSON: return take_format(r, STACK_JSON);
    case OPTION_NATIVE: return take_languages(r, STACK_NATIVE, exit_status);
    case OPTION_PYTHON: return take_languages(r, STACK_PYTHON, exit_status);
    case OPTION_ROOT: r->root = optarg; return true;
    case OPTION_MAX_CORE:
        return number_of_bytes(optarg, &r->max_core) ||
               misused(exit_status, r->command, "size: bytes, or with k, M or G", optarg);
    case OPTION_THREAD:
        return parse_number(optarg, &r->tid) ||
               misused(exit_status, r->command, "thread's number", optarg);
    case OPTION_WATCH:
        return parse_seconds(optarg, &r->watch) ||
               misused(exit_status, r->command, "number of seconds", optarg);
    case OPTION_MAX_FRAMES:
        if (!parse_number(optarg, &number))
            return misused(exit_status, r->command, "number of frames", optarg);
        r->max_frames = (uint32_t)number;
        return true;
    case OPTION_NAMES:
        r->names_given = true;
        return object_name_style_parse(optarg, &r->names) ||
               misused(exit_status, r->command, "style of names: full, short or raw", optarg);
    default: return places_take(&r->places, r->command, option, exit_status);
    }
}

/* Options that mean nothing of the one kind. @return NULL, or which */
static const char *out_of_place(const struct stack_request *r)
{
    if (r->core)
        return r->children    ? "--children"
               : r->watch > 0 ? "--watch"
               : r->no_stop   ? "--no-stop"
                              : NULL;
    return r->root ? "--root" : r->max_core ? "--max-core" : NULL;
}

/* Digits, with a sign or without: a process is meant, and not a file. */
static bool is_number(const char *text)
{
    const char *digits = text + (text[0] == '-' || text[0] == '+');

    return digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

static enum tool_exit execute(struct stack_request *r, char **arguments, int count)
{
    const char *option;

    if (count != 1)
        return tool_misused(r->command, count == 0 ? "no process and no core given"
                                                   : "more than one process or core given");
    if (!parse_number(arguments[0], &r->pid)) {
        if (is_number(arguments[0]))
            return tool_misused(r->command,
                                "'%s' is no number of a process; a file of that name is ./%s",
                                arguments[0], arguments[0]);
        r->core = arguments[0];
    }
    if (r->formats > 1)
        return tool_misused(r->command, "--cbf and --json: one of them");
    if (r->format == STACK_CBF && r->names_given)
        return tool_misused(r->command, "--names changes nothing in --cbf: it has no names");
    option = out_of_place(r);
    if (option)
        return tool_misused(r->command, "%s is not for %s", option,
                            r->core ? "cores" : "a process that runs");
    if (r->core)
        return stack_core_read(r);
    if (r->tid != 0 && r->children)
        return tool_misused(r->command, "--thread is of one process, without --children");
    if (r->no_stop && r->consistent)
        return tool_misused(r->command, "--consistent stops all threads, and --no-stop none");
    return r->watch > 0 ? watch(r) : read_all(r);
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct stack_request r = { .command = command };
    bool good = true;

    for (int o; good && (o = options_next(command, argc, argv, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    if (good)
        exit_status = execute(&r, argv + optind, argc - optind);
    places_close(&r.places);
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_THREAD, 0, "thread", TAKES_ARGUMENT, "TID", "this thread alone" },
    { OPTION_CHILDREN, 0, "children", TAKES_NOTHING, NULL,
      "the processes below it as well, each after its parent" },
    { OPTION_WATCH, 0, "watch", TAKES_ARGUMENT, "SECONDS",
      "again and again, until the process ends" },
    { OPTION_NO_STOP, 0, "no-stop", TAKES_NOTHING, NULL,
      "stop no thread: running ones have no stack then, and a few that sleep have a part of it" },
    { OPTION_CONSISTENT, 0, "consistent", TAKES_NOTHING, NULL,
      "stop all threads first, so that all stacks are of one moment" },
    { OPTION_MAX_FRAMES, 0, "max-frames", TAKES_ARGUMENT, "N",
      "the innermost N frames of a thread (65536)" },
    { OPTION_CBF, 0, "cbf", TAKES_NOTHING, NULL,
      "write each thread's stack as Compact Backtrace Format, one behind the other: sfb decode, "
      "sfb symbolize --pid" },
    { OPTION_JSON, 0, "json", TAKES_NOTHING, NULL,
      "write a line of JSON for each process: all threads, with their frames" },
    { OPTION_NAMES, 0, "names", TAKES_ARGUMENT, "STYLE",
      "names of C++, Rust and D functions: full (the default), short, with arguments cut to (...) "
      "and <...>, or raw" },
    { OPTION_NATIVE, 0, "native", TAKES_NOTHING, NULL,
      "of a Python function show the interpreter's C function as well, which it stands for "
      "otherwise" },
    { OPTION_PYTHON, 0, "python", TAKES_NOTHING, NULL, "show Python functions alone" },
    OPTIONS_END,
};

static const struct tool_option core_options[] = {
    { OPTION_ROOT, 0, "root", TAKES_ARGUMENT, "DIR",
      "the folder that was / on the machine of the core: files of modules are below it" },
    { OPTION_MAX_CORE, 0, "max-core", TAKES_ARGUMENT, "SIZE",
      "unpack a .zst core to at most so many bytes, or with k, M or G (4G)" },
    OPTIONS_END,
};

static const struct option_group groups[] = {
    { NULL, options, NULL },
    { "Cores", core_options, NULL },
    { NULL, places_options, NULL },
    OPTION_GROUPS_END,
};

static const struct option_habit of_eu_stack[] = {
    { OPTION_MAX_FRAMES, 'n', NULL, TAKES_ARGUMENT, "N", NULL },
    { HABIT_REFUSED, 'p', "pid", TAKES_ARGUMENT, "PID",
      "the process stands alone: 'sfb stack PID'" },
    { HABIT_REFUSED, 0, "core", TAKES_ARGUMENT, "FILE", "the core stands alone: 'sfb stack CORE'" },
    { HABIT_NEEDLESS, 'i', "inlines", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'm', "module", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 's', "source", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'v', "verbose", TAKES_NOTHING, NULL, NULL },
    OPTION_HABITS_END,
};

static const struct option_habits habits = { "eu-stack", of_eu_stack,
                                             "functions, inlined ones, lines and modules are "
                                             "always printed" };

const struct tool_command tool_stack = {
    .name = "stack",
    .summary = "show the stacks of a process that runs, or of a core file",
    .usage = "sfb stack [OPTION...] PID\nsfb stack [OPTION...] CORE",
    .about =
        "Prints what each thread of a process does: its state, the system call that it waits "
        "in and on what, its CPU time, and its stack. Equal stacks are printed once, with "
        "their threads:\n"
        "\n"
        "  12 threads: 4712 to 4723 \"worker\", asleep in futex, CPU 0.004211 s\n"
        "  #0 0x7f6b8a0e5f16 __futex_abstimed_wait_common+0xd6 in libc.so.6\n"
        "\n"
        "A thread that sleeps is not stopped: its stack is copied while it sleeps. A running "
        "thread is stopped for a moment, by ptrace, its registers and its stack are copied, "
        "and it goes on. So is a sleeping one whose stack cannot be walked without its frame "
        "pointer. Functions are looked up after that. No system call of the process fails for "
        "it: where a stop would cost a thread its call, or the time of that, the thread is "
        "not stopped, and its stack says where it ends.\n"
        "\n"
        "A CORE is a file of x86-64 or AArch64, whichever this machine is: by the kernel, by gdb's "
        "gcore, or by systemd-coredump, packed by zstd or not. What it was made without is taken "
        "from the files of its modules, which are found by their build-ids. The thread that died "
        "stands first. A file whose name is a number is given as ./NAME.\n",
    .options = groups,
    .habits = &habits,
    .more = "It may be done to processes of the same user; kernel.yama.ptrace_scope, containers "
            "and PR_SET_DUMPABLE may forbid it, and root may always. What stands in the way is "
            "said.\n"
            "\n"
            "Files of modules are taken from where the process sees them. One that was deleted or "
            "replaced is found by its build-id, else read from the memory of the process.\n",
    .exits = "Exit status 1: a core is cut off, or a file that its stacks need is not here. 2: a "
             "process or a core cannot be read.\n",
    .run = run,
};
