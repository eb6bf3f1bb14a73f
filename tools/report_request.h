/* What is wanted of `sfb report`: its options. */
#ifndef REPORT_REQUEST_H
#define REPORT_REQUEST_H

#include <regex.h>

#include "object/demangle.h"
#include "places.h"
#include "report/choice.h"
#include "tool.h"

/* What is shown on stdout. */
enum report_view {
    REPORT_VIEW_NONE, /* nothing: files are written */
    REPORT_VIEW_OVERVIEW,
    REPORT_VIEW_TOP,
    REPORT_VIEW_CHECK
};

/* Outputs that one run may write, as many as there are kinds (report_outputs.h). */
enum { REPORT_OUTPUTS_MAX = 16 };

struct report_request {
    const struct tool_command *command;
    char **paths; /* of recordings */
    size_t path_count;
    enum report_view view;
    bool view_given, diff, no_symbols;
    uint64_t rows;
    const char *outputs[REPORT_OUTPUTS_MAX]; /* by kind: a path, "-": stdout; NULL: not wanted */
    enum object_name_style names;
    struct places places;
    struct report_choice choice;
    regex_t filter; /* what choice.function asks */
    bool filter_given;
};

/*
 * Reads the options. What follows them in argv are the recordings.
 *
 * @param out  to be closed in any case
 * @return false after a complaint, or after --help
 */
bool report_request_read(struct report_request *out, const struct tool_command *command, int argc,
                         char **argv, enum tool_exit *exit_status);

void report_request_close(struct report_request *request);

#define REPORT_CHOICE_USAGE                                                                        \
    "  --process P      only processes of this program (its name or path), or this PID\n"          \
    "  --thread T       only threads of this name, or this thread number\n"                        \
    "  --time A..B      only what was sampled from A to B seconds after the start of the\n"        \
    "                   recording; also 100ms..2.5s, 3.., ..10\n"                                  \
    "  --filter RE      only samples with a function whose name has this extended regular\n"       \
    "                   expression somewhere in its stack\n"                                       \
    "  --no-inlines     count inlined functions as part of those that contain them\n"

#endif
