#include "cli/report/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/heap_views.h"
#include "cli/report/pager.h"
#include "cli/report/texts.h"
#include "profiler/report/text/annotate.h"
#include "profiler/report/text/callers.h"
#include "profiler/report/text/causes.h"
#include "profiler/report/text/diff.h"
#include "profiler/report/text/find.h"
#include "profiler/report/text/group_diff.h"
#include "profiler/report/text/heap_memory.h"
#include "profiler/report/text/histogram.h"
#include "profiler/report/text/hottest.h"
#include "profiler/report/text/list.h"
#include "profiler/report/text/stacks.h"
#include "profiler/report/text/summary.h"
#include "profiler/report/text/threads.h"
#include "profiler/report/text/timeline.h"
#include "profiler/report/text/top.h"
#include "profiler/report/text/tree.h"
#include "profiler/report/text/wrap.h"

/* Functions of an overview and of --top, of --list; percent of trees. */
enum { ROWS_FIRST = 20, ROWS_TOP = 40, LISTED = 10, ANNOTATED = 3 };

/* Rows of histograms in an overview of a heap; stacks of --leaks and its like; instants of --memory. */
enum { HISTOGRAM_FIRST = 8, STACKS = 10, INSTANTS = 20, TIMELINE = 20 };

/* What a view needs beside the model. */
struct helpers {
    bool *wanted; /* functions that the user names */
    struct report_suppressions suppressions;
};

#define BRANCH_MIN 0.5

static double min_of(const struct report_request *r, double usual)
{
    return r->min_given ? r->min : usual;
}

static bool show_table(const struct report_request *r, const struct report_model *model,
                       const struct report_style *style, size_t rows)
{
    const struct report_top top = { .by = r->by,
                                    .rows = r->rows_given ? r->rows : rows,
                                    .percent = min_of(r, 0.0),
                                    .sort = r->sort };

    if (r->by == REPORT_BY_LOCK)
        return report_locks_write(stdout, model, style, top.rows);
    if (r->by == REPORT_BY_WAKER)
        return report_wakers_write(stdout, model, style, top.rows);
    if (r->groups && !model->heap)
        return report_group_diff_write(stdout, model, style, &top);
    return r->diff ? report_diff_write(stdout, model, style, &top)
                   : report_top_write(stdout, model, style, &top);
}

static void show_histograms(const struct report_model *model, const struct report_style *style)
{
    for (int which = REPORT_SIZES; which <= REPORT_LIFETIMES; which++) {
        if (!report_histogram_has(model, (enum report_histogram)which))
            continue;
        putchar('\n');
        report_histogram_write(stdout, model, style, (enum report_histogram)which, HISTOGRAM_FIRST);
    }
}

/* Blocks that were written past their end: of a dump of a live table. */
static bool show_overruns(const struct report_model *model, const struct report_style *style)
{
    const struct report_stacks stacks = { .order = REPORT_STACKS_OVERRUNS, .rows = STACKS };
    bool any = false;

    for (size_t i = 0; i < model->sites.count && !any; i++) {
        const struct sfb_recording_heap_totals *t = model->sites.at[i].totals;

        any = t && t->overruns + t->overruns_freed > 0;
    }
    if (!any)
        return true;
    putchar('\n');
    return report_stacks_write(stdout, model, style, &stacks);
}

/* What was recorded, and what is missing. */
static bool show_summary(const struct report_model *model, const struct report_style *style)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool good = to && report_summary_write(to, model, REPORT_DETAIL_CALM);

    if (to && fclose(to) != 0)
        good = false;
    if (good)
        report_wrap(stdout, text, style->width);
    free(text);
    return good;
}

static bool show_overview(const struct report_request *r, const struct report_model *model,
                          const struct report_style *style)
{
    bool good = show_summary(model, style);

    putchar('\n');
    good = good && show_table(r, model, style, ROWS_FIRST);
    if (good && !r->diff) {
        putchar('\n');
        good = report_hottest_write(stdout, model, style) && show_overruns(model, style);
    }
    if (model->heap && !r->diff && !report_choice_is_timed(&r->choice))
        show_histograms(model, style);
    if (style->bars) {
        const char *more =
            model->heap ? "more: --leaks, --value allocated|live|peak|temporary, --sizes, "
                          "--at T, --time A..B, --tree, --callers F, --fold none, --help"
                        : "more: --tree, --callers F, --list F, --by line, --threads, --help";

        putchar('\n');
        report_colour(stdout, style, REPORT_DIM);
        report_wrap_line(stdout, more, strlen(more), style->width);
        report_colour(stdout, style, REPORT_PLAIN);
        putchar('\n');
    }
    return good;
}

/* --- Functions that the user names -------------------------------------------------------------- */

static bool show_functions(const struct report_request *r, const struct report_model *model,
                           const struct report_style *style, const bool *wanted)
{
    const struct report_texts texts = report_texts_of(r);

    if (r->view == REPORT_VIEW_CALLERS)
        return report_callers_write(stdout, model, style, wanted, min_of(r, BRANCH_MIN));
    if (r->view == REPORT_VIEW_ANNOTATE)
        return report_annotate_write(stdout, model, style, wanted, ANNOTATED);
    return report_list_write(stdout, model, style, wanted, LISTED, &texts);
}

static bool show_stacks(const struct report_request *r, const struct report_model *model,
                        const struct report_style *style, enum report_stacks_order order,
                        const struct helpers *h)
{
    /* What is suppressed is added up: a view that is shown again begins again. */
    struct report_suppressions suppressions = h->suppressions;
    const struct report_stacks stacks = { .order = order,
                                          .rows = r->rows_given ? r->rows : STACKS,
                                          .percent = min_of(r, 0.0),
                                          .suppressions =
                                              r->heap.suppressions ? &suppressions : NULL,
                                          .suppressions_path = r->heap.suppressions };

    report_suppressions_forget(&suppressions);
    return report_stacks_write(stdout, model, style, &stacks);
}

static bool show_view(const struct report_request *r, const struct report_model *model,
                      const struct report_style *style, const struct helpers *h)
{
    switch (r->view) {
    case REPORT_VIEW_OVERVIEW: return show_overview(r, model, style);
    case REPORT_VIEW_TOP: return show_table(r, model, style, ROWS_TOP);
    case REPORT_VIEW_TREE: return report_tree_write(stdout, model, style, min_of(r, BRANCH_MIN));
    case REPORT_VIEW_THREADS: return report_threads_write(stdout, model, style, min_of(r, 0.0));
    case REPORT_VIEW_TIMELINE:
        return report_timeline_write(stdout, model, style, r->rows_given ? r->rows : TIMELINE);
    case REPORT_VIEW_CALLERS:
    case REPORT_VIEW_ANNOTATE:
    case REPORT_VIEW_LIST: return show_functions(r, model, style, h->wanted);
    case REPORT_VIEW_LEAKS: return show_stacks(r, model, style, REPORT_STACKS_LEAKS, h);
    case REPORT_VIEW_TEMPORARY: return show_stacks(r, model, style, REPORT_STACKS_TEMPORARY, h);
    case REPORT_VIEW_REALLOCS: return show_stacks(r, model, style, REPORT_STACKS_REALLOCS, h);
    case REPORT_VIEW_SLACK: return show_stacks(r, model, style, REPORT_STACKS_SLACK, h);
    case REPORT_VIEW_ELSEWHERE: return show_stacks(r, model, style, REPORT_STACKS_ELSEWHERE, h);
    case REPORT_VIEW_SIZES:
        report_histogram_write(stdout, model, style, REPORT_SIZES, 0);
        return true;
    case REPORT_VIEW_LIFETIMES:
        report_histogram_write(stdout, model, style, REPORT_LIFETIMES, 0);
        return true;
    case REPORT_VIEW_MEMORY:
        return report_memory_write(stdout, model, style, r->rows_given ? r->rows : INSTANTS);
    case REPORT_VIEW_NONE:
    case REPORT_VIEW_CHECK: break;
    }
    return true;
}

static enum tool_exit show(const struct report_request *r, const struct report_model *model,
                           const struct helpers *h)
{
    const struct report_style style = report_terminal_style(r->colour, r->unit);
    struct report_pager pager;
    bool good;

    if (!r->no_pager && report_terminal_is() && report_pager_begin(&pager)) {
        good = show_view(r, model, &style, h);
        if (!report_pager_end(&pager))
            good = show_view(r, model, &style, h);
    } else {
        good = show_view(r, model, &style, h);
    }
    return good ? TOOL_DONE : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

static enum tool_exit complain_of_function(const struct report_request *r,
                                           const struct report_model *model)
{
    char *near = report_nearest_functions(model, r->function_text);
    const enum tool_exit exit_status =
        near ? tool_complain(TOOL_USAGE, "no function is called '%s'; the nearest names: %s",
                             r->function_text, near)
             : tool_complain(TOOL_USAGE,
                             "no function is called '%s', nor nearly so: --top=0 lists them all",
                             r->function_text);

    free(near);
    return exit_status;
}

/* @return TOOL_DONE; after a complaint why not */
static enum tool_exit find_functions(const struct report_request *r,
                                     const struct report_model *model, bool **out)
{
    if (report_find_functions(model, r->function_text, &r->function, out) > 0)
        return TOOL_DONE;
    return *out ? complain_of_function(r, model)
                : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

enum tool_exit report_show(const struct report_request *r, const struct report_model *model)
{
    struct helpers h = { .wanted = NULL };
    enum tool_exit exit_status = TOOL_DONE;

    if (r->view == REPORT_VIEW_NONE)
        return TOOL_DONE;
    if (r->view == REPORT_VIEW_CALLERS || r->view == REPORT_VIEW_LIST ||
        r->view == REPORT_VIEW_ANNOTATE)
        exit_status = find_functions(r, model, &h.wanted);
    if (r->heap.suppressions)
        report_heap_read_suppressions(r, &h.suppressions, &exit_status);
    if (exit_status == TOOL_DONE)
        exit_status = show(r, model, &h);
    report_suppressions_free(&h.suppressions);
    free(h.wanted);
    return exit_status;
}
