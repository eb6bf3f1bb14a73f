/* sfb report: what a recording shows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "places.h"
#include "report/folded.h"
#include "report/make.h"
#include "report/summary.h"
#include "report/top.h"
#include "report_names.h"
#include "report_newest.h"
#include "symbols.h"
#include "tool.h"

enum {
    OPTION_TOP = TOOL_OPTION_FIRST,
    OPTION_FOLDED,
    OPTION_CHECK,
    OPTION_NAMES,
    OPTION_SYMBOLS,
    OPTION_SYMBOL_PATH,
    OPTION_DEBUGINFOD
};

enum form { FORM_TOP, FORM_FOLDED, FORM_CHECK };

enum { ROWS = 40 };

struct request {
    const struct tool_command *command;
    const char *path;
    enum form form;
    bool given, no_symbols;
    uint64_t rows;
    enum object_name_style names;
    struct places places;
};

/* --- The recording ------------------------------------------------------------------------------ */

static enum tool_exit refuse(const char *path, enum sfb_status status)
{
    if (status == SFB_NO_RESOURCE)
        return tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno ? errno : ENOMEM));
    return tool_complain(TOOL_BAD_DATA, "%s: %s", path,
                         status == SFB_BAD_VERSION ? "a recording of a later version"
                         : status == SFB_TRUNCATED
                             ? "no recording: it ends before the end of a recording's header"
                             : "no recording: it begins with other bytes");
}

static enum tool_exit write_model(const struct request *r, const struct report_data *data,
                                  const struct report_namer *namer)
{
    const struct report_source source = { .data = data, .namer = *namer };
    struct report_model model;
    bool good = report_model_make(&model, &source, 1, NULL);

    if (good && r->form == FORM_FOLDED) {
        good = report_folded_write(stdout, &model);
    } else if (good) {
        report_summary_write(stdout, &model);
        putchar('\n');
        good = report_top_write(stdout, &model, r->rows);
    }
    report_model_free(&model);
    return good ? TOOL_DONE : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

static enum tool_exit write_report(const struct request *r, const struct report_data *data)
{
    struct symbols *symbols = r->no_symbols ? NULL : symbols_open(&r->places.object);
    struct report_names *names = report_names_open(symbols, r->names);
    enum tool_exit exit_status;

    if (names && (symbols || r->no_symbols)) {
        const struct report_namer namer = report_names_namer(names);

        exit_status = write_model(r, data, &namer);
    } else {
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    }
    report_names_close(names);
    symbols_close(symbols);
    return exit_status;
}

/* Damage is said on stderr: what could be read is shown. */
static enum tool_exit judge(const struct request *r, const struct report_data *data)
{
    const struct sfb_recording_health *h = &data->health;

    if (r->form == FORM_CHECK)
        return report_health_write(stdout, r->path, data) ? TOOL_DONE : TOOL_BAD_DATA;
    if (h->skipped == 0 && h->bad_blocks == 0 && h->bad_records == 0 && h->lost_records == 0)
        return TOOL_DONE;
    return tool_complain(TOOL_BAD_DATA,
                         "%s: damaged: parts of it are missing; sfb report --check says more",
                         r->path);
}

static enum tool_exit report(const struct request *r)
{
    struct report_data data;
    struct sfb_error error;
    enum sfb_status status = report_data_read(&data, r->path, &error);
    enum tool_exit exit_status;

    if (status != SFB_OK)
        exit_status = refuse(r->path, status);
    else
        exit_status = r->form == FORM_CHECK ? TOOL_DONE : write_report(r, &data);
    if (status == SFB_OK)
        exit_status = tool_worse(exit_status, judge(r, &data));
    report_data_free(&data);
    return exit_status;
}

/* --- The command -------------------------------------------------------------------------------- */

/* @return false after a complaint */
static bool take_form(struct request *r, enum form form, enum tool_exit *exit_status)
{
    if (r->given && r->form != form) {
        *exit_status = tool_misused(r->command, "one of --top, --folded and --check");
        return false;
    }
    r->given = true;
    r->form = form;
    return true;
}

static bool take_rows(struct request *r, enum tool_exit *exit_status)
{
    char *end;

    if (!optarg)
        return true;
    errno = 0;
    r->rows = strtoull(optarg, &end, 10);
    if (optarg[0] >= '0' && optarg[0] <= '9' && *end == '\0' && errno == 0)
        return true;
    *exit_status = tool_misused(r->command, "'%s' is no number of functions", optarg);
    return false;
}

static bool take_symbols(struct request *r, enum tool_exit *exit_status)
{
    r->no_symbols = strcmp(optarg, "none") == 0;
    if (r->no_symbols)
        return true;
    *exit_status = tool_misused(r->command, "--symbols=none, or no --symbols");
    return false;
}

/* @return false after a complaint */
static bool take_option(struct request *r, int option, enum tool_exit *exit_status)
{
    switch (option) {
    case OPTION_TOP: return take_form(r, FORM_TOP, exit_status) && take_rows(r, exit_status);
    case OPTION_FOLDED: return take_form(r, FORM_FOLDED, exit_status);
    case OPTION_CHECK: return take_form(r, FORM_CHECK, exit_status);
    case OPTION_SYMBOLS: return take_symbols(r, exit_status);
    case OPTION_SYMBOL_PATH: return places_add_folder(&r->places, r->command, optarg, exit_status);
    case OPTION_DEBUGINFOD: return places_add_servers(&r->places, r->command, exit_status);
    case OPTION_NAMES:
        if (object_name_style_parse(optarg, &r->names))
            return true;
        *exit_status =
            tool_misused(r->command, "'%s' is no style of names: full, short or raw", optarg);
        return false;
    default: return false;
    }
}

static enum tool_exit execute(struct request *r, char **arguments, int count)
{
    char *newest = count == 0 ? report_newest() : NULL;
    enum tool_exit exit_status;

    if (count > 1)
        return tool_misused(r->command, "more than one recording given");
    if (count == 0 && !newest)
        return tool_misused(r->command, "no recording given, and none here is called sfb-*.sfbr");
    r->path = newest ? newest : arguments[0];
    if (newest)
        tool_complain(TOOL_DONE, "%s", newest);
    exit_status = report(r);
    free(newest);
    return exit_status;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "top", optional_argument, NULL, OPTION_TOP },
                                             { "folded", no_argument, NULL, OPTION_FOLDED },
                                             { "check", no_argument, NULL, OPTION_CHECK },
                                             { "names", required_argument, NULL, OPTION_NAMES },
                                             { "symbols", required_argument, NULL, OPTION_SYMBOLS },
                                             { "symbol-path", required_argument, NULL,
                                               OPTION_SYMBOL_PATH },
                                             { "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
                                             { NULL, 0, NULL, 0 } };
    enum tool_exit exit_status = TOOL_DONE;
    struct request r = { .command = command, .rows = ROWS };
    bool good = true;

    for (int o; good && (o = tool_option(command, argc, argv, options, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    if (good)
        exit_status = execute(&r, argv + optind, argc - optind);
    places_close(&r.places);
    return exit_status;
}

const struct tool_command tool_report = {
    .name = "report",
    .summary = "show what a recording has",
    .usage =
        "sfb report [OPTION...] [FILE]\n"
        "\n"
        "Shows a recording that `sfb record` made, also one that is still being written. Without\n"
        "FILE, the sfb-*.sfbr of the current folder that was written last.\n"
        "\n"
        "  --top[=N]        what was recorded and what is missing, and the N functions that took\n"
        "                   most CPU time (40; 0: all). The default\n"
        "  --folded         a line for each thread's name and stack, the outermost function\n"
        "                   first, with nanoseconds of CPU time: for flamegraph.pl, speedscope\n"
        "  --check          say whether the file is whole, and what was lost\n"
        "  --names STYLE    names of C++, Rust and D functions: full (the default), short, with\n"
        "                   arguments cut to (...) and <...>, or raw: _ZN5shape4areaEi\n"
        "  --symbols=none   look for no file: functions are offsets in their modules\n" PLACES_USAGE
        "  --help           this text\n"
        "\n"
        "Self is CPU time in a function itself, total is time in it and in what it calls. Both "
        "are\n"
        "shares of all CPU time that the recorded threads used, what was never sampled included.\n"
        "\n"
        "Exit status 1: the file is no recording, or parts of it are missing; --check: it is not\n"
        "whole. What can be read is shown.\n",
    .run = run,
};
