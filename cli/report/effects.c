#include "cli/report/effects.h"

#include <stdint.h>

#define VIEW(name) (UINT32_C(1) << REPORT_VIEW_##name)

#define TABLES     (VIEW(OVERVIEW) | VIEW(TOP))
#define FUNCTIONS  (VIEW(CALLERS) | VIEW(LIST))
#define STACKS     (VIEW(LEAKS) | VIEW(TEMPORARY) | VIEW(REALLOCS) | VIEW(SLACK) | VIEW(ELSEWHERE))
#define HISTOGRAMS (VIEW(SIZES) | VIEW(LIFETIMES))
/* Views of samples or allocations: --memory is of processes, --check of files. */
#define SAMPLES                                                                                    \
    (TABLES | VIEW(TREE) | VIEW(THREADS) | VIEW(TIMELINE) | FUNCTIONS | VIEW(ANNOTATE) | STACKS |  \
     HISTOGRAMS)
#define NAMED (SAMPLES & ~HISTOGRAMS & ~VIEW(THREADS) & ~VIEW(TIMELINE))

/* An option: the views that it changes, and whether it changes files. */
struct effect {
    const char *option;
    bool given;
    uint32_t views;
    bool files;
};

enum { EFFECTS = 14 };

static bool is_timed(const struct report_choice *c)
{
    return c->from > 0 || c->to > 0;
}

static const char *name_of(enum report_view view)
{
    static const char *const names[] = {
        [REPORT_VIEW_NONE] = "these files",      [REPORT_VIEW_OVERVIEW] = "the overview",
        [REPORT_VIEW_TOP] = "--top and --by",    [REPORT_VIEW_TREE] = "--tree",
        [REPORT_VIEW_CALLERS] = "--callers",     [REPORT_VIEW_LIST] = "--list",
        [REPORT_VIEW_ANNOTATE] = "--annotate",   [REPORT_VIEW_THREADS] = "--threads",
        [REPORT_VIEW_TIMELINE] = "--timeline",   [REPORT_VIEW_LEAKS] = "--leaks",
        [REPORT_VIEW_TEMPORARY] = "--temporary", [REPORT_VIEW_REALLOCS] = "--reallocs",
        [REPORT_VIEW_SLACK] = "--slack",         [REPORT_VIEW_ELSEWHERE] = "--freed-elsewhere",
        [REPORT_VIEW_SIZES] = "--sizes",         [REPORT_VIEW_LIFETIMES] = "--lifetimes",
        [REPORT_VIEW_MEMORY] = "--memory",       [REPORT_VIEW_CHECK] = "--check",
    };

    return names[view];
}

/* Rows of memory know processes alone. */
static bool has_files_of_samples(const struct report_request *r)
{
    for (size_t i = 0; i < REPORT_OUTPUTS; i++)
        if (r->outputs[i] && i != REPORT_OUTPUT_MEMORY_ROWS)
            return true;
    return false;
}

bool report_effects_judge(const struct report_request *r, enum tool_exit *exit_status)
{
    const struct report_choice *c = &r->choice;
    const uint32_t view = UINT32_C(1) << r->view;
    const struct effect effects[EFFECTS] = {
        { "sort", r->sort_given, TABLES, false },
        { "min", r->min_given, TABLES | VIEW(TREE) | VIEW(CALLERS) | VIEW(THREADS) | STACKS,
          false },
        { "unit", r->unit, (SAMPLES & ~STACKS & ~HISTOGRAMS) | VIEW(MEMORY), false },
        { "fold", r->heap.fold, TABLES | VIEW(TREE) | FUNCTIONS | STACKS, false },
        { "blocks", c->blocks, (SAMPLES & ~HISTOGRAMS & ~STACKS) | VIEW(LEAKS), true },
        { "filter", r->filter_given, SAMPLES, true },
        { "gil", c->gil != SFB_GIL_UNKNOWN, SAMPLES & ~STACKS & ~HISTOGRAMS, true },
        { "thread", c->thread, SAMPLES, true },
        { "process", c->process, SAMPLES | VIEW(MEMORY) | VIEW(NONE), true },
        { "time", is_timed(c), SAMPLES | VIEW(MEMORY), true },
        { "at", c->at_instant, SAMPLES, true },
        { "value", r->heap.value_given, SAMPLES, true },
        { "tail", c->tail > 0 || c->tail_percent > 0.0,
          (NAMED & ~STACKS) | VIEW(THREADS) | VIEW(LEAKS), true },
        { "no-inlines", c->no_inlines, NAMED, true },
    };
    const bool files = has_files_of_samples(r);

    for (size_t i = 0; i < EFFECTS; i++) {
        const struct effect *e = &effects[i];

        if (!e->given || (e->views & view) != 0 || (e->files && files))
            continue;
        *exit_status =
            tool_misused(r->command, "--%s changes nothing in %s", e->option, name_of(r->view));
        return false;
    }
    return true;
}
