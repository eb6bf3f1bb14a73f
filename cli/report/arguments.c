#include "cli/report/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report/effects.h"
#include "cli/report/heap_views.h"
#include "cli/report/open_page.h"
#include "cli/report/outputs.h"
#include "cli/report/span.h"
#include "util/number.h"

/* --- What is shown ----------------------------------------------------------------------------- */

static bool take_rows(struct report_request *r, int option, enum tool_exit *exit_status)
{
    if (!optarg)
        return true;
    r->rows_given = number_of_argument(optarg, &r->rows);
    if (!r->rows_given)
        *exit_status = tool_misused(r->command, "--%s: '%s' is no number of rows",
                                    tool_option_name(r->command, option), optarg);
    return r->rows_given;
}

static bool take_by(struct report_request *r, enum tool_exit *exit_status)
{
    const char *before = r->by_text;

    r->by_text = optarg;
    if (report_by_parse(optarg, &r->by)) {
        r->choice.awaited = report_by_is_of_waits(r->by);
        if (before && strcmp(before, optarg) != 0)
            *exit_status =
                tool_misused(r->command, "--by %s and --by %s: one of them", before, optarg);
        return !before || strcmp(before, optarg) == 0;
    }
    *exit_status = tool_misused(
        r->command,
        "--by: '%s' is not one of function, file, line, module, thread, process, call, "
        "lock, waker",
        optarg);
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

static bool take_sort(struct report_request *r, enum tool_exit *exit_status)
{
    const bool total = strcmp(optarg, "total") == 0;

    r->sort = total ? REPORT_SORT_TOTAL : REPORT_SORT_SELF;
    r->sort_given = total || strcmp(optarg, "self") == 0;
    if (!r->sort_given)
        *exit_status = tool_misused(
            r->command, "--sort: '%s' is not one of self, total; --by WHAT shows other things",
            optarg);
    return r->sort_given;
}

static bool take_unit(struct report_request *r, enum tool_exit *exit_status)
{
    if (report_unit_parse(optarg) != REPORT_BLOCKS) {
        r->unit = optarg;
        return true;
    }
    *exit_status = tool_misused(
        r->command, "--unit: '%s' is not one of s, ms, us, ns; bytes, KiB, MiB, GiB", optarg);
    return false;
}

static bool take_languages(struct report_request *r, enum report_languages languages,
                           enum tool_exit *exit_status)
{
    const bool first = r->choice.languages == REPORT_MIXED || r->choice.languages == languages;

    r->choice.languages = languages;
    if (!first)
        *exit_status = tool_misused(r->command, "--native and --python: one of them");
    return first;
}

static bool take_gil(struct report_request *r, enum tool_exit *exit_status)
{
    if (report_gil_parse(optarg ? optarg : "held", &r->choice.gil))
        return true;
    *exit_status =
        tool_misused(r->command, "--gil: '%s' is not one of held, waited, released", optarg);
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
    *exit_status =
        tool_misused(r->command, "--color: '%s' is not one of auto, always, never", optarg);
    return false;
}

/* stdout is for one of them. */
static bool take_output(struct report_request *r, size_t kind, enum tool_exit *exit_status)
{
    const char *path = optarg ? optarg : "-";

    if (path[0] == '\0') {
        *exit_status = tool_misused(r->command, "--%s: no file is named",
                                    tool_option_name(r->command, OPTION_OUTPUT + (int)kind));
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
    r->filter_text = optarg;
    r->choice.function = has_function;
    r->choice.user = r;
    return r->filter_given;
}

static bool take_time(struct report_request *r, enum tool_exit *exit_status)
{
    if (report_span_parse(optarg, &r->choice.from, &r->choice.to))
        return true;
    if (strstr(optarg, "mark:") &&
        snprintf(r->time_text, sizeof r->time_text, "%s", optarg) < (int)sizeof r->time_text &&
        report_span_parse_marks(r->time_text, &r->choice.from, &r->choice.to, &r->choice.from_mark,
                                &r->choice.to_mark))
        return true;
    *exit_status = tool_misused(
        r->command,
        "--time: '%s' is no span of time: 1.5..3, 100ms..2s, 3.., ..10, mark:NAME..mark:NAME",
        optarg);
    return false;
}

/* --- All options ------------------------------------------------------------------------------- */

static bool take_symbols(struct report_request *r, enum tool_exit *exit_status)
{
    r->no_symbols = strcmp(optarg, "none") == 0;
    r->choice.no_names = r->no_symbols;
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

static bool take_place(struct report_request *r, int option, enum tool_exit *exit_status)
{
    if (!places_take(&r->places, r->command, option, exit_status))
        return false;
    if (option == OPTION_SYMBOL_PATH)
        r->folders[r->folder_count++] = optarg;
    return true;
}

static bool take_label(struct report_request *r, enum tool_exit *exit_status)
{
    const char *fault = labels_parse(&r->labels, optarg);

    if (fault)
        *exit_status = tool_misused(r->command, "--label: '%s' %s", optarg, fault);
    return !fault;
}

static bool needs_lws(const struct report_request *r, int option, enum tool_exit *exit_status)
{
    *exit_status = tool_misused(r->command, "--%s goes with --lws PROGRAM",
                                tool_option_name(r->command, option));
    return false;
}

/* @return false after a complaint */
static bool take_option(struct report_request *r, int option, enum tool_exit *exit_status)
{
    if (option >= OPTION_OUTPUT && option < OPTION_OUTPUT + REPORT_OUTPUTS)
        return take_output(r, (size_t)(option - OPTION_OUTPUT), exit_status);
    switch (option) {
    case OPTION_TOP:
        return report_request_take_view(r, REPORT_VIEW_TOP, option, exit_status) &&
               take_rows(r, option, exit_status);
    case OPTION_BY:
        return report_request_take_view(r, REPORT_VIEW_TOP, option, exit_status) &&
               take_by(r, exit_status);
    case OPTION_TREE: return report_request_take_view(r, REPORT_VIEW_TREE, option, exit_status);
    case OPTION_CALLERS:
        return report_request_take_view(r, REPORT_VIEW_CALLERS, option, exit_status) &&
               take_function(r, "callers", exit_status);
    case OPTION_LIST:
        return report_request_take_view(r, REPORT_VIEW_LIST, option, exit_status) &&
               take_function(r, "list", exit_status);
    case OPTION_ANNOTATE:
        return report_request_take_view(r, REPORT_VIEW_ANNOTATE, option, exit_status) &&
               take_function(r, "annotate", exit_status);
    case OPTION_THREADS:
        return report_request_take_view(r, REPORT_VIEW_THREADS, option, exit_status);
    case OPTION_TIMELINE:
        r->choice.awaited = true;
        return report_request_take_view(r, REPORT_VIEW_TIMELINE, option, exit_status) &&
               take_rows(r, option, exit_status);
    case OPTION_MIN: return take_min(r, exit_status);
    case OPTION_SORT: return take_sort(r, exit_status);
    case OPTION_UNIT: return take_unit(r, exit_status);
    case OPTION_COLOUR: return take_colour(r, exit_status);
    case OPTION_NO_PAGER: r->no_pager = true; return true;
    case OPTION_CHECK: return report_request_take_view(r, REPORT_VIEW_CHECK, option, exit_status);
    case OPTION_OPEN: r->open = true; return true;
    case OPTION_DIFF: r->diff = true; return true;
    case OPTION_NAMES: return take_names(r, exit_status);
    case OPTION_SYMBOLS: return take_symbols(r, exit_status);
    case OPTION_SYMBOL_PATH:
    case OPTION_DEBUGINFOD:
    case OPTION_MAX_UNPACKED: return take_place(r, option, exit_status);
    case OPTION_LABEL: return take_label(r, exit_status);
    case OPTION_INPUT:
    case OPTION_PERF:
    case OPTION_APITRACE: r->paths[r->path_count++] = optarg; return true;
    case OPTION_LWS:
    case OPTION_BASE:
    case OPTION_DIALECT: return needs_lws(r, option, exit_status);
    case OPTION_PROCESS: r->choice.process = optarg; return true;
    case OPTION_THREAD: r->choice.thread = optarg; return true;
    case OPTION_TIME: return take_time(r, exit_status);
    case OPTION_FILTER: return take_filter(r, exit_status);
    case OPTION_NATIVE: return take_languages(r, REPORT_NATIVE_TOO, exit_status);
    case OPTION_PYTHON: return take_languages(r, REPORT_PYTHON_ONLY, exit_status);
    case OPTION_GIL: return take_gil(r, exit_status);
    case OPTION_NO_INLINES: r->choice.no_inlines = true; return true;
    case OPTION_PRINT_FOLD: r->print_fold = true; return true;
    default: return report_heap_take(r, option, exit_status);
    }
}

static const char *output_name(const struct report_request *r, size_t kind)
{
    return kind == REPORT_OUTPUT_HTML && r->own_page
               ? "open"
               : tool_option_name(r->command, OPTION_OUTPUT + (int)kind);
}

/* Locks or wakers, of time in which a thread waits for neither. */
static bool is_awake(const struct report_request *r)
{
    return r->view_given && r->view == REPORT_VIEW_TOP && report_by_is_of_causes(r->by) &&
           (r->choice.time_value == REPORT_TIME_CPU ||
            r->choice.time_value == REPORT_TIME_RUNNABLE);
}

/* @return false after a complaint */
static bool judge_outputs(struct report_request *r, enum tool_exit *exit_status)
{
    const char *view = r->view_given ? tool_option_name(r->command, r->view_option) : NULL,
               *to_stdout = view;
    bool given = false;

    for (size_t i = 0; i < REPORT_OUTPUTS; i++) {
        const char *name = output_name(r, i);

        if (!r->outputs[i])
            continue;
        given = true;
        if (r->view_given && r->view == REPORT_VIEW_CHECK) {
            *exit_status = tool_misused(r->command, "--check and --%s: one of them", name);
            return false;
        }
        if (r->diff && !report_outputs[i].groups) {
            *exit_status = tool_misused(r->command, "--%s shows no comparison", name);
            return false;
        }
        if (strcmp(r->outputs[i], "-") != 0)
            continue;
        if (to_stdout) {
            *exit_status = tool_misused(
                r->command, "--%s: standard output is taken by --%s; --%s=FILE writes a file", name,
                to_stdout, name);
            return false;
        }
        to_stdout = name;
    }
    if (r->diff && r->view_given && (r->view != REPORT_VIEW_TOP || report_by_is_of_causes(r->by))) {
        *exit_status =
            tool_misused(r->command, "--diff goes with --top, --by and files, not with --%s%s%s",
                         view, report_by_is_of_causes(r->by) ? " " : "",
                         report_by_is_of_causes(r->by) ? r->by_text : "");
        return false;
    }
    if (is_awake(r)) {
        *exit_status = tool_misused(r->command,
                                    "--by %s is of blocked time: with --value blocked, offcpu or "
                                    "wall, or without --value",
                                    r->by_text);
        return false;
    }
    if (!r->view_given)
        r->view = given ? REPORT_VIEW_NONE : REPORT_VIEW_OVERVIEW;
    return true;
}

bool report_arguments_read(struct report_request *r, const struct tool_command *command, int argc,
                           char **argv, enum tool_exit *exit_status)
{
    *r = (struct report_request){ .command = command,
                                  .all_paths = calloc((size_t)argc + 1, sizeof *r->all_paths) };
    r->paths = r->all_paths;
    if (!r->paths) {
        *exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
        return false;
    }
    for (int o; (o = options_next(command, argc, argv, exit_status)) != -1;)
        if (o == '?' || !take_option(r, o, exit_status))
            return false;
    while (optind < argc)
        r->paths[r->path_count++] = argv[optind++];
    if (!report_heap_judge(r, exit_status) || (r->open && !report_open_prepare(r, exit_status)))
        return false;
    r->choice.ended = r->outputs[REPORT_OUTPUT_HTML] != NULL;
    return judge_outputs(r, exit_status) && report_effects_judge(r, exit_status);
}
