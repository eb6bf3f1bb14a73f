/* sfb symbolize: a backtrace with functions, lines and modules, a frame a line. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backtraces.h"
#include "crash_report.h"
#include "foreign.h"
#include "object/demangle.h"
#include "symbolize_object.h"
#include "symbols.h"
#include "tool.h"

enum {
    OPTION_PID = TOOL_OPTION_FIRST,
    OPTION_MAPS,
    OPTION_HEX,
    OPTION_SWIFT,
    OPTION_RAW_NAMES,
    OPTION_NAMES,
    OPTION_OBJECT
};

static enum object_name_style name_style;

/* The frame being printed. */
struct line {
    uint64_t number;
    uint64_t address;
};

static void print_function(void *user, const struct symbols_function *f)
{
    const struct line *line = user;

    char *name = f->name ? object_demangle(f->name, name_style) : NULL;

    printf("#%" PRIu64 " 0x%" PRIx64 " ", line->number, line->address);
    foreign_print(stdout, name ? name : "?");
    free(name);
    if (f->name && !f->inlined)
        printf("+0x%" PRIx64, line->address - f->start);
    if (f->file && f->line > 0) {
        printf(" (");
        foreign_print(stdout, f->file);
        printf(":%d)", f->line);
    }
    printf(f->inlined ? " inlined in " : " in ");
    foreign_print(stdout, f->module ? f->module : "?");
    putchar('\n');
}

/*
 * Prints a frame, and gives the number of the next.
 *
 * @param behind      the frame is a pc, but that behind the instruction it is about
 * @param trampoline  the frame is a return address and a pc follows it: nothing was called there,
 *                    the kernel made the address up to return from a signal handler, so that the
 *                    byte before it belongs to some other function
 */
static uint64_t print_frame(struct symbols *symbols, const struct sfb_cbf_item *item,
                            uint64_t number, bool behind, bool trampoline)
{
    struct line line = { number, item->value };
    bool before = ((item->kind == SFB_FRAME_RA && !trampoline) || behind) && item->value > 0;

    if (item->kind == SFB_FRAME_OMIT) {
        for (uint64_t i = 0; i < item->count; i++)
            printf("... %" PRIu64 " frame%s omitted\n", item->value, item->value == 1 ? "" : "s");
        return number + item->count * item->value;
    }
    if (item->repeat)
        printf("#%" PRIu64 " .. (repeated %" PRIu64 " time%s more)\n", number, item->count,
               item->count == 1 ? "" : "s");
    else
        symbols_find(symbols, before ? item->value - 1 : item->value, print_function, &line);
    return number + item->count;
}

/* @param why  it is truncated, where that is known; NULL: it is not */
static enum sfb_status symbolize_one(struct symbols *symbols, struct backtraces *b, bool behind,
                                     const char *why)
{
    struct sfb_cbf_item next, item = { .count = 0 };
    enum sfb_status status;
    uint64_t number = 0;

    /* One frame is held back: only the next one tells whether it is a trampoline. */
    while ((status = backtraces_frame(b, &next)) == SFB_OK) {
        if (item.count > 0)
            number = print_frame(symbols, &item, number, behind && number == 0,
                                 next.kind == SFB_FRAME_PC);
        item = next;
    }
    if (item.count > 0)
        print_frame(symbols, &item, number, behind && number == 0, false);
    if (status == SFB_END && sfb_cbf_decoder_truncated(&b->decoder))
        printf("... truncated%s%s\n", why ? ": " : "", why ? why : "");
    return status;
}

static enum tool_exit symbolize_all(struct symbols *symbols, struct backtraces *b)
{
    enum sfb_status status;

    for (bool first = true; (status = backtraces_next(b)) == SFB_OK; first = false) {
        if (!first)
            putchar('\n');
        status = symbolize_one(symbols, b, false, NULL);
        if (status != SFB_END)
            break;
    }
    return status == SFB_END ? TOOL_DONE : TOOL_BAD_DATA;
}

/* A report has its modules with it. */
static enum tool_exit symbolize_report(struct symbols *symbols, struct crash_report *report,
                                       const char *name)
{
    struct backtraces b = { .input = { name, report->cbf, report->cbf_size } };
    enum tool_exit exit_status = TOOL_DONE;

    if (!symbols_use_modules(symbols, report->modules, report->module_count))
        return tool_complain(TOOL_USAGE, "%s: %s", name, strerror(ENOMEM));
    puts(report->headline ? report->headline : "?");
    if (report->cbf_size > 0 &&
        (backtraces_next(&b) != SFB_OK ||
         symbolize_one(symbols, &b, report->pc_is_behind, report->truncated) != SFB_END))
        exit_status = TOOL_BAD_DATA;
    for (size_t i = 0; i < report->module_count; i++)
        if (report->modules[i].refused)
            exit_status = TOOL_BAD_DATA;
    if (!report->complete)
        exit_status = tool_complain(TOOL_BAD_DATA, "%s: a report without its last line", name);
    return exit_status;
}

static enum tool_exit symbolize_input(const struct tool_command *command, struct symbols *symbols,
                                      const struct input *input)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct crash_report report = { .headline = NULL };
    size_t offset = 0, count = 0;

    for (; crash_report_read(&report, input, &offset, &exit_status); count++) {
        if (count > 0)
            putchar('\n');
        exit_status = tool_worse(exit_status, symbolize_report(symbols, &report, input->name));
        crash_report_free(&report);
    }
    if (count == 0 && exit_status == TOOL_DONE)
        exit_status = tool_misused(
            command, "either --pid or --maps has to be given, for %s has no crash report",
            input->name);
    return exit_status;
}

static enum tool_exit symbolize_reports(const struct tool_command *command, const char *path)
{
    enum tool_exit exit_status;
    struct symbols *symbols;
    struct input input;

    if (!input_read(&input, path))
        return TOOL_USAGE;
    symbols = symbols_of_reports();
    exit_status = symbols ? symbolize_input(command, symbols, &input)
                          : tool_complain(TOOL_USAGE, "%s: %s", input.name, strerror(ENOMEM));
    symbols_free(symbols);
    input_free(&input);
    return exit_status;
}

static bool parse_pid(const char *text, pid_t *out)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *out = (pid_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value > 0 && value <= INT_MAX;
}

/* What the options say. */
struct request {
    const char *maps, *object;
    pid_t pid;
    bool hex, swift;
};

/* @return TOOL_DONE, or after a complaint TOOL_USAGE */
static enum tool_exit take_option(const struct tool_command *command, struct request *r, int option)
{
    switch (option) {
    case OPTION_HEX: r->hex = true; break;
    case OPTION_SWIFT: r->swift = true; break;
    case OPTION_RAW_NAMES: name_style = OBJECT_NAME_RAW; break;
    case OPTION_MAPS: r->maps = optarg; break;
    case OPTION_OBJECT: r->object = optarg; break;
    case OPTION_NAMES:
        if (!object_name_style_parse(optarg, &name_style))
            return tool_misused(command, "'%s' is no style of names: full, short or raw", optarg);
        break;
    case OPTION_PID:
        if (!parse_pid(optarg, &r->pid))
            return tool_misused(command, "'%s' is no process id", optarg);
        break;
    default: break;
    }
    return TOOL_DONE;
}

static enum tool_exit symbolize_backtraces(const struct request *r, const char *path)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct backtraces backtraces;
    struct symbols *symbols;

    if (!backtraces_open(&backtraces, path, r->hex, r->swift ? SFB_CBF_SWIFT : 0, &exit_status))
        return exit_status;
    symbols =
        r->maps ? symbols_of_maps(r->maps, &exit_status) : symbols_of_process(r->pid, &exit_status);
    if (symbols)
        exit_status = symbolize_all(symbols, &backtraces);
    symbols_free(symbols);
    backtraces_close(&backtraces);
    return exit_status;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "pid", required_argument, NULL, OPTION_PID },
                                             { "maps", required_argument, NULL, OPTION_MAPS },
                                             { "hex", no_argument, NULL, OPTION_HEX },
                                             { "swift", no_argument, NULL, OPTION_SWIFT },
                                             { "raw-names", no_argument, NULL, OPTION_RAW_NAMES },
                                             { "names", required_argument, NULL, OPTION_NAMES },
                                             { "object", required_argument, NULL, OPTION_OBJECT },
                                             { NULL, 0, NULL, 0 } };
    enum tool_exit exit_status = TOOL_DONE;
    struct request r = { .maps = NULL };

    for (int o; (o = tool_option(command, argc, argv, options, &exit_status)) != -1;) {
        if (o == '?')
            return exit_status;
        exit_status = take_option(command, &r, o);
        if (exit_status != TOOL_DONE)
            return exit_status;
    }
    if (r.object)
        return r.pid != 0 || r.maps || r.hex || r.swift
                   ? tool_misused(command, "--object takes addresses, not a backtrace")
                   : symbolize_object(command, r.object, argv + optind, argc - optind, name_style);
    if (r.pid != 0 && r.maps)
        return tool_misused(command, "either --pid or --maps has to be given");
    if (argc - optind > 1)
        return tool_misused(command, "more than one file given");
    if (r.pid != 0 || r.maps)
        return symbolize_backtraces(&r, optind < argc ? argv[optind] : "-");
    if (r.hex || r.swift)
        return tool_misused(command, "either --pid or --maps has to be given");
    return symbolize_reports(command, optind < argc ? argv[optind] : "-");
}

const struct tool_command tool_symbolize = {
    .name = "symbolize",
    .summary = "name the functions of a backtrace of a process",
    .usage =
        "sfb symbolize [OPTION...] (--pid PID | --maps MAPSFILE) [FILE|-]\n"
        "       sfb symbolize [REPORT|-]\n"
        "       sfb symbolize --object FILE [ADDRESS...|-]\n"
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
        "  --pid PID        take the modules of a running process\n"
        "  --maps MAPSFILE  take them from a copy of its /proc/PID/maps; the modules are read\n"
        "                   where it says they are\n"
        "  --hex            FILE is hexadecimal text; white space between bytes is ignored\n"
        "  --swift          accept a first address that is relative, as Swift writes it\n"
        "  --names STYLE    names of C++, Rust and D functions: full (the default), short, with\n"
        "                   arguments cut to (...) and <...>, or raw: _ZN5shape4areaEi\n"
        "  --raw-names      the same as --names=raw\n"
        "  --help           this text\n"
        "\n"
        "Without --pid and --maps, the reports of the crash handler in a file are symbolized:\n"
        "each is a line that says what happened, and frames as above. They name the modules\n"
        "with their build-ids, so that the process may be gone; a file here with another\n"
        "build-id is not used, and stderr says so. Lines between reports are passed over.\n"
        "Only regular files are opened. A file is read once, however many reports name it.\n"
        "\n"
        "With --object, addresses are named of one program, library or debug file, as it is\n"
        "linked, which is what objdump and addr2line show. They are hexadecimal, with or\n"
        "without 0x; without any they are read from stdin, one a line. Each function is a\n"
        "line: the address, its name, the source file with line and column, and \"inlined in\"\n"
        "if the next line has the function that contains it.\n"
        "\n"
        "What would move a cursor or end a line in a name is printed as \\ and three octal digits\n"
        "for each byte, as reports have it.\n"
        "\n"
        "Debug information is looked for on this machine only, never downloaded.\n"
        "\n"
        "Exit status 1: the data is wrong. Frames before the first bad byte are printed, and\n"
        "stderr says where that is. For a report also: a module is not here, or the report is\n"
        "cut off.\n",
    .run = run,
};
