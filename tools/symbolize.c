/* sfb symbolize: a backtrace with functions, lines and modules, a frame a line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backtraces.h"
#include "crash_report.h"
#include "places.h"
#include "stack_print.h"
#include "symbolize_object.h"
#include "symbolize_text.h"
#include "symbols.h"
#include "tool.h"
#include "why.h"

enum {
    OPTION_PID = TOOL_OPTION_FIRST,
    OPTION_MAPS,
    OPTION_HEX,
    OPTION_SWIFT,
    OPTION_RAW_NAMES,
    OPTION_NAMES,
    OPTION_OBJECT,
    OPTION_SYMBOL_PATH,
    OPTION_DEBUGINFOD,
    OPTION_MAX_UNPACKED,
    OPTION_WHY
};

/* What was asked for. */
struct request {
    const struct tool_command *command;
    const char *path; /* of the input */
    const char *maps, *object, *why;
    pid_t pid;
    bool hex, swift;
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

/* A text that has nothing in it is none of a backtrace's, unless modules are given: then it is CBF. */
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
    if (process && (r->hex || !symbolize_is_text(&b.input)))
        exit_status = symbolize_cbf(&print, &b);
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

    if (!input_read(&input, r->path)) {
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
    case OPTION_OBJECT: r->object = optarg; return true;
    case OPTION_WHY: r->why = optarg; return true;
    case OPTION_RAW_NAMES: r->names = OBJECT_NAME_RAW; return true;
    case OPTION_SYMBOL_PATH: return places_add_folder(&r->places, r->command, optarg, exit_status);
    case OPTION_DEBUGINFOD: return places_add_servers(&r->places, r->command, exit_status);
    case OPTION_MAX_UNPACKED: return places_allow_unpacked(r->command, optarg, exit_status);
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
    default: return false;
    }
}

static enum tool_exit with_modules(struct request *r)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct symbols *symbols = symbols_open(&r->places.object);
    bool good = symbols != NULL;

    if (!good)
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    if (good && r->maps)
        good = symbols_add_maps(symbols, r->maps, &exit_status);
    else if (good && r->pid != 0)
        good = symbols_add_process(symbols, r->pid, &exit_status);
    if (good)
        exit_status = r->why ? why(r, symbols) : symbolize_input(r, symbols);
    symbols_close(symbols);
    return exit_status;
}

static enum tool_exit execute(struct request *r, char **arguments, int count)
{
    const bool process = r->pid != 0 || r->maps;

    if (r->object && (process || r->hex || r->swift || r->why))
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
    static const struct option options[] = {
        TOOL_OPTION_HELP_ENTRY,
        { "pid", required_argument, NULL, OPTION_PID },
        { "maps", required_argument, NULL, OPTION_MAPS },
        { "hex", no_argument, NULL, OPTION_HEX },
        { "swift", no_argument, NULL, OPTION_SWIFT },
        { "raw-names", no_argument, NULL, OPTION_RAW_NAMES },
        { "names", required_argument, NULL, OPTION_NAMES },
        { "object", required_argument, NULL, OPTION_OBJECT },
        { "symbol-path", required_argument, NULL, OPTION_SYMBOL_PATH },
        { "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
        { "max-unpacked", required_argument, NULL, OPTION_MAX_UNPACKED },
        { "why", required_argument, NULL, OPTION_WHY },
        { NULL, 0, NULL, 0 }
    };
    enum tool_exit exit_status = TOOL_DONE;
    struct request r = { .command = command };
    bool good = true;

    for (int o; good && (o = tool_option(command, argc, argv, options, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    if (good)
        exit_status = execute(&r, argv + optind, argc - optind);
    places_close(&r.places);
    return exit_status;
}

const struct tool_command tool_symbolize = {
    .name = "symbolize",
    .summary = "name the functions of a backtrace, a crash report, or a log",
    .usage =
        "sfb symbolize [OPTION...] (--pid PID | --maps MAPSFILE) [FILE|-]\n"
        "       sfb symbolize [OPTION...] [REPORT|LOG|-]\n"
        "       sfb symbolize [OPTION...] --object FILE [ADDRESS...|-]\n"
        "       sfb symbolize [OPTION...] --why MODULE ([REPORT|-] | --pid PID | --maps MAPSFILE)\n"
        "\n"
        "Prints each frame of Compact Backtrace Format data with its function, source line\n"
        "and module, the innermost first:\n"
        "\n"
        "  #3 0x55d0c0a81234 luaV_execute+0x2c4 (lvm.c:1203) in lua\n"
        "\n"
        "A function that the compiler inlined has a line of its own, with the same number,\n"
        "before the one that contains it. Return addresses are looked up one byte before, so\n"
        "that they name the call; only the address of a signal trampoline, which is a return\n"
        "address followed by a pc, is looked up as it is. Repeated and omitted frames are one\n"
        "line, and count in the numbers of those behind them.\n"
        "\n"
        "  --pid PID        take the modules of a running process, and names of code that it made\n"
        "                   at run time from its /tmp/perf-PID.map\n"
        "  --maps MAPSFILE  take them from a copy of its /proc/PID/maps, or from its image map,\n"
        "                   which sframe_backtrace_image_map() wrote: that has build-ids\n"
        "  --hex            FILE is hexadecimal text; white space between bytes is ignored\n"
        "  --swift          accept a first address that is relative, as Swift writes it\n"
        "  --names STYLE    names of C++, Rust and D functions: full (the default), short, with\n"
        "                   arguments cut to (...) and <...>, or raw: _ZN5shape4areaEi\n"
        "  --raw-names      the same as --names=raw\n" PLACES_USAGE
        "  --why MODULE     print instead which places were asked for the files of a module, and\n"
        "                   what each said; MODULE is a path, a base name, or a build-id's start\n"
        "  --help           this text\n"
        "\n"
        "In a text, such as a log, these are symbolized in the order in which they begin:\n"
        "\n"
        "- Reports of the crash handler: a line that says what happened, and frames as above.\n"
        "  They name the modules with their build-ids, so that the process may be gone.\n"
        "- Lines with ~c# and base64, as `sfb encode --log` writes them. They are of the process\n"
        "  that --pid or --maps names.\n"
        "\n"
        "Everything else in it is passed over.\n"
        "\n"
        "With --object, addresses are named of one program, library or debug file, as it is\n"
        "linked, which is what objdump and addr2line show. They are hexadecimal, with or\n"
        "without 0x; without any they are read from stdin, one a line. Each function is a\n"
        "line: the address, its name, the source file with line and column, and \"inlined in\"\n"
        "if the next line has the function that contains it.\n"
        "\n"
        "A file here with another build-id is not used, and stderr says so. Only regular files\n"
        "are opened. A file is read once, however many reports name it. Without --debuginfod all\n"
        "is looked for on this machine. docs/SYMBOLS.md has the order of places.\n"
        "\n"
        "What would move a cursor or end a line in a name is printed as \\ and three octal digits\n"
        "for each byte, as reports have it.\n"
        "\n"
        "Exit status 1: the data is wrong. Frames before the first bad byte are printed, and\n"
        "stderr says where that is. Also: a module is not here, or a report is cut off.\n",
    .run = run,
};
