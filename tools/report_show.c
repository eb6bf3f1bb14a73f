#include "report_show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/callers.h"
#include "report/text/diff.h"
#include "report/text/find.h"
#include "report/text/hottest.h"
#include "report/text/list.h"
#include "report/text/summary.h"
#include "report/text/threads.h"
#include "report/text/top.h"
#include "report/text/tree.h"
#include "report_pager.h"
#include "report_texts.h"

/* Functions of an overview and of --top, of --list; percent of trees. */
enum { ROWS_FIRST = 20, ROWS_TOP = 40, LISTED = 10 };

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
                                    .percent = min_of(r, 0.0) };

    return r->diff ? report_diff_write(stdout, model, style, &top)
                   : report_top_write(stdout, model, style, &top);
}

static bool show_overview(const struct report_request *r, const struct report_model *model,
                          const struct report_style *style)
{
    bool good = report_summary_write(stdout, model);

    putchar('\n');
    good = good && show_table(r, model, style, ROWS_FIRST);
    if (good && !r->diff) {
        putchar('\n');
        good = report_hottest_write(stdout, model, style);
    }
    if (style->bars) {
        report_colour(stdout, style, REPORT_DIM);
        fputs("\nmore: --tree, --callers F, --list F, --by line, --threads, --help", stdout);
        report_colour(stdout, style, REPORT_PLAIN);
        putchar('\n');
    }
    return good;
}

/* --- Functions that somebody names ------------------------------------------------------------- */

static bool show_functions(const struct report_request *r, const struct report_model *model,
                           const struct report_style *style, const bool *wanted)
{
    const struct report_texts texts = report_texts_of(r);

    if (r->view == REPORT_VIEW_CALLERS)
        return report_callers_write(stdout, model, style, wanted, min_of(r, BRANCH_MIN));
    return report_list_write(stdout, model, style, wanted, LISTED, &texts);
}

static bool show_view(const struct report_request *r, const struct report_model *model,
                      const struct report_style *style, const bool *wanted)
{
    switch (r->view) {
    case REPORT_VIEW_OVERVIEW: return show_overview(r, model, style);
    case REPORT_VIEW_TOP: return show_table(r, model, style, ROWS_TOP);
    case REPORT_VIEW_TREE: return report_tree_write(stdout, model, style, min_of(r, BRANCH_MIN));
    case REPORT_VIEW_THREADS: return report_threads_write(stdout, model, style, min_of(r, 0.0));
    case REPORT_VIEW_CALLERS:
    case REPORT_VIEW_LIST: return show_functions(r, model, style, wanted);
    case REPORT_VIEW_NONE:
    case REPORT_VIEW_CHECK: break;
    }
    return true;
}

static enum tool_exit show(const struct report_request *r, const struct report_model *model,
                           const bool *wanted)
{
    const struct report_style style = report_terminal_style(r->colour, r->unit);
    struct report_pager pager;
    bool good;

    if (!r->no_pager && report_terminal_is() && report_pager_begin(&pager)) {
        good = show_view(r, model, &style, wanted);
        if (!report_pager_end(&pager))
            good = show_view(r, model, &style, wanted);
    } else {
        good = show_view(r, model, &style, wanted);
    }
    return good ? TOOL_DONE : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

enum tool_exit report_show(const struct report_request *r, const struct report_model *model)
{
    enum tool_exit exit_status;
    bool *wanted = NULL;

    if (r->view == REPORT_VIEW_NONE)
        return TOOL_DONE;
    if (r->view == REPORT_VIEW_CALLERS || r->view == REPORT_VIEW_LIST) {
        const size_t count = report_find_functions(model, r->function_text, &r->function, &wanted);

        if (count == 0) {
            exit_status =
                wanted ? tool_complain(TOOL_USAGE, "no function is called '%s'", r->function_text)
                       : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
            free(wanted);
            return exit_status;
        }
    }
    exit_status = show(r, model, wanted);
    free(wanted);
    return exit_status;
}
