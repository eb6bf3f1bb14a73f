#include "cli/report/heap_views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report/span.h"
#include "util/number.h"

/* --- Taking them ------------------------------------------------------------------------------- */

static bool take_value(struct report_request *r, enum tool_exit *exit_status)
{
    r->time_value_given = report_time_value_parse(optarg, &r->choice.time_value);
    if (r->time_value_given)
        return true;
    if (!r->heap.option)
        r->heap.option = "value";
    r->heap.value_given = report_heap_value_parse(optarg, &r->choice.value);
    if (!r->heap.value_given)
        *exit_status = tool_misused(r->command,
                                    "--value: '%s' is not one of cpu, wall, offcpu, runnable, "
                                    "blocked; of a heap allocated, "
                                    "live, peak, temporary",
                                    optarg);
    return r->heap.value_given;
}

static bool take_at(struct report_request *r, enum tool_exit *exit_status)
{
    r->choice.at_instant = report_time_parse(optarg, &r->heap.at);
    if (!r->choice.at_instant)
        *exit_status = tool_misused(r->command, "--at: '%s' is no time: 1.5, 300ms", optarg);
    return r->choice.at_instant;
}

/* "10%", "2.5", "300ms". */
static bool take_tail(struct report_request *r, enum tool_exit *exit_status)
{
    const char *text = optarg ? optarg : "10%";
    const size_t size = strlen(text);
    char *end;
    bool good;

    r->choice.tail = 0;
    r->choice.tail_percent = 0.0;
    if (size > 0 && text[size - 1] == '%') {
        r->choice.tail_percent = strtod(text, &end);
        good = text[0] >= '0' && text[0] <= '9' && end == text + size - 1 &&
               r->choice.tail_percent > 0.0 && r->choice.tail_percent <= 100.0;
    } else {
        good = report_time_parse(text, &r->choice.tail) && r->choice.tail > 0;
    }
    if (!good)
        *exit_status =
            tool_misused(r->command, "--tail: '%s' is no part of a run: 10%%, 2.5, 300ms", text);
    return good;
}

static bool take_number(struct report_request *r, int option, const char *of_what,
                        enum tool_exit *exit_status)
{
    if (!optarg)
        return true;
    r->rows_given = number_of_argument(optarg, &r->rows);
    if (!r->rows_given)
        *exit_status = tool_misused(r->command, "--%s: '%s' is no number of %s",
                                    tool_option_name(r->command, option), optarg, of_what);
    return r->rows_given;
}

static bool take_stacks(struct report_request *r, int option, enum tool_exit *exit_status)
{
    static const enum report_view views[] = { [OPTION_LEAKS] = REPORT_VIEW_LEAKS,
                                              [OPTION_TEMPORARY] = REPORT_VIEW_TEMPORARY,
                                              [OPTION_REALLOCS] = REPORT_VIEW_REALLOCS,
                                              [OPTION_SLACK] = REPORT_VIEW_SLACK,
                                              [OPTION_ELSEWHERE] = REPORT_VIEW_ELSEWHERE };

    return report_request_take_view(r, views[option], option, exit_status) &&
           take_number(r, option, "stacks", exit_status);
}

bool report_heap_take(struct report_request *r, int option, enum tool_exit *exit_status)
{
    if (!r->heap.option && option != OPTION_VALUE)
        r->heap.option = tool_option_name(r->command, option);
    switch (option) {
    case OPTION_VALUE: return take_value(r, exit_status);
    case OPTION_BLOCKS: r->choice.blocks = true; return true;
    case OPTION_AT: return take_at(r, exit_status);
    case OPTION_TAIL: return take_tail(r, exit_status);
    case OPTION_SUPPRESSIONS: r->heap.suppressions = optarg; return true;
    case OPTION_FOLD: r->heap.fold = optarg; return true;
    case OPTION_SIZES: return report_request_take_view(r, REPORT_VIEW_SIZES, option, exit_status);
    case OPTION_LIFETIMES:
        return report_request_take_view(r, REPORT_VIEW_LIFETIMES, option, exit_status);
    case OPTION_MEMORY:
        return report_request_take_view(r, REPORT_VIEW_MEMORY, option, exit_status) &&
               take_number(r, option, "instants", exit_status);
    default: return take_stacks(r, option, exit_status);
    }
}

/* --- Together ---------------------------------------------------------------------------------- */

/* Views whose figures are of the whole run. */
static bool is_of_the_run(const struct report_request *r)
{
    switch (r->view) {
    case REPORT_VIEW_TEMPORARY:
    case REPORT_VIEW_REALLOCS:
    case REPORT_VIEW_SLACK:
    case REPORT_VIEW_ELSEWHERE:
    case REPORT_VIEW_SIZES:
    case REPORT_VIEW_LIFETIMES:
    case REPORT_VIEW_MEMORY: return true;
    case REPORT_VIEW_NONE:
    case REPORT_VIEW_OVERVIEW:
    case REPORT_VIEW_TOP:
    case REPORT_VIEW_TREE:
    case REPORT_VIEW_CALLERS:
    case REPORT_VIEW_LIST:
    case REPORT_VIEW_ANNOTATE:
    case REPORT_VIEW_THREADS:
    case REPORT_VIEW_TIMELINE:
    case REPORT_VIEW_LEAKS:
    case REPORT_VIEW_CHECK: break;
    }
    return false;
}

/*
 * @param of_view  written: the text is behind the name of the option that chose the view
 * @return why they do not go with each other; NULL: they do
 */
static const char *contradiction(const struct report_request *r, bool *of_view)
{
    const struct report_choice *c = &r->choice;
    const bool span = c->from > 0 || c->to > 0, timed = span || c->at_instant,
               tail = c->tail > 0 || c->tail_percent > 0.0, leaks = r->view == REPORT_VIEW_LEAKS;

    *of_view = false;
    if (c->at_instant && span)
        return "--at and --time: one of them";
    if (tail && timed)
        return "--tail is of the whole run: without --at and --time";
    if (timed && (c->value == REPORT_HEAP_PEAK || c->value == REPORT_HEAP_TEMPORARY))
        return "--value: what is known of a time is allocated and live";
    if (tail && r->heap.value_given && c->value != REPORT_HEAP_LIVE)
        return "--tail is of what lives: without another --value";
    if (r->heap.suppressions && !leaks)
        return "--suppressions goes with --leaks";
    *of_view = true;
    if (timed && is_of_the_run(r))
        return "is of the whole run: without --at and --time";
    if (leaks && r->heap.value_given)
        return "is of what lives: without --value";
    if (is_of_the_run(r) && r->heap.value_given)
        return "has its own values: without --value";
    return NULL;
}

bool report_heap_judge(struct report_request *r, enum tool_exit *exit_status)
{
    bool of_view;
    const char *why = r->heap.option ? contradiction(r, &of_view) : NULL;

    if (why) {
        *exit_status = of_view ? tool_misused(r->command, "--%s %s",
                                              tool_option_name(r->command, r->view_option), why)
                               : tool_misused(r->command, "%s", why);
        return false;
    }
    if (r->choice.at_instant)
        r->choice.to = r->heap.at;
    if (r->view == REPORT_VIEW_LEAKS || r->choice.tail > 0 || r->choice.tail_percent > 0.0)
        r->choice.value = REPORT_HEAP_LIVE;
    else if (r->view == REPORT_VIEW_TEMPORARY)
        r->choice.value = REPORT_HEAP_TEMPORARY;
    return true;
}

/* --- What the recordings are of ---------------------------------------------------------------- */

static bool refuse(const char *path, const char *option, const char *why)
{
    tool_complain(TOOL_USAGE, "%s: --%s: %s", path, option, why);
    return false;
}

static bool fits_time(const struct report_request *r, const char *path,
                      const struct report_data *data)
{
    const bool cpu = r->choice.time_value <= REPORT_TIME_CPU &&
                     (!r->choice.awaited || r->view == REPORT_VIEW_TIMELINE);

    static const char *const of_heaps[] = {
        "this is of CPU time: it is for heaps (sfb record --heap)",
        "this is of CPU time and waits: it is for heaps (sfb record --heap)"
    };

    if (r->heap.option)
        return refuse(path, r->heap.option, of_heaps[report_data_is_wall(data)]);
    if (r->unit && report_unit_parse(r->unit) != REPORT_TIME)
        return refuse(path, "unit", "this is of times: s, ms, us, ns");
    if (data->wait_count == 0 && !cpu)
        return refuse(path, r->time_value_given ? "value" : "by",
                      report_data_is_wall(data)
                          ? "no wait is in it: the report without options says why"
                          : "this is of CPU time alone: waits take sfb record --wall");
    return true;
}

/* @return false after a complaint: this is not known of the heap of a process */
static bool is_known(const struct report_request *r, const char *path,
                     const struct report_heap *heap)
{
    static const char at_instant[] = "this is of what lived at one instant";
    const struct report_choice *c = &r->choice;
    const char *value = r->view == REPORT_VIEW_TEMPORARY ? "temporary" : "value";

    if (c->value == REPORT_HEAP_TEMPORARY && heap->rate > 0)
        return refuse(path, value, "this was sampled: what is temporary is not known");
    if (!(heap->flags & SFB_HEAP_LIVE))
        return true;
    if (c->value != REPORT_HEAP_USUAL && c->value != REPORT_HEAP_LIVE)
        return refuse(path, value, at_instant);
    if (c->tail > 0 || c->tail_percent > 0.0)
        return refuse(path, "tail", at_instant);
    if (report_choice_is_timed(c))
        return refuse(path, c->at_instant ? "at" : "time", at_instant);
    return true;
}

static bool fits_heap(const struct report_request *r, const char *path,
                      const struct report_data *data)
{
    bool good = true;

    if (r->time_value_given)
        return refuse(path, "value", "this is of a heap: allocated, live, peak, temporary");
    if (r->choice.awaited)
        return refuse(path, r->view == REPORT_VIEW_TIMELINE ? "timeline" : "by",
                      "this is of a heap, which waits for nothing");
    if (r->choice.gil != SFB_GIL_UNKNOWN)
        return refuse(path, "gil", "this is of a heap: sfb record without --heap");
    if (r->unit && report_unit_parse(r->unit) != REPORT_BYTES)
        return refuse(path, "unit", "this is of a heap: bytes, KiB, MiB, GiB");
    if (r->outputs[REPORT_OUTPUT_FOLDED_NS])
        return refuse(path, "folded-ns", "this is of a heap: --folded has its bytes");
    for (size_t i = 0; good && i < data->heap.heaps.count; i++)
        good = is_known(r, path, &data->heap.heaps.at[i]);
    return good;
}

static const char *kind_of(const struct report_data *data)
{
    if (data->start.engine == SFB_ENGINE_CALLS)
        return "calls";
    return report_data_is_heap(data) ? "a heap" : "CPU time";
}

/* One of them is enough: others may be of programs without Python. */
static bool has_gil(const struct report_request *r, const struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->data[i].gil_count > 0)
            return true;
    return refuse(r->paths[0], "gil", "no sample is of a thread of Python whose GIL is known");
}

bool report_heap_fits(const struct report_request *r, const struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        const char *first = kind_of(&inputs->data[0]), *kind = kind_of(&inputs->data[i]);

        if (strcmp(first, kind) != 0) {
            tool_complain(TOOL_USAGE, "%s is of %s, %s of %s: they make no report together",
                          r->paths[0], first, r->paths[i], kind);
            return false;
        }
        if (report_data_is_heap(&inputs->data[i]) ? !fits_heap(r, r->paths[i], &inputs->data[i])
                                                  : !fits_time(r, r->paths[i], &inputs->data[i]))
            return false;
    }
    return r->choice.gil == SFB_GIL_UNKNOWN || inputs->count < r->path_count || has_gil(r, inputs);
}

/* --- Suppressions ------------------------------------------------------------------------------ */

bool report_heap_read_suppressions(const struct report_request *r, struct report_suppressions *out,
                                   enum tool_exit *exit_status)
{
    const char *path = r->heap.suppressions;
    size_t line;

    *out = (struct report_suppressions){ .all = { .count = 0 } };
    if (report_suppressions_read_file(out, path, &line))
        return true;
    if (line == 0)
        *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
    else
        *exit_status =
            tool_complain(TOOL_USAGE, "%s:%zu: no suppression of a leak: leak:PATTERN", path, line);
    return false;
}

/* --- Folding ----------------------------------------------------------------------------------- */

/* Views of functions that the user names have whole stacks: the function may be one that is folded. */
static bool is_folded(const struct report_request *r)
{
    if (r->heap.fold)
        return strcmp(r->heap.fold, "none") != 0;
    return r->view != REPORT_VIEW_CALLERS && r->view != REPORT_VIEW_LIST;
}

static bool read_fold(const struct report_request *r, struct report_fold *out,
                      enum tool_exit *exit_status)
{
    const char *path = r->heap.fold;
    size_t line;

    *out = (struct report_fold){ .all = { .count = 0 } };
    if (path ? report_fold_read_file(out, path, &line)
             : report_fold_read(out, report_fold_usual, &line))
        return true;
    if (path && line > 0)
        *exit_status = tool_complain(
            TOOL_USAGE, "%s:%zu: neither function:PATTERN nor module:PATTERN", path, line);
    else
        *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path ? path : "--fold", strerror(errno));
    return false;
}

enum tool_exit report_heap_fold(const struct report_request *r, struct report_model *model)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct report_fold fold;

    if (!model->heap || r->view == REPORT_VIEW_NONE || !is_folded(r))
        return TOOL_DONE;
    if (read_fold(r, &fold, &exit_status) && !report_fold_apply(model, &fold))
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    report_fold_free(&fold);
    return exit_status;
}
