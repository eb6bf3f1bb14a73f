#include "report_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "report_heap.h"
#include "report_outputs.h"
#include "report_span.h"

enum {
    OPTION_TOP = TOOL_OPTION_FIRST,
    OPTION_BY,
    OPTION_TREE,
    OPTION_CALLERS,
    OPTION_LIST,
    OPTION_THREADS,
    OPTION_CHECK,
    OPTION_DIFF,
    OPTION_NAMES,
    OPTION_SYMBOLS,
    OPTION_SYMBOL_PATH,
    OPTION_DEBUGINFOD,
    OPTION_MAX_UNPACKED,
    OPTION_PROCESS,
    OPTION_THREAD,
    OPTION_TIME,
    OPTION_FILTER,
    OPTION_NO_INLINES,
    OPTION_MIN,
    OPTION_UNIT,
    OPTION_COLOUR,
    OPTION_NO_PAGER,
    OPTION_OUTPUT,                                   /* and what follows, by kind */
    OPTION_HEAP = OPTION_OUTPUT + REPORT_OUTPUTS_MAX /* and what follows */
};

enum { OPTIONS_MAX = 64 };

/* --- What is shown ----------------------------------------------------------------------------- */

bool report_request_take_view(struct report_request *r, enum report_view view,
                              enum tool_exit *exit_status)
{
    if (r->view_given && r->view != view) {
        *exit_status = tool_misused(r->command, "one of --top, --tree, --callers, --list, "
                                                "--threads, --leaks, ... and --check");
        return false;
    }
    r->view_given = true;
    r->view = view;
    return true;
}

static bool take_rows(struct report_request *r, enum tool_exit *exit_status)
{
    if (!optarg)
        return true;
    r->rows_given = number_of_argument(optarg, &r->rows);
    if (!r->rows_given)
        *exit_status = tool_misused(r->command, "'%s' is no number of functions", optarg);
    return r->rows_given;
}

/* `--top 5 x.sfbr`: a number behind it is meant, unless it is the only file and is called so. */
static void take_number_behind_top(struct report_request *r, int argc, char **argv)
{
    const bool bare = optind > 1 && optind < argc && strcmp(argv[optind - 1], "--top") == 0;
    const bool file_follows = bare && optind + 1 < argc && argv[optind + 1][0] != '-';
    uint64_t rows;

    if (!bare || !number_of_argument(argv[optind], &rows) ||
        (!file_follows && access(argv[optind], F_OK) == 0))
        return;
    r->rows = rows;
    r->rows_given = true;
    optind++;
}

static bool take_by(struct report_request *r, enum tool_exit *exit_status)
{
    if (report_by_parse(optarg, &r->by))
        return true;
    *exit_status = tool_misused(
        r->command, "--by: '%s' is none of function, file, line, module, thread, process", optarg);
    return false;
}

/* @return false after a complaint */
static bool take_expression(struct report_request *r, regex_t *out, const char *option,
                            enum tool_exit *exit_status)
{
    const int failure = regcomp(out, optarg, REG_EXTENDED | REG_NOSUB);
    char why[256];

    if (failure == 0)
        return true;
    regerror(failure, out, why, sizeof why);
    *exit_status = tool_misused(r->command, "--%s: '%s': %s", option, optarg, why);
    return false;
}

static bool take_function(struct report_request *r, const char *option, enum tool_exit *exit_status)
{
    if (r->function_text) {
        *exit_status = tool_misused(r->command, "--%s: given twice; 'a|b' is for two", option);
        return false;
    }
    if (!take_expression(r, &r->function, option, exit_status))
        return false;
    r->function_text = optarg;
    return true;
}

/* Whether a text is a number of this many percent. */
static bool take_min(struct report_request *r, enum tool_exit *exit_status)
{
    char *end;

    r->min = strtod(optarg, &end);
    r->min_given = optarg[0] >= '0' && optarg[0] <= '9' &&
                   (*end == '\0' || strcmp(end, "%") == 0) && r->min <= 100.0;
    if (!r->min_given)
        *exit_status = tool_misused(r->command, "--min: '%s' is no percentage", optarg);
    return r->min_given;
}

static bool take_unit(struct report_request *r, enum tool_exit *exit_status)
{
    if (report_unit_parse(optarg) != REPORT_BLOCKS) {
        r->unit = optarg;
        return true;
    }
    *exit_status = tool_misused(
        r->command, "--unit: '%s' is none of s, ms, us, ns; bytes, KiB, MiB, GiB", optarg);
    return false;
}

static bool take_colour(struct report_request *r, enum tool_exit *exit_status)
{
    static const char *const words[] = {
        [REPORT_AUTO] = "auto", [REPORT_ALWAYS] = "always", [REPORT_NEVER] = "never"
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(optarg ? optarg : "always", words[i]) == 0) {
            r->colour = (enum report_when)i;
            return true;
        }
    *exit_status = tool_misused(r->command, "--color: '%s' is none of auto, always, never", optarg);
    return false;
}

/* stdout is for one of them. */
static bool take_output(struct report_request *r, size_t kind, enum tool_exit *exit_status)
{
    const char *path = optarg ? optarg : "-";

    if (path[0] == '\0') {
        *exit_status =
            tool_misused(r->command, "--%s: no file is named", report_outputs[kind].option);
        return false;
    }
    r->outputs[kind] = path;
    return true;
}

/* --- Which part of it -------------------------------------------------------------------------- */

static bool has_function(void *user, const char *name)
{
    const struct report_request *r = user;

    return regexec(&r->filter, name, 0, NULL, 0) == 0;
}

static bool take_filter(struct report_request *r, enum tool_exit *exit_status)
{
    if (r->filter_given) {
        *exit_status = tool_misused(r->command, "--filter: given twice; 'a|b' is for two");
        return false;
    }
    r->filter_given = take_expression(r, &r->filter, "filter", exit_status);
    r->choice.function = has_function;
    r->choice.user = r;
    return r->filter_given;
}

static bool take_time(struct report_request *r, enum tool_exit *exit_status)
{
    if (report_span_parse(optarg, &r->choice.from, &r->choice.to))
        return true;
    *exit_status = tool_misused(
        r->command, "--time: '%s' is no span of time: 1.5..3, 100ms..2s, 3.., ..10", optarg);
    return false;
}

/* --- All options ------------------------------------------------------------------------------- */

static bool take_symbols(struct report_request *r, enum tool_exit *exit_status)
{
    r->no_symbols = strcmp(optarg, "none") == 0;
    if (r->no_symbols)
        return true;
    *exit_status = tool_misused(r->command, "--symbols=none, or no --symbols");
    return false;
}

static bool take_names(struct report_request *r, enum tool_exit *exit_status)
{
    if (object_name_style_parse(optarg, &r->names))
        return true;
    *exit_status =
        tool_misused(r->command, "'%s' is no style of names: full, short or raw", optarg);
    return false;
}

static bool take_folder(struct report_request *r, enum tool_exit *exit_status)
{
    if (!places_add_folder(&r->places, r->command, optarg, exit_status))
        return false;
    r->folders[r->folder_count++] = optarg;
    return true;
}

/* @return false after a complaint */
static bool take_option(struct report_request *r, int option, enum tool_exit *exit_status)
{
    if (option >= OPTION_HEAP)
        return report_heap_take(r, (size_t)(option - OPTION_HEAP), exit_status);
    if (option >= OPTION_OUTPUT)
        return take_output(r, (size_t)(option - OPTION_OUTPUT), exit_status);
    switch (option) {
    case OPTION_TOP:
        return report_request_take_view(r, REPORT_VIEW_TOP, exit_status) &&
               take_rows(r, exit_status);
    case OPTION_BY:
        return report_request_take_view(r, REPORT_VIEW_TOP, exit_status) && take_by(r, exit_status);
    case OPTION_TREE: return report_request_take_view(r, REPORT_VIEW_TREE, exit_status);
    case OPTION_CALLERS:
        return report_request_take_view(r, REPORT_VIEW_CALLERS, exit_status) &&
               take_function(r, "callers", exit_status);
    case OPTION_LIST:
        return report_request_take_view(r, REPORT_VIEW_LIST, exit_status) &&
               take_function(r, "list", exit_status);
    case OPTION_THREADS: return report_request_take_view(r, REPORT_VIEW_THREADS, exit_status);
    case OPTION_MIN: return take_min(r, exit_status);
    case OPTION_UNIT: return take_unit(r, exit_status);
    case OPTION_COLOUR: return take_colour(r, exit_status);
    case OPTION_NO_PAGER: r->no_pager = true; return true;
    case OPTION_CHECK: return report_request_take_view(r, REPORT_VIEW_CHECK, exit_status);
    case OPTION_DIFF: r->diff = true; return true;
    case OPTION_NAMES: return take_names(r, exit_status);
    case OPTION_SYMBOLS: return take_symbols(r, exit_status);
    case OPTION_SYMBOL_PATH: return take_folder(r, exit_status);
    case OPTION_DEBUGINFOD: return places_add_servers(&r->places, r->command, exit_status);
    case OPTION_MAX_UNPACKED: return places_allow_unpacked(r->command, optarg, exit_status);
    case OPTION_PROCESS: r->choice.process = optarg; return true;
    case OPTION_THREAD: r->choice.thread = optarg; return true;
    case OPTION_TIME: return take_time(r, exit_status);
    case OPTION_FILTER: return take_filter(r, exit_status);
    case OPTION_NO_INLINES: r->choice.no_inlines = true; return true;
    default: return false;
    }
}

static const struct option fixed[] = {
    TOOL_OPTION_HELP_ENTRY,
    { "top", optional_argument, NULL, OPTION_TOP },
    { "by", required_argument, NULL, OPTION_BY },
    { "tree", no_argument, NULL, OPTION_TREE },
    { "callers", required_argument, NULL, OPTION_CALLERS },
    { "list", required_argument, NULL, OPTION_LIST },
    { "threads", no_argument, NULL, OPTION_THREADS },
    { "min", required_argument, NULL, OPTION_MIN },
    { "unit", required_argument, NULL, OPTION_UNIT },
    { "color", optional_argument, NULL, OPTION_COLOUR },
    { "no-pager", no_argument, NULL, OPTION_NO_PAGER },
    { "check", no_argument, NULL, OPTION_CHECK },
    { "diff", no_argument, NULL, OPTION_DIFF },
    { "names", required_argument, NULL, OPTION_NAMES },
    { "symbols", required_argument, NULL, OPTION_SYMBOLS },
    { "symbol-path", required_argument, NULL, OPTION_SYMBOL_PATH },
    { "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
    { "max-unpacked", required_argument, NULL, OPTION_MAX_UNPACKED },
    { "process", required_argument, NULL, OPTION_PROCESS },
    { "thread", required_argument, NULL, OPTION_THREAD },
    { "time", required_argument, NULL, OPTION_TIME },
    { "filter", required_argument, NULL, OPTION_FILTER },
    { "no-inlines", no_argument, NULL, OPTION_NO_INLINES }
};

enum { FIXED = sizeof fixed / sizeof *fixed };

_Static_assert(FIXED + REPORT_OUTPUTS_MAX + REPORT_HEAP_OPTIONS < OPTIONS_MAX,
               "there is room for all options");

/* @return false after a complaint */
static bool judge_outputs(struct report_request *r, enum tool_exit *exit_status)
{
    bool given = false, to_stdout = r->view_given;

    for (size_t i = 0; i < report_output_count; i++) {
        const struct report_output *output = &report_outputs[i];

        if (!r->outputs[i])
            continue;
        given = true;
        if (r->view_given && r->view == REPORT_VIEW_CHECK) {
            *exit_status =
                tool_misused(r->command, "--check and --%s: one of them", output->option);
            return false;
        }
        if (r->diff && !output->groups) {
            *exit_status = tool_misused(r->command, "--%s shows no comparison", output->option);
            return false;
        }
        if (strcmp(r->outputs[i], "-") != 0)
            continue;
        if (to_stdout) {
            *exit_status =
                tool_misused(r->command, "--%s: standard output is taken; --%s=FILE writes a file",
                             output->option, output->option);
            return false;
        }
        to_stdout = true;
    }
    if (r->diff && r->view_given && r->view != REPORT_VIEW_TOP) {
        *exit_status = tool_misused(r->command, "--diff goes with --top, --by and files");
        return false;
    }
    if (!r->view_given)
        r->view = given ? REPORT_VIEW_NONE : REPORT_VIEW_OVERVIEW;
    return true;
}

bool report_request_read(struct report_request *r, const struct tool_command *command, int argc,
                         char **argv, enum tool_exit *exit_status)
{
    struct option options[OPTIONS_MAX];

    *r = (struct report_request){ .command = command };
    memset(options, 0, sizeof options);
    memcpy(options, fixed, sizeof fixed);
    for (size_t i = 0; i < report_output_count; i++)
        options[FIXED + i] =
            (struct option){ .name = report_outputs[i].option,
                             .has_arg =
                                 report_outputs[i].optional ? optional_argument : required_argument,
                             .val = OPTION_OUTPUT + (int)i };
    for (size_t i = 0; i < REPORT_HEAP_OPTIONS; i++) {
        options[FIXED + report_output_count + i] = report_heap_options[i];
        options[FIXED + report_output_count + i].val = OPTION_HEAP + (int)i;
    }
    for (int o; (o = tool_option(command, argc, argv, options, exit_status)) != -1;) {
        if (o == '?' || !take_option(r, o, exit_status))
            return false;
        if (o == OPTION_TOP)
            take_number_behind_top(r, argc, argv);
    }
    r->paths = argv + optind;
    r->path_count = (size_t)(argc - optind);
    return report_heap_judge(r, exit_status) && judge_outputs(r, exit_status);
}

void report_request_close(struct report_request *r)
{
    if (r->filter_given)
        regfree(&r->filter);
    if (r->function_text)
        regfree(&r->function);
    places_close(&r->places);
}
