/* The options of `sfb report`. */
#ifndef CLI_REPORT_REPORT_OPTIONS_H
#define CLI_REPORT_REPORT_OPTIONS_H

#include "cli/option_table.h"

/* The files that it writes for other tools. */
enum report_output_kind {
    REPORT_OUTPUT_HTML,
    REPORT_OUTPUT_PPROF,
    REPORT_OUTPUT_FOLDED,
    REPORT_OUTPUT_FOLDED_NS,
    REPORT_OUTPUT_SPEEDSCOPE,
    REPORT_OUTPUT_DHAT,
    REPORT_OUTPUT_HEAPTRACK,
    REPORT_OUTPUT_GPERFTOOLS,
    REPORT_OUTPUT_ROWS,
    REPORT_OUTPUT_MEMORY_ROWS,
    REPORT_OUTPUTS
};

enum report_option {
    OPTION_TOP = OPTION_FIRST,
    OPTION_BY,
    OPTION_TREE,
    OPTION_CALLERS,
    OPTION_LIST,
    OPTION_ANNOTATE,
    OPTION_THREADS,
    OPTION_CHECK,
    OPTION_DIFF,
    OPTION_INPUT,
    OPTION_PERF,
    OPTION_OPEN,
    OPTION_NAMES,
    OPTION_SYMBOLS,
    OPTION_PROCESS,
    OPTION_THREAD,
    OPTION_TIME,
    OPTION_FILTER,
    OPTION_NO_INLINES,
    OPTION_PRINT_FOLD,
    OPTION_MIN,
    OPTION_SORT,
    OPTION_UNIT,
    OPTION_COLOUR,
    OPTION_NO_PAGER,
    /* Of heaps. */
    OPTION_VALUE,
    OPTION_BLOCKS,
    OPTION_AT,
    OPTION_TAIL,
    OPTION_SUPPRESSIONS,
    OPTION_LEAKS,
    OPTION_TEMPORARY,
    OPTION_REALLOCS,
    OPTION_SLACK,
    OPTION_ELSEWHERE,
    OPTION_SIZES,
    OPTION_LIFETIMES,
    OPTION_MEMORY,
    OPTION_FOLD,
    /* Of notes in a log. */
    OPTION_LWS,
    OPTION_BASE,
    OPTION_DIALECT,
    /* And what follows: files, by kind. */
    OPTION_OUTPUT
};

extern const struct option_group report_options[];
extern const struct option_habits report_habits;

#endif
