/* What is wanted of `sfb report`: its options. */
#ifndef CLI_REPORT_REQUEST_H
#define CLI_REPORT_REQUEST_H

#include <regex.h>

#include "cli/places.h"
#include "cli/report/report_options.h"
#include "cli/report/terminal.h"
#include "cli/tool.h"
#include "profiler/report/model/choice.h"
#include "profiler/report/text/entity.h"
#include "profiler/report/text/tally.h"
#include "symbols/demangle.h"
#include "util/labels.h"

/* What is shown on stdout. */
enum report_view {
    REPORT_VIEW_NONE, /* nothing: files are written */
    REPORT_VIEW_OVERVIEW,
    REPORT_VIEW_TOP,
    REPORT_VIEW_TREE,
    REPORT_VIEW_CALLERS,
    REPORT_VIEW_LIST,
    REPORT_VIEW_ANNOTATE,
    REPORT_VIEW_THREADS,
    REPORT_VIEW_TIMELINE,
    REPORT_VIEW_LEAKS, /* this view and all that follow are of a heap */
    REPORT_VIEW_TEMPORARY,
    REPORT_VIEW_REALLOCS,
    REPORT_VIEW_SLACK,
    REPORT_VIEW_ELSEWHERE,
    REPORT_VIEW_SIZES,
    REPORT_VIEW_LIFETIMES,
    REPORT_VIEW_MEMORY,
    REPORT_VIEW_CHECK
};

/* What only heaps have. */
struct report_heap_request {
    const char *option; /* the first one that was given; NULL: none */
    const char *suppressions;
    const char *fold; /* a list's file, or "none"; NULL: the usual list */
    uint64_t at;
    bool value_given;
};

struct report_request {
    const struct tool_command *command;
    char **paths; /* of recordings: all_paths, or another array for the newest one */
    size_t path_count;
    char **all_paths; /* arguments of -i first, then the others */
    enum report_view view;
    int view_option; /* which chose the view, if one was given */
    bool print_fold;
    bool view_given, diff, no_symbols, no_pager, rows_given, min_given, sort_given, open,
        page_opened;
    bool time_value_given; /* --value of a recording of time */
    enum report_by by;     /* of --top */
    const char *by_text;   /* as it was given; NULL: it was not */
    uint64_t rows;         /* of --top; 0: all */
    double min;            /* percent */
    enum report_sort sort;
    enum report_when colour;
    struct labels labels;
    uint8_t *groups;           /* of --diff with labels: of each path 0 or 1; NULL: other ones */
    const char *unit;          /* of times or bytes; NULL: the one that fits */
    const char *function_text; /* of --callers, --list and --annotate */
    const char *outputs[REPORT_OUTPUTS]; /* by kind: a path, "-": stdout; NULL: not wanted */
    char *own_page;                      /* of --open without --html */
    enum object_name_style names;
    struct places places;
    const char *folders[PLACES_MAX]; /* of --symbol-path */
    size_t folder_count;
    struct report_choice choice;
    regex_t filter;   /* what choice.function asks */
    regex_t function; /* function_text */
    const char *filter_text;
    char time_text[256]; /* of --time, with marks */
    bool filter_given;
    struct report_heap_request heap;
};

/* Chooses what is shown. @return false after a complaint: something else was chosen before */
bool report_request_take_view(struct report_request *request, enum report_view view, int option,
                              enum tool_exit *exit_status);

void report_request_close(struct report_request *request);

#endif
