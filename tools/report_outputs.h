/* The files that `sfb report` writes for other tools. Each is one line of the table in report_outputs.c, and of the usage. */
#ifndef REPORT_OUTPUTS_H
#define REPORT_OUTPUTS_H

#include <stdio.h>

#include "report/model.h"
#include "report_request.h"

struct report_output {
    const char *option;
    bool optional; /* `--option` alone is stdout */
    bool groups;   /* it shows a comparison: --diff */
    bool packs;    /* a FILE that ends in .gz is packed: its readers take that */
    /* NULL: it takes any. @return NULL, or why a model is none for it */
    const char *(*refuses)(const struct report_model *model);
    /* @return false: no memory */
    bool (*write)(FILE *to, const struct report_model *model);
};

extern const struct report_output report_outputs[];
extern const size_t report_output_count;

#define REPORT_OUTPUTS_USAGE                                                                       \
    "  --html FILE      a page to look at: flame graphs, callers, a table, threads, a time "       \
    "line;\n"                                                                                      \
    "                   with --diff, a comparison. One file, which needs no network\n"             \
    "  --pprof FILE     for pprof, Pyroscope, Parca and others. With --symbols=none they look\n"   \
    "                   for names themselves, by build-id: pprof -top PROGRAM FILE\n"              \
    "  --folded[=FILE]  a line for each thread's name and stack, the outermost function\n"         \
    "                   first, with its samples: for Firefox's profiler, speedscope\n"             \
    "  --folded-ns[=FILE]  the same with nanoseconds of CPU time: for flamegraph.pl\n"             \
    "  --speedscope FILE  for speedscope: threads, samples by time, source files\n"                \
    "  --dhat FILE      of a heap, for dh_view.html of valgrind: peak, end, lifetimes\n"           \
    "  --heaptrack FILE  of a heap with every event, for heaptrack_print and heaptrack_gui;\n"     \
    "                   packed if FILE ends in .gz\n"                                              \
    "  --gperftools FILE  of a heap, for pprof of gperftools, jeprof and others\n"                 \
    "  --rows[=FILE]    a JSON object for each thread and stack, a line each: for DuckDB,\n"       \
    "                   ClickHouse, jq\n"

/* Writes all that are wanted. A file is whole or not there. @return TOOL_DONE; after a complaint why not */
enum tool_exit report_outputs_write(const struct report_request *request,
                                    const struct report_model *model);

#endif
