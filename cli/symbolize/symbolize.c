/* sfb symbolize: a backtrace with functions, lines and modules, a frame a line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/backtraces.h"
#include "cli/crash_report.h"
#include "cli/options.h"
#include "cli/places.h"
#include "cli/stack_print.h"
#include "cli/symbolize/object_addresses.h"
#include "cli/symbolize/swift_json.h"
#include "cli/symbolize/text.h"
#include "cli/symbolize/why.h"
#include "cli/tool.h"
#include "cli/tool_files.h"
#include "cli/tool_reporter.h"
#include "symbols/symbols.h"

enum symbolize_option {
    OPTION_PID = OPTION_FIRST,
    OPTION_MAPS,
    OPTION_HEX,
    OPTION_SWIFT,
    OPTION_SWIFT_JSON,
    OPTION_RAW_NAMES,
    OPTION_NAMES,
    OPTION_OBJECT,
    OPTION_WHY
};

/* What was asked for. */
struct request {
    const struct tool_command *command;
    const char *path; /* of the input */
    const char *maps, *object, *why;
    pid_t pid;
    bool hex, swift, swift_json;
    enum object_name_style names;
    struct places places;
};

static enum tool_exit symbolize_cbf(const struct stack_print *print, struct backtraces *b)
{
    enum sfb_status status;

    for (bool first = true; (status = backtraces_next(b)) == SFB_OK; first = false) {
        if (!first)
            putchar('\n');
        status = stack_print(print, b, false, NULL);
        if (status != SFB_END)
            break;
    }
    return status == SFB_END && !symbols_refused(print->symbols) ? TOOL_DONE : TOOL_BAD_DATA;
}

/* Input without crash reports and log lines is CBF if modules are given; else it is refused. */
static enum tool_exit symbolize_input(const struct request *r, struct symbols *symbols)
{
    const struct stack_print print = { symbols, r->names };
    const uint32_t flags = r->swift ? SFB_CBF_SWIFT : 0;
    const bool process = symbols_have_process(symbols);
    enum tool_exit exit_status = TOOL_DONE;
    struct backtraces b;
    size_t count = 0;

    if (!backtraces_open(&b, r->path, r->hex, flags, &exit_status))
        return exit_status;
    if (!r->hex &&
        (swift_json_is(&b.input) || (!symbolize_is_text(&b.input) && swift_json_has(&b.input)))) {
        exit_status = swift_json_read(&print, &b.input);
        count = 1;
    } else if (process && (r->hex || !symbolize_is_text(&b.input)))
        exit_status = r->swift_json ? swift_json_write(&print, &b) : symbolize_cbf(&print, &b);
    else if (r->swift_json)
        exit_status = swift_json_write_reports(&print, &b.input, &count);
    else
        exit_status = symbolize_text(&print, &b.input, flags, &count);
    if (!process && count == 0 && exit_status == TOOL_DONE)
        exit_status = tool_misused(r->command,
                                   "either --pid or --maps has to be given, for %s has no crash "
                                   "report",
                                   b.input.name);
    backtraces_close(&b);
    return exit_status;
}

/* --- why --------------------------------------------------------------------------------------- */

/* The modules of each report in a file. */
static size_t why_reports(const struct request *r, struct symbols *symbols, bool *missing,
                          enum tool_exit *exit_status)
{
    struct crash_report report = { .headline = NULL };
    size_t offset = 0, count = 0;
    struct input input;
    bool printed = false;

    if (!tool_read(&input, r->path)) {
        *exit_status = TOOL_USAGE;
        return 0;
    }
    while (crash_report_read(&report, &input, &offset, exit_status)) {
        if (symbols_use_modules(symbols, report.modules, report.module_count))
            count += why_print(symbols, r->why, &printed, missing);
        crash_report_free(&report);
    }
    input_free(&input);
    return count;
}

static enum tool_exit why(const struct request *r, struct symbols *symbols)
{
    enum tool_exit exit_status = TOOL_DONE;
    bool missing = false, printed = false;
    const size_t count = symbols_have_process(symbols)
                             ? why_print(symbols, r->why, &printed, &missing)
                             : why_reports(r, symbols, &missing, &exit_status);

    if (count == 0 && exit_status == TOOL_DONE)
        exit_status = tool_complain(TOOL_BAD_DATA, "no module is called '%s'", r->why);
    return missing ? tool_worse(exit_status, TOOL_BAD_DATA) : exit_status;
}

/* --- the command ------------------------------------------------------------------------------- */

static bool parse_pid(const char *text, pid_t *out)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *out = (pid_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value > 0 && value <= INT_MAX;
}

/* @return false after a complaint */
static bool take_option(struct request *r, int option, enum tool_exit *exit_status)
{
    switch (option) {
    case OPTION_MAPS: r->maps = optarg; return true;
    case OPTION_HEX: r->hex = true; return true;
    case OPTION_SWIFT: r->swift = true; return true;
    case OPTION_SWIFT_JSON: r->swift_json = true; return true;
    case OPTION_OBJECT: r->object = optarg; return true;
    case OPTION_WHY: r->why = optarg; return true;
    case OPTION_RAW_NAMES: r->names = OBJECT_NAME_RAW; return true;
    case OPTION_NAMES:
        if (object_name_style_parse(optarg, &r->names))
            return true;
        *exit_status =
            tool_misused(r->command, "'%s' is no style of names: full, short or raw", optarg);
        return false;
    case OPTION_PID:
        if (parse_pid(optarg, &r->pid))
            return true;
        *exit_status = tool_misused(r->command, "'%s' is no process id", optarg);
        return false;
    default: return places_take(&r->places, r->command, option, exit_status);
    }
}

static enum tool_exit with_modules(struct request *r)
{
    enum tool_exit exit_status = TOOL_DONE;
    const struct reporter reporter = tool_reporter(&exit_status);
    struct symbols *symbols = symbols_open(&r->places.object, &tool_complaints);
    bool good = symbols != NULL;

    if (!good)
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    if (good && r->maps)
        good = symbols_add_maps(symbols, r->maps, &reporter);
    else if (good && r->pid != 0)
        good = symbols_add_process(symbols, r->pid, &reporter);
    if (good)
        exit_status = r->why ? why(r, symbols) : symbolize_input(r, symbols);
    symbols_close(symbols);
    return exit_status;
}

static enum tool_exit execute(struct request *r, char **arguments, int count)
{
    const bool process = r->pid != 0 || r->maps;

    if (r->object && (process || r->hex || r->swift || r->swift_json || r->why))
        return tool_misused(r->command, "--object takes addresses, not a backtrace");
    if (r->object)
        return symbolize_object(r->command, r->object, &r->places.object, arguments, count,
                                r->names);
    if ((r->pid != 0 && r->maps) || (!process && (r->hex || r->swift)))
        return tool_misused(r->command, "either --pid or --maps has to be given");
    if (count > 1)
        return tool_misused(r->command, "more than one file given");
    r->path = count > 0 ? arguments[0] : "-";
    return with_modules(r);
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct request r = { .command = command };
    bool good = true;

    for (int o; good && (o = options_next(command, argc, argv, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    if (good)
        exit_status = execute(&r, argv + optind, argc - optind);
    places_close(&r.places);
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_PID, 0, "pid", TAKES_ARGUMENT, "PID",
      "take the modules of a running process, and names of code that it made at run time from its "
      "/tmp/perf-PID.map" },
    { OPTION_MAPS, 0, "maps", TAKES_ARGUMENT, "MAPSFILE",
      "take them from a copy of its /proc/PID/maps, or from its image map, which "
      "sframe_backtrace_image_map() wrote: that has build-ids" },
    { OPTION_OBJECT, 0, "object", TAKES_ARGUMENT, "FILE",
      "name addresses of one program, library or debug file: see below" },
    { OPTION_HEX, 0, "hex", TAKES_NOTHING, NULL,
      "FILE is hexadecimal text; white space between bytes is ignored" },
    { OPTION_SWIFT, 0, "swift", TAKES_NOTHING, NULL,
      "accept a first address that is relative, as Swift writes it" },
    { OPTION_SWIFT_JSON, 0, "swift-json", TAKES_NOTHING, NULL,
      "print backtraces and crash reports in JSON, as Swift's crash logs (format=json) have them" },
    { OPTION_NAMES, 0, "names", TAKES_ARGUMENT, "STYLE",
      "names of C++, Rust and D functions: full (the default), short, with arguments cut to (...) "
      "and <...>, or raw: _ZN5shape4areaEi" },
    { OPTION_RAW_NAMES, 0, "raw-names", TAKES_NOTHING, NULL, "the same as --names=raw" },
    { OPTION_WHY, 0, "why", TAKES_ARGUMENT, "MODULE",
      "print instead which places were asked for the files of a module, and what each said; "
      "MODULE is a path, a base name, or a build-id's start" },
    OPTIONS_END,
};

static const struct option_group groups[] = {
    { NULL, options, NULL },
    { NULL, places_options, NULL },
    OPTION_GROUPS_END,
};

static const struct option_habit of_addr2line[] = {
    { OPTION_OBJECT, 'e', "exe", TAKES_ARGUMENT, "FILE", NULL },
    { HABIT_NEEDLESS, 'a', "addresses", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'C', "demangle", TAKES_OPTIONAL, NULL, NULL },
    { HABIT_NEEDLESS, 'f', "functions", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'i', "inlines", TAKES_NOTHING, NULL, NULL },
    OPTION_HABITS_END,
};

static const struct option_habits habits = { "addr2line", of_addr2line,
                                             "all of it is always printed" };

const struct tool_command tool_symbolize = {
    .name = "symbolize",
    .summary = "name the functions of a backtrace, a crash report, or a log",
    .usage = "sfb symbolize [OPTION...] (--pid PID | --maps MAPSFILE) [FILE|-]\n"
             "sfb symbolize [OPTION...] [REPORT|LOG|SWIFT.json|-]\n"
             "sfb symbolize [OPTION...] --object FILE [ADDRESS...|-]\n"
             "sfb symbolize [OPTION...] --why MODULE ([REPORT|-] | --pid PID | --maps MAPSFILE)",
    .about = "Prints each frame of Compact Backtrace Format data with its function, source line "
             "and module, the innermost first:\n"
             "\n"
             "  #3 0x55d0c0a81234 luaV_execute+0x2c4 (lvm.c:1203) in lua\n"
             "\n"
             "A function that the compiler inlined has a line of its own, with the same number, "
             "before the one that contains it. Return addresses are looked up one byte before, so "
             "that they name the call; only the address of a signal trampoline, which is a return "
             "address followed by a pc, is looked up as it is. Repeated and omitted frames are one "
             "line, and count in the numbers of those behind them.\n",
    .options = groups,
    .habits = &habits,
    .more = "In a text, such as a log, these are symbolized in the order in which they begin:\n"
            "\n"
            "- Reports of the crash handler: a line that says what happened, and frames as above. "
            "They name the modules with their build-ids, so that the process may be gone.\n"
            "- Lines with ~c# and base64, as `sfb encode --log` writes them. They are of the "
            "process that --pid or --maps names.\n"
            "\n"
            "Everything else in it is passed over.\n"
            "\n"
            "Crash logs in JSON, of Swift or of --swift-json, are printed as frames, thread by "
            "thread; frames without a name get theirs from the log's images.\n"
            "\n"
            "With --object, addresses are named of one program, library or debug file, as it is "
            "linked, which is what objdump and addr2line show. They are hexadecimal, with or "
            "without 0x; without any they are read from stdin, one a line. Each function is a "
            "line: the address, its name, the source file with line and column, and \"inlined "
            "in\" if the next line has the function that contains it.\n"
            "\n"
            "A file here with another build-id is not used, and stderr says so. Only regular files "
            "are opened. A file is read once, however many reports name it. Without --debuginfod "
            "all is looked for on this machine. symbols/docs/SYMBOLS.md has the order of places.\n"
            "\n"
            "What would move a cursor or end a line in a name is printed as \\ and three octal "
            "digits for each byte, as reports have it.\n",
    .exits = "Exit status 1: the data is wrong. Frames before the first bad byte are printed, and "
             "stderr says where that is. Also: a module is not here, or a report is cut off.\n",
    .run = run,
};
